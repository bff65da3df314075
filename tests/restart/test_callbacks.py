"""A callback of `run` that raises: the simulation continues with the bits and files of an undisturbed run."""
import operator

import numpy as np
import pytest
from bit_systems import bits, through_a_file

import minidem as md
from minidem.initial import Inlet, Outlet

EVERY, STEPS = 20, 400
MATERIAL = md.Material(1e6, 0.2, restitution=0.7, friction=0.3)


def silo(threads=1):
    ball = md.ClumpTemplate([(0, 0, 0), (0.01, 0, 0)], [0.02, 0.02], density=2500.0)
    inlet = Inlet(ball, (0, 0, 0.6), (0.6, 0.6, 1.0), rate=1.5e4, velocity=(0, 0, -3), every=EVERY, seed=3)
    sim = md.Simulation(MATERIAL, md.box_walls((0, 0, 0), (0.6, 0.6, 1.2)), contact="hertz-mindlin", dt=1e-4,
                        gravity=(0, 0, -9.81), threads=threads)
    sim.fields.add("age", 0.0, new=0.0)
    return sim, inlet, Outlet((0, 0, 0), (0.6, 0.6, 0.62))


def older(sim):
    sim.fields["age"] = sim.fields["age"] + 1.0


class Raising:
    """An exchange that raises in some of its calls, in turn before, between and after its parts."""
    def __init__(self, inlet, outlet, rng=None):
        self.parts, self.rng, self.raised, self.steps = [outlet, inlet, older], rng, 0, []

    def __call__(self, sim):
        breaks = -1 if self.rng is None or self.rng.random() < 0.5 else int(self.rng.integers(4))
        for k in range(4):
            if k == breaks:
                self.raised += 1
                raise KeyboardInterrupt
            if k < 3:
                self.parts[k](sim)
        self.steps.append(sim.step_count)


def run_on(sim, exchange, file=None):
    while sim.step_count < STEPS:
        try:
            sim.run(STEPS - sim.step_count, every=EVERY, callback=exchange)
        except KeyboardInterrupt:
            if file:                                    # with an inlet and an outlet that are made anew
                sim = through_a_file(sim, file, threads=sim.threads)
                exchange.parts[1::-1] = silo()[1:]
    return sim


@pytest.mark.usefixtures("many_threads_and_sorts")
@pytest.mark.parametrize("by_file, threads", [(False, 2), (True, 3)])
def test_the_callback_is_called_again(by_file, threads, tmp_path):
    """On any number of threads, also after restarts. Clumps come and go, and the balance of energy stays."""
    sim, *regions = silo()
    undisturbed = Raising(*regions)
    expected = bits(run_on(sim, undisturbed)), sim.outflow
    came, went = sim.ids[-1] + 1, sim.outflow["outlet"][0]
    assert 100 < sim.n_clumps == came - went < came and sim.energy().dissipated > 0.0
    assert abs(sim.energy().balance) < 1e-3 * came * sim.templates[0].mass * 9.81 * 0.4
    sim, *regions = silo(threads)
    exchange = Raising(*regions, np.random.default_rng(7))
    sim = run_on(sim, exchange, tmp_path if by_file else None)
    if exchange.steps[-1] < STEPS:                      # it raised at the last step
        sim.run(0, every=EVERY, callback=undisturbed)
    assert exchange.raised >= 5 and (bits(sim), sim.outflow) == expected
    assert [*exchange.steps, STEPS][:STEPS // EVERY] == [*range(EVERY, STEPS + 1, EVERY)]


def test_a_callback_is_called_once_where_none_is_due():
    sim, called = silo()[0], []
    for steps, every in ((30, 10), (10, 10), (5, 10), (5, 10), (0, 10), (20, 20), (0, 20)):
        sim.run(steps, every=every, callback=lambda sim: called.append(sim.step_count))
    assert called == [10, 20, 30, 40, 50, 60]           # not at 70, the end of the last run


def test_a_run_without_the_callback_drops_it():
    sim, called = silo()[0], []
    def fails(sim):
        raise ValueError("disk full")
    with pytest.raises(ValueError, match="disk full"):
        sim.run(40, every=10, callback=fails)
    assert sim.step_count == 10
    sim.run(10)
    sim.run(10, every=10, callback=lambda sim: called.append(sim.step_count))
    assert called == [30]


def test_a_callback_that_advances_the_simulation_is_not_undone():
    sim = silo()[0]
    def settles(sim):
        sim.run(3)
        raise ValueError
    with pytest.raises(ValueError):
        sim.run(40, every=10, callback=settles)
    assert sim.step_count == 13
    sim.run(7, every=10, callback=lambda sim: None)
    assert sim.step_count == 20


BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=2500.0)
CHANGES = {
    "add_force": lambda sim: sim.forces.add(lambda t, x, v, q, w: (0.0 * v + 1000.0, 0.0 * w)),
    "add_bonds": lambda sim: sim.bonds.add([(1, 2)], young=1e7),
    "add_field": lambda sim: sim.fields.add("charge", np.arange(4.0)),
    "set_field": lambda sim: operator.setitem(sim.fields, "temperature", 500.0),
    "add_flux": lambda sim: sim.fields.add_flux(heat, [1e3]),
    "add_clumps": lambda sim: sim.add_clumps(BALL, [(0.02, 0.0, 0.0)], velocity=(-3, 0, 0)),
    "remove_clumps": lambda sim: sim.remove_clumps([1]),
    "set_motion": lambda sim: sim.set_motion([0], free="", turns="", velocity=(0, 0, 5)),
    "carry": lambda sim: sim.set_motion([0], motion=md.Oscillation((0, 0, 1e-3), 10.0)),
    "add_wall": lambda sim: sim.walls.add(md.Plane((0, 0, 0.05), (0, 0, -1), velocity=(0, 0, -1))),
    "move_wall": lambda sim: sim.walls.move("floor", velocity=(0, 0, 3)),
    "remove_wall": lambda sim: sim.walls.remove("floor"),
    "deform": lambda sim: sim.deform(rates=(-5.0, 0, 0))}


def heat(contacts, conductivity):
    flow = conductivity * (contacts.fields["temperature"][:, 1] - contacts.fields["temperature"][:, 0])
    contacts.rates["temperature"][:] = np.column_stack([flow, -flow])


def column(with_force):
    """Balls that touch, in a periodic box with a floor."""
    sim = md.Simulation(MATERIAL, [md.Plane((0, 0, -0.0099), (0, 0, 1), name="floor")], dt=1e-5,
                        contact="hertz-mindlin:bonds=parallel", gravity=(0, 0, -9.81),
                        periodic=md.PeriodicBox((-0.6, -0.6, -1), (0.6, 0.6, 1), axes=(True, True, False)))
    sim.add_clumps(BALL, [(0, 0, 0), (0, 0, 0.0199), (0, 0, 0.041), (0.05, 0, 0)],
                   velocity=[(0, 0, 0), (0.1, 0, 0), (0, 0, -0.5), (0, 0.3, 0)])
    sim.fields.add("temperature", [300.0, 310.0, 330.0, 400.0], new=350.0)
    if with_force:
        sim.forces.add(lambda t, x, v, q, w: (-0.01 * v, 0.0 * w))
    return sim


@pytest.mark.filterwarnings("ignore:bonds.add")
@pytest.mark.parametrize("with_force", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_a_callback_has_changed_and_seen_is_taken_back(change, with_force):
    """A look evaluates forces, which must not act on the simulation of before."""
    def raises(sim):
        CHANGES[change](sim)
        assert len(sim.force) and sim.energy() and len(sim.contacts())
        raise KeyboardInterrupt
    sim, expected = column(with_force), column(with_force)
    expected.run(100)
    with pytest.raises(KeyboardInterrupt):
        sim.run(100, every=50, callback=raises)
    sim.run(50)
    assert bits(sim) == bits(expected)


@pytest.mark.parametrize("refused", [
    lambda sim: sim.add_clumps(BALL, [(0, 0, 0.001)], motion=md.Oscillation((0, 0, 1e-3), 10.0)),
    lambda sim: sim.walls.add(md.Plane((0, 0, 0), (0, 0, 1))),
    lambda sim: sim.set_motion([0], motion="ceiling"),
    lambda sim: sim.bonds.add([(0, 9)], young=1e7)])
def test_a_refused_change_leaves_nothing(refused):
    sim, expected = column(True), column(True)
    for one in sim, expected:
        one.run(50)
    with pytest.raises(ValueError):
        refused(sim)
    for one in sim, expected:
        one.run(50)
    assert bits(sim) == bits(expected)
