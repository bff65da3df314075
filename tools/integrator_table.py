#!/usr/bin/env python3
"""What rotation schemes conserve, and their errors in many-body runs: the tables of minidem/guide/integrators.md.

    python tools/integrator_table.py                           measure, and write the tables (four minutes on two cores)
    python tools/integrator_table.py --schemes spiral exact    some schemes, printed only
    python tools/integrator_table.py --import mine.py --schemes mine    one of your own

The table has the schemes of second order under any torque with one evaluation of forces per step. The text above the
tables is written by hand.
"""
import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np

import minidem as md
from minidem.core.atomic import replace_text
from minidem.ensemble.own_code import add_import_option, import_own
from minidem.scenarios import dense_rods, rods_in_box
from minidem.scenarios.rotating_bodies.driven_bodies import rms, rms_error
from minidem.scenarios.rotating_bodies.scheme_bench import SEEDS, SIMULATIONS, largest_turn, of_free_bodies, of_run

PAGE = Path(md.__file__).with_name("guide") / "integrators.md"
BEGIN = "<!-- written by tools/integrator_table.py -->\n"
FREE = {"energy": "energy", "drift": "its drift", "momentum": "angular momentum", "size": "its magnitude",
        "back": "there and back", "turn": "largest turn"}


def second_order():
    """Names of the schemes."""
    records = {name: md.rotation.info(name) for name in (*md.rotation.available(), "dmv:order=2", "spiral:inner=rk4")}
    return [name for name, record in records.items() if len(record.stages) == 1
            and min(record.order_q_varying, record.order_w_varying) >= 2]


def costs(script, number, steps, names):
    """Processor time of a step relative to `spiral`, by name: of so many rods of a scenario, the least of six runs."""
    least = dict.fromkeys(["spiral", *names], np.inf)
    sims = {name: script.build(script.SCENARIO.parse(
        ["--integrator", name, "--rods", str(number), "--threads", "1"])) for name in least}
    for _ in range(6):                                  # in turns, so that a busy machine disturbs all alike
        for name, sim in sims.items():
            begun = process_time()
            sim.run(steps)
            least[name] = min(least[name], process_time() - begun)
    return {name: f"{seconds / least['spiral']:.2f}" for name, seconds in least.items()}


def measured(task):
    """The errors of a scheme, by name of free bodies; infinite if it fails."""
    system, name, seed = task
    if system:
        return of_run(system, name, seed)
    return {key: rms(values) for key, values in of_free_bodies(name).items()} | {"turn": largest_turn(name)}


def import_all(names):
    """Import what registers schemes, which a process that is not forked does not have."""
    for name in names:
        import_own(name, f"--import {name}")


def with_error(values):
    """The root mean square and its standard error."""
    return f"{rms(values):.1e} ± {rms_error(values):.0e}" if np.isfinite(values).all() else "lost"


def table(headings, rows):
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (headings, ["---"] * len(headings), *rows)) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemes", nargs="+", metavar="NAME", help="default: all of second order")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    add_import_option(parser)
    options = parser.parse_args(argv)
    try:
        import_all(options.imports)
        for name in options.schemes or ():
            md.rotation.info(name)
    except ValueError as error:
        parser.error(str(error))
    names = options.schemes or second_order()
    tasks = [(None, name, 0) for name in names] + list(product(SIMULATIONS, names, SEEDS))
    with ProcessPoolExecutor(options.workers, get_context("spawn"), import_all, (options.imports,)) as pool:
        results = dict(zip(tasks, pool.map(measured, tasks)))
    free = [[f"`{name}`", *(f"{results[None, name, 0][key]:{'.2g' if key == 'turn' else '.0e'}}".replace("inf", "lost")
                            for key in FREE)] for name in names]
    few, many = costs(rods_in_box, 30, 100_000, names), costs(dense_rods, 10_000, 150, names)
    errors = [[f"`{name}`", *(with_error([results[system, name, seed] for seed in SEEDS]) for system in SIMULATIONS),
               few[name], many[name]] for name in names]
    text = ("## Free bodies\n\n" + table(["scheme", *FREE.values()], free) + "## Many bodies\n\n"
            + table(["scheme", *SIMULATIONS, "time, A", "time, C"], errors))
    print(text)
    if not options.schemes:
        replace_text(PAGE, PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN + "\n" + text.rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
