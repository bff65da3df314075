"""Pictures of a run's tables. Without matplotlib (the extra `viz`) they are left out, and the functions
say so."""

import math

import numpy as np

from minidem.output import replacing
from minidem.scenario.summary import energy_scale

# Okabe and Ito's colours, which colour-blind readers can tell apart; line styles repeat the distinction.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
LOOK = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
        "grid.color": "0.9", "lines.linewidth": 1.2, "legend.frameon": False, "savefig.dpi": 200}


def energies(path, table, title):
    """energy.png: the kinds of energy against time, and below it the relative change of their sum.

    Returns whether the picture was made.
    """
    def draw(figure):
        kinds, change = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        shown = [kind for kind in table.columns[1:] if kind != "potential" or np.any(table[kind])]
        for kind, colour in zip(shown, (*COLOURS[:len(shown) - 1], "black")):
            kinds.plot(table["time"], table[kind], color=colour, label=kind)
        kinds.set_ylabel("energy (J)")
        kinds.legend(ncols=len(shown), loc="lower left", bbox_to_anchor=(0.0, 1.0))
        scale, name = energy_scale(table)
        divisor = "$E_0$" if name == "energy_initial" else "$K_\\mathrm{max}$"
        change.plot(table["time"], _change(table), color="black")
        change.set_ylabel(f"$(E - E_0)$ / {divisor}" if scale else "$E - E_0$ (J)")
        change.ticklabel_format(axis="y", scilimits=(-2, 3))
        change.set_xlabel("time (s)")
        figure.suptitle(title, fontsize=10)

    return _save(path, (6.4, 5.0), draw)


def comparison(path, tables, observables):
    """compare.png: relative change of the total energy of several runs, and beside it their first observable.

    tables: label -> (energy table, table of observables). Returns whether the picture was made.
    """
    def draw(figure):
        panels = figure.subplots(1, 1 + len(observables), squeeze=False)[0]
        styles = [(COLOURS[k % len(COLOURS)], STYLES[k % len(STYLES)]) for k in range(len(tables))]
        for (label, (energy, observed)), (colour, style) in zip(tables.items(), styles):
            panels[0].plot(energy["time"], _change(energy), color=colour, linestyle=style, label=label)
            for panel, observable in zip(panels[1:], observables):
                panel.plot(observed["time"], observed[observable.name], color=colour, linestyle=style)
        panels[0].set_ylabel("change of total energy, $(E - E_0)\\,/\\,E_0$")
        _scale(panels[0], [_change(energy) for energy, _ in tables.values()])
        for panel, observable in zip(panels[1:], observables):
            panel.set_ylabel(observable.label)
            _scale(panel, [observed[observable.name] for _, observed in tables.values()])
        for panel in panels:
            panel.set_xlabel("time (s)")
        figure.legend(ncols=min(4, len(tables)), loc="outside upper center")

    return _save(path, (4.0 * (1 + len(observables)), 3.6), draw)


def _change(table):
    scale, _ = energy_scale(table)
    return (table["total"] - table["total"][0]) / (scale or 1.0)


def _scale(panel, curves):
    """A scale on which the quiet curves remain visible beside one that runs away.

    Curves of one sign whose largest values differ by more than 30 get a logarithmic axis, curves about
    zero one that is linear up to the reach of the quietest.
    """
    reaches = [reach for reach in (np.max(np.abs(curve)) for curve in curves) if reach > 0.0]
    if not reaches or max(reaches) < 30.0 * min(reaches):
        panel.ticklabel_format(axis="y", scilimits=(-2, 3))
    elif all(np.min(curve) > 0.0 for curve in curves):
        panel.set_yscale("log")
    else:
        panel.set_yscale("symlog", linthresh=10.0 ** math.ceil(math.log10(min(reaches))))
        panel.axhline(0.0, color="0.6", linewidth=0.6)


def _save(path, size, draw):
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return False
    with matplotlib.rc_context(LOOK), replacing(path) as temporary:
        figure = Figure(figsize=size, layout="constrained")  # without pyplot: no window system is asked for
        draw(figure)
        figure.savefig(temporary)
    return True
