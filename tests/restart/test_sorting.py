"""Interrupted spatial sorts leave the clumps in the old or the new order. Failing allocations:
test_exhausted_memory.py."""
import sys
from time import process_time

import numpy as np
import pytest
import scenes

import minidem as md
import minidem.engine.loop_memory

DT = 38e-6
OUTCOME = "position", "orientation", "velocity", "angular_velocity", "force", "torque"


def rods(size=(8, 8, 10)):
    """640 rods, so that every slot has the same template before and after."""
    return scenes.packed_rods(5, size, speed=20.0)


def mixture(size=(8, 8, 10)):
    """Rods and clumps of four spheres: the lists are others after it."""
    return scenes.packed_mixture(4, size, speed=20.0)


def moving(scene):
    """In contact with one another; no longer in order."""
    sim = scene.simulation(DT, threads=1)
    sim.run(150)
    return sim


def outcome(sim):
    return [*(getattr(sim, name) for name in OUTCOME), sim.contacts(), sim.sphere_radii, sim.mass]


def same(found, expected):
    return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def interrupting(countdown):
    """A trace function that raises KeyboardInterrupt at one of the next lines or calls, as a signal handler may."""
    def trace(frame, event, argument):
        nonlocal countdown
        if event in ("call", "line"):
            countdown -= 1
            if countdown == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    return trace


@pytest.mark.parametrize("build", [pytest.param(rods, marks=pytest.mark.slow), mixture],
                         ids=lambda build: build.__name__)
def test_interrupted_at_every_line(build, monkeypatch):
    """Each call of run sorts, and is interrupted one line later than the one before, until it gets through."""
    monkeypatch.setattr(minidem.engine.loop_memory, "REBUILDS_PER_SORT", 0)
    sim, uninterrupted = moving(build()), moving(build())
    orders, lines = {sim.loop.state.clump_number.tobytes()}, 0
    interrupted = True
    while interrupted:
        interrupted = False
        lines += 1
        try:
            sys.settrace(interrupting(lines))
            sim.run(1)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(None)
        uninterrupted.run(sim.step_count - uninterrupted.step_count)
        assert same(outcome(sim), outcome(uninterrupted)), f"other bits after Ctrl-C at line {lines}"
        orders.add(sim.loop.state.clump_number.tobytes())
    assert lines > 50 and len(orders) > 1 and len(sim.contacts()) > 50


def test_cost_of_many_templates():
    """To put rods of fifty templates in order costs little more than rods of one, not a hundred times as much."""
    scene, cost = rods((10, 17, 18)), {}
    kind = np.random.default_rng(1).integers(50, size=len(scene.shapes))
    for n in (1, 50):
        sim = md.Simulation(md.Material(1e9, 0.1), dt=DT, threads=1)
        for k in range(n):
            template = md.ClumpTemplate(scenes.ROD_CENTERS, np.full(3, scenes.ROD_RADIUS * (1.0 - 1e-5 * k)))
            sim.add_clumps(template, *(rows[kind % n == k] for rows in scene.state))
        spent = []
        for _ in range(5):
            sim.run(40)
            begun = process_time()
            sim.continue_from(sim.loop.sorted(), sim.loop)
            spent.append(process_time() - begun)
        cost[n] = min(spent)
    assert cost[50] < 15.0 * cost[1], f"{1e3 * cost[1]:.2f} ms and {1e3 * cost[50]:.2f} ms"
