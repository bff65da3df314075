"""The phases of a step, as a simulation lists them and ARCHITECTURE.md describes them."""
import re
from pathlib import Path

import numpy as np

import minidem as md

PAGE = Path(__file__).parents[2] / "minidem" / "ARCHITECTURE.md"
BALL = md.ClumpTemplate([(0, 0, 0)], [0.1], 1000.0)


def test_a_simulation_without_options_has_few_phases():
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(BALL, (0, 0, 0))
    assert sim.phases == ("move", "join", "search", "contacts", "join")


def test_one_that_has_all_options_has_the_phases_of_the_architecture():
    listed = re.findall(r"^ (\w+(?: \w+)*)  ", PAGE.read_text().split("```text\n")[2].partition("```")[0], re.M)
    box = md.PeriodicBox((0, 0, 0), (5, 5, 5), (True, True, True), rates=(md.Pressure(1e3, time=1.0), 0, 0))
    sim = md.Simulation(md.Material(1e7, 0.3), periodic=box, contact="hertz:onset=corrected",
                        rotation="velocity-verlet", dt=1e-5, threads=2)
    sim.add_clumps(BALL, 0.3 * np.argwhere(np.ones((16, 16, 16))))
    sim.add_force(lambda time, position, velocity, orientation, spin: (0.0 * position, 0.0 * position))
    several = sim.threads > 1                           # not without OpenMP
    assert sim.phases == tuple(name for name in listed if several or name != "exchange")
