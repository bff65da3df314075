"""A drum that turns, in LAMMPS and in minidem."""
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS, run
from peers.state import elastic_energy

import minidem as md
from minidem.output.lammps.dump import read_motion
from minidem.output.lammps.walls import contact_commands

BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
GLASS = md.Material(1e8, 0.2, friction=0.2)
DRUM, END, SPEED, G, STEP, STEPS = 0.1, 0.03, (0.0, 2.0, 0.0), 9.81, 1e-6, 5000
IMPACT = 0.01


def drum(**options):
    """One sphere lies on the cylinder, one hits an end without damping; both slide all the time: the cylinder has
    0.2 m/s and the end 0.1 m/s at the contact."""
    walls = [md.Cylinder((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), DRUM, angular_velocity=SPEED, **options),
             *(md.Plane((0.0, end, 0.0), (0.0, -end, 0.0), angular_velocity=SPEED) for end in (-END, END))]
    sim = md.Simulation(GLASS, walls, contact="hertz-mindlin:tangential_damping=0", dt=STEP, gravity=(0.0, 0.0, -G),
                        threads=1)
    radius = BALL.radii[0]
    stiffness = 4.0 / 3.0 * md.effective_modulus(GLASS, GLASS) * radius ** 0.5
    at_rest = (BALL.mass * G / stiffness) ** (2.0 / 3.0)
    sim.add_clumps(BALL, [(0.0, 0.0, radius - DRUM - at_rest), (0.04, END - radius, 0.03)],
                   velocity=[(0.0, 0.0, 0.0), (0.0, IMPACT, 0.0)])
    return sim


@needs_lammps
def test_spheres_in_a_drum_that_turns(tmp_path):
    """Direction and size of friction in LAMMPS; minidem agrees, but for LAMMPS' effective radius."""
    sim, radius = drum(), BALL.radii[0]
    run(LAMMPS.find(), sim, {"skin": 0.5}, 0, STEPS, tmp_path)
    motion = read_motion(sim, tmp_path, "end")[0]
    position, velocity, spin = (motion[name] for name in ("position", "velocity", "angular_velocity"))
    sliding = GLASS.friction * G * STEPS * STEP                             # the cylinder moves towards -x
    assert [-velocity[0, 0], 0.4 * radius * spin[0, 1]] == pytest.approx([sliding] * 2, rel=0.01)
    kick = 2.0 * GLASS.friction * IMPACT * np.array([0.6, 0.0, -0.8])       # along the end's motion
    fall = (0.0, 0.0, -G * STEPS * STEP)
    assert velocity[1] == pytest.approx(kick + fall - (0.0, IMPACT, 0.0), abs=0.03 * IMPACT)
    assert 0.4 * radius * spin[1] == pytest.approx(np.cross((0.0, 1.0, 0.0), kick), abs=0.03 * IMPACT)
    sim.run(STEPS)
    # At the cylinder LAMMPS has R* = R / 0.95: overlaps of 6 um are 1.7 % smaller, and velocities swing by a little.
    assert position == pytest.approx(sim.position, abs=2e-7)
    for theirs, ours in ((velocity, sim.velocity), (radius * spin, radius * sim.angular_velocity)):
        assert theirs[0] == pytest.approx(ours[0], abs=0.02 * IMPACT)
        assert theirs[1] == pytest.approx(ours[1], abs=0.002 * IMPACT)


def test_commands_and_energy_of_a_drum():
    sim = drum()
    *_, region, fix = contact_commands(sim)
    assert region == ("region drum cylinder y 0 0 0.10000000000000001 -0.029999999999999999 0.029999999999999999 "
                      "units box rotate v_angle 0 0 0 0 1 0")
    assert fix.startswith("fix region_0_1 type1 wall/gran/region granular hertz") and fix.endswith(" region drum")
    assert elastic_energy(sim, sim.sphere_centers()) == pytest.approx(sim.energy().elastic, rel=1e-9)


def test_another_drum_is_refused():
    with pytest.raises(ValueError, match="one angular velocity"):
        contact_commands(drum(velocity=(0.0, 0.1, 0.0)))
