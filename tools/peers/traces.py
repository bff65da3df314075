"""Quantities over time in minidem and in LAMMPS, on one thread: the common part of tools/compare_drum.py,
compare_impact.py and compare_repose.py."""

import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np

import minidem as md
from minidem.core.atomic import replace_text
from minidem.core.progress import Line
from peers.comparison import compare
from peers.lammps_peer import LAMMPS, run

DONE, FAILED, SKIPPED, INTERRUPTED = 0, 1, 77, 130
EXIT_STATUS = "exit status: 0 done; 1 a run failed; 2 bad arguments; 77 LAMMPS is not installed; 130 interrupted"
CONTACT = "hertz-mindlin:tangential_damping=0,friction_limit=magnitude,mass=clump"    # as in LAMMPS
CODES = ("minidem", "lammps")


def exit_status(work):
    """Exit status of a tool that is work(), which needs LAMMPS."""
    if not LAMMPS.find():
        print(LAMMPS.how_to_install())
        return SKIPPED
    try:
        work()
    except (RuntimeError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


def short_runs(sim, warmup, steps, repeats):
    """Print the ratio of the times per step from `sim` on. Returns the settings of LAMMPS."""
    report = compare(LAMMPS, sim, warmup, steps, repeats)
    print(f"LAMMPS {report['peer_runs'][0]['version']}, skin {report['settings']['skin']:g} radii, takes "
          f"{report['ratio']:.2f} times as long as minidem {md.__version__} ({min(report['ratios']):.2f} to "
          f"{max(report['ratios']):.2f}, {repeats} pairs of {steps} steps)", flush=True)
    return report["settings"]


def trace_minidem(sim, steps, every, report, sample):
    """Rows of the step and sample(sim), one every `every` steps, and the time per step [us]."""
    rows = []

    def record(sim):
        rows.append((sim.step_count, *sample(sim)))
        report(sim.step_count)

    record(sim)
    begin = time.perf_counter()
    sim.run(steps, every=every, callback=record)
    return np.array(rows), 1e6 * (time.perf_counter() - begin) / steps


def trace_lammps(sim, steps, every, report, settings, samples, further=()):
    """The same in LAMMPS; samples : formulas of its variables;  further : commands before them."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        folder = Path(folder)
        trace = folder / "trace"
        values = " ".join(f"$(v_sample{k}:%.17g)" for k in range(len(samples)))
        commands = (*further, *(f"variable sample{k} equal {formula}" for k, formula in enumerate(samples)),
                    f'fix trace all print {every} "$(step) {values}" file trace screen no')
        job = pool.submit(run, LAMMPS.find(), sim, settings, 0, steps, folder, commands)
        while wait([job], timeout=1.0).not_done:
            report(min(steps, every * trace.read_text().count("\n")) if trace.exists() else 0)
        us_per_step = job.result()[1]
        rows = np.loadtxt(trace, ndmin=2)
    return rows[np.unique(rows[:, 0], return_index=True)[1]], us_per_step


def kept_trace(path, key, label, steps, trace):
    """Rows (n, k) and time per step [us] of trace(report), or of the file `path` if it was written for the same key.

    label: of the progress on the screen, which report(step) shows.
    """
    key, line = {**key, "steps": steps, "version": md.__version__}, Line()
    if path.exists() and (known := json.loads(path.read_text()))["key"] == key:
        return np.array(known["rows"]), known["us_per_step"]

    def report(step):
        line.update(f"{label}: {step} of {steps} steps", step / steps)

    rows, us_per_step = trace(report)
    line.close()
    replace_text(path, json.dumps({"key": key, "us_per_step": us_per_step, "rows": rows.tolist()}) + "\n")
    return rows, us_per_step


def write_traces(path, names, traces):
    """Write a CSV file of the time and the other columns of all traces, arrays of rows with these names."""
    table = np.column_stack([traces[0][:, 0], *(rows[:, 1:] for rows in traces)])
    lines = [",".join(map(repr, row)) for row in table.tolist()]
    replace_text(path, "\n".join([",".join(["time", *names]), *lines, ""]))
