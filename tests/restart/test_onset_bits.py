"""Equal bits with the onset correction where clumps are added in contact, and with a scheme in Python."""
import custom_integrator as example
import numpy as np
import pytest
from bit_systems import ONSET, SYSTEMS, begun, bits, corrected, values_of

import minidem as md

pytestmark = pytest.mark.usefixtures("many_threads_and_sorts")
STEPS = SYSTEMS["mixture"].steps


def test_clump_added_in_contact_within_corrections():
    """A ball that touches the topmost clump: forces are computed anew, and the momentum of all is conserved.

    Rounding: half an eps of m v per clump and step, all in one direction.
    """
    sim = begun("open", ONSET)
    sim.run(corrected("open")[2])
    centers = sim.sphere_centers()
    top = np.argmax(centers[:, 2])
    radius = sim.sphere_radii[top]
    sim.add_clumps(md.ClumpTemplate([(0.0, 0.0, 0.0)], [radius]), [centers[top] + [0.0, 0.0, 1.98 * radius]])
    before, touching = sim.linear_momentum(), sim.contacts()["clump_j"] == sim.n_clumps - 1
    assert np.count_nonzero(touching) >= 1 and np.any(sim.force[-1] != 0.0)
    sim.run(20)
    scale = np.sum(sim.mass) * np.max(np.linalg.norm(sim.velocity, axis=1))
    assert np.max(np.abs(sim.linear_momentum() - before)) < 20 * np.finfo(float).eps * scale


def leapfrog(calls_to_error=None):
    """SPIRAL's leapfrog in Python. calls_to_error : [n], n calls of `sync` are left until one raises."""
    def kicked(bodies, h):
        return example.flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, h)

    def start(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, -0.5 * dt)

    def move(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, dt)
        bodies.q.T[:] = example.turn(bodies.q.T, bodies.w.T, dt)

    def sync(bodies, dt, stage):
        if calls_to_error:
            calls_to_error[0] -= 1
            if calls_to_error[0] == 0:
                raise ArithmeticError("not now")
        bodies.predicted.T[:] = kicked(bodies, 0.5 * dt)

    return {"start": start, "move": move, "sync": sync, "angular_velocity_offset": -0.5}


def mixture(threads=1):
    return SYSTEMS["mixture"].build(ONSET, "my-leapfrog", threads)


def test_scheme_in_python(own):
    """The same bits on three threads, and those of the built-in scheme but for rounding, which collisions amplify."""
    own("my-leapfrog", **leapfrog())
    sims = [mixture(), mixture(threads=3), begun("mixture", ONSET)]
    for sim in sims:
        sim.run(STEPS)
    assert bits(sims[1]) == bits(sims[0])
    n = sims[0].n_clumps
    for name, value in values_of(sims[2], n).items():
        assert np.allclose(values_of(sims[0], n)[name], value, rtol=0.0, atol=1e-10 * np.max(np.abs(value)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("calls", [1, 5, 14])
def test_step_with_an_error_in_a_scheme_is_undone(own, threads, calls):
    """`sync` is called for corrections only, so it raises while they are computed."""
    countdown = [0]
    own("my-leapfrog", **leapfrog(countdown))
    whole, sim = mixture(), mixture(threads)
    whole.run(STEPS)
    sim.run(3)
    countdown[0] = calls
    with pytest.raises(ArithmeticError, match="not now"):
        sim.run(STEPS)
    assert 3 < sim.step_count < STEPS
    sim.run(STEPS - sim.step_count)
    assert bits(sim) == bits(whole)
