#!/usr/bin/env python3
"""Certify short runs and numbers, tests/restart/certificates, anew: when bits of a law or scheme change on purpose.

    python tools/certify.py

The default tests verify them in every build, on every platform, with later versions: equal bits are those of the
version that certified them. Their files are a few kilobytes each; CHANGELOG.md says why they are new.
"""
import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import minidem as md
from minidem.scenarios import paper_report

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "restart" / "certificates"
ROD = md.ClumpTemplate([(-0.02, 0.0, 0.0), (0.0, 0.0, 0.0), (0.02, 0.0, 0.0)], [0.02] * 3, density=2500.0)
MATERIAL = {"young": 1e7, "poisson": 0.3}
EXPERIMENTS = "coupled_cylinders,incline,spinning_top,tennis_racket"      # short, and not chaotic
STEPS = 800                     # in which contacts begin and end, and some last
FRICTION = {"restitution": 0.6, "friction": 0.4, "rolling_friction": 0.1, "adhesion": 5.0}
PLACES = [(0.06, 0.04 + 0.041 * (k % 3), 0.05 + 0.041 * (k // 3)) for k in range(6)]


def runs():
    """Simulations by name: rods that meet at once, with laws and boundaries that have little in common."""
    box = md.PeriodicBox((0, 0, 0), (0.15, 0.15, 0.15), axes=(True, True, True), shear=("x", "y", 5.0))
    floor = [md.Plane((0, 0, 0.028), (0, 0, 1), velocity=(0.1, 0, 0)), md.Cylinder((0, 0, 0), (0, 0, 1), 0.4)]
    return {
        "rough": md.Simulation(md.Material(**MATERIAL, **FRICTION), floor, dt=2e-5, gravity=(0, 0, -9.81),
                               contact="hertz-mindlin:rolling=epsd,cohesion=jkr"),
        "sheared": md.Simulation(md.Material(**MATERIAL), dt=2e-5, contact="hertz:onset=corrected", periodic=box,
                                 rotation="spiral")}


def main(argv=None):
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        argv)
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, sim in runs().items():
        sim.add_clumps(ROD, PLACES, velocity=[(0.0, 0.5 - 0.5 * (k % 3), -0.5) for k in range(6)],
                       angular_velocity=[(20.0 * k, -20.0, 5.0) for k in range(6)])
        FOLDER.mkdir(parents=True, exist_ok=True)
        certificate = md.Certificate(FOLDER / f"{name}.json")
        certificate(sim)
        sim.run(STEPS, every=STEPS, callback=certificate)
        print(f"{name}: {len(sim.contacts())} contacts at the end")
    with tempfile.TemporaryDirectory() as out:
        paper_report.main(["--quick", "--only", EXPERIMENTS, "--out", out])
        shutil.copy(Path(out, "findings.csv"), FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
