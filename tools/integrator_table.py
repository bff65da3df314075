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
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np

import minidem as md
from minidem.core.atomic import replace_text
from minidem.core.quaternions import rotate
from minidem.ensemble.own_code import add_import_option, import_own
from minidem.initial import place_densely
from minidem.scenario import random_directions
from minidem.scenarios import dense_rods, rods_in_box
from minidem.scenarios.energy.energy_pareto import CLUMP, SYSTEMS
from minidem.scenarios.rotating_bodies.driven_bodies import INERTIA, ORIENTATION, SPIN, of_orientation, rms

PAGE = Path(md.__file__).with_name("guide") / "integrators.md"
BEGIN = "<!-- written by tools/integrator_table.py -->\n"
STEP, STEPS, THERE = 0.05, 1_000_000, 200       # of bodies that turn by about 0.05 in a step; steps, steps there
SEEDS = range(1, 9)
GRAINS, FRACTION = 200, 0.15
FREE = {"energy": "energy", "drift": "its drift", "momentum": "angular momentum", "size": "its magnitude",
        "back": "there and back", "turn": "largest turn"}
ANGLES = np.geomspace(0.05, 20.0, 121)          # [rad]


def second_order():
    """Names of the schemes."""
    records = {name: md.rotation.info(name) for name in (*md.rotation.available(), "dmv:order=2", "spiral:inner=rk4")}
    return [name for name, record in records.items() if len(record.stages) == 1
            and min(record.order_q_varying, record.order_w_varying) >= 2]


def of_free_bodies(name):
    """Six asymmetric tops: relative errors in a million free steps; error of the pose under gravity, there and back."""
    run = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, (0, 0, 0), STEP, STEPS,
                                record_every=STEPS // 1000)
    energy = np.sum(INERTIA * run.angular_velocity ** 2, axis=-1) / np.sum(INERTIA * SPIN ** 2, axis=-1) - 1.0
    start, momentum = rotate(ORIENTATION, INERTIA * SPIN), rotate(run.orientation, INERTIA * run.angular_velocity)
    size = np.linalg.norm(start, axis=-1)
    there = md.rotation.integrate(name, INERTIA, ORIENTATION, SPIN, of_orientation, STEP, THERE)
    back = md.rotation.integrate(name, INERTIA, there.orientation, -there.angular_velocity, of_orientation, STEP, THERE)
    return {"turn": largest_turn(name), "energy": rms(np.max(np.abs(energy), axis=0)),
            "drift": rms(np.mean(energy[-100:], axis=0) - np.mean(energy[:100], axis=0)),
            "momentum": rms(np.max(np.linalg.norm(momentum - start, axis=-1), axis=0) / size),
            "size": rms(np.max(np.abs(np.linalg.norm(momentum, axis=-1) - size), axis=0) / size),
            "back": rms(np.minimum(*(np.linalg.norm(back.orientation - sign * ORIENTATION, axis=-1)
                                     for sign in (1, -1))))}


def largest_turn(name):
    """The largest angle per step [rad] at which each body errs by less than 0.1 rad in a revolution: see `_rotation`
    of minidem/analysis/monitor.py, which warns of it."""
    spin = SPIN / np.linalg.norm(SPIN, axis=1, keepdims=True)
    for k, angle in enumerate(ANGLES):
        steps, parts = int(np.ceil(2.0 * np.pi / angle)), int(np.ceil(angle))
        ends = [md.rotation.integrate(scheme, INERTIA, ORIENTATION, spin, (0, 0, 0), angle / n, n * steps).orientation
                for scheme, n in ((name, 1), ("exact", parts))]
        if not 2.0 * np.minimum(*(np.linalg.norm(ends[0] - sign * ends[1], axis=1) for sign in (1, -1))).max() < 0.1:
            return ANGLES[k - 1]
    return ANGLES[-1]


def elastic(system, name, seed):
    """Simulation and time [s] of a system of energy_pareto.py, with onset correction."""
    dt = SYSTEMS[system].steps[3]
    return SYSTEMS[system].simulation(name, "hertz:onset=corrected", dt, seed), 0.5 * SYSTEMS[system].time


def grains(name, seed, friction, speed, **options):
    """Asymmetric clumps in a cube, with dashpots; options : functions of its edge, for options of Simulation."""
    rng, edge = np.random.default_rng(seed), (GRAINS * CLUMP.volume / FRACTION) ** (1 / 3)
    [(position, orientation)] = place_densely([CLUMP], [GRAINS], (0, 0, 0), (edge,) * 3, rng)
    material = md.Material(young=1e8, poisson=0.2, restitution=0.6, friction=friction)
    sim = md.Simulation(material, contact="hertz-mindlin", rotation=name, dt=10e-6, threads=1,
                        **{key: value(edge) for key, value in options.items()})
    sim.add_clumps(CLUMP, position, orientation, speed * random_directions(GRAINS, rng),
                   30.0 * speed * random_directions(GRAINS, rng))
    return sim, 0.3


def bed(name, seed):
    """Grains with friction fall into a box."""
    return grains(name, seed, 0.5, 1.0, gravity=lambda edge: (0, 0, -9.81),
                  walls=lambda edge: md.box((0, 0, 0), (edge,) * 3))


def sheared_gas(name, seed):
    """Grains without friction in a sheared periodic box."""
    return grains(name, seed, 0.0, 0.5, periodic=lambda edge: md.PeriodicBox(
        (0, 0, 0), (edge,) * 3, (True,) * 3, shear=("x", "y", 20.0)))


SIMULATIONS = {"rods": lambda *given: elastic("rods", *given), "clumps": lambda *given: elastic("clumps", *given),
               "chess": lambda *given: elastic("chess", *given), "bed": bed, "gas": sheared_gas}


def of_run(system, name, seed):
    """Largest relative error of the energy balance of a run, without its oscillation in elastic contacts, at a hundred
    instants."""
    warnings.filterwarnings("ignore", ".* overlap by ")         # of soft clumps, up to 0.4 radii
    sim, time = SIMULATIONS[system](name, seed)
    quantity, found, steps = "lasting" if system in SYSTEMS else "balance", [], round(time / sim.dt)
    sim.run(steps, steps // 100, lambda sim: found.append(getattr(sim.energy(shadow=system in SYSTEMS), quantity)))
    return np.max(np.abs(np.array(found) / found[0] - 1.0))


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
    """Infinite errors of a scheme that fails."""
    system, name, seed = task
    try:
        return of_free_bodies(name) if system is None else of_run(system, name, seed)
    except FloatingPointError:
        return np.inf if system else dict.fromkeys(FREE, np.inf) | {"turn": largest_turn(name)}


def import_all(names):
    """Import what registers schemes, which a process that is not forked does not have."""
    for name in names:
        import_own(name, f"--import {name}")


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
    errors = [[f"`{name}`", *(f"{rms([results[system, name, seed] for seed in SEEDS]):.1e}" for system in SIMULATIONS),
               few[name], many[name]] for name in names]
    text = ("## Free bodies\n\n" + table(["scheme", *FREE.values()], free) + "## Many bodies\n\n"
            + table(["scheme", *SIMULATIONS, "time, A", "time, C"], errors))
    print(text)
    if not options.schemes:
        replace_text(PAGE, PAGE.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN + "\n" + text.rstrip() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
