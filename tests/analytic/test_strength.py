"""Mean stress of grains against formulas, strengths by Weibull's law, spheres that plates crush."""
import numpy as np
import pytest
from scipy.stats import kstest, weibull_min

import minidem as md
from minidem.analysis import Strength, grain_stress
from minidem.analysis.strength import MEASURES, survival

RADIUS, YOUNG = 0.01, 1e8
BALL = md.ClumpTemplate([(0, 0, 0)], [RADIUS], 2500.0)


def pressed(template=BALL, overlap=1e-4, axis=(0, 0, 1), **arguments):
    """A ball between two plates, at an overlap with each."""
    axis = np.array(axis, dtype=float) / np.linalg.norm(axis)
    walls = [md.Plane(sign * (RADIUS - overlap) * axis, -sign * axis) for sign in (-1.0, 1.0)]
    sim = md.Simulation(md.Material(YOUNG, 0.3), walls, dt=1e-6, **arguments)
    sim.add_clumps(template, [(0, 0, 0)])
    return sim


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3)])
def test_a_sphere_between_plates(axis):
    """The mean stress is F d / V along the axis; its octahedral shear 0.9 F / d^2, no tension."""
    sim, axis = pressed(axis=axis), np.array(axis) / np.linalg.norm(axis)
    force = np.linalg.norm(sim.contacts()["force"][0])
    expected = force * 2.0 * (RADIUS - 1e-4) / BALL.volume * axis[:, None] * axis
    assert np.allclose(grain_stress(sim), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    nominal = force / (2.0 * RADIUS) ** 2
    stresses = {measure: Strength(1.0, 3.0, 1.0, measure).stress(sim)[0] for measure in MEASURES}
    assert stresses["force"] == pytest.approx(nominal, rel=1e-12)
    assert stresses["octahedral"] == pytest.approx(0.9003 * nominal * (1.0 - 0.01), rel=1e-4)
    assert stresses["tension"] == pytest.approx(0.0, abs=1e-9 * nominal)


def test_a_clump_that_is_pulled():
    """A bond between two dumbbells: tension along the line, F l / V."""
    pair = md.ClumpTemplate([(-RADIUS, 0, 0), (RADIUS, 0, 0)], [RADIUS] * 2, 2500.0)
    sim = md.Simulation(md.Material(YOUNG, 0.3), dt=1e-7, contact="hertz-mindlin:bonds=parallel")
    sim.add_clumps(pair, [(4.0 * RADIUS * k, 0, 0) for k in range(3)])
    sim.bonds.add(1e-6, young=YOUNG)
    sim.set_motion([0], free="", turns="", velocity=(-0.1, 0, 0))
    sim.set_motion([2], free="", turns="", velocity=(0.1, 0, 0))
    sim.run(200)
    force = -sim.bonds()["normal_force"]
    assert (force > 0.0).all()
    assert Strength(1.0, 3.0, 1.0, "tension").stress(sim)[1] == pytest.approx(
        force.mean() * 4.0 * RADIUS / pair.volume, rel=1e-3)


def test_mean_of_the_grains_is_the_stress_of_the_packing():
    """The sum over the grains of V times their stress is that over the contacts, also across the faces of a box."""
    n, rng = 5, np.random.default_rng(3)
    box = ((0, 0, 0), (n * 0.0195,) * 3, (True,) * 3)
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5, friction=0.5), dt=1e-5, periodic=box,
                        contact="hertz-mindlin")
    x = 0.0195 * np.argwhere(np.ones((n,) * 3))
    sim.add_clumps(BALL, x, velocity=rng.normal(0.0, 0.05, size=x.shape))
    sim.run(50)
    total = np.sum(grain_stress(sim) * BALL.volume, axis=0) / np.prod(box[1])
    mean = sim.stress()
    assert np.allclose(total, 0.5 * (mean + mean.T), rtol=0, atol=1e-12 * np.abs(mean).max())


def test_strengths_follow_the_law_of_weibull():
    strength, n = Strength(20e6, 3.0, BALL.volume, seed=4), 20000
    sim = md.Simulation(md.Material(YOUNG, 0.3), dt=1e-6)
    sim.add_clumps(BALL, 0.03 * np.argwhere(np.ones((n // 100, 10, 10))))
    found = strength.of(sim)
    assert np.mean(found > 20e6) == pytest.approx(np.exp(-1.0), abs=3.0 * np.sqrt(0.37 * 0.63 / n))
    assert kstest(found, weibull_min(3.0, scale=20e6).cdf).pvalue > 0.05
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 3.0 / np.sqrt(n)
    assert np.unique(found).size == n and not np.allclose(Strength(20e6, 3.0, BALL.volume, seed=5).of(sim), found)
    sim.remove_clumps(sim.ids[::2])
    assert np.array_equal(strength.of(sim), found[1::2])
    sim.add_clumps(BALL, [(0, 0, -1.0)], scale=0.5)
    last = 20e6 * (-np.log(survival([n], 4))) ** (1 / 3) * 8.0 ** (1 / 3)      # an eighth of the volume
    assert strength.of(sim)[-1] == pytest.approx(last[0], rel=1e-14)
    values = survival(np.arange(10 ** 5), 0)
    assert 0.0 < values.min() < 1e-4 and 1.0 - 1e-4 < values.max() < 1.0


@pytest.mark.parametrize("measure, factor", [("force", 1.0), ("octahedral", 1.0 / 0.9003)])
def test_plates_crush_a_sphere_at_the_force_that_it_bears(measure, factor):
    """F = s d^2; for the mean stress F times the distance of the plates counts, over d."""
    pattern = md.Fragments.packed(BALL, 13, seed=1)
    strength = Strength(5e5, 4.0, BALL.volume, measure, seed=7)
    lid = md.Plane((0, 0, RADIUS), (0, 0, -1), velocity=(0, 0, -0.02), name="lid")
    sim = md.Simulation(md.Material(YOUNG, 0.3, restitution=0.5, friction=0.5), dt=2e-6, contact="hertz-mindlin",
                        walls=[md.Plane((0, 0, -RADIUS), (0, 0, 1)), lid])
    sim.add_clumps(BALL, [(0, 0, 0)])
    expected, seen = strength.of(sim)[0] * factor * 4.0 * RADIUS ** 2, []

    def crush(sim):
        seen.append(abs(sim.walls.force("lid")[2]))
        broken = np.intersect1d(strength(sim), pattern.parents(sim))
        if len(broken):
            sim.replace(broken, pattern)

    while sim.n_clumps == 1:
        sim.run(20, every=5, callback=crush)
    reached = max(seen)
    height = 1.0 if measure == "force" else 1.0 - sim.time                # of the plates over d
    assert reached * height == pytest.approx(expected, rel=0.01)
    assert sim.n_clumps == 13 and sim.energy().breakage < 0.0
    sim.run(2000)
    assert abs(sim.walls.force("lid")[2]) < 0.5 * reached


@pytest.mark.parametrize("words, arguments", [
    ("strength = 0", (0, 3.0, 1.0)), ("modulus = -1", (1.0, -1, 1.0)), ("volume = nan", (1.0, 3.0, np.nan)),
    ("measure = 'energy': give one of 'octahedral'", (1.0, 3.0, 1.0, "energy")),
    ("seed = -1", (1.0, 3.0, 1.0, "force", -1))])
def test_refusals(words, arguments):
    with pytest.raises(ValueError) as error:
        Strength(*arguments)
    assert words in str(error.value)
