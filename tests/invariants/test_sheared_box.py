"""Physics in periodic boxes that move: collisions across faces, work of the box, momentum, stress, pressure."""
import numpy as np
import pytest
from scenes import MOTIONS, SHORT_ROD as ROD, distance_to_touch, gas, sheared_material as material

import minidem as md
from minidem.core.quaternions import rotate
from minidem.initial import random_orientations

BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.03], density=2500.0)
CORNERS = {"low": (-0.25, -0.3, -0.2), "high": (0.25, 0.3, 0.2), "axes": (True, True, True)}
HIGH = np.array(CORNERS["high"])
CORRECTED = "hertz:onset=corrected", "hooke:stiffness=1e5,onset=corrected"
ROUNDING = 1e-12, 2e-10, 1e-9          # a few of 1000 collisions amplify the rounding of positions a thousand times


def collide(n, flow, gradient, contact="hertz", rotation="spiral", seed=0):
    """Largest differences of n collisions across the sheared face, each a pair alone, from those in unbounded space: of
    positions [m], and of velocities and angular velocities relative to the largest. And how many pairs have met."""
    rng, worst, met = np.random.default_rng(seed), np.zeros(3), 0
    f, g = "xyz".index(flow), "xyz".index(gradient)
    sheared = md.Simulation(material(contact), dt=2e-5, contact=contact, rotation=rotation,
                            periodic=md.PeriodicBox(**CORNERS, shear=(flow, gradient, 3.0)))
    sheared.add_clumps(BALL, (-0.2, -0.2, -0.1))
    for _ in range(n):
        sheared.run(int(rng.integers(1, 400)))
        box, apart = sheared.box, rng.normal(size=3)
        apart[g] = abs(apart[g])
        orientation, spin = random_orientations(2, rng), rng.normal(0.0, 5.0, (2, 3))
        apart /= np.linalg.norm(apart)
        first, second = (rotate(q, ROD.centers - ROD.center_of_mass) for q in orientation)
        apart *= distance_to_touch(first, ROD.radii, second, ROD.radii, apart) + 0.0004
        first = np.zeros(3)
        first[g] = HIGH[g] - 0.5 * apart[g]           # the other one is beyond the face, and comes as an image
        places = np.array([first, first + apart])
        velocities = rng.normal(0.0, 1.0, 3) - [[0.0], [20.0]] * apart + 0.1 * rng.normal(size=(2, 3))
        counts = np.zeros(3)
        counts[g], counts[f] = -1.0, rng.integers(-2, 3)
        image = places + [[0.0] * 3, box.displacement(counts[None])[0]]
        unbounded = md.Simulation(material(contact), dt=2e-5, contact=contact, rotation=rotation)
        unbounded.add_clumps(ROD, places, orientation, velocity=velocities, angular_velocity=spin)
        ids = sheared.add_clumps(ROD, image, orientation, velocity=velocities + box.flow(image) - box.flow(places),
                                 angular_velocity=spin)
        before = unbounded.velocity[0]
        for sim in unbounded, sheared:
            sim.run(400)
        box, rods = sheared.box, slice(1, 3)
        position, velocity = sheared.position[rods], sheared.velocity[rods]
        d = position - unbounded.position
        d -= box.displacement(box.lengths_in(d))
        v = velocity - unbounded.velocity - box.flow(position) + box.flow(unbounded.position)
        w = sheared.angular_velocity[rods] - unbounded.angular_velocity
        met += np.abs(unbounded.velocity[0] - before).max() > 0.05
        worst = np.maximum(worst, [np.abs(d).max(), np.abs(v).max() / np.abs(unbounded.velocity).max(),
                                   np.abs(w).max() / np.abs(unbounded.angular_velocity).max()])
        sheared.remove_clumps(ids)
    return worst, met


@pytest.mark.parametrize("n, flow, gradient, contact, rotation", [
    (30, "x", "y", "hertz", "spiral"), (30, "z", "x", "hertz", "rk4"), (30, "x", "z", "hertz-mindlin", "fincham"),
    (30, "y", "z", "hertz:onset=corrected", "spiral"),
    pytest.param(1000, "x", "y", "hertz", "spiral", marks=pytest.mark.slow)])
def test_collision_across_the_face_as_in_unbounded_space(n, flow, gradient, contact, rotation):
    worst, met = collide(n, flow, gradient, contact, rotation)
    assert met >= n / 2 and (worst < ROUNDING).all()


FAST = [(name, "hertz-mindlin") for name in ("stretched", "faces", "pressure")]


@pytest.mark.parametrize("name, contact", [
    pytest.param(*case, marks=[] if case in FAST else [pytest.mark.slow])
    for case in ((name, contact) for name in MOTIONS for contact in ("hertz", "hertz-mindlin", *CORRECTED))])
def test_balance_of_second_order(name, contact):
    errors = []
    for dt in (4e-5, 2e-5, 1e-5):
        sim = gas(MOTIONS[name], contact, dt=dt)
        first = sim.energy()
        sim.run(round(0.1 / dt))
        last = sim.energy()
        errors.append(last.balance - first.balance)
    assert abs(last.work) > 0.02 * first.kinetic        # of the box
    assert abs(errors[0]) < 1e-3 * (abs(last.work) + first.kinetic)
    if contact in ("hertz-mindlin", CORRECTED[0]):      # else the errors of contacts have any sign
        orders = np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))
        assert (1.7 < orders).all() and (orders < 2.3).all()


@pytest.mark.parametrize("name, contact", [("shear", "hertz-mindlin"), *(
    pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("stretched", "hertz-mindlin"), *(("shear", contact) for contact in CORRECTED), ("stretched", CORRECTED[1])))])
def test_work_is_that_of_the_stress(name, contact):
    """- volume * stress : velocity gradient, with the kinetic part, summed over a run; compression is positive."""
    sim, power = gas(MOTIONS[name], contact, n=100), []
    sim.run(1)                                          # the box is at rest before the first step
    first = sim.energy().work
    for _ in range(1500):
        power.append(-sim.box.volume * np.sum(sim.stress(kinetic=True) * sim.box.gradient))
        sim.run(1)
    assert sim.energy().work - first == pytest.approx(sim.dt * (np.sum(power) - 0.5 * power[0]), rel=2e-3)


def pair(contact, rates=(0.0, 0.0, 0.0), shear=("x", "y", 60.0), force=False):
    sim = md.Simulation(material(contact), dt=4e-5, contact=contact,
                        periodic=md.PeriodicBox(**CORNERS, shear=shear, rates=rates))
    sim.add_clumps(BALL, [(0.0, 0.2697, 0.0), (0.01, -0.2697, 0.0)], velocity=[(0.0, 5.0, 0.0), (0.0, -5.0, 0.0)])
    if force:
        sim.forces.add(lambda t, x, v, q, w: (-0.1 * v, 0.0 * w))
    sim.run(1)
    return sim


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("contact", CORRECTED)
def test_work_of_the_box_is_that_of_the_force_that_acts(contact, force):
    """Impulse times the velocity of the image, with the onset corrections; a user force has work of its own."""
    sim, impulse, touched = pair(contact, force=force), np.zeros(3), 0
    ledger = [sim.loop.ledger()["wall_work"][0].sum()]
    while touched < 300 and (touched == 0 or len(sim.contacts())):
        sim.run(1)
        touched += len(sim.contacts()) > 0
        impulse += sim.dt * sum(sim.contacts()["force"], np.zeros(3))
    sim.run(2)
    ledger.append(sim.loop.ledger()["wall_work"][0].sum())
    assert 20 < touched < 300 and ledger[1] - ledger[0] == pytest.approx(impulse[0] * 60.0 * 0.6, rel=1e-12)


@pytest.mark.parametrize("contact", CORRECTED)
def test_pressure_holds_the_stress_of_the_force_that_acts(contact):
    """The strain rates follow from `sim.stress`, with the kinetic part of half a step before."""
    held, touched = md.Pressure(10.0, 1e3, damping=0.0), 0
    sim = pair(contact, (held,) * 3, None)
    sim.run(1)
    while touched < 300 and (touched == 0 or len(sim.contacts())):
        u = sim.loop.state.column("velocity") - sim.box.flow(sim.position)
        stress = np.diag(sim.stress()) + sim.mass @ u ** 2 / sim.box.volume
        before, touched = np.diag(sim.box.gradient), touched + (len(sim.contacts()) > 0)
        sim.run(1)
        change = sim.dt * (stress / held.pressure - 1.0) / held.time ** 2
        assert np.diag(sim.box.gradient) - before == pytest.approx(change, rel=1e-8)
    assert 20 < touched < 300


@pytest.mark.parametrize("contact", CORRECTED)
def test_lasting_energy_across_a_face_that_moves(contact):
    """Within a contact it varies as in unbounded space."""
    rows, sim = [], pair(contact)
    while len(rows) < 300 and (not rows or len(sim.contacts())):
        sim.run(1)
        if len(sim.contacts()):
            energy = sim.energy(shadow=True)
            rows.append((energy.total - energy.work, energy.lasting - energy.work))
    total, lasting = np.ptp(rows, axis=0)
    assert 20 < len(rows) < 300 and lasting < total / 100.0


def crystal(time, restitution, **motion):
    """27 balls that touch in a cubic lattice, held under a pressure whose `time` is given in steps."""
    held = md.Pressure(100.0, time * 4e-6)
    edge, d = 3e-3, 1e-3
    sim = md.Simulation(md.Material(1e6, 0.3, restitution=restitution, friction=0.5), dt=4e-6, contact="hertz-mindlin",
                        periodic=md.PeriodicBox((0,) * 3, (edge,) * 3, axes=(True,) * 3, rates=(held,) * 3, **motion))
    ball = md.ClumpTemplate([(0, 0, 0)], [0.502 * d], density=2500.0)
    sim.add_clumps(ball, d * (np.argwhere(np.ones((3, 3, 3))) + 0.5))
    return sim


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("restitution", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("time", [10, 20, 63])
def test_pressure_is_stable_beside_dashpots(time, restitution, affine):
    sim, found = crystal(time, restitution, affine=affine), []
    sim.run(3000)
    sim.run(20, every=1, callback=lambda sim: found.append(np.diag(sim.stress(kinetic=True)) / 100.0))
    assert np.abs(np.diff(found, axis=0)).max() < 0.01 and found == pytest.approx(np.ones((20, 3)), abs=0.2)


def test_pressure_finds_the_springs_of_any_law():
    """Stiff elastic balls: their modulus is many times what the inertia of the box alone could bear."""
    lengths = []
    for contact in "hertz", "hertz:onset=corrected", "hertz-mindlin":
        d = 0.02 * (1.0 - 3e-4)
        sim = md.Simulation(md.Material(1e8, 0.3, restitution=1.0, friction=0.3), contact=contact, dt=1e-6,
                            periodic=md.PeriodicBox((0,) * 3, (3 * d,) * 3, axes=(True,) * 3,
                                                    rates=(md.Pressure(1e4, time=1e-5),) * 3))
        sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.01], 2500.0), d * (np.argwhere(np.ones((3, 3, 3))) + 0.5))
        found = []
        sim.run(100, every=1, callback=lambda sim: found.append(sim.box.length[0] / (3 * d)))
        lengths.append(found)
    assert np.abs(np.diff(lengths[0])).max() < 5e-3        # 1e-2 without the springs, and more with corrections
    assert np.ptp(lengths, axis=0).max() < 1e-3


@pytest.mark.parametrize("motion", [{}, MOTIONS["shear"]], ids=["rest", "shear"])
@pytest.mark.parametrize("contact", ["hertz", "hertz-mindlin:rolling=epsd"])
def test_momentum(contact, motion):
    """At rest and in steady shear no force acts on the whole, and momentum is constant in unbounded space."""
    sim, contacts = gas(motion, contact), []
    sim.run(1)
    before = sim.linear_momentum()
    sim.run(3000, every=30, callback=lambda sim: contacts.append(len(sim.contacts())))
    scale = np.sum(sim.mass * np.linalg.norm(sim.velocity, axis=1))
    assert np.sum(contacts) > 100 and np.abs(sim.linear_momentum() - before).max() < 3000 * np.finfo(float).eps * scale


def test_affine_start():
    """Clumps without contact take part in the start of the flow and in its changes, or do not."""
    for affine in True, False:
        sim = md.Simulation(material("hertz"), dt=1e-3, periodic=md.PeriodicBox(
            **CORNERS, shear=("x", "y", lambda t: 2.0 + t), rates=(0.0, 0.0, -0.5), affine=affine))
        sim.add_clumps(BALL, [(0.0, -0.2, -0.1), (0.0, 0.1, 0.1)])
        sim.run(1000)
        speed = np.abs(np.asarray(sim.velocity)).max()
        assert np.allclose(sim.velocity, sim.box.flow(sim.position), atol=2e-3) if affine else speed == 0.0
        assert sim.box.strain == pytest.approx([0.0, 0.0, -0.5, 2.5], rel=1e-6)
        assert sim.box.length[2] == pytest.approx(0.4 * np.exp(-0.5))


def test_an_empty_box_under_pressure():
    """time^2 e'' + 2 damping time e' = -1 for the strain e, of second order, also after a change of pressure."""
    errors, time, damping = [], 0.01, 0.7
    for dt in 1e-4, 5e-5:
        sim = md.Simulation(material("hertz"), dt=dt, periodic=md.PeriodicBox(
            **CORNERS, rates=(0.0, 0.0, md.Pressure(100.0, time, damping=damping))))
        sim.add_clumps(BALL, (0.0, 0.0, 0.0))
        sim.run_until(0.4 * time)
        sim.deform(rates=(0.0, 0.0, md.Pressure(200.0, time, damping=damping)))
        sim.run_until(time)
        slowed = 2.0 * damping
        errors.append(sim.strain[2] + (1.0 - (1.0 - np.exp(-slowed)) / slowed) / slowed)
    assert abs(errors[0]) < 1e-4 and 3.5 < errors[0] / errors[1] < 4.5
