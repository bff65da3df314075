"""A rotating drum in LAMMPS: friction at its wall and at its ends has the direction and size of Coulomb's law."""
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS, drum_commands, read_motion, run

import minidem as md

BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
GLASS = md.Material(1e8, 0.2, friction=0.2)
DRUM, END, SPEED, G, STEP, STEPS = 0.1, 0.03, 2.0, 9.81, 1e-6, 5000


@needs_lammps
def test_spheres_in_a_rotating_drum(tmp_path):
    """One sphere lies on the wall, one hits an end without damping; both slide all the time: the wall has 0.2 m/s
    and the end 0.1 m/s at its contact."""
    sim = md.Simulation(GLASS, contact="hertz-mindlin:tangential_damping=0", dt=STEP, gravity=(0.0, 0.0, -G), threads=1)
    radius, impact = BALL.radii[0], 0.01
    effective = 1.0 / (1.0 / radius - 0.5 / DRUM)
    at_rest = (BALL.mass * G / (4.0 / 3.0 * md.effective_modulus(GLASS, GLASS) * effective ** 0.5)) ** (2.0 / 3.0)
    sim.add_clumps(BALL, [(0.0, 0.0, radius - DRUM - at_rest), (0.04, END - radius, 0.03)],
                   velocity=[(0.0, 0.0, 0.0), (0.0, impact, 0.0)])
    run(LAMMPS.find(), sim, {"skin": 0.5}, 0, STEPS, tmp_path, drum_commands(sim, 0, DRUM, (-END, END), SPEED))
    _, position, velocity, spin = read_motion(tmp_path, "end")
    assert position[0, 2] == pytest.approx(radius - DRUM - at_rest, abs=0.01 * at_rest)
    sliding = GLASS.friction * G * STEPS * STEP                 # of the wall's motion -x at the bottom
    assert [-velocity[0, 0], 0.4 * radius * spin[0, 1]] == pytest.approx([sliding] * 2, rel=0.01)
    assert velocity[1, 1] == pytest.approx(-impact, rel=1e-3)
    kick = 2.0 * GLASS.friction * impact * np.array([0.6, 0.0, -0.8])      # along the end's motion at the contact
    fall = (0.0, 0.0, -G * STEPS * STEP)
    assert velocity[1] == pytest.approx(kick + fall - (0.0, impact, 0.0), abs=0.03 * impact)
    assert 0.4 * radius * spin[1] == pytest.approx(np.cross((0.0, 1.0, 0.0), kick), abs=0.03 * impact)
