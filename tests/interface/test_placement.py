"""Random placement: no overlap, isotropic, reproducible, and a clear error when the box is full."""
import numpy as np
import pytest
from scipy.spatial import cKDTree

import minidem as md
from minidem.initial import place, place_densely, random_directions, random_orientations


def spheres(template, position, orientation):
    """Lab centres (n * m, 3), radii and clump numbers, by way of a simulation."""
    sim = md.Simulation(md.Material(1e9, 0.1), dt=1e-9)
    sim.add_clumps(template, position, orientation)
    return sim.sphere_centers(), sim.sphere_radii, sim.sphere_clump


def check_free(parts, low, high):
    """Every sphere inside the box and clear of the spheres of all other clumps; plain all-pairs."""
    centers, radii, clump = (np.concatenate(arrays) for arrays in zip(*parts))
    assert np.all(centers - radii[:, None] > low) and np.all(centers + radii[:, None] < high)
    for k in range(len(centers)):
        others = clump != clump[k]
        distance = np.linalg.norm(centers[others] - centers[k], axis=1)
        assert np.all(distance > radii[others] + radii[k])


@pytest.mark.parametrize("how, solid_fraction", [(place, 0.1), (place_densely, 0.3)])
def test_mixture_keeps_the_order_of_its_templates(how, solid_fraction, rod, lumpy):
    ball = md.ClumpTemplate([(0, 0, 0)], [0.11])  # reaches farthest, though it is not the first
    templates, numbers = [lumpy.template, ball, rod.template, ball], [60, 15, 60, 0]
    edge = (sum(n * t.volume for n, t in zip(numbers, templates)) / solid_fraction) ** (1 / 3)
    poses = how(templates, numbers, np.zeros(3), np.full(3, edge), np.random.default_rng(2))
    assert [len(position) for position, _ in poses] == numbers
    parts = [list(spheres(*part)) for part in zip(templates, *zip(*poses))]
    parts[1][2] += numbers[0]
    parts[2][2] += numbers[0] + numbers[1]
    check_free(parts, 0.0, edge)


@pytest.mark.parametrize("how, solid_fraction", [(place, 0.1), (place_densely, 0.3)])
def test_same_seed_same_poses_and_no_absolute_length(how, solid_fraction, rod):
    """In units 2^-20 times as large every bit of the poses is the same but for that factor."""
    def placed(seed, unit=1.0):
        template = md.ClumpTemplate(rod.template.centers * unit, rod.template.radii * unit)
        high = np.full(3, unit * (100 * rod.template.volume / solid_fraction) ** (1 / 3))
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


def body_axes(q):
    """The body's x axis in the lab, (n, 3): first column of the rotation matrix of q (n, 4)."""
    w, x, y, z = q.T
    return np.column_stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])


def test_random_directions_and_rotations():
    """Rotations follow the Haar measure: the angle t has density (1 - cos t) / pi on [0, pi], so that the mean of cos t
    is -1/2 and its variance 1/4."""
    check_isotropic(random_directions(20_000, np.random.default_rng(7)))
    q = random_orientations(20_000, np.random.default_rng(8))
    check_isotropic(body_axes(q))
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=4 * np.finfo(float).eps)
    assert abs(np.mean(2.0 * q[:, 0] ** 2 - 1.0) + 0.5) < 5 * np.sqrt(0.25 / len(q))


def test_orientations_stay_isotropic_near_walls():
    """In a box hardly wider than a fibre is long: those along its edges fit more easily, but are not preferred."""
    fibre = md.ClumpTemplate([(x, 0, 0) for x in (-2, -1, 0, 1, 2)], [0.5] * 5)
    high, rng = np.full(3, 2.02 * fibre.bounding_radius), np.random.default_rng(11)
    check_isotropic(body_axes(np.concatenate([place([fibre], [1], np.zeros(3), high, rng)[0][1] for _ in range(1000)])))


@pytest.mark.parametrize("how, number, fraction, words", [
    (place, 1, 3.0, ["1 clumps", "solid fraction", "larger box"]),              # narrower than one
    (place, 300, 1.5, ["300 clumps", "solid fraction", "larger box"]),          # less volume than they have
    (place, 2000, 0.51, ["solid fraction 0.51", "random addition ends below 0.5", "use place_densely"]),
    (place, 300, 0.45, ["300 clumps", "larger box", "use place_densely"]),      # where some find room
    (place_densely, 300, 0.9, ["300 clumps", "larger box"])])
def test_too_full(how, number, fraction, words, rod):
    """The error has a remedy, which is not the function itself."""
    edge = (number * rod.template.volume / fraction) ** (1 / 3)
    with pytest.raises(ValueError) as refusal:
        how([rod.template], [number], np.zeros(3), np.full(3, edge), np.random.default_rng(1))
    assert all(word in str(refusal.value) for word in words), refusal.value
    assert ("use place_densely" in str(refusal.value)) == ("use place_densely" in words)


def test_dense_rods_are_apart_and_isotropic(rod):
    """At a solid fraction of 0.3, which random addition does not reach. So are directions to neighbours, of rods whose
    neighbours are all far from walls: no order of a lattice.

    The directions from one rod count as one sample. Their sums are not quite independent: five standard errors of such
    samples leave room for that.
    """
    edge = (8000 * rod.template.volume / 0.3) ** (1 / 3)
    [(position, orientation)] = place_densely([rod.template], [8000], np.zeros(3), np.full(3, edge),
                                              np.random.default_rng(1))
    centers, radii, clump = spheres(rod.template, position, orientation)
    assert np.all(centers - radii[:, None] > 0.0) and np.all(centers + radii[:, None] < edge)
    touching = cKDTree(centers).query_pairs(2.0 * radii[0], output_type="ndarray")
    assert np.all(clump[touching[:, 0]] == clump[touching[:, 1]])
    check_isotropic(body_axes(orientation))
    near = 2.0 * rod.template.bounding_radius
    inner = np.flatnonzero(np.all((position > 2.0 * near) & (position < edge - 2.0 * near), axis=1))
    i, j = cKDTree(position).query_pairs(near, output_type="ndarray").T
    direction = position[j] - position[i]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    x, y, z = direction.T
    for even in (x * x - 1 / 3, y * y - 1 / 3, x * y, y * z, z * x, x ** 4 + y ** 4 + z ** 4 - 3 / 5):
        sums = np.bincount(i, even, len(position))[inner]
        assert abs(sums.sum()) < 5.0 * np.sqrt(np.sum(sums ** 2))
