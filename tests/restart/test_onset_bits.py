"""Equal bits with the onset correction, for any number of threads, divided runs, restarts and added clumps."""
from copy import deepcopy

import numpy as np
import pytest
import scenes

import minidem as md

ONSET = "hertz:onset=corrected"
GRAVITY = (0.0, 0.0, -9.81)


def drag(t, x, v, q, w):
    return -0.1 * v, -1e-3 * w


def bits(sim):
    return b"".join(np.ascontiguousarray(a).tobytes() for a in (*scenes.state_of(sim), sim.force, sim.torque))


def dense(contact=ONSET, **options):
    """2352 rods, 7056 spheres: enough for three threads."""
    return scenes.packed_rods(5, (12, 14, 14)).changed(gravity=GRAVITY).simulation(contact=contact, **options)


@pytest.mark.parametrize("contact", [ONSET, "hooke:stiffness=2e7,onset=corrected"])
@pytest.mark.parametrize("force", [None, drag])
def test_threads(contact, force):
    ends = []
    for threads, shares in (1, None), (2, None), (3, None), (2, (0.2, 0.8)):
        sim = dense(contact, threads=threads)
        if force:
            sim.add_force(force)
        if shares:
            sim._loop.set_shares(shares)
        sim.run(150)
        assert sim.threads == threads
        ends.append(bits(sim))
    assert len(set(ends)) == 1
    plain = dense(threads=1, contact=contact.partition(",")[0].partition(":onset")[0])
    plain.run(150)
    assert force or bits(plain) != ends[0]                      # the correction acts


@pytest.mark.parametrize("scheme", ["spiral", "velocity-verlet", "no-squish", "improved-pcdm", "buss"])
def test_restart_at_every_step(scheme, tmp_path):
    """Contacts begin and end in most of these steps; every one is a checkpoint."""
    scene = scenes.packed_mixture(3, (5, 5, 5)).changed(gravity=GRAVITY)
    whole, divided = (scene.simulation(contact=ONSET, rotation=scheme) for _ in range(2))
    for step in range(1, 41):
        whole.run(3)
        divided.save(tmp_path / "checkpoint")
        divided = md.Simulation.load(tmp_path / "checkpoint") if step % 2 else deepcopy(divided)
        assert divided.contact == ONSET
        for _ in range(3):
            divided.run(1)
        assert bits(whole) == bits(divided)


def test_a_clump_added_far_away_changes_no_bit():
    alone, joined = (scenes.packed_rods(2, (4, 4, 4)).changed(walls=[]).simulation(contact=ONSET) for _ in range(2))
    for k in range(30):
        alone.run(2)
        joined.run(2)
        joined.add_clumps(scenes.rod().template, (100.0 + k, 0.0, 0.0))
    n = alone.n_clumps
    for a, b in zip(scenes.state_of(alone), scenes.state_of(joined)):
        assert np.array_equal(a, b[:n])
