"""Forces of the user against formulas: velocities that they see, changes between runs, order in the step."""
import copy
import operator
import re
from functools import partial

import numpy as np
import pytest
from scenes import warnings_of
from scipy.integrate import solve_ivp
from scipy.special import ndtri
from user_functions import CFUNC

import minidem as md

BALL = md.ClumpTemplate([(0, 0, 0)], [0.05], density=1000.0)
MATERIAL = md.Material(young=1e9, poisson=0.3)
CORNERS = {"low": (-5,) * 3, "high": (5,) * 3, "axes": (True,) * 3}
DRAG = 3.0                              # [1/s]

pytestmark = pytest.mark.filterwarnings("ignore:dt = ")             # above the Rayleigh step: nothing touches


def drag(t, x, v, q, w, rate):
    return -rate * v, 0.0 * w


@CFUNC
def compiled_drag(time, clumps, wrenches, parameters):
    rows, results = np.ctypeslib.as_array(clumps, (15, 8)), np.ctypeslib.as_array(wrenches, (6, 8))
    results[:3] = -parameters[0] * rows[3:6]


def ball(dt, force=drag, rate=DRAG, position=(2, 0, 0), velocity=(0, 0, 0), **options):
    sim = md.Simulation(MATERIAL, dt=dt, **options)
    sim.add_clumps(BALL, position, velocity=velocity)
    if force is not None:
        sim.forces.add(force, [rate * BALL.mass])
    return sim


def counting(force, calls):
    def counted(t, x, v, q, w, rate):
        calls.append(t)
        return force(t, x, v, q, w, rate)
    return counted


def orders(errors):
    return np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))


# --- a box that moves: points of it have the acceleration a x, clumps v' = a x - c v, and the force sees the flow

HELD = md.Pressure(1e6, 0.2)            # an empty box shrinks


def waves(t):
    return 1.0 + 2.0 * np.sin(5.0 * t)


def of_waves(t):
    return 10.0 * np.cos(5.0 * t)


def shrinking(t):
    return -2.5 * (1.0 - np.exp(-10.0 * t))


FLOWS = {       # motion of the box, a(t), velocity of the flow at first at x = 2, its axis
    "start": ({"shear": ("y", "x", -1.5)}, lambda t: 0.0, -3.0, 1),
    "waves": ({"shear": ("y", "x", waves)}, of_waves, 2.0, 1),
    "stretched": ({"rates": (waves, 0.0, 0.0)}, lambda t: of_waves(t) + waves(t) ** 2, 2.0, 0),
    "pressure": ({"rates": (HELD, 0.0, 0.0)}, lambda t: shrinking(t) ** 2 - 25.0 * np.exp(-10.0 * t), 0.0, 0),
    "pressure and shear": ({"shear": ("y", "x", waves), "rates": (0.0, 0.0, HELD)}, of_waves, 2.0, 1)}


@pytest.mark.parametrize("force", [drag, compiled_drag], ids=["python", "compiled"])
@pytest.mark.parametrize("name", FLOWS)
def test_forces_see_the_flow(name, force):
    """With the first step, too, and where its rate changes in each step: the order is two."""
    motion, acceleration, flow, axis = FLOWS[name]

    def motion_of_ball(t, y):           # place across the flow or along it, velocity
        return y[1], -DRAG * y[1] + acceleration(t) * (2.0 if axis else y[0])
    start = (0.0 if axis else 2.0, flow)
    x, v = solve_ivp(motion_of_ball, (0.0, 0.5), start, rtol=1e-11, atol=1e-13).y[:, -1]
    errors = []
    for dt in (1e-2, 5e-3, 2.5e-3):
        sim = ball(dt, force, periodic=md.PeriodicBox(**CORNERS, **motion))
        sim.run_until(0.5)
        errors.append((sim.position[0, axis] - x, sim.velocity[0, axis] - v if name == "start" else 0.0))
    errors = np.array(errors)
    assert np.abs(errors[-1]).max() < 2e-4
    assert orders(errors[:, 0]) == pytest.approx([2.0, 2.0], abs=0.15), errors


def test_velocities_outside_of_a_box_that_is_not_affine():
    """They are those of the positions: nothing jumps at the start, where the box begins to move."""
    for x in (2.0, 5.4, -17.0):
        sim = ball(5e-3, None, position=(x, 0, 0), velocity=(0, -8.25, 0),
                   periodic=md.PeriodicBox(**CORNERS, shear=("y", "x", -1.5), affine=False))
        before = sim.energy().balance
        sim.run(200)
        np.testing.assert_allclose(sim.velocity[0], (0, -8.25, 0), rtol=1e-13)
        np.testing.assert_allclose(sim.position[0], (x, -8.25, 0), rtol=1e-12)
        assert sim.energy().balance == pytest.approx(before, rel=1e-12)


# --- changes between two runs count from this instant on

@CFUNC
def compiled_push(time, clumps, wrenches, parameters):
    np.ctypeslib.as_array(wrenches, (6, 8))[0] = BALL.mass


def renewed(sim, values):
    values["push"] = BALL.mass
    sim.forces.renew()


CHANGES = {
    "add_force": lambda sim, values: sim.forces.add(lambda t, x, v, q, w: ((BALL.mass, 0, 0), 0.0 * w)),
    "add a compiled force": lambda sim, values: sim.forces.add(compiled_push),
    "renew_forces": renewed,
    "set_field": lambda sim, values: operator.setitem(sim.fields, "charge", 1.0)}


@pytest.mark.parametrize("name", CHANGES)
def test_changed_forces_count_at_once(name):
    """A constant force is added, or changed, at 0.5 s: exactly 1 / 8 m at 1 s, with the balance of the energy."""
    values = {"push": 0.0}

    def force(t, x, v, q, w, *, fields):
        push = np.zeros_like(x)
        push[:, 0] = values["push"] + BALL.mass * fields["charge"]
        return push, 0.0 * w
    sim = ball(0.05, None, position=(0, 0, 0))
    sim.fields.add("charge", 0.0)
    sim.forces.add(force)
    sim.run(10)
    CHANGES[name](sim, values)
    sim.run(10)
    np.testing.assert_allclose([sim.position[0], sim.velocity[0]], [(0.125, 0, 0), (0.5, 0, 0)], rtol=1e-12)
    assert sim.energy().work == pytest.approx(sim.energy().kinetic, rel=1e-12)


@pytest.mark.parametrize("force", [drag, compiled_drag], ids=["python", "compiled"])
def test_a_shear_that_begins_later(force):
    """The clump takes part in the flow, and is slowed down from then on."""
    errors = []
    for dt in (1e-2, 5e-3, 2.5e-3):
        sim = ball(dt, force, periodic=tuple(CORNERS.values()))
        sim.run_until(0.25)
        sim.deform(shear=("y", "x", 1.5))
        sim.run_until(0.5)
        errors.append(sim.position[0, 1] - 3.0 / DRAG * (1.0 - np.exp(-0.25 * DRAG)))
    assert orders(errors) == pytest.approx([2.0, 2.0], abs=0.15) and abs(errors[-1]) < 1e-5


# --- a force across the velocity, as the magnetic one and that of Coriolis, does no work

def across(t, x, v, q, w, rate):
    return rate * np.cross(v, (0.0, 0.0, 1.0)), 0.0 * w


@CFUNC
def compiled_across(time, clumps, wrenches, parameters):
    rows, results = np.ctypeslib.as_array(clumps, (15, 8)), np.ctypeslib.as_array(wrenches, (6, 8))
    results[0], results[1] = parameters[0] * rows[4], -parameters[0] * rows[3]


def turned(dt, corrections, force=across, turns=3.0):
    """Gain of the kinetic energy per radian, work over the energy, and calls per step."""
    sim, calls = md.Simulation(MATERIAL, dt=dt), []
    sim.add_clumps(BALL, (0, 0, 0), velocity=(1, 0, 0))
    counted = force if force is compiled_across else counting(force, calls)
    sim.forces.add(counted, [BALL.mass], corrections=corrections)
    steps = round(turns * 2.0 * np.pi / dt)
    sim.run(steps)
    return (np.sum(sim.velocity ** 2) - 1.0) / (steps * dt), sim.energy().work / BALL.mass, (len(calls) - 1) / steps


@pytest.mark.parametrize("force", [across, compiled_across], ids=["python", "compiled"])
@pytest.mark.parametrize("corrections, power, factor", [(0, 3, 0.5), (1, 3, -0.5), (2, 5, -0.25), (3, 5, 0.125)])
def test_energy_of_a_gyration(corrections, power, factor, force):
    """The documented gain, which is booked as work."""
    for dt in (0.08, 0.04):
        gain, work, calls = turned(dt, corrections, force)
        assert gain == pytest.approx(factor * dt ** power, rel=0.03)
        assert work == pytest.approx(0.5 * gain * round(6.0 * np.pi / dt) * dt, rel=0.02, abs=1e-9)
        assert calls == 1 + corrections or force is compiled_across


def test_a_shearing_sheet():
    """Hill's equations: the epicycle of a particle, and its Jacobi energy over five orbits."""
    def hill(t, x, v, q, w):
        return BALL.mass * np.column_stack([2.0 * v[:, 1] + 3.0 * x[:, 0], -2.0 * v[:, 0], -x[:, 2]]), 0.0 * w
    gains, errors = [], []
    for dt, corrections in (0.08, 0), (0.08, 2), (0.04, 2):
        sim = md.Simulation(MATERIAL, dt=dt)
        sim.add_clumps(BALL, (0.3, 0, 0), velocity=(0, -0.6, 0))
        sim.forces.add(hill, corrections=corrections)
        sim.run_until(1.2)
        errors.append(np.abs(sim.position[0, :2] - (0.3 * np.cos(1.2), -0.6 * np.sin(1.2))).max())
        sim.run_until(10.0 * np.pi)
        jacobi = 0.5 * np.sum(sim.velocity ** 2) - 1.5 * sim.position[0, 0] ** 2
        gains.append(jacobi / (0.5 * 0.36 - 1.5 * 0.09) - 1.0)
    assert gains[0] > 0.03 and orders(gains[1:])[0] == pytest.approx(5.0, abs=0.2) and abs(gains[2]) < 3e-5
    assert orders(errors[1:])[0] == pytest.approx(2.0, abs=0.1), errors


@pytest.mark.parametrize("rotation", ["spiral", "exact", "no-squish"])
def test_corrections_of_rotation(rotation):
    """A torque across the angular velocity of a sphere turns it and does no work."""
    gains = []
    for corrections in (0, 2):
        sim = md.Simulation(MATERIAL, dt=0.05, rotation=rotation)
        sim.add_clumps(BALL, (0, 0, 0), angular_velocity=(1, 0, 0))
        sim.forces.add(lambda t, x, v, q, w: (0.0 * v, BALL.inertia[0] * np.cross(w, (0, 0, 1.0))),
                      corrections=corrections)
        sim.run(400)
        gains.append(abs(np.sum(sim.angular_velocity ** 2) - 1.0))
    assert gains[1] < 1e-5 and gains[0] > 100.0 * gains[1], gains


def test_both_languages_agree_with_corrections():
    """With forces of both, gravity and contacts, rounding apart."""
    found = []
    for forces in ((across, compiled_drag), (compiled_across, drag), (across, drag), (compiled_across, compiled_drag)):
        sim = md.Simulation(md.Material(1e6, 0.3, restitution=0.5, friction=0.5), [md.Plane((0, 0, 0), (0, 0, 1))],
                            contact="hertz-mindlin", dt=1e-4, gravity=(0, 0, -9.81))
        sim.add_clumps(BALL, [(0, 0, 0.051), (0.02, 0.01, 0.149)], velocity=[(1, 0, -1), (0, 1, -1)])
        sim.forces.add(forces[0], [20.0 * BALL.mass], corrections=2)
        sim.forces.add(forces[1], [DRAG * BALL.mass])
        sim.run(500)
        found.append([*sim.position.flat, *sim.velocity.flat, sim.energy().work])
    np.testing.assert_allclose(found[1:], [found[0]] * 3, rtol=1e-10, atol=1e-13)


# --- the step is checked

def spin_drag(t, x, v, q, w, rate):
    return 0.0 * v, -rate * w


def smallest_first(t, x, v, q, w, rate):
    """Stokes drag of grains of different sizes: the smallest one is slowed down fastest."""
    return -rate * 0.25 * SIZES[:, None] * v, 0.0 * w


SIZES = np.append(np.random.default_rng(0).uniform(1.0, 3.0, 80), 0.5)
STIFF = {      # force, coefficient for the rate 1, corrections, rate above which a run warns
    "python": (drag, BALL.mass, 0, 1.0), "compiled": (compiled_drag, BALL.mass, 0, 1.0),
    "corrected": (drag, BALL.mass, 2, 1.4), "rotation": (spin_drag, BALL.inertia[0], 0, 1.0),
    "sizes": (smallest_first, BALL.mass, 0, 1.0)}


@pytest.mark.parametrize("name", STIFF)
def test_the_step_is_checked(name):
    """At once, and without a false alarm just below; functions are called more often only where it is doubtful."""
    force, unit, corrections, limit = STIFF[name]
    for share in (0.97, 1.03):
        sim, calls, dt = md.Simulation(MATERIAL, dt=1e-3), [], 1e-3
        n = len(SIZES) if name == "sizes" else 1
        sim.add_clumps(BALL, np.arange(n)[:, None] * [1.0, 0, 0], velocity=(1, 2, 3), angular_velocity=(3, 2, 1),
                       scale=SIZES if name == "sizes" else 1.0)
        counted = force if name == "compiled" else counting(force, calls)
        sim.forces.add(counted, [share * limit * unit / dt], corrections=corrections)
        found, _ = warnings_of(partial(sim.run, 1))
        assert len(found) == (share > 1.0) and len(calls) <= 15 and (share > 1.0 or corrections or len(calls) <= 2)
        if share > 1.0:
            clump = n - 1
            assert re.search(rf"user forces change the velocity of clump {clump} at a rate of 1[.\d]+e\+03 1/s.*Lower "
                             "dt below", found[0]) and f"{1.03 * limit:.3g} times 1 / dt" in found[0]


def test_forces_that_the_step_resolves_do_not_warn():
    """A spring at its turning points, and noise, which turns slow clumps round."""
    def spring(t, x, v, q, w, *, random):
        return BALL.mass * (-400.0 * (x - places) - 3.0 * v + 2.0 * (random - 0.5)), 0.0 * w
    places = np.argwhere(np.ones((4, 4, 4))).astype(float)
    sim = md.Simulation(MATERIAL, dt=5e-3)
    sim.add_clumps(BALL, places, velocity=np.random.default_rng(1).normal(size=(64, 3)))
    sim.forces.add(spring, random=3)
    assert warnings_of(lambda: [sim.run(100) for _ in range(10)])[0] == []


# --- what the guide says of noise and of copies

@pytest.mark.parametrize("corrections, of_half_steps", [(0, 1.0 + 0.5 * 0.2 ** 2), (2, 1.0)])
def test_temperature_of_a_thermostat(corrections, of_half_steps):
    """Velocities of half steps have it; those of whole steps, means of two, read low by 1 / (1 + c dt / 2)."""
    dt, rate, found = 0.2, 1.0, []

    def bath(t, x, v, q, w, *, random):
        return BALL.mass * (np.sqrt(2.0 * rate / dt) * ndtri(random) - rate * v), 0.0 * w
    sim = md.Simulation(MATERIAL, dt=dt)
    sim.add_clumps(BALL, np.argwhere(np.ones((12, 12, 12))) * 100.0)
    sim.forces.add(bath, random=3, seed=3, corrections=corrections)
    sim.run(30)
    for _ in range(20):
        sim.run(5)
        kinetic, x = 2.0 * sim.energy().kinetic / (3 * sim.n_clumps * BALL.mass), sim.position
        sim.run(1)
        found.append((kinetic, np.mean(((sim.position - x) / dt) ** 2)))
    assert np.mean(found, axis=0) == pytest.approx((1.0 / (1.0 + 0.5 * rate * dt), of_half_steps), abs=0.02)


class Wind:
    speed = 1.0

    def __call__(self, t, x, v, q, w):
        return np.tile((self.speed, 0.0, 0.0), (len(x), 1)), 0.0 * w


def test_what_a_copy_shares():
    """Functions and what they read; a callable object is copied."""
    read = {"speed": 1.0}
    for force, owner in ((lambda t, x, v, q, w: (0.0 * v + (read["speed"], 0, 0), 0.0 * w), None), (Wind(), Wind)):
        sim = md.Simulation(MATERIAL, dt=0.1)
        sim.add_clumps(BALL, (0, 0, 0))
        sim.forces.add(force)
        other = copy.deepcopy(sim)
        assert (other.forces.functions[0] is force) == (owner is None)
        read["speed"] = 3.0
        if owner:
            other.forces.functions[0].speed = 5.0
        for one in (sim, other):
            one.forces.renew()
            one.run(1)
        speeds = np.array([sim.velocity[0, 0], other.velocity[0, 0]]) / (0.1 / BALL.mass)
        assert speeds == pytest.approx([1.0, 5.0] if owner else [3.0, 3.0])
        read["speed"] = 1.0
