"""Symmetries: reversal of time, rotation of the axes, order of the clumps, units.

Collisions amplify the round-off in which twins differ. The bound is all of it, some eps of the largest components a
step, times the measured growth of a small disturbance."""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix
from scenes import ROLLING, product, state_of

import minidem as md

EPS = np.finfo(float).eps
ROUNDINGS = 10                # of a component per step: kick, drift, overlap, force, turn
DT, STEPS = 38e-6, 1500       # three or so collisions of a rod in a 0.6 m box


@pytest.fixture(scope="module")
def box():
    return scenes.rods_in_box(seed=4, n=8, side=0.6)


def scales(scene):
    """Largest components of x, q, v, w, to compare unlike quantities; v and w of the same size as x and q per time."""
    speed = np.max(np.linalg.norm(scene.velocity, axis=1))
    return np.max(np.abs(scene.position)), 1.0, speed, speed / scene.shapes[0].reach


def difference(one, other, scale):
    (x, q, v, w), (x2, q2, v2, w2) = one, other
    q2 = q2 * np.where((q * q2).sum(1, keepdims=True) < 0, -1.0, 1.0)
    return max(np.max(np.abs(a - b)) / s for a, b, s in zip((x, q, v, w), (x2, q2, v2, w2), scale))


def run(scene, steps=STEPS, dt=DT, **options):
    sim = scene.simulation(dt, **options)
    sim.run(steps)
    return sim


def amplification(scene, steps=STEPS, **options):
    """Largest growth of a small disturbance of position and velocity, over three random ones."""
    disturbance, ends, scale = 1e-9, state_of(run(scene, steps, **options)), scales(scene)
    growth = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, v = (a + disturbance * s * rng.uniform(-1, 1, a.shape)
                for a, s in zip((scene.position, scene.velocity), (scale[0], scale[2])))
        growth.append(difference(ends, state_of(run(scene.changed(position=x, velocity=v), steps, **options)), scale))
    return max(1.0, max(growth) / disturbance)


def bound(scene, steps=STEPS, **options):
    return amplification(scene, steps, **options) * ROUNDINGS * steps * EPS


def test_amplification_can_be_used(box):
    """Collisions happen, and the bound is still far below what a wrong force would do."""
    assert 10 < amplification(box) and bound(box) < 1e-6


def test_reversed_time():
    """Leapfrog is its own inverse: spheres with reversed velocities return to their start."""
    scene = scenes.rods_in_box(seed=6, n=20, side=0.6, spin=0.0, shape=scenes.ball(0.05))
    there = run(scene)
    assert np.max(np.abs(there.velocity - scene.velocity)) > 1.0
    x, q, v, w = state_of(run(scene.changed(position=there.position, velocity=-there.velocity)))
    start = scene.position, scene.orientation, scene.velocity, scene.angular_velocity
    assert difference(start, (x, scene.orientation, -v, -w), scales(scene)) < bound(scene, 2 * STEPS)
    assert not w.any()                             # a frictionless sphere is never turned


@pytest.mark.parametrize("scheme", [name for name in md.rotation.available() if name != "pfc4"])
def test_rotated_start(box, scheme):
    """Not so for pfc4, which makes the lab's axes, seen from the body, orthonormal one after the other, x first."""
    turn = np.array([[0.4, 0.1, -0.7, np.sqrt(1 - 0.66)]])
    matrix = rotation_matrix(turn[0])
    x, q, v, w = state_of(run(box, rotation=scheme))
    walls = [md.Plane(matrix @ wall.point, matrix @ wall.normal) for wall in box.walls]
    turned = box.changed(position=box.position @ matrix.T, velocity=box.velocity @ matrix.T, walls=walls,
                         angular_velocity=box.angular_velocity @ matrix.T,
                         orientation=product(np.repeat(turn, len(x), axis=0), box.orientation))
    expected = x @ matrix.T, product(np.repeat(turn, len(x), axis=0), q), v @ matrix.T, w @ matrix.T
    assert difference(state_of(run(turned, rotation=scheme)), expected, scales(box)) < bound(box, rotation=scheme)


# The same corners, in powers of four: 0.8 um and 0.85 km, 1 kPa and 256 GPa; and 1 Pa.
EXACT_UNITS = [(length, modulus) for length in (4.0**-9, 4.0**6) for modulus in (4.0**-10, 4.0**4)]
EXACT_UNITS.append((4.0**-10, 4.0**-15))
FEW_SCHEMES = ["spiral", "velocity-verlet", "improved-pcdm"]    # velocities half a step behind, with `finish`, ahead


@pytest.mark.parametrize("scheme, contact, steps", [
    *((scheme, "hertz", STEPS) for scheme in md.rotation.available()),
    *((scheme, contact, STEPS) for scheme in FEW_SCHEMES for contact in ("hertz:onset=corrected", ROLLING)),
    *(pytest.param(scheme, "hertz", 300_000, marks=pytest.mark.slow) for scheme in md.rotation.available()
      if not scheme.startswith("buss"))])               # with which the rods gain energy until they leave the box
def test_units_that_are_powers_of_four_change_no_bit(box, scheme, contact, steps):
    """Any difference is an absolute number hidden somewhere in the step."""
    rough = {"restitution": 0.7, "friction": 0.3, "rolling_friction": 0.1} if contact == ROLLING else {}
    def end(scene, time=1.0):
        return state_of(run(scene, steps, DT * time, rotation=scheme, contact=contact,
                            material=md.Material(scene.young, scene.poisson, **rough)))
    expected = end(box)
    for length, modulus in EXACT_UNITS:
        scene, factors, time = scenes.rescaled(box, length, modulus)
        found = end(scene, time)
        for a, b, f in zip(found, expected, factors):
            np.testing.assert_array_equal(a / f, b)
