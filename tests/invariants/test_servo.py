"""A wall that a force moves: the force is held, work closes the energy balance, equal bits."""

import numpy as np
import pytest
from bit_systems import bits, press

import minidem as md

EDGE, FORCE, MASS = 0.06, 20.0, 0.02
ROD = md.ClumpTemplate([(0, 0, 0), (0.006, 0, 0)], [0.005] * 2, density=2500.0)
MATERIAL = md.Material(1e7, 0.3, restitution=0.4, friction=0.4)


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


def test_a_motion_that_raises():
    """The lid is where it was, and goes on."""
    def motion(t):
        if fails:
            raise RuntimeError("once")
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    fails, sims = [], []
    for _ in range(2):
        sim = press()
        sims.append(md.Simulation(sim.material, [*sim.walls, md.Plane((0, 0, -1), (0, 0, 1), motion=motion)],
                                  contact=sim.contact, dt=sim.dt, gravity=sim.gravity, threads=1))
        sims[-1].add_clumps(sim.templates[0], sim.position, sim.orientation)
    sims[0].run(700)
    sims[1].run(500)
    fails.append(True)
    with pytest.raises(RuntimeError, match="once"):
        sims[1].run(200)
    fails.clear()
    sims[1].run(200)
    assert bits(sims[1]) == bits(sims[0])


@pytest.mark.parametrize(("arguments", "hint"), (
    ({"direction": (0, 0, 0)}, "direction"), ({"mass": 0.0}, "mass"), ({"damping": -1.0}, "damping"),
    ({"force": float("nan")}, "force"),
))
def test_refused(arguments, hint):
    with pytest.raises(ValueError, match=hint):
        md.Servo(**{"direction": (0, 0, 1), "force": 1.0, "mass": 1.0} | arguments)
