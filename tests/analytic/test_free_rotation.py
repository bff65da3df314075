"""Every rotation scheme on free bodies: the limit, and the measured orders against those of its record."""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix

import minidem as md
from minidem.scenarios.rotating_bodies import driven_bodies as bodies
from minidem.scenarios.rotating_bodies.driven_bodies import TOLERANCE, errors, halvings, order, orientation_error, rms

SCHEMES = md.rotation.available()
Q0 = np.array([0.1, -0.7, 0.5, 0.5])
STAGGERED = [name for name in SCHEMES if md.rotation.info(name).orientation_offset
             or md.rotation.info(name).angular_velocity_offset]
FORMS = [f"{name}:{parameter}={word}" for name in SCHEMES     # every form that is not a scheme's default
         for parameter, words in md.rotation.info(name).parameters.items() if isinstance(words, tuple)
         for word in words[1:]]


@pytest.mark.parametrize("name", SCHEMES)
def test_orders_under_constant_body_torque(name):
    """And without torque: of these orders at least, or to round-off."""
    record = md.rotation.info(name)
    steps = halvings(max(record.order_q, record.order_w))
    q, w = errors(name, bodies.constant, steps)
    assert abs(order(q) - record.order_q) < TOLERANCE, f"q: {order(q)} from {q}"
    assert abs(order(w) - record.order_w) < TOLERANCE, f"w: {order(w)} from {w}"
    round_off = 6 * steps * np.finfo(float).eps
    for declared, error in zip((record.order_q, record.order_w), errors(name, lambda t, q, w: 0.0 * w, steps)):
        assert order(error) > declared - TOLERANCE or np.all(error < round_off), error


@pytest.mark.parametrize("name", SCHEMES)
def test_orders_under_varying_torque(name):
    """The declared order is the lowest over the kinds of variation."""
    record = md.rotation.info(name)
    steps = halvings(max(record.order_q_varying, record.order_w_varying))
    measured = {kind: [order(e) for e in errors(name, torque, steps)] for kind, torque in bodies.VARYING.items()}
    lowest = np.min(list(measured.values()), axis=0)
    assert abs(lowest[0] - record.order_q_varying) < TOLERANCE, f"orders of q, w: {measured}"
    assert abs(lowest[1] - record.order_w_varying) < TOLERANCE, f"orders of q, w: {measured}"


@pytest.mark.parametrize("name", FORMS)
def test_orders_of_other_forms(name):
    record = md.rotation.info(name)
    q, w = errors(name, bodies.constant, halvings(4))
    assert order(q) > record.order_q - TOLERANCE and order(w) > record.order_w - TOLERANCE, (q, w)
    for kind, torque in bodies.VARYING.items():
        q, w = errors(name, torque, halvings(record.order_q_varying))
        assert order(q) > record.order_q_varying - TOLERANCE, f"{kind}: {q}"
        assert order(w) > record.order_w_varying - TOLERANCE, f"{kind}: {w}"


@pytest.mark.parametrize("name", STAGGERED)
def test_stored_values_belong_to_the_stated_instants(name):
    record = md.rotation.info(name)
    ends = [md.rotation.integrate(name, bodies.INERTIA, bodies.ORIENTATION, bodies.SPIN, bodies.PUSH,
                                  bodies.DURATION / n, n, sync=False) for n in halvings(record.order_w)]
    times = np.unique([(end.orientation_time, end.angular_velocity_time) for end in ends])
    q, w = bodies.driven(bodies.INERTIA, bodies.ORIENTATION, bodies.SPIN, bodies.constant, times)
    of_q = [orientation_error(end.orientation, q[times == end.orientation_time][0]) for end in ends]
    of_w = [rms(end.angular_velocity - w[times == end.angular_velocity_time][0]) for end in ends]
    assert order(of_q) > record.order_q - TOLERANCE and order(of_w) > record.order_w - TOLERANCE, (of_q, of_w)


TOPS = {"asymmetric": ((1.0, 2.0, 2.5), (0.7, 1.0, -0.6)),
        # 2T I_2 = L^2 within 2e-6: over the ten radians below w_y reverses.
        "near the separatrix": ((1.0, 2.0, 2.5), (0.6, 1e-6, np.sqrt(0.288))),
        "symmetric": ((1.0, 1.0, 1.7), (0.5, 0.2, 1.0)), "needle": ((1e-6, 1.0, 1.0), (300.0, 0.2, 1.0)),
        "flat needle": ((1e-6, 1.0, 1.0 + 1e-6), (300.0, 0.2, 1.0)), "about y": ((1.0, 0.3, 1.0), (0.5, 0.2, 1.0))}


@pytest.mark.parametrize("turn", [0.001, 0.02, 0.5, 5.0])
@pytest.mark.parametrize("top", TOPS)
def test_exact_free_rotation(top, turn):
    """Against DOP853, over ten radians in steps of `turn`, from below to far above the limit of the series; the
    stored angular velocity is that in the middle of the last step, within a part of it or between two."""
    inertia, w0 = (np.array(values) for values in TOPS[top])
    rate = np.linalg.norm(w0)
    end, stored = (md.rotation.integrate("exact", inertia, Q0, w0, np.zeros(3), turn / rate, round(10.0 / turn),
                                         sync=sync) for sync in (True, False))
    q, w = bodies.driven(inertia, Q0, w0, lambda t, q, w: 0.0 * w, [(10.0 - 0.5 * turn) / rate, 10.0 / rate])
    assert orientation_error(end.orientation, q[1]) < 1e-12 and rms(end.angular_velocity - w[1]) < 1e-12 * rate
    assert rms(stored.angular_velocity - w[0]) < 1e-12 * rate


@pytest.mark.parametrize("order_of_dmv", [2, 4, 6])
def test_order_of_discrete_free_rotation(order_of_dmv):
    q_exact, w_exact = bodies.driven(bodies.INERTIA, bodies.ORIENTATION, bodies.SPIN, lambda t, q, w: 0.0 * w, 1.0)
    steps, found = np.array([4, 8, 16]), []
    for n in steps:
        end = md.rotation.integrate(f"dmv:order={order_of_dmv}", bodies.INERTIA, bodies.ORIENTATION, bodies.SPIN,
                                    np.zeros(3), 1.0 / n, n)
        found.append((orientation_error(end.orientation, q_exact), rms(end.angular_velocity - w_exact)))
    assert [order(errors) for errors in np.transpose(found)] == pytest.approx([order_of_dmv] * 2, abs=0.2), found


@pytest.mark.parametrize("ratio", [1e-6, 0.3, 1.0, 1.0 + 1e-13, 2.0])
@pytest.mark.parametrize("axis", range(3))
def test_step_of_a_symmetric_top(axis, ratio):
    """Against the closed solution, in steps of 1e-4 to 100 rad: a few units in the last place of the angles."""
    rng, n = np.random.default_rng(4), 400
    h, spin, q = np.logspace(-4, 2, n), scenes.unit_vectors(rng, n), scenes.unit_vectors(rng, n, 4)
    inertia = np.roll([ratio, 1.0, 1.0], axis)
    ends = [md.rotation.integrate("exact", inertia, q[k], spin[k], np.zeros(3), h[k], 1) for k in range(n)]
    w, half = spin.astype(np.longdouble), 0.5 * h.astype(np.longdouble)
    momentum, along = inertia * w, w[:, axis]
    size = half * np.sqrt(np.sum(momentum**2, axis=1))
    angle, side = half * (np.longdouble(inertia[axis]) - 1.0) * along, np.eye(3)[axis]
    whole = np.concatenate([np.cos(size)[:, None], (np.sin(size) / size * half)[:, None] * momentum], axis=1)
    back = np.concatenate([np.cos(angle)[:, None], -np.sin(angle)[:, None] * side], axis=1)
    turned_spin = w - along[:, None] * side
    turned_spin = (along[:, None] * side + np.cos(2.0 * angle)[:, None] * turned_spin
                   + np.sin(2.0 * angle)[:, None] * np.cross(side, turned_spin))
    bound = 2.0**-53 * (6.0 + 3.0 * h[:, None])
    assert np.all(np.abs([end.orientation for end in ends] - scenes.product(scenes.product(q, whole), back)) < bound)
    assert np.all(np.abs([end.angular_velocity for end in ends] - turned_spin) < bound)


# The exponential of a rotation: exact for every angle, with the same bits in every lane of a block.

LITTLE = 2048 ** -0.5                                       # half-angle from which on the series are longer
# Half-angles of a step: across that limit, across odd multiples of pi/4, where the quadrant changes, and far beyond.
HALF_ANGLES = np.concatenate([
    [0.0, 1e-160, 1e-9], LITTLE * (1.0 + np.linspace(-1e-3, 1e-3, 11)), np.logspace(-4, 2, 61),
    *(np.pi / 4 * k * (1.0 + np.linspace(-1e-9, 1e-9, 5)) for k in (1, 2, 3, 4, 5))])
STEP = 0.1                              # [s]


def turned(axes, half_angles, name="spiral", **options):
    """Orientations after one step of spheres that turn by twice these angles."""
    rate = 2.0 * half_angles[:, None] / STEP * axes
    return md.rotation.integrate(name, (1.0, 1.0, 1.0), np.tile([1.0, 0.0, 0.0, 0.0], (len(axes), 1)), rate,
                                 (0.0, 0.0, 0.0), STEP, 1, **options).orientation


def test_exact_for_every_angle():
    axes = scenes.unit_vectors(np.random.default_rng(1), len(HALF_ANGLES))
    found = turned(axes, HALF_ANGLES, start=False)
    h = (0.5 * STEP * (2.0 * HALF_ANGLES[:, None] / STEP * axes)).astype(np.longdouble)     # as the scheme has it
    angle = np.sqrt(np.sum(h * h, axis=1))
    with np.errstate(invalid="ignore"):
        sinc = np.where(angle > 1e-100, np.sin(angle) / angle, 1.0)
    exact = np.concatenate([np.cos(angle)[:, None], sinc[:, None] * h], axis=1)
    # An angle that is rounded to half a unit in its last place turns as far.
    assert np.all(np.abs(found - exact) <= (4.0 + angle[:, None]) * 2.0 ** -53)


@pytest.mark.parametrize("name", ["spiral", "spiral:inner=rk4", "spiral-sync", "pcdm", "improved-pcdm",
                                  "spiral-omelyan", "dlm", "exact", "lie-midpoint", "lie-newmark", "simo-wong",
                                  "touma-wisdom"])
def test_bits_do_not_depend_on_other_lanes(name):
    rng = np.random.default_rng(2)
    axes = scenes.unit_vectors(rng, len(HALF_ANGLES))
    together = turned(axes, HALF_ANGLES, name)
    for mixed in (np.argsort(HALF_ANGLES), rng.permutation(len(HALF_ANGLES))):
        assert np.array_equal(turned(axes[mixed], HALF_ANGLES[mixed], name), together[mixed])
    for k in range(len(HALF_ANGLES)):
        assert np.array_equal(turned(axes[k:k + 1], HALF_ANGLES[k:k + 1], name)[0], together[k])


@pytest.mark.parametrize("largest", [0.01, 3.0])
def test_bits_do_not_depend_on_the_moments_of_other_lanes(largest):
    """Bodies with one, two and three distinct moments, in steps up to so many rad."""
    rng, n = np.random.default_rng(6), 48
    kinds = np.array([(1, 1, 1), (0.2, 1, 1), (1, 0.2, 1), (1, 1, 1.7), (1, 2, 2.5), (2.5, 1, 2)])
    inertia = kinds[rng.integers(len(kinds), size=n)]
    q, w = scenes.unit_vectors(rng, n, 4), scenes.unit_vectors(rng, n) * np.logspace(-4, 0, n)[:, None] * largest
    w[::5, 0] = -0.0
    def bits(which, sync):
        end = md.rotation.integrate("exact", inertia[which], q[which], w[which], (0.0, 0.0, 0.0), 1.0, 3, sync=sync)
        return [row.tobytes() for row in np.hstack([end.orientation, end.angular_velocity])]
    for sync in True, False:
        together = bits(np.arange(n), sync)
        assert [bits([k], sync)[0] for k in range(n)] == together
        for which in (np.lexsort(inertia.T), *(rng.permutation(n) for _ in range(20))):
            assert bits(which, sync) == [together[k] for k in which]


# --- The many-body loop.

DRAG, SWING, FREQUENCY, PHASE = 1.5, 2.0, 3.0, np.array([0.2, 1.1, -0.7])   # per mass, per moment of inertia


def swing(t):
    return SWING * np.sin(FREQUENCY * t + PHASE)


def translated(x, v, t):
    amplitude = SWING / (DRAG + 1j * FREQUENCY) * np.exp(1j * PHASE)
    decaying, end = v - amplitude.imag, np.exp(1j * FREQUENCY * t)
    return (x + decaying * (1.0 - np.exp(-DRAG * t)) / DRAG + (amplitude * (end - 1.0) / (1j * FREQUENCY)).imag,
            decaying * np.exp(-DRAG * t) + (amplitude * end).imag)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.filterwarnings("ignore:dt")                # above the Rayleigh step: nothing touches
def test_user_forces_with_drag(name):
    """Forces get velocities predicted for the pose: translation is of order 2, and turns are those of `integrate`."""
    shape, rng, errors = scenes.lumpy(), np.random.default_rng(7), []
    template, v, w = shape.template, rng.normal(size=3), 5.0 * rng.normal(size=3)
    q = scenes.unit_vectors(rng, 1, 4)
    principal = scenes.product(q, template.orientation[None])[0]
    def force(t, x, v, q, w):
        return template.mass * (swing(t) - DRAG * v), template.inertia[1] * (swing(t) - DRAG * w)
    def torque(t, q, w):
        return template.inertia[1] * (rotation_matrix(q).swapaxes(-1, -2) @ swing(t) - DRAG * w)
    for steps in 160, 80, 40:
        sim = scenes.Scene([shape], np.zeros((1, 3)), q, v[None], w[None]).simulation(1.0 / steps, rotation=name)
        sim.forces.add(force)
        sim.run(steps)
        x_end, v_end = translated(0.0, v, 1.0)
        errors.append((rms(sim.position[0] - x_end), rms(sim.velocity[0] - v_end)))
    assert [order(column[::-1]) for column in np.transpose(errors)] == pytest.approx([2.0, 2.0], abs=0.1)
    spin = rotation_matrix(principal).T @ w
    end = md.rotation.integrate(name, template.inertia, principal, spin, torque, 1.0 / steps, steps)
    assert orientation_error(scenes.product(sim.orientation, template.orientation[None])[0], end.orientation) < 1e-12
    assert rms(sim.body_angular_velocity[0] - end.angular_velocity) < 1e-11


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.filterwarnings("ignore:dt")
def test_forces_get_the_velocities_of_the_pose(name):
    """Of a ball under a constant force and a constant torque, which are linear in time."""
    ball, wrong = md.ClumpTemplate([(0, 0, 0)], [0.1], density=1000.0), []
    sim = md.Simulation(md.Material(1e9, 0.3), dt=0.01, rotation=name)
    sim.add_clumps(ball, (0, 0, 0), velocity=(1.0, 2.0, 3.0), angular_velocity=(0.0, 0.0, 2.0))
    def push(t, x, v, q, w):
        wrong.append([v[0] - (1.0 + 4.0 * t, 2.0, 3.0), w[0] - (0.0, 0.0, 2.0 + 5.0 * t)])
        return (4.0 * ball.mass, 0.0, 0.0), (0.0, 0.0, 5.0 * ball.inertia[0])
    sim.forces.add(push)
    sim.run(20)
    assert np.abs(wrong).max() < 1e-13
