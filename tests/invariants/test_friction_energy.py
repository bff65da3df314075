"""Energy and symmetries of oblique impacts with friction: ten thousand pairs of spheres in one simulation."""
import numpy as np
import pytest
from oblique_impacts import POISSON, YOUNG, Law, Spheres, duration
from reference_contact import effective_modulus, rotation_matrix
from scenes import unit_vectors

EPS = np.finfo(float).eps
MODULUS = effective_modulus(YOUNG, POISSON, YOUNG, POISSON)
STEPS = 50                              # of the shortest contact
SPEED, RADIUS = 5.0, 0.01               # of each sphere [m/s], mean [m]


def random_impacts(n, seed=1, walls=False, ratio=2.0):
    """n random pairs, or spheres that meet a plane, at a fiftieth of the largest normal speed at least; dt, steps."""
    rng, k = np.random.default_rng(seed), 1 if walls else 2
    radii = RADIUS * ratio**rng.uniform(-0.5, 0.5, (n, k))
    normal = np.tile([0.0, 0.0, 1.0], (n, 1)) if walls else unit_vectors(rng, n)
    velocity = SPEED * unit_vectors(rng, n * k).reshape(n, k, 3)
    approach = -np.sum((velocity[:, 0] - velocity[:, -1] * (k == 2)) * normal, axis=1)
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


@pytest.mark.parametrize("friction", [0.1, 0.5, 10.0])
@pytest.mark.parametrize("walls", [False, True])
def test_no_energy_is_created(walls, friction):
    """Except for the integration error of the normal direction, which is measured without friction."""
    scene, dt, steps = random_impacts(10_000 if friction == 0.5 else 2000, walls=walls)
    smooth, rough = (scene.after(Law(1.0, mu), dt, steps) for mu in (0.0, friction))
    np.testing.assert_allclose(smooth[1], scene.angular_velocity, rtol=0, atol=1e-12 * np.max(np.abs(smooth[1])))
    start = scene.kinetic(scene.velocity, scene.angular_velocity)
    allowed, gain = np.max(np.abs(scene.kinetic(*smooth) / start - 1)), scene.kinetic(*rough) / start - 1
    assert allowed < 2e-4
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
    sim, shape = scene.simulation(law, dt), scene.velocity.shape
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
