"""Sizes of grains and their mixtures; random placement, isotropic and reproducible; inlets and outlets."""
import copy
import warnings

import numpy as np
import pytest
import scenes
from scenes import BALL, CLUMP, ELASTIC, smallest_gap
from scipy import stats
from scipy.spatial import cKDTree

import minidem as md
from minidem import initial
from minidem.analysis.averages import mean_rate
from minidem.core.quaternions import rotate
from minidem.initial import Inlet, Lognormal, Mixture, Outlet, RosinRammler, SieveCurve, passing, place, place_densely
from minidem.output import checkpoint

SAND = Lognormal(4e-3, 0.3)
GAP_GRADED = [(1e-3, 0.0), (2e-3, 0.3), (4e-3, 0.3), (16e-3, 1.0)]
CURVES = [SAND, Lognormal(4e-3, 0.7), Lognormal(4e-3, 0.7, by="number"), Lognormal(4e-3, 0.7, low=1e-3, high=1e-2),
          RosinRammler(4e-3, 3.0), RosinRammler(4e-3, 2.0), RosinRammler(4e-3, 1.2, by="number"),
          RosinRammler(4e-3, 1.2, low=1e-3, high=2e-2), SieveCurve([(2e-3, 0.0), (4e-3, 0.35), (8e-3, 1.0)]),
          SieveCurve(GAP_GRADED), SieveCurve(GAP_GRADED, by="number"), SieveCurve([(1e-3, 0.0), (2e-2, 1.0)])]
STIFF = md.Material(1e9, 0.2, restitution=0.5, friction=0.3)
ROD, X_AXIS = scenes.rod().template, np.array([1.0, 0.0, 0.0])


def error(grains, sizes, by="mass"):
    """Largest difference of the achieved from the wanted part that passes, over many sieves."""
    sieves = np.geomspace(sizes.low, sizes.high, 60)
    return np.abs(passing(grains, sieves, by) - sizes.passing(sieves, by)).max()


@pytest.mark.parametrize("sizes", CURVES, ids=repr)
def test_achieved_curve(sizes):
    """Within 1 % of the mass, and of a few grains of the number, also where one grain has 0.9 % of the mass."""
    n = 100_000
    drawn = sizes.draw(n, np.random.default_rng(1))
    assert error(drawn, sizes) < 0.01 and error(drawn, sizes, "number") < 2.0 / n
    assert sizes.low <= drawn.min() and drawn.max() <= sizes.high
    assert np.pi / 6.0 * (drawn ** 3).mean() == pytest.approx(sizes.mean_volume, rel=0.01)
    assert abs(np.corrcoef(drawn, np.arange(n))[0, 1]) < 0.02


@pytest.mark.parametrize("by", ["mass", "number"])
def test_curves_of_scipy(by):
    """By default from 1 % to 99 % of the curve by its own kind, and cut off there."""
    for sizes, curve in ((Lognormal(4e-3, 0.5, by=by), stats.lognorm(0.5, scale=4e-3)),
                         (RosinRammler(4e-3, 1.5, by=by), stats.weibull_min(1.5, scale=4e-3))):
        np.testing.assert_allclose([sizes.low, sizes.high], curve.ppf([0.01, 0.99]), rtol=1e-12)
        sieves = np.geomspace(sizes.low, sizes.high, 33)
        np.testing.assert_allclose(sizes.passing(sieves, by), (curve.cdf(sieves) - 0.01) / 0.98, atol=1e-6)
        assert sizes.passing([0.5 * sizes.low, 2.0 * sizes.high], by).tolist() == [0.0, 1.0]


def test_sieve_curve_between_sieves():
    """Straight over the logarithm, through the points, with no mass between two sieves that as much passes."""
    sizes = SieveCurve(GAP_GRADED)
    sieves = [1e-3, 2e-3 / np.sqrt(2.0), 2e-3, 3e-3, 4e-3, 8e-3, 16e-3]
    np.testing.assert_allclose(sizes.passing(sieves), [0.0, 0.15, 0.3, 0.3, 0.3, 0.65, 1.0], atol=1e-3)
    assert (sizes.low, sizes.high) == (1e-3, 16e-3)
    drawn = sizes.draw(10_000, np.random.default_rng(1))
    assert not np.any((drawn > 2.01e-3) & (drawn < 3.99e-3))


def test_passing():
    sizes = [1.0, 2.0, 2.0, 3.0]
    assert passing(sizes, [0.5, 1.0, 2.0, 2.5, 3.0], by="number").tolist() == [0.0, 0.25, 0.75, 0.75, 1.0]
    np.testing.assert_allclose(passing(sizes, [1.0, 2.0]), np.array([1.0, 17.0]) / 44.0, rtol=1e-14)
    sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-9)
    heavy = md.ClumpTemplate([(0, 0, 0)], [0.5], density=5000.0)
    sim.add_clumps(heavy, [(0, 0, 0)], scale=2.0)
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [0.5], density=2500.0), [(3, 0, 0), (6, 0, 0)], scale=[1.0, 3.0])
    np.testing.assert_allclose(initial.equal_volume_diameter(sim), [2.0, 1.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(passing(sim, [1.5, 2.5]), np.array([1.0, 17.0]) / 44.0, rtol=1e-14)
    assert initial.equal_volume_diameter(heavy) == pytest.approx(1.0, rel=1e-14)


def test_a_stream_follows_the_curve_at_any_time():
    """And has the same grains in whatever pieces it is read."""
    mixture = Mixture([ROD, BALL], [0.4, 0.6], sizes=SAND)
    which, scale = mixture.stream(0, 100_000, seed=5)
    sizes = scale * np.array([initial.equal_volume_diameter(ROD), initial.equal_volume_diameter(BALL)])[which]
    for n, most in (300, 0.05), (3_000, 0.01), (100_000, 5e-4):
        assert error(sizes[:n], SAND) < most
        mass = sizes[:n] ** 3 * np.array([ROD.density, BALL.density])[which[:n]]
        assert abs(mass[which[:n] == 0].sum() / mass.sum() - 0.4) < most
    masses = np.array([ROD.mass, BALL.mass]) * Mixture([ROD, BALL], [0.4, 0.6]).draw(3000, np.random.default_rng(1))[0]
    assert masses[0] / masses.sum() == pytest.approx(0.4, abs=1e-3)
    for a, b in (0, 7), (7, 8), (8, 8), (8, 3000):
        assert all(np.array_equal(x, y[a:b]) for x, y in zip(mixture.stream(a, b, seed=5), (which, scale)))
    assert not np.any(mixture.stream(0, 100, seed=6)[1] == scale[:100])


def test_an_inlet_takes_the_grains_of_the_stream():
    mixture = Mixture([CLUMP, BALL], [0.5, 0.5], sizes=Lognormal(0.06, 0.25))
    inlet = Inlet(mixture, (0, 0, 0.3), (0.9, 0.9, 0.7), rate=1000.0, velocity=(0, 0, -6.0), every=50, seed=4)
    sim = md.Simulation(ELASTIC, [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-4, gravity=(0, 0, -9.81))
    sim.run(1000, every=50, callback=inlet)
    assert sim.n_clumps == 100 and len(sim.templates) == 2 and len(sim.contacts()) > 0
    assert np.array_equal(np.sort(sim.scale), np.sort(mixture.stream(0, 100, seed=4)[1]))


def test_bed_of_a_mixture():
    """In its box, of the curve, with the grains that were drawn, nearly at rest; one bed for one seed."""
    sizes, parts = Lognormal(0.06, 0.2), []
    mixture = Mixture([CLUMP, BALL, ROD], [0.5, 0.5, 0.0], sizes=sizes)
    bed, again = (initial.settled_bed(mixture, 120, (0, 0, 0.1), (0.4, 0.4), STIFF, 2e-5, seed=3, report=parts.append)
                  for _ in range(2))
    half = len(parts) // 2
    assert parts[:half] == sorted(parts[:half]) == parts[half:] and parts[-1] == 1.0
    assert bed.position.tobytes() == again.position.tobytes()
    assert np.min([wall.point for wall in bed.walls], axis=0).tolist() == [0.0, 0.0, 0.1]
    _, scales = mixture.draw(120, np.random.default_rng(3))
    assert np.array_equal(bed.scale, np.concatenate(scales)) and bed.templates == (CLUMP, BALL)
    assert error(bed, sizes) < 0.05 and bed.position[:, 2].min() > 0.1
    weight = bed.mass.sum() * 9.81
    assert bed.energy().kinetic < 2e-2 * weight * 0.06 and bed.coordination_number() > 3.0
    assert bed.contacts()["overlap"].max() < 1e-2 * bed.sphere_radii.min()
    bottom = []
    bed.run(2000, every=20, callback=lambda sim: bottom.append(-sim.walls.force(4)[2]))
    assert np.mean(bottom) == pytest.approx(weight, rel=0.1)


def test_a_bed_too_soft_for_its_sizes():
    """The remedy counts with the overlap that the smallest grain is allowed to have with the largest."""
    pair = initial.Group(BALL, np.array([(0, 0, 0.041), (0, 0, 0.0855)]), np.eye(4)[[0, 0]], STIFF, [1.0, 0.1])
    floor = [md.Plane((0, 0, 0), (0, 0, 1))]
    with pytest.raises(ValueError, match=r"softer = 1e\+06: .*Take softer up to") as failure:
        initial.settle([pair], floor, 1e-5, softer=1e6)
    softer = float(str(failure.value).split("softer up to ")[1].split(",")[0])
    assert 1.0 < softer < 1e6 and initial.settle([pair], floor, 1e-5, softer=softer, slower=1.0).n_clumps == 2


def test_too_few_grains_are_reported():
    with pytest.warns(UserWarning, match=r"n = 100: too few grains .* 0.00804 m, .* 11.5 mean ones; take 115 or"):
        SAND.draw(100, np.random.default_rng(1))
    with pytest.warns(UserWarning, match="n = 1000: too few"):
        Mixture([BALL], sizes=RosinRammler(4e-3, 1.0)).draw(1000, np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SAND.draw(115, np.random.default_rng(1))


def placed(edge, templates, poses):
    """A simulation with clumps, which are in the cube."""
    sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-9)
    for template, pose in zip(templates, poses):
        sim.add_clumps(template, *pose)
    x, r = sim.sphere_centers, sim.sphere_radii[:, None]
    assert np.all(x - r > 0.0) and np.all(x + r < edge)
    return sim


@pytest.mark.parametrize("how, solid_fraction", [(place, 0.1), (place_densely, 0.3)])
def test_mixture_keeps_the_order_of_its_templates(how, solid_fraction):
    ball = md.ClumpTemplate([(0, 0, 0)], [0.11])  # reaches farthest, though it is not the first
    templates, numbers = [scenes.lumpy().template, ball, ROD, ball], [60, 15, 60, 0]
    edge = (sum(n * t.volume for n, t in zip(numbers, templates)) / solid_fraction) ** (1 / 3)
    poses = how(templates, numbers, np.zeros(3), np.full(3, edge), np.random.default_rng(2))
    assert [len(position) for position, _ in poses] == numbers
    assert smallest_gap(placed(edge, templates, poses)) > 0.0


@pytest.mark.parametrize("how, solid_fraction", [(place, 0.1), (place_densely, 0.3)])
def test_same_seed_same_poses_and_no_absolute_length(how, solid_fraction):
    """In units 2^-20 times as large every bit of the poses is the same, up to that factor."""
    def placed(seed, unit=1.0):
        template = md.ClumpTemplate(ROD.centers * unit, ROD.radii * unit)
        high = np.full(3, unit * (100 * ROD.volume / solid_fraction) ** (1 / 3))
        return how([template], [100], np.zeros(3), high, np.random.default_rng(seed))[0]
    (x, q), same, other, small = placed(5), placed(5), placed(6), placed(5, 2.0 ** -20)
    assert np.array_equal(same[0], x) and np.array_equal(same[1], q) and not np.any(other[0] == x)
    assert np.array_equal(small[0], x * 2.0 ** -20) and np.array_equal(small[1], q)


def check_isotropic(vectors):
    """Moments of unit vectors (n, 3) are those of isotropic ones, within five standard errors."""
    n = len(vectors)
    # Var(d_i) = 1/3, Var(d_i^2) = 1/5 - 1/9 = 4/45, Var(d_i d_j) = 1/15
    assert np.max(np.abs(vectors.mean(axis=0))) < 5 * np.sqrt(1 / 3 / n)
    moments = vectors.T @ vectors / n - np.eye(3) / 3
    assert np.max(np.abs(np.diag(moments))) < 5 * np.sqrt(4 / 45 / n)
    assert np.max(np.abs(moments - np.diag(np.diag(moments)))) < 5 * np.sqrt(1 / 15 / n)
    # A cube's symmetry hides in second moments. Sum of d_i^4: mean 3/5, variance 1/3 + 54/945 - 9/25 = 16/525
    assert abs(np.mean(np.sum(vectors ** 4, axis=1)) - 3 / 5) < 5 * np.sqrt(16 / 525 / n)


def test_random_directions_and_rotations():
    """Rotations follow the Haar measure: the density of the angle t is (1 - cos t) / pi, so cos t has variance 1/4."""
    check_isotropic(initial.random_directions(20_000, np.random.default_rng(7)))
    q = initial.random_orientations(20_000, np.random.default_rng(8))
    check_isotropic(rotate(q, X_AXIS))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=4 * np.finfo(float).eps)
    assert abs(np.mean(2.0 * q[:, 0] ** 2 - 1.0) + 0.5) < 5 * np.sqrt(0.25 / len(q))


def test_orientations_stay_isotropic_near_walls():
    """In a box hardly wider than a fibre is long: those along its edges fit more easily, but are not preferred."""
    fibre = md.ClumpTemplate([(x, 0, 0) for x in (-2, -1, 0, 1, 2)], [0.5] * 5)
    high, rng = np.full(3, 2.02 * fibre.bounding_radius), np.random.default_rng(11)
    found = np.concatenate([place([fibre], [1], np.zeros(3), high, rng)[0][1] for _ in range(1000)])
    check_isotropic(rotate(found, X_AXIS))


@pytest.mark.parametrize("how, number, fraction, words", [
    (place, 1, 3.0, ["1 clumps", "solid fraction", "larger box"]),              # narrower than one
    (place, 300, 1.5, ["300 clumps", "solid fraction", "larger box"]),          # less volume than they have
    (place, 2000, 0.51, ["solid fraction 0.51", "random addition ends below 0.5", "use place_densely"]),
    (place, 300, 0.45, ["300 clumps", "larger box", "use place_densely"]),      # where some find room
    (place_densely, 300, 0.9, ["300 clumps", "larger box"])])
def test_too_full(how, number, fraction, words):
    """The error has a remedy, which is not the function itself."""
    edge = (number * ROD.volume / fraction) ** (1 / 3)
    with pytest.raises(ValueError) as refusal:
        how([ROD], [number], np.zeros(3), np.full(3, edge), np.random.default_rng(1))
    assert all(word in str(refusal.value) for word in words), refusal.value
    assert ("use place_densely" in str(refusal.value)) == ("use place_densely" in words)


def test_dense_rods_are_apart_and_isotropic():
    """At a solid fraction of 0.3, which random addition does not reach. So are directions to neighbours, of rods whose
    neighbours are all far from walls: no order of a lattice.

    The directions from one rod count as one sample. Their sums are not quite independent: five standard errors of such
    samples leave room for that.
    """
    edge = (8000 * ROD.volume / 0.3) ** (1 / 3)
    [(position, orientation)] = place_densely([ROD], [8000], np.zeros(3), np.full(3, edge),
                                              np.random.default_rng(1))
    sim = placed(edge, [ROD], [(position, orientation)])
    touching = cKDTree(sim.sphere_centers).query_pairs(2.0 * ROD.radii[0], output_type="ndarray")
    assert np.all(sim.sphere_clump[touching[:, 0]] == sim.sphere_clump[touching[:, 1]])
    check_isotropic(rotate(orientation, X_AXIS))
    near = 2.0 * ROD.bounding_radius
    inner = np.flatnonzero(np.all((position > 2.0 * near) & (position < edge - 2.0 * near), axis=1))
    i, j = cKDTree(position).query_pairs(near, output_type="ndarray").T
    direction = position[j] - position[i]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    x, y, z = direction.T
    for even in (x * x - 1 / 3, y * y - 1 / 3, x * y, y * z, z * x, x ** 4 + y ** 4 + z ** 4 - 3 / 5):
        sums = np.bincount(i, even, len(position))[inner]
        assert abs(sums.sum()) < 5.0 * np.sqrt(np.sum(sums ** 2))


# --- inlets and outlets ---

LOW, HIGH = (0.1, 0.1, 0.45), (0.5, 0.5, 0.8)


def test_rate_and_number():
    """Clumps that fall freely appear at the rate, each with the velocity given, in the box."""
    sim = md.Simulation(ELASTIC, dt=1e-3)
    inlet = Inlet(CLUMP, LOW, HIGH, rate=37.0, velocity=(0, 0, -30.0), angular_velocity=(1, 2, 3), every=8, number=12)
    for k in range(1, 61):
        sim.run(8)
        new = inlet(sim)
        assert sim.n_clumps == min(12, int(37.0 * (8e-3 * k)))
        of_new = np.isin(sim.sphere_clump, new)
        centers, radii = sim.sphere_centers[of_new], sim.sphere_radii[of_new][:, None]
        assert np.all(centers - radii > LOW) and np.all(centers + radii < HIGH)
        for name, expected in ("velocity", (0, 0, -30.0)), ("angular_velocity", (1, 2, 3)):
            np.testing.assert_allclose(getattr(sim, name)[new], np.tile(expected, (len(new), 1)), rtol=1e-12)
    assert sim.n_clumps == 12


@pytest.mark.parametrize("begin", (0, 50, 2000))
def test_an_inlet_counts_from_its_first_call(begin, tmp_path):
    """Its number comes whenever it begins, beside an equal one of before, after pauses, in copies and restarts."""
    def inlet():
        return Inlet(BALL, (0, 0, 0), (9, 9, 9), rate=2e3, velocity=(0, 0, 3), every=10, number=30, seed=1)
    def poured(sim, *parts):
        count, one = sim.n_clumps, inlet()
        for k, (steps, pause) in enumerate(parts):
            sim.run(steps, every=10, callback=one)
            sim.run(pause)
            if k == 0 and len(parts) > 1:
                assert sim.n_clumps - count == steps // 5
        sim.run(200, every=10, callback=lambda sim: sim.step_count % 30 and one(sim))
        return sim.n_clumps - count
    sim = md.Simulation(ELASTIC, dt=1e-4)
    sim.run(begin)
    assert poured(sim, (300, 0)) == poured(sim, (300, 0)) == poured(sim, (50, 100), (60, 30), (90, 0)) == 30
    sim.run(10)                                         # the last one of these pauses
    start = copy.deepcopy(sim)
    sim.run(150, every=10, callback=inlet())
    start.run(70, every=10, callback=inlet())
    start.save(tmp_path / "sim.npz")
    for other in start, copy.deepcopy(start), md.Simulation.load(tmp_path / "sim.npz"):
        one = inlet() if other is not start else next(iter(start.inlets_called.values()))[0]
        other.run(80, every=10, callback=one)
        assert np.array_equal(other.position, sim.position) and other.n_clumps == 120
        other.run(10)
        other.run(200, every=10, callback=inlet())      # another one of equal parameters
        assert other.n_clumps == 150


def test_inlets_of_files_that_do_not_know_them():
    """They continue what they have done since the first step."""
    found = []
    for known in True, False:
        sim, inlet = md.Simulation(ELASTIC, dt=1e-4), Inlet(BALL, (0, 0, 0), (9, 9, 9), rate=2e3, every=10, number=30)
        sim.run(100, every=10, callback=inlet)
        settings, arrays = checkpoint.pack(sim)
        other = checkpoint.unpack({name: settings[name] for name in settings if known or name != "inlets"}, arrays,
                                  md.Simulation)
        other.run(100, every=10, callback=Inlet(inlet.template, inlet.low, inlet.high, rate=inlet.rate, every=10,
                                                  number=30))
        found.append(other.position)
    assert len(found[0]) == 30 and np.array_equal(*found)


def test_a_box_that_is_full():
    """No overlap with walls nor with clumps of other sizes; what does not fit is left out, and reported once."""
    sim = md.Simulation(ELASTIC, md.box_walls((0.2, 0.0, 0.0), (0.6, 0.6, 0.7)), dt=1e-5)
    sim.add_clumps(BALL, [[0.3, 0.3, 0.6], [0.45, 0.2, 0.5]], scale=[1.5, 0.3])
    inlet = Inlet(CLUMP, LOW, HIGH, rate=4e5, every=10, seed=8)
    sim.run(10)
    with pytest.warns(UserWarning, match=r"rate = 400000 1/s .*step 10 .* (\d+) of the 40 clumps") as found:
        new = inlet(sim)
        assert len(new) == sim.n_clumps - 2 > 5 and sim.n_clumps < 42
        assert 0.0 < smallest_gap(sim) < 0.3 * sim.sphere_radii.max()
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
    times = 0.1 * np.arange(1001)
    fed = np.array([mean_rate(times, 20.0 * times + rng.normal(size=1001)) for _ in range(1000)])
    assert np.mean(fed[:, 1]) == pytest.approx(np.sqrt(10.0) * np.std(fed[:, 0]), rel=0.1)     # see mean_rate


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
