"""Collisions of clumps: the final state against the equations of motion, solved by DOP853. Errors are root mean squares
over clumps, components and starting states, in which the first touch falls anywhere within a step."""
from functools import cache

import numpy as np
import pytest
import scenes
from isolated_collisions import STEP, of_pairs, on_wall
from reference_contact import Plane
from reference_friction import FrictionWorld, Law
from scenes import state_of

import minidem as md
from minidem.scenarios.rotating_bodies.driven_bodies import order, orientation_error, rms

HALVINGS = (4, 8, 16, 32)


def one_by_one(scene):
    n = len(scene.shapes) // (1 if scene.walls else 2)
    return [scene.part(np.arange(k, len(scene.shapes), n)) for k in range(n)]


ENSEMBLES = {
    **{f"two {name}": one_by_one(of_pairs(2, 6, shape, shape)) for name, shape in (
        ("rods", scenes.rod()), ("lumpy", scenes.lumpy()))},
    "rod on wall": one_by_one(on_wall(2, 6, scenes.rod()))}
STEPS = 100                             # of STEP


@cache
def reference(name, k):
    """The exact end, by steps of at most a tenth of a contact."""
    scene = ENSEMBLES[name][k]
    planes = [Plane(np.array(wall.point), np.array(wall.normal), wall.material.young, wall.material.poisson)
              for wall in scene.walls]
    world = FrictionWorld([shape.body for shape in scene.shapes], scene.young, scene.poisson, Law(), planes)
    x, v, q, w, _ = world.move(scene.position, scene.velocity, scene.orientation, scene.angular_velocity,
                               STEPS * STEP, longest_step=3 * STEP, rtol=1e-12)
    return x, q, v, w


def errors(name, scheme, refinements):
    """One row of errors of x, v, q, w per refinement of STEP."""
    rows = []
    for finer in refinements:
        found = []
        for k, scene in enumerate(ENSEMBLES[name]):
            sim = scene.simulation(STEP / finer, rotation=scheme)
            sim.run(STEPS * finer)
            x, q, v, w = zip(state_of(sim), reference(name, k))
            found.append((rms(x[0] - x[1]), rms(v[0] - v[1]), orientation_error(*q), rms(w[0] - w[1])))
        rows.append(rms_of_rows(found))
    return np.array(rows)


def rms_of_rows(rows):
    return np.sqrt(np.mean(np.square(rows), axis=0))


@pytest.mark.parametrize("scheme, name", [
    pytest.param(scheme, name, marks=[pytest.mark.slow] * (scheme != "spiral" and i % 3 != j))
    for i, scheme in enumerate(md.rotation.available()) for j, name in enumerate(ENSEMBLES)])
def test_order_through_collisions(scheme, name):
    """Order 2, or the scheme's own if that is lower; 0.2 is what the next term, dt^(5/2) of touch, leaves."""
    record = md.rotation.info(scheme)
    declared = min(2, record.order_q_varying, record.order_w_varying)
    found = errors(name, scheme, HALVINGS)
    for what, column in zip("xvqw", found.T):
        assert order(column) > declared - 0.2, f"{what}: {order(column)} from {column}"


def test_first_order_is_seen():
    """The measurement above distinguishes the orders: Euler's method shows order 1."""
    assert np.all([order(column) < 1.3 for column in errors("two rods", "euler", HALVINGS).T[2:]])


@pytest.mark.parametrize("scheme", ["spiral", "omelyan", "fincham"])
def test_size_of_the_errors(scheme):
    """Two rods at STEP. A contact of n steps is too long by 0.512/n^2 of itself, and its rebound off by 3e-4
    (20/n)^(5/2): x and q are off by the change of v and w times that time. Factor 4: oblique."""
    expected = []
    for k, scene in enumerate(ENSEMBLES["two rods"]):
        sim, n = scene.simulation(STEP, rotation=scheme), []
        sim.run(STEPS, every=1, callback=lambda sim: n.append(len(sim.contacts()) > 0))
        _, _, v, w = reference("two rods", k)
        dv, dw, n = rms(v - scene.velocity), rms(w - scene.angular_velocity), sum(n)
        late, rebound = 0.512 / n * STEP, 3e-4 * (20 / n)**2.5
        expected.append((dv * late, dv * rebound, dw * late * np.sqrt(3) / 4, dw * rebound))
    ratio = errors("two rods", scheme, (1,))[0] / rms_of_rows(expected)
    assert np.all((0.25 < ratio) & (ratio < 4.0)), f"x, v, q, w: {ratio}"
