#!/usr/bin/env python3
"""A process of four phases: a bin is filled, its gate opens, a belt carries the grains to a tray, the tray is shaken.

    python scenarios/conveyor.py
    python scenarios/conveyor.py --resume --time 3

The gate of the bin opens after 0.5 s, the belt under it starts at 0.6 s, stops at 1.8 s, and the tray at its end is
shaken from 2 s on. `minidem.scenario.phases` calls the functions that change the walls; a run that is continued, also
in the middle of a phase, has the same bits. observables.csv has the grains in the bin and in the tray over the time,
and the depth of those in the tray; conveyor.png shows them.
"""

import sys

import numpy as np

import minidem as md
from minidem.initial import place_densely
from minidem.scenario import Observable, Outlet, Scenario, at_least, phases, positive
from minidem.scenario.plot import COLOURS, save

SIDE, LOW, HIGH, BELT, EDGE = 0.03, 0.02, 0.14, 0.15, 0.20          # bin: half width, bottom, top; ends of the belt [m]
TRAY = (EDGE - 0.01, -0.05, -0.08), (EDGE + 0.09, 0.05, -0.01)      # corners [m]
RADIUS = 4e-3                                                       # of the spheres of a grain, two of them [m]
GRAIN = md.ClumpTemplate([(-3e-3, 0, 0), (3e-3, 0, 0)], [RADIUS] * 2, density=2500.0)
INTERVAL = 0.01                                                     # of phases and of the removal [s]
OPEN, START, STOP, SHAKE = 0.5, 0.6, 1.8, 2.0                       # [s]
SHAKING = md.Oscillation((0.0, 0.0, 1e-3), 30.0)


def add_options(group):
    group.add_argument("--grains", type=at_least(1), default=150, metavar="N", help="(default: %(default)s)")
    group.add_argument("--speed", type=positive, default=0.3, help="of the belt [m/s] (default: %(default)s)")


def build(options):
    """The grains above the closed gate."""
    material = md.Material(3e7, 0.3, restitution=0.4, friction=0.5)
    gate = md.MeshWall(([(-SIDE, -SIDE, LOW), (SIDE, -SIDE, LOW), (SIDE, SIDE, LOW), (-SIDE, SIDE, LOW)],
                        [(0, 1, 2), (0, 2, 3)]), name="gate")
    belt = md.MeshWall.box((-BELT, -0.04, 0.0), (EDGE, 0.04, 0.03), open=("+x", "+z"), name="belt")
    bin_ = md.MeshWall.box((-SIDE, -SIDE, LOW), (SIDE, SIDE, HIGH), open=("-z", "+z"), name="bin")
    sim = md.Simulation(material, [gate, belt, bin_, md.MeshWall.box(*TRAY, open="+z", name="tray")], dt=options.dt,
                        gravity=(0.0, 0.0, -9.81), rotation=options.integrator, contact=options.contact,
                        threads=options.threads)
    rng = np.random.default_rng(options.seed)
    [(position, orientation)] = place_densely([GRAIN], [options.grains], (-SIDE, -SIDE, LOW), (SIDE, SIDE, HIGH + 0.1),
                                              rng)
    sim.add_clumps(GRAIN, position, orientation)
    return sim


def exchange(options):
    """The phases; grains that miss the tray are removed."""
    return phases(options.dt, INTERVAL, {
        OPEN: lambda sim: sim.walls.move("gate", velocity=(-0.6, 0.0, 0.0)),
        OPEN + 0.15: lambda sim: sim.walls.move("gate"),
        START: lambda sim: sim.walls.move("belt", surface_velocity=(options.speed, 0.0, 0.0)),
        STOP: lambda sim: sim.walls.move("belt"),
        SHAKE: lambda sim: sim.walls.move("tray", SHAKING)}, Outlet((-1, -1, -1), (1, 1, -0.1), name="spilled"))


def in_tray(sim):
    return sim.position[:, 2] < 0.0


def depth(sim):
    """Mean height of the grains in the tray above its bottom [m]."""
    inside = in_tray(sim)
    return float(np.mean(sim.position[inside, 2]) - sim.walls.at_rest[3].points[:, 2].min()) if inside.any() else 0.0


def conclude(sim, recorder, folder):
    save(folder / "conveyor.png", (6.4, 4.0), lambda figure: draw(figure, recorder.observed))
    count, (spilled, _) = int(in_tray(sim).sum()), sim.outflow["spilled"]
    return ({"in_tray": count, "spilled": spilled, "depth": depth(sim)},
            f"{count} grains are in the tray, {spilled} have fallen beside it.")


def draw(figure, observed):
    panel = figure.subplots()
    for name, colour in zip(("in_bin", "in_tray"), COLOURS):
        panel.plot(observed["time"], observed[name], color=colour, label=name.replace("_", " the "))
    for time, word in ((OPEN, "gate opens"), (START, "belt starts"), (STOP, "belt stops"), (SHAKE, "shaking")):
        panel.axvline(time, color="0.7", linewidth=0.8)
        panel.annotate(word, (time, 0.98), xycoords=("data", "axes fraction"), rotation=90, va="top", ha="right",
                       fontsize=7)
    panel.set(xlabel="time (s)", ylabel="grains")
    panel.legend(loc="center right")


SCENARIO = Scenario(
    "conveyor", __doc__, build, add_options=add_options, exchange=exchange, conclude=conclude,
    defaults={"integrator": "exact", "contact": "hertz-mindlin", "dt": 2e-5, "time": 2.5, "seed": 1, "frames": 100},
    observables=(Observable("in_bin", "grains in the bin", lambda sim: float((sim.position[:, 2] > LOW).sum())),
                 Observable("in_tray", "grains in the tray", lambda sim: float(in_tray(sim).sum())),
                 Observable("depth", "mean height in the tray (m)", depth)))
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
