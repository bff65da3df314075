"""Energy and symmetries of oblique impacts with friction: ten thousand pairs of spheres in one simulation."""
import numpy as np
import pytest
from oblique_impacts import POISSON, YOUNG, Law, Spheres, duration
from reference_contact import effective_modulus, rotation_matrix
from scenes import unit_vectors

import minidem as md

EPS = np.finfo(float).eps
MODULUS = effective_modulus(YOUNG, POISSON, YOUNG, POISSON)
STEPS = 50                              # of the shortest contact
SPEED, RADIUS = 5.0, 0.01               # of each sphere [m/s], mean [m]


def random_impacts(n, seed=1, walls=False, ratio=2.0):
    """n random pairs, or spheres that meet a plane, at a fiftieth of the largest normal speed at least; the step, and
    the number of steps until all have ended."""
    rng, k = np.random.default_rng(seed), 1 if walls else 2
    radii = RADIUS * ratio**rng.uniform(-0.5, 0.5, (n, k))
    normal = np.tile([0.0, 0.0, 1.0], (n, 1)) if walls else unit_vectors(rng, n)
    velocity = SPEED * unit_vectors(rng, n * k).reshape(n, k, 3)
    approach = -dot(velocity[:, 0] - velocity[:, -1] * (k == 2), normal)
    velocity *= np.where(approach < 0, -1.0, 1.0)[:, None, None]
    approach = np.abs(approach)
    slow = np.maximum(0.02 * SPEED * k - approach, 0.0)
    velocity[:, 0] -= slow[:, None] * normal
    approach += slow
    mass = 2500.0 * 4 / 3 * np.pi * radii**3
    times = duration(1 / (1 / mass).sum(1), 1 / (1 / radii).sum(1), MODULUS, approach)
    dt = np.min(times) / STEPS
    spin = SPEED / radii[..., None] * rng.uniform(0, 1, (n, k, 1)) * unit_vectors(rng, n * k).reshape(n, k, 3)
    gap = approach * dt * rng.uniform(1.0, 2.0, n)
    return Spheres(radii, normal, velocity, spin, gap), dt, int(1.05 * np.max(times) / dt) + 4


def dot(a, b):
    return (a * b).sum(-1)


def normal_errors(scene, dt, steps):
    """Relative change of the kinetic energy without friction: the integration error of the normal direction."""
    v, w = scene.after(Law(1.0, 0.0), dt, steps)
    np.testing.assert_allclose(w, scene.angular_velocity, rtol=0, atol=1e-12 * np.max(np.abs(w)))
    start = scene.kinetic(scene.velocity, scene.angular_velocity)
    return scene.kinetic(v, w) / start - 1


@pytest.mark.parametrize("friction", [0.1, 0.5, 10.0])
@pytest.mark.parametrize("walls", [False, True])
def test_no_energy_is_created(walls, friction):
    """But for the integration error of the normal direction, which is measured without friction."""
    scene, dt, steps = random_impacts(10_000 if friction == 0.5 else 2000, walls=walls)
    allowed = np.max(np.abs(normal_errors(scene, dt, steps)))
    assert allowed < 2e-4
    v, w = scene.after(Law(1.0, friction), dt, steps)
    gain = scene.kinetic(v, w) / scene.kinetic(scene.velocity, scene.angular_velocity) - 1
    assert np.max(gain) < 1.5 * allowed, f"{np.sum(gain > 1.5 * allowed)} impacts gain, the first is {np.argmax(gain)}"
    assert np.mean(gain) < -1e-3                        # friction acts


def test_sliding_creates_no_energy():
    """In no step of a collision, where a strong dashpot may leave more to the spring than it had."""
    least, total = 0.0, 0.0
    for seed in range(40):
        scene, dt, steps = random_impacts(1, seed=seed)
        sim, last = scene.simulation(Law(0.6, 0.3, tangential_damping=3.0), dt), 0.0
        start = np.sum(scene.kinetic(scene.velocity, scene.angular_velocity))
        for _ in range(steps):
            sim.run(1)
            sliding = sim.loop.ledger()["dissipated"][2].sum() / start
            least, last = min(least, sliding - last), sliding
        total += last
    assert least > -1e-5 and total > 0.05 * 40


@pytest.mark.parametrize("law", [Law(1.0, 0.5), Law(0.6, 0.5), Law(0.6, 0.5, 0.1, rolling_damping=0.3)])
def test_momentum_is_conserved(law):
    """Of each pair, to round-off; angular momentum about the middle of the pair at the start."""
    scene, dt, steps = random_impacts(500)
    sim = scene.simulation(law, dt)
    shape = scene.velocity.shape

    def momenta():
        x, v, w = (part.reshape(shape) for part in (sim.position, sim.velocity, sim.angular_velocity))
        arm, mass, inertia = x - scene.position.mean(1, keepdims=True), scene.mass[..., None], scene.inertia[..., None]
        return (mass * v).sum(1), (np.cross(arm, mass * v) + inertia * w).sum(1)

    before = momenta()
    sim.run(steps)
    largest = np.max(scene.mass) * 2 * SPEED
    for old, new, size in zip(before, momenta(), (largest, largest * 4 * RADIUS)):
        assert np.max(np.abs(new - old)) < steps * 100 * EPS * size
    assert np.max(np.abs(sim.angular_velocity.reshape(shape) - scene.angular_velocity)) > 1.0


def outcome(scene, law, dt, steps):
    return np.array(scene.after(law, dt, steps)) / np.array([SPEED, SPEED / RADIUS])[:, None, None, None]


def changed(scene, positions=lambda x: x, vectors=lambda v: v, spins=None):
    """The same spheres with mapped positions, velocities and angular velocities."""
    other = object.__new__(Spheres)
    vars(other).update(vars(scene))
    other.position, other.velocity = positions(scene.position), vectors(scene.velocity)
    other.angular_velocity = (spins or vectors)(scene.angular_velocity)
    return other


LAW = Law(0.7, 0.3)
AMPLIFIED = 1e-9                        # round-off of positions, 1e-16 of the distance of sites, relative to overlaps


SIGN, MATRIX = np.array([1.0, -1.0, 1.0]), rotation_matrix(np.array([0.4, 0.1, -0.7, np.sqrt(1 - 0.66)]))
TWINS = {       # how positions, velocities and angular velocities are mapped; accuracy
    "rotated": (lambda x: x @ MATRIX.T, lambda v: v @ MATRIX.T, lambda w: w @ MATRIX.T, AMPLIFIED),
    "mirrored": (lambda x: SIGN * x, lambda v: SIGN * v, lambda w: -SIGN * w, 0.0),
    "exchanged": (*3 * [lambda rows: rows[:, ::-1]], 0.0)}


@pytest.mark.parametrize("name", TWINS)
def test_twins(name):
    """Angular velocities are axial vectors. Exchanged: the numbers of the two spheres of each pair."""
    scene, dt, steps = random_impacts(200)
    positions, vectors, spins, accuracy = TWINS[name]
    other = changed(scene, positions, vectors, spins)
    if name == "exchanged":
        for of_pair in "radii", "mass", "inertia":
            setattr(other, of_pair, getattr(scene, of_pair)[:, ::-1])
    v, w = outcome(scene, LAW, dt, steps)
    np.testing.assert_allclose(outcome(other, LAW, dt, steps), [vectors(v), spins(w)], rtol=0, atol=accuracy)


@pytest.mark.parametrize("length, modulus", [(4.0**-9, 4.0**-10), (4.0**6, 4.0**4), (1e-3, 1e-5), (1e3, 10.0)])
def test_rescaled_units(length, modulus):
    """Other units of length and pressure; powers of four change no bit."""
    scene, dt, steps = random_impacts(200)
    speed = np.sqrt(modulus)
    other = changed(scene, lambda x: length * x, lambda v: speed * v, lambda w: speed / length * w)
    other.radii = length * scene.radii
    v, w = other.after(LAW, dt * length / speed, steps, young=modulus * YOUNG)
    expected = scene.after(LAW, dt, steps)
    found = v / speed, w * length / speed
    exact = np.log2(length) % 2 == 0
    for one, two in zip(found, expected):
        np.testing.assert_allclose(one, two, rtol=0, atol=0 if exact else AMPLIFIED * np.max(np.abs(two)))


LAWS = "hertz-mindlin", "hertz-mindlin:tangential_damping=0", "hooke-coulomb:stiffness=1e5"


@pytest.mark.parametrize("contact", LAWS)
def test_sliding_force(contact):
    """|T| = mu |F_n| in random oblique impacts; a spring or dashpot that is not turned with the contact changes F_n."""
    rng, n, mu = np.random.default_rng(4), 40, 0.2
    material = md.Material(1e7, 0.3, restitution=0.6, friction=mu)
    sim = md.Simulation(material, contact=contact, dt=4e-6)
    sphere = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
    place = np.column_stack([np.zeros((n, 2)), 0.1 * np.arange(n)])
    normal = rng.normal(size=(n, 3)) * (1.0, 1.0, 0.3)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for side in (1.0, -1.0):
        sim.add_clumps(sphere, place + side * 0.010001 * normal,
                       velocity=-side * normal + 0.4 * rng.normal(size=(n, 3)),
                       angular_velocity=40.0 * rng.normal(size=(n, 3)))
    seen = np.zeros(2, dtype=int)
    for _ in range(60):
        sim.run(2)
        contacts = sim.contacts()
        size = np.linalg.norm(contacts["tangential"], axis=1)
        slides = contacts["sliding"].astype(bool)
        pressing = np.abs(np.sum(contacts["force"] * contacts["normal"], axis=1))
        assert np.allclose(size[slides], mu * pressing[slides], rtol=1e-12, atol=0.0)
        seen += np.count_nonzero(slides), np.count_nonzero(~slides)
    assert np.all(seen > 100)
