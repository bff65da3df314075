"""A wall that a force moves: the force is held, work closes the energy balance. Bits: test_bits."""
import numpy as np
import pytest
from bit_systems import press

import minidem as md

FORCE, MASS = 20.0, 0.02


def test_held_force():
    """At rest, whatever the mass. The height is that of one packing of many."""
    ends = []
    for mass in (MASS, 2.0 * MASS):
        sim = press(mass=mass)
        sim.run_until(0.55)
        assert sim.wall_force(5)[2] == pytest.approx(FORCE, rel=1e-6)
        assert sim.energy().kinetic < 1e-7              # a rod that turns about one contact is not held
        ends.append(sim.walls_at_rest[5].point[2])
    assert ends == pytest.approx([0.023, 0.023], abs=0.004)


def test_free_lid_falls():
    """Without contacts the lid has a constant acceleration, or with damping approaches force / damping."""
    sim = press(damping=0.0, mass=2.0)
    sim.run(100)
    assert 0.09 - sim.walls_at_rest[5].point[2] == pytest.approx(0.5 * 10.0 * sim.time ** 2, rel=0.02)
    damped = press(damping=800.0)
    damped.run(400)
    before = damped.walls_at_rest[5].point[2]
    damped.run(400)
    assert (before - damped.walls_at_rest[5].point[2]) / (400 * damped.dt) == pytest.approx(FORCE / 800.0, rel=1e-6)


@pytest.mark.parametrize("contact", ("hertz-mindlin", "hooke-coulomb:stiffness=1e4"))
def test_work_closes_the_balance(contact):
    """The error falls with the square of the step."""
    errors = []
    for dt in (4e-5, 2e-5):
        sim, balance = press(contact=contact, dt=dt), []
        sim.run(round(0.06 / dt), round(2e-3 / dt), lambda sim, to=balance: to.append(sim.energy().balance))
        assert sim.energy().work > 0.1
        errors.append(np.ptp(balance))
    assert errors[1] < 0.35 * errors[0] < 0.35 * 2e-3


@pytest.mark.parametrize(("arguments", "hint"), (
    ({"direction": (0, 0, 0)}, "direction"), ({"mass": 0.0}, "mass"), ({"damping": -1.0}, "damping"),
    ({"force": float("nan")}, "force"),
))
def test_refused(arguments, hint):
    with pytest.raises(ValueError, match=hint):
        md.Servo(**{"direction": (0, 0, 1), "force": 1.0, "mass": 1.0} | arguments)
