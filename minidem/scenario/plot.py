"""Figures of the tables of a run. Without matplotlib (the extra `viz`) none are drawn."""
import math

import numpy as np

from minidem.analysis.energy import DISSIPATED, energy_input, energy_scale
from minidem.output.figure import COLOURS, LOOK, STYLES, save, styles

__all__ = ["COLOURS", "LOOK", "STYLES", "comparison", "energies", "save", "stacked", "styles"]

STACK = (*COLOURS[:6], "#F0E442", "#999999")        # of kinetic, elastic, potential energy, and of the dissipated kinds



def energies(path, table, title):
    """Draw energy.png: the energies and the changes of the total and the lasting energy; False without matplotlib.

    With dissipation, work, or clumps that were added or removed, the energies are stacked up to the energy balance.
    """
    def draw(figure):
        kinds, change = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        time, scale = table["time"], energy_input(table)
        if any(table[kind].any() for kind in (*DISSIPATED, "work", "exchanged", "breakage")):
            _stack(kinds, table)
            change.plot(time, (table["balance"] - table["balance"][0]) / (scale or 1.0), color="black")
            change.set_ylabel("change of balance\n" + ("/ energy put in" if scale else "(J)"))
        else:
            shown = [kind for kind in ("translational", "rotational", "elastic", "potential", "total")
                     if kind != "potential" or np.any(table[kind])]
            for kind, colour in zip(shown, (*COLOURS[:len(shown) - 1], "black")):
                kinds.plot(time, table[kind], color=colour, label=kind)
            kinds.legend(ncols=len(shown), loc="lower left", bbox_to_anchor=(0.0, 1.0))
            for kind, colour in (("total", "0.7"), ("lasting", "black")):
                change.plot(time, _change(table, kind), color=colour, label=kind)
            change.legend(ncols=2)
            change.set_ylabel(_change_label(table))
        kinds.set_ylabel("energy (J)")
        change.ticklabel_format(axis="y", scilimits=(-2, 3))
        change.set_xlabel("time (s)")
        figure.suptitle(title, fontsize=10)

    return save(path, (6.4, 5.0), draw)


def stacked(table):
    """Curves of the stacked picture, by label: their sum is the energy balance, up to the zero of the potential."""
    added = table["exchanged"] + table["breakage"]
    supply = "minus work" + (" and added energy" if added.any() else "")
    curves = {supply: -table["work"] - added, "kinetic": table["translational"] + table["rotational"],
              "elastic": table["elastic"] + table["elastic_tangential"] + table["elastic_rolling"],
              "potential": table["potential"] - np.min(table["potential"])}
    kinds = ("damping", "tangential damping", "sliding", "rolling", "fracture")
    return curves | {kind: table[name] for kind, name in zip(kinds, DISSIPATED)}


def _stack(panel, table):
    """Energies one above the other, dissipated ones hatched; the lowest begins at minus the energy supplied."""
    (supply, bottom), *layers = stacked(table).items()
    if bottom.any():
        panel.plot(table["time"], bottom, color="black", linestyle="--", label=supply)
    for (label, curve), colour in zip(layers, STACK):
        if curve.any():
            panel.fill_between(table["time"], bottom, bottom + curve, label=label, facecolor=colour, edgecolor="white",
                               linewidth=0.0, hatch="//" if colour in STACK[3:] else None)
        bottom = bottom + curve
    panel.plot(table["time"], bottom, color="black", label="balance")
    panel.legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))


def observed(path, table, observables):
    """Draw observables.png: each of `observables` over the time."""
    columns = min(3, len(observables))
    rows = -(-len(observables) // max(1, columns))

    def draw(figure):
        for k, one in enumerate(observables):
            panel = figure.add_subplot(rows, columns, k + 1)
            panel.plot(table["time"], table[one.name], color=COLOURS[0])
            panel.set(xlabel="time (s)", ylabel=one.label)

    return bool(observables) and save(path, (3.4 * columns, 2.6 * rows), draw)


def comparison(path, runs, observables):
    """Draw compare.png: relative change of the total energy of several runs (label -> Run), and their `observables`."""
    tables = [run.energy for run in runs.values()]
    shown = {f"change of total energy, {_change_label(tables[-1])}": [_change(table) for table in tables]}
    shown |= {one.label: [run.observed[one.name] for run in runs.values()] for one in observables}

    def draw(figure):
        for panel, (label, curves) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown.items()):
            for name, table, curve, (colour, style) in zip(runs, tables, curves, styles(len(runs))):
                panel.plot(table["time"], curve, color=colour, linestyle=style, label=name)
            panel.set(xlabel="time (s)", ylabel=label)
            _scale(panel, curves)
        figure.legend(*panel.get_legend_handles_labels(), ncols=min(4, len(runs)), loc="outside upper center")

    return save(path, (4.0 * len(shown), 3.6), draw)


def _scale(panel, curves):
    """Keep small curves visible beside a diverging one: linear near zero, logarithmic up to 2000 times the smallest."""
    magnitudes = [size for size in (np.max(np.abs(curve)) for curve in curves) if size > 0.0]
    if not magnitudes or max(magnitudes) < 30.0 * min(magnitudes):
        return panel.ticklabel_format(axis="y", scilimits=(-2, 3))
    panel.set_yscale("symlog", linthresh=10.0 ** math.ceil(math.log10(min(magnitudes))))
    end = 2e3 * max(1.0, min(magnitudes))
    panel.set_ylim(np.clip(panel.get_ylim(), -end, end))


def _change(table, kind="total"):
    return (table[kind] - table[kind][0]) / (energy_scale(table)[0] or 1.0)


def _change_label(table):
    divisor = {"energy_initial": "$\\,/\\,E_0$", "kinetic_max": "$\\,/\\,K_\\mathrm{max}$", None: " (J)"}
    return f"$(E - E_0)${divisor[energy_scale(table)[1]]}"
