"""What a run records: the rows of energy.csv, observables.csv and walls.csv, and summary.json."""
import json
import math

import numpy as np

import minidem
from minidem.analysis.contacts import wall_wrenches
from minidem.analysis.diagnosis import explain_energy
from minidem.analysis.energy import (
    DISSIPATED,
    balance_error,
    energy_drift,
    energy_error,
    energy_input,
    energy_scale,
    lasting_energy_error,
)
from minidem.core.atomic import replace_text
from minidem.output.table import Table

ENERGIES = ("translational", "rotational", "elastic", "potential", "total", "lasting", "elastic_tangential",
            "elastic_rolling", *DISSIPATED[:-1], "work", "balance", "exchanged", DISSIPATED[-1])       # the newest last
STRAINS = "strain_x", "strain_y", "strain_z", "strain_shear"       # of a periodic box that moves: Box.strain
WALL = tuple(f"{kind}_{axis}" for kind in ("force", "torque") for axis in "xyz")
FLAT = 0.01             # relative energy error below which energy counts as conserved: a flat line in published figures


def energy_columns(sim):
    """Names of the columns of energy.csv after the time."""
    return ENERGIES + (STRAINS if _moving_box(sim) else ())


def energy_row(energy, sim=None):
    """Values of ENERGIES, the lasting energy nan where it is not computed; with a simulation, of `energy_columns`."""
    values = [math.nan if name == "lasting" and energy.shadow is None else getattr(energy, name) for name in ENERGIES]
    return values + (sim.box.strain.tolist() if sim and _moving_box(sim) else [])


def _moving_box(sim):
    return sim.box is not None and sim.engine.state.box.moves


class Recorder:
    """The tables of a run in a folder: energies, contacts with the observables, and forces on walls if asked for.

    keep : as of `minidem.output.table.Table`
    """

    def __init__(self, folder, sim, observables, wall_forces, keep=None):
        self.observables = observables
        self.energy = Table(folder / "energy.csv", energy_columns(sim), keep)
        self.observed = Table(folder / "observables.csv", ["contacts", *(o.name for o in observables)], keep)
        self.tables = [self.energy, self.observed]
        if wall_forces and len(sim.walls):
            columns = [f"wall_{k}_{name}" for k in range(len(sim.walls)) for name in WALL]
            self.tables.append(Table(folder / "walls.csv", columns, keep))

    def record(self, sim):
        """Add a row for the current step and return the contacts at this instant; None if the row exists.

        FloatingPointError, without a row, if the energy is not finite.
        """
        time = sim.time
        if self.energy.rows and self.energy.rows[-1][0] == time:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            contacts = sim.contacts()
            energy = sim.energy(contacts, shadow=sim.engine.law.conservative)
        if not math.isfinite(energy.total):
            raise FloatingPointError(explain_energy(sim))
        observed = [len(contacts), *(o.value(sim) for o in self.observables)]
        self.energy.append(time, energy_row(energy, sim))
        self.observed.append(time, observed)
        for table in self.tables[2:]:
            table.append(time, wall_wrenches(contacts, sim.walls_at_rest, sim.box).reshape(-1))
        return contacts

    def beyond_limit(self, sim, limit):
        """Why the run ends if the relative error of the energy in the last row is above `limit`; else None.

        With dissipation in contacts it is that of the energy balance.
        """
        conservative = sim.engine.law.conservative and not sim.engine.moves
        scale = energy_scale(self.energy)[0] if conservative else energy_input(self.energy) or None
        values = self.energy["total" if conservative else "balance"]
        change = values[-1] - values[0]
        if scale is None or abs(change) <= limit * scale:
            return None
        return (f"step {sim.step_count} (time {sim.time:.6g} s): the relative energy error {change / scale:+.3g} is "
                f"beyond --energy-limit {limit:g}. Lower --dt, take another --integrator, or go on with --resume and a "
                "higher limit")

    def summary(self, sim, conserved):
        """The entries of summary.json about energies and contacts.

        conserved : whether the physics conserves energy, without which there is no energy error
        """
        energy, observed = self.energy, self.observed
        lasting, lasting_rows = lasting_energy_error(energy, observed["contacts"]) if conserved else (None, None)
        return {
            "energy_initial": energy["total"][0],
            "energy_final": energy["total"][-1],
            "max_relative_energy_error": energy_error(energy) if conserved else None,
            "lasting_relative_energy_error": lasting,
            "lasting_energy_rows": lasting_rows,
            "relative_energy_drift": energy_drift(energy) if conserved else None,
            "energy_scale": energy_scale(energy)[1] if conserved else None,
            "energy_balance_error": balance_error(energy),
            "contacts_max": int(np.max(observed["contacts"])),
            "contacts_per_clump": float(np.mean(observed["contacts"])) / sim.n_clumps if sim.n_clumps else None,
            "observables": {o.name: {"initial": observed[o.name][0], "final": observed[o.name][-1]}
                            for o in self.observables},
        }


def write_summary(path, summary):
    """Write summary.json with version and build; non-finite numbers, which JSON does not have, become null."""
    summary |= {"version": minidem.__version__, "build": minidem.build_info()}
    replace_text(path, json.dumps(_plain(summary), indent=2, allow_nan=False) + "\n")


def verdict(summary):
    """One or two sentences about the energy."""
    error, time = summary["max_relative_energy_error"], summary["time"]
    scheme = f" with {summary['integrator']}" if summary["integrator"] else ""
    change = f"from {summary['energy_initial']:.6g} J to {summary['energy_final']:.6g} J"
    if summary["ended"] == "not finite":
        return f"The state{scheme} became non-finite at {time:.4g} s; the energy had changed {change}."
    if summary["ended"] == "energy limit":
        return f"The run{scheme} was stopped by --energy-limit at {time:.4g} s; the energy had changed {change}."
    if error is None:
        balance = summary["energy_balance_error"]
        closes = "" if balance is None else (f"; the energy balance, dissipation and work included, is constant within "
                                             f"{balance:.1e} of the energy put in")
        return f"The total energy changed {change}{closes}."
    unit = {"energy_initial": "its initial value", "kinetic_max": "the largest kinetic energy"}
    lasting = summary["lasting_relative_energy_error"]
    rows = {"contact-free": "in the rows without contacts", "shadow": "by the shadow energy"}
    lasts = "" if lasting is None else f"; lasting error, {rows[summary['lasting_energy_rows']]}: {lasting:.1e}"
    return (f"Energy is {'conserved' if error < FLAT else 'NOT conserved'}{scheme}: over {time:.6g} s "
            f"({summary['steps']} steps of {summary['dt']:g} s) it departs from its initial value by at most "
            f"{error:.1e} of {unit[summary['energy_scale']]}{lasts}. Drift, last tenth of the run against the "
            f"first: {summary['relative_energy_drift']:+.1e}.")


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
