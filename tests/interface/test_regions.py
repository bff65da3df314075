"""Inlets and outlets: rates, places, the same bits for threads and restarts, errors."""
import copy
from functools import cache

import numpy as np
import pytest
from bit_systems import bits
from scenes import BALL, CLUMP, ELASTIC, MATERIAL

import minidem as md
from minidem.analysis.averages import mean_rate
from minidem.initial import Inlet, Lognormal, Mixture, Outlet

LOW, HIGH = (0.1, 0.1, 0.45), (0.5, 0.5, 0.8)
STEPS = 2500


def stream(threads=1):
    """A simulation of clumps that fall through a hopper of two walls, its inlet and its outlet."""
    walls = [md.Plane((0.1, 0.0, 0.0), (1.0, 0.0, 0.3)), md.Plane((0.5, 0.0, 0.0), (-1.0, 0.0, 0.3))]
    sim = md.Simulation(MATERIAL, walls, contact="hertz-mindlin", dt=1e-4, gravity=(0.0, 0.0, -9.81), threads=threads)
    inlet = Inlet(CLUMP, (0.0, 0.1, 0.45), (0.6, 0.3, 0.7), rate=100.0, velocity=(0, 0, -2.0), every=50, seed=3)
    return sim, inlet, Outlet((-9.0, -9.0, -9.0), (9.0, 9.0, 0.1))


def smallest_gap(sim):
    """Between spheres of different clumps, and between spheres and walls, relative to the largest radius."""
    x, r, clump = sim.sphere_centers(), np.asarray(sim.sphere_radii), np.asarray(sim.sphere_clump)
    gaps = np.linalg.norm(x[:, None] - x, axis=2) - r[:, None] - r
    gaps[clump[:, None] == clump] = np.inf
    heights = [(x - wall.point) @ wall.normal - r for wall in sim.walls]
    return min(gaps.min(), np.min(heights, initial=np.inf)) / r.max()


def test_rate_and_number():
    """Clumps that fall freely appear at the rate, each with the velocity given, in the box."""
    sim = md.Simulation(ELASTIC, dt=1e-3)
    inlet = Inlet(CLUMP, LOW, HIGH, rate=37.0, velocity=(0, 0, -30.0), angular_velocity=(1, 2, 3), every=8, number=12)
    for k in range(1, 61):
        sim.run(8)
        new = inlet(sim)
        assert sim.n_clumps == min(12, int(37.0 * (8e-3 * k)))
        of_new = np.isin(sim.sphere_clump, new)
        centers, radii = sim.sphere_centers()[of_new], sim.sphere_radii[of_new][:, None]
        assert np.all(centers - radii > LOW) and np.all(centers + radii < HIGH)
        for name, expected in ("velocity", (0, 0, -30.0)), ("angular_velocity", (1, 2, 3)):
            np.testing.assert_allclose(getattr(sim, name)[new], np.tile(expected, (len(new), 1)), rtol=1e-12)
    assert sim.n_clumps == 12


def test_a_box_that_is_full():
    """No overlap with walls nor with clumps of other sizes; what does not fit is left out, and reported once."""
    sim = md.Simulation(ELASTIC, md.box((0.2, 0.0, 0.0), (0.6, 0.6, 0.7)), dt=1e-5)
    sim.add_clumps(BALL, [[0.3, 0.3, 0.6], [0.45, 0.2, 0.5]], scale=[1.5, 0.3])
    inlet = Inlet(CLUMP, LOW, HIGH, rate=4e5, every=10, seed=8)
    sim.run(10)
    with pytest.warns(UserWarning, match=r"rate = 400000 1/s .*step 10 .* (\d+) of the 40 clumps") as found:
        new = inlet(sim)
        assert len(new) == sim.n_clumps - 2 > 5 and 0.0 < smallest_gap(sim) < 0.3 and sim.n_clumps < 42
        sim.run(10)
        assert len(inlet(sim)) < 10 and smallest_gap(sim) > 0.0
    assert len(found) == 1 and f"room for {len(new)} of" in str(found[0].message)


def test_outlet():
    sim = md.Simulation(ELASTIC, dt=1e-5)
    sim.add_clumps(BALL, [[x, 0.0, z] for x in (0.0, 1.0) for z in (-1.0, 0.0, 1.0, 2.0)])
    assert Outlet((-0.5, -1.0, 0.0), (0.5, 1.0, 1.0))(sim).tolist() == [1, 2]
    assert sim.ids.tolist() == [0, 3, 4, 5, 6, 7] and Outlet((-0.5, -1.0, 0.0), (0.5, 1.0, 1.0))(sim).tolist() == []


def test_mass_flow_through_a_box():
    """What a mass rate pours in leaves the box at this rate, which the recorded mass gives with its error."""
    grains = Mixture([BALL, CLUMP], [0.5, 0.5], sizes=Lognormal(0.06, 0.2))
    inlet = Inlet(grains, (0, 0, 0.5), (0.9, 0.9, 1.0), mass_rate=50.0, velocity=(0, 0, -3), every=50, seed=1)
    outlet = Outlet((0, 0, 0), (0.9, 0.9, 1.0), name="fallen", outside=True)
    sim, rows = md.Simulation(ELASTIC, dt=1e-4, gravity=(0, 0, -9.81)), []
    sim.run(20000, every=50, callback=lambda sim: (outlet(sim), inlet(sim), rows.append((sim.time, outlet.mass))))
    assert np.all((sim.position >= 0.0) & (sim.position <= (0.9, 0.9, 1.0)))
    flow = mean_rate(*np.array(rows)[80:].T)
    assert abs(flow.value - 50.0) < 3.0 * flow.error < 6.0
    assert outlet.mass + sim.mass.sum() == pytest.approx(50.0 * sim.time, abs=2.0 * sim.mass.max())


def test_error_of_a_rate():
    """Of counts without correlation: differences over errors follow Student's t of ten blocks, of variance 9 / 7."""
    rng, found = np.random.default_rng(1), []
    for _ in range(1000):
        count = np.append(0, np.cumsum(rng.poisson(2.0, 1000)))
        rate, error = mean_rate(0.1 * np.arange(1001), count)
        assert rate == pytest.approx(count[-1] / 100.0)
        found.append((rate - 20.0) / error)
    assert abs(np.mean(found)) < 0.15 and np.var(found) == pytest.approx(9.0 / 7.0, rel=0.2)


def test_what_has_left_is_counted(tmp_path):
    """By name, over restarts with a new Outlet; what a callback that raises has removed has not left."""
    sim = md.Simulation(ELASTIC, dt=1e-5)
    sim.add_clumps(BALL, [(0, 0, z) for z in (0.0, 1.0, 2.0, 3.0)], scale=[1.0, 2.0, 1.0, 1.0])
    high, low = Outlet((-1, -1, 2.5), (1, 1, 9), name="high"), Outlet((-1, -1, -1), (1, 1, 1.5))
    low(sim)
    assert (low.count, low.mass) == sim.outflow["outlet"] == (2, pytest.approx(9.0 * BALL.mass))
    assert sim.outflow["high"] == (0, 0.0) and (high.count, high.mass) == (0, 0.0)
    def failing(sim):
        high(sim)
        raise KeyError
    with pytest.raises(KeyError):
        sim.run(2, every=1, callback=failing)
    assert sim.outflow["high"] == (0, 0.0)
    sim.save(tmp_path / "state.npz")
    for other in (md.Simulation.load(tmp_path / "state.npz"), copy.deepcopy(sim)):
        outlet = Outlet((-1, -1, -1), (1, 1, 2.5))
        other.remove_clumps([3])
        assert outlet(other).tolist() == [2] and outlet(other).tolist() == [] and outlet.count == 3
        assert other.outflow == {"outlet": (3, pytest.approx(10.0 * BALL.mass))}


def through(sim, inlet, outlet, steps):
    def exchange(sim):
        outlet(sim)
        inlet(sim)
    sim.run(steps, every=inlet.every, callback=exchange)


@cache
def undisturbed():
    sim, *regions = stream()
    through(sim, *regions, STEPS)
    return sim


def test_balance_of_a_stream():
    sim = undisturbed()
    came, went = sim.ids[-1] + 1, sim.outflow["outlet"][0]
    assert 20 < came <= stream()[1].due(STEPS, sim.dt) == 25 and went > 2 and sim.n_clumps == came - went
    assert sim.energy().dissipated > 0.0 and sim.outflow["outlet"] == (went, pytest.approx(went * CLUMP.mass))
    assert abs(sim.energy().balance) < 1e-3 * came * CLUMP.mass * 9.81 * 0.5


@pytest.mark.usefixtures("many_threads_and_sorts")
@pytest.mark.parametrize("threads, pieces", [(2, [STEPS]), (3, [1234, 766, STEPS - 2000])])
def test_bits_of_a_stream(threads, pieces, tmp_path):
    """Threads, and restarts at any step, with regions made anew."""
    sim, *regions = stream(threads)
    for steps in pieces:
        through(sim, *regions, steps)
        sim.save(tmp_path / "state.npz")
        sim, regions = md.Simulation.load(tmp_path / "state.npz", threads=threads), stream()[1:]
    assert bits(sim) == bits(undisturbed()) and sim.outflow == undisturbed().outflow


@pytest.mark.parametrize("every", [5, 20])
def test_an_inlet_refuses_other_intervals_than_its_own(every):
    """It would deliver less in silence; calls in runs, in functions and by hand, also after a copy or a restart."""
    sim, inlet = md.Simulation(ELASTIC, dt=1e-5), Inlet(CLUMP, LOW, HIGH, rate=2e4, every=10)
    with pytest.raises(ValueError, match=f"every = {every}: the callback acts every 10 steps .* give every=10"):
        sim.run(2000, every=every, callback=inlet)
    assert sim.step_count == 0
    for other in sim, copy.deepcopy(sim):
        with pytest.raises(ValueError, match=f"every = 10: .* (at step 5|calls of this Inlet are {every} steps apart)"):
            other.run(200, every=every, callback=lambda sim: inlet(sim))
        assert other.n_clumps == 0
    sim.run(20 - sim.step_count)
    inlet(sim)
    assert sim.n_clumps == 2
    sim.run(20)
    with pytest.raises(ValueError, match="every = 10: at step 40 the calls of this Inlet are 20 steps apart"):
        inlet(sim)
    assert sim.n_clumps == 2
