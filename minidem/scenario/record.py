"""Columns of energy.csv, summary.json, and what is said about the energy at the end of a run."""
import json
import math

import numpy as np

import minidem
from minidem.analysis import energy as measures
from minidem.core.atomic import replace_text

ENERGIES = ("translational", "rotational", "elastic", "potential", "total", "lasting", "elastic_tangential",
            "elastic_rolling", *measures.DISSIPATED[:-1], "work", "balance", "exchanged",
            measures.DISSIPATED[-1], "breakage")       # the newest last
STRAINS = "strain_x", "strain_y", "strain_z", "strain_shear"       # of a periodic box that moves: Box.strain
FLAT = 0.01             # relative energy error below which energy counts as conserved: a flat line in published figures


def energy_columns(sim):
    """Names of the columns of energy.csv after the time."""
    return ENERGIES + (STRAINS if sim.box is not None and sim.reader.periodic.moves else ())


def energy_row(sim, contacts=None):
    """Values of `energy_columns`, the lasting energy nan where it is not known; contacts : of `sim`, if available."""
    energy = sim.energy(contacts=contacts, shadow=sim.settings.law.conservative and not sim.reader.held)
    values = [math.nan if name == "lasting" and energy.shadow is None else getattr(energy, name) for name in ENERGIES]
    return values + (sim.box.strain.tolist() if STRAINS[0] in energy_columns(sim) else [])


def columns(scenario, sim):
    """Names of the columns of all tables of a run, after the time: name of the table -> names."""
    found = {"energy": energy_columns(sim), "observables": ["contacts", *(one.name for one in scenario.observables)]}
    if scenario.wall_forces and len(sim.walls):
        found["walls"] = [f"wall_{k}_{kind}_{axis}" for k in range(len(sim.walls)) for kind in ("force", "torque")
                          for axis in "xyz"]
    return found


def beyond_limit(run):
    """Why a `Run` ends if its last relative error of energy, or of the balance, is above its limit; else None."""
    scale = measures.energy_scale(run.energy)[0] if run.conserved else measures.energy_input(run.energy) or None
    values = run.energy["total" if run.conserved else "balance"]
    change = values[-1] - values[0]
    if scale is None or abs(change) <= run.energy_limit * scale:
        return None
    return (f"step {run.sim.step_count} (time {run.sim.time:.6g} s): the relative energy error {change / scale:+.3g} "
            f"is beyond --energy-limit {run.energy_limit:g}. Lower --dt, take another --integrator, or continue with "
            "--resume and a higher limit")


def summary(run, ended):
    """The dictionary of summary.json of a `Run`; entries without a meaning are None."""
    sim, physics, spent = run.sim, run.notes["physics"], run.notes["spent"]
    energy, observed, contacts = run.energy, run.observed, run.observed["contacts"]
    lasting, lasting_rows = measures.lasting_energy_error(energy, contacts) if run.conserved else (None, None)
    return {
        "scenario": run.scenario.name, "integrator": physics.get("integrator"), "contact": sim.contact,
        "ended": ended, "reason": run.reason, "warnings": list(run.notes["warnings"].values()),
        "dt": sim.dt, "steps": sim.step_count, "time": sim.time, "threads": sim.threads,
        "clumps": sim.n_clumps, "spheres": sim.n_spheres, "seed": physics.get("seed"),
        "wall_seconds": spent["wall_seconds"],
        "us_per_step": 1e6 * spent["loop_seconds"] / spent["steps"] if spent["steps"] else None,
        "energy_initial": energy["total"][0], "energy_final": energy["total"][-1],
        "max_relative_energy_error": measures.energy_error(energy) if run.conserved else None,
        "lasting_relative_energy_error": lasting, "lasting_energy_rows": lasting_rows,
        "relative_energy_drift": measures.energy_drift(energy) if run.conserved else None,
        "energy_scale": measures.energy_scale(energy)[1] if run.conserved else None,
        "energy_balance_error": measures.balance_error(energy), "contacts_max": int(np.max(contacts)),
        "contacts_per_clump": float(np.mean(contacts)) / sim.n_clumps if sim.n_clumps else None,
        "observables": {o.name: {"initial": observed[o.name][0], "final": observed[o.name][-1]}
                        for o in run.scenario.observables},
        "physics": physics}


def write_summary(path, entries):
    """Write summary.json with version and build; non-finite numbers, which JSON does not have, become null."""
    entries = entries | {"version": minidem.__version__, "build": minidem.build_info()}
    text = json.dumps(entries, default=np.generic.item)
    replace_text(path, json.dumps(json.loads(text, parse_constant=lambda constant: None), indent=2) + "\n")


def verdict(summary):
    """Sentences about the energy for the screen."""
    error, time = summary["max_relative_energy_error"], summary["time"]
    scheme = f" with {summary['integrator']}" if summary["integrator"] else ""
    change = f"from {summary['energy_initial']:.6g} J to {summary['energy_final']:.6g} J"
    if summary["reason"]:
        return f"The run{scheme} failed at {time:.4g} s; the energy had changed {change}."
    if error is None:
        balance = summary["energy_balance_error"]
        return f"The total energy changed {change}." + ("" if balance is None else (
            f" The energy balance, which includes dissipation and work, is constant within {balance:.1e} of the energy "
            "put in."))
    unit = {"energy_initial": "its initial value", "kinetic_max": "the largest kinetic energy"}
    lasting = summary["lasting_relative_energy_error"]
    return (f"Energy is {'conserved' if error < FLAT else 'NOT conserved'}{scheme}: over {time:.4g} s "
            f"({summary['steps']} steps) the total energy, which should be constant, changes by at most "
            f"{_part(error)} of {unit[summary['energy_scale']]}." + ("" if lasting is None or lasting > 0.9 * error else
            f" Without the oscillation within contacts, which does not last, it is {_part(lasting)}."))


def _part(ratio):
    """A ratio in percent, unless it is tiny."""
    return f"{100.0 * ratio:.2g} %" if 1e-5 <= ratio < 10.0 else f"{ratio:.1e}"
