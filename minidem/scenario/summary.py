"""What a run comes to: summary.json, and the same in a sentence or two."""

import json
import math

import numpy as np

import minidem
from minidem.analysis.energy import energy_drift, energy_error, energy_scale
from minidem.output import replace_text

# Energy that leaves its initial value by less than 1 % draws a flat line in the figures of the field.
FLAT = 0.01


def summarise(scenario, notes, sim, recorder, ended, reason, conserved):
    """The dictionary of summary.json.

    notes: those beside the checkpoint (run.py); reason: for an end that failed; conserved: whether the energy
    should stay as it was. Where it should not, a change of it is no error, and there is none.
    """
    physics, spent = notes["physics"], notes["spent"]
    energy, observed = recorder.energy, recorder.observed
    return {
        "scenario": scenario,
        "integrator": physics.get("integrator"),
        "ended": ended,
        "reason": reason,
        "warnings": list(notes["warnings"].values()),
        "dt": sim.dt,
        "steps": sim.step_count,
        "time": sim.time,
        "threads": sim.threads,
        "clumps": sim.n_clumps,
        "spheres": sim.n_spheres,
        "seed": physics.get("seed"),
        "wall_seconds": spent["wall_seconds"],
        "us_per_step": 1e6 * spent["loop_seconds"] / spent["steps"] if spent["steps"] else None,
        "energy_initial": energy["total"][0],
        "energy_final": energy["total"][-1],
        "max_relative_energy_error": energy_error(energy) if conserved else None,
        "relative_energy_drift": energy_drift(energy) if conserved else None,
        "energy_scale": energy_scale(energy)[1] if conserved else None,
        "contacts_max": int(np.max(observed["contacts"])),
        "contacts_per_clump": float(np.mean(observed["contacts"])) / sim.n_clumps,
        "observables": {o.name: {"initial": observed[o.name][0], "final": observed[o.name][-1]}
                        for o in recorder.observables},
        "physics": physics,
        "version": minidem.__version__,
        "build": minidem.build_info(),
    }


def write(path, summary):
    """Write summary.json; numbers that are not finite, which JSON does not have, become null."""
    replace_text(path, json.dumps(_plain(summary), indent=2, allow_nan=False) + "\n")


def verdict(summary):
    """One or two sentences about the energy."""
    error, time = summary["max_relative_energy_error"], summary["time"]
    scheme = f" with {summary['integrator']}" if summary["integrator"] else ""
    change = f"from {summary['energy_initial']:.6g} J to {summary['energy_final']:.6g} J"
    if summary["ended"] == "not finite":
        return f"The motion{scheme} stopped being finite at {time:.4g} s; its energy had gone {change}."
    if summary["ended"] == "energy limit":
        return f"The motion{scheme} was stopped by --energy-limit at {time:.4g} s; its energy had gone {change}."
    if error is None:
        return f"The total energy went {change}."
    unit = {"energy_initial": "its initial value", "kinetic_max": "the largest kinetic energy"}
    return (f"Energy is {'conserved' if error < FLAT else 'NOT conserved'}{scheme}: over {time:.6g} s "
            f"({summary['steps']} steps of {summary['dt']:g} s) it departs from where it began by at most "
            f"{error:.1e} of {unit[summary['energy_scale']]}. Drift, last tenth of the run against the "
            f"first: {summary['relative_energy_drift']:+.1e}.")


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
