"""Clumps that fragments replace: what is conserved, energy balance, refusals; patterns of fragments."""
import copy

import numpy as np
import pytest
from breaking import BALL, HIGH, LAWS, PATTERNS, ROD, drag, moving
from scenes import CLUMP, ROLLING

import minidem as md


def conserved(sim):
    return np.hstack([sim.mass.sum(), sim.linear_momentum(), sim.angular_momentum()])


@pytest.mark.parametrize("force", [None, drag])
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("contact", LAWS)
def test_what_is_conserved(contact, name, force):
    pattern = PATTERNS[name]
    sim = moving(pattern, contact, force=force)
    momentum = np.sum(sim.mass * np.linalg.norm(sim.velocity, axis=1))
    scale = np.repeat([sim.mass.sum(), momentum, HIGH[0] * momentum], [1, 3, 3])
    before, energy, ids = conserved(sim), sim.energy(), sim.ids[::3]
    of, x = np.flatnonzero(np.isin(sim.ids, ids)), sim.position
    made = sim.replace(ids, pattern)
    assert made.shape == (10, len(pattern)) and np.array_equal(sim.ids[-made.size:], made.ravel())
    assert (np.abs(conserved(sim) - before) < 1e-13 * scale).all()
    index = np.searchsorted(sim.ids, made)
    centers = (sim.mass[index][..., None] * sim.position[index]).sum(axis=1) / sim.mass[index].sum(axis=1)[:, None]
    assert np.allclose(centers, x[of], rtol=0, atol=1e-16)
    after = sim.energy()
    assert after.balance == pytest.approx(energy.balance, abs=1e-12 * energy.kinetic)
    for kind in "dissipated", "work", "exchanged":
        assert getattr(after, kind) == pytest.approx(getattr(energy, kind), abs=1e-12 * energy.kinetic)
    assert after.kinetic == pytest.approx(energy.kinetic, rel=0.2) and after.breakage != 0.0
    sim.run(100)
    assert sim.energy().breakage == after.breakage


@pytest.mark.parametrize("contact", LAWS)
def test_the_error_of_the_balance_is_of_second_order(contact):
    errors = []
    for dt in 8e-6, 4e-6, 2e-6:
        sim = moving(PATTERNS["ball"], contact, dt)
        start = sim.energy()
        for _ in range(3):
            sim.replace(sim.ids[sim.template_index == 0][::3], PATTERNS["ball"])
            sim.run_until(sim.time + 0.008)
        errors.append(abs(sim.energy().balance - start.balance) / start.kinetic)
    assert errors[0] < 1e-3 and errors[2] < errors[0] / 10.0, errors


def test_energy_of_rotation_by_hand():
    """A cube of eight balls in place of a rod: angular momentum L, energy L J^-1 L / 2, J the tensor of the cube."""
    corners = np.argwhere(np.ones((2, 2, 2))) - 0.5
    one = md.ClumpTemplate([(0, 0, 0)], [0.003], 1.0)
    one = one.with_density(ROD.mass / 8 / one.volume)
    pattern = md.Fragments(ROD, one, ROD.center_of_mass + 0.01 * corners)
    inertia = 8 * one.inertia[0] + ROD.mass * 2 * 0.005 ** 2
    assert np.allclose(pattern.inertia, inertia * np.eye(3), rtol=1e-14, atol=1e-20)
    sim = md.Simulation(md.Material(1e7, 0.3), dt=1e-5)
    sim.add_clumps(ROD, [(1, 2, 3)], (0.5, 0.5, 0.5, 0.5), velocity=(1, 0, 0), angular_velocity=(3, 4, 5), scale=2.0)
    spin, center, before = sim.angular_momentum((1, 2, 3)), sim.position[0], sim.energy().rotational
    sim.run(1)
    center = sim.position[0]
    sim.replace([0], pattern, overlap=0.0)
    assert np.allclose(sim.angular_momentum(center), spin, rtol=1e-12)
    own = 0.5 * (spin @ spin) / (32 * inertia)
    energy = sim.energy()
    assert energy.kinetic - 0.5 * sim.mass.sum() == pytest.approx(own, rel=1e-12)
    assert energy.breakage == pytest.approx(own - before, rel=1e-9)
    rate = spin / (32 * inertia)
    assert np.allclose(sim.angular_velocity, rate, rtol=1e-12)
    assert np.allclose(sim.velocity, (1, 0, 0) + np.cross(rate, sim.position - center), rtol=1e-12)


@pytest.mark.parametrize("box", [{}, {"shear": ("x", "y", 20.0)}, {"rates": (0.0, 0.0, -5.0), "affine": False}])
def test_in_a_periodic_box(box):
    """Fragments on both sides of a face; also of clumps that have crossed it."""
    pattern, periodic = PATTERNS["ball"], md.PeriodicBox((0, 0, 0), HIGH, axes=(True,) * 3, **box)
    sim = moving(pattern, ROLLING, periodic=periodic)
    before, energy = conserved(sim), sim.energy()
    sim.replace(sim.ids, pattern)
    assert sim.n_clumps == 270
    assert np.allclose(conserved(sim), before, rtol=1e-12, atol=1e-13 * np.abs(before).max())
    assert sim.energy().balance == pytest.approx(energy.balance, abs=1e-12 * energy.kinetic)
    assert (sim.wrapped_position - sim.position != 0.0).any()
    sim.run(1000)
    assert sim.energy().balance == pytest.approx(energy.balance, abs=1e-4 * energy.kinetic)


def test_fields():
    pattern = PATTERNS["ball"]
    sim = moving(pattern, "hertz")
    sim.fields.add("T", np.arange(30.0), capacity=900.0, per_mass=True)
    sim.fields.add("charge", np.arange(60.0).reshape(30, 2), components=2)
    heat, total = sim.mass @ sim.fields["T"], sim.fields["charge"].sum(axis=0)
    made = sim.replace([7, 3], pattern)
    made = np.searchsorted(sim.ids, made)
    assert sim.fields["T"][made].tolist() == [[7.0] * 9, [3.0] * 9]
    assert np.allclose(sim.fields["charge"][made].sum(axis=1), [(14, 15), (6, 7)], rtol=1e-14)
    assert sim.mass @ sim.fields["T"] == pytest.approx(heat, rel=1e-14)
    assert np.allclose(sim.fields["charge"].sum(axis=0), total, rtol=1e-14)
    sim.run(3)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bits(threads, tmp_path):
    """Of any number of threads, of a copy and after a restart, where templates are other objects."""
    def breaking(sim):
        sim.replace(PATTERNS["ball"].parents(sim)[:4], PATTERNS["ball"])

    def bits(sim):
        return [values.tobytes() for values in (sim.ids, sim.position, sim.velocity, sim.orientation, sim.force,
                                                sim.contacts(), np.array(sim.energy().breakage))]

    start = moving(PATTERNS["ball"], ROLLING)
    reference = copy.deepcopy(start)
    reference.run(60, every=20, callback=breaking)
    start.run(45, every=20, callback=breaking)
    start.save(tmp_path / "state.npz")
    sim = md.Simulation.load(tmp_path / "state.npz", threads=threads)
    sim.run(15, every=20, callback=breaking)
    assert bits(sim) == bits(reference) and len(sim.templates) == 2 and sim.n_clumps == 30 + 12 * 8


def test_bonds_of_the_clump_end():
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5, friction=0.3), dt=1e-6,
                        contact="hertz-mindlin:bonds=parallel")
    sim.add_clumps(BALL, [(0, 0, 0), (0.0201, 0, 0), (0.0402, 0, 0)])
    sim.bonds.add(2e-4, young=1e7)
    sim.run(10)
    balance = sim.energy().balance
    sim.replace([1], PATTERNS["ball"])
    assert len(sim.bonds()) == 0 and sim.energy().balance == pytest.approx(balance, abs=1e-15)
    sim.run(10)


def pair(gap=0.0, **hold):
    sim = md.Simulation(md.Material(1e7, 0.3), [md.Plane((0, 0, -0.01), (0, 0, 1))], dt=1e-6)
    sim.add_clumps(BALL, [(0, 0, 0), (0.02 + gap, 0, 0)], overlap=1.0, **hold)
    return sim


ALONG = np.array([(-0.005, 0, 0), (0.005, 0, 0)])
HALF = md.ClumpTemplate([(0, 0, 0)], [0.01], 1250.0)
TWINS = md.Fragments(BALL, md.ClumpTemplate([(0, 0, 0)], [0.01 * 0.5 ** (1 / 3)], 2500.0), ALONG * 0.6)


@pytest.mark.parametrize("make, words", [
    (lambda: pair().replace([0], PATTERNS["rod"]), ["ids: clump 0 is not of the template"]),
    (lambda: pair(free="").replace([1], PATTERNS["ball"]), ["ids: clump 1 is held; free it first by sim.set_motion"]),
    (lambda: pair().replace([0], TWINS), ["clump 0 would overlap another one of them by 0.00987401 m, 1.24 of",
                                          "overlap=...) above 1.24"]),
    (lambda: pair().replace([0], TWINS, overlap=0.2), ["another one of them", "the limit is 0.2"]),
    (lambda: pair(-1e-4).replace([0], md.Fragments(BALL, HALF, ALONG * 0.01), overlap=3.0), ["overlap = 3.0"]),
    (lambda: pair(-1e-4).replace([0], md.Fragments(BALL, HALF.with_density(1e4), ALONG * 2.2, scales=0.5)),
     ["would overlap clump 1 by 0.0061 m, 1.22 of", "the limit is 0.02, by default what"]),
    (lambda: pair(-1e-4).replace([0], md.Fragments(BALL, HALF.with_density(1e4), ALONG * 2.2, scales=0.5),
                                 orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0)), ["would overlap wall 0 by 0.006 m"]),
    (lambda: md.Fragments(BALL, BALL, ALONG), ["0.020943951 kg, and the parent of 0.0104719755 kg",
                                               "densities by 0.5", "or their scales by 0.79370052598"]),
    (lambda: md.Fragments(BALL, HALF, ALONG + 1e-3), ["of the parent; subtract this", "[0.001, 0.001, 0.001]"]),
])
def test_refusals(make, words):
    with pytest.raises(ValueError) as error:
        make()
    assert all(word in str(error.value) for word in words), error.value


def test_a_clump_that_was_freed():
    sim = pair(gap=0.01)
    sim.set_motion([0], pin=(0, 0, 0.005))
    sim.run(2)
    sim.set_motion([0])
    assert sim.replace([0], PATTERNS["ball"]).shape == (1, 9)
    sim.set_motion(sim.ids[:2], free="", turns="")
    sim.run(2)


def test_nothing_changes_where_one_of_many_is_refused():
    sim = pair()
    loop = sim.loop
    with pytest.raises(ValueError, match="no clump with the id 5"):
        sim.replace([0, 5], PATTERNS["ball"])
    assert sim.loop is loop and sim.replace([], PATTERNS["ball"]).shape == (0, 9) and sim.loop is loop


def test_overlaps_that_are_allowed():
    """Twins of the density of the clump overlap, and the balance has the energy that drives them apart."""
    sim = pair()
    sim.run(1)
    balance = sim.energy().balance
    sim.replace([0], TWINS, overlap=1.3)
    stored = sim.energy()
    assert stored.breakage == pytest.approx(stored.elastic, rel=1e-12) and stored.elastic > 0.0
    sim.run(3000)
    assert sim.energy().kinetic > 0.9 * stored.elastic
    assert sim.energy().balance == pytest.approx(balance, abs=1e-5 * stored.elastic)


def test_fragments_that_grow_to_the_density_of_the_clump():
    """Without forces at first, with all of the mass at the end, and an error of the balance of second order."""
    packed, errors = md.Fragments.packed(BALL, 12, seed=1), []
    growth = (packed.templates[0].density / BALL.density) ** (1 / 3)
    pattern = md.Fragments(BALL, BALL, packed.offsets, scales=growth * packed.scales)
    for steps in 100, 200, 400:
        sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.5, friction=0.4), [md.Plane((0, 0, 0), (0, 0, 1))],
                            gravity=(0, 0, -9.81), contact="hertz-mindlin", dt=1e-3 / steps)
        sim.add_clumps(BALL, [(0, 0, 0.01)], velocity=(0.1, 0, 0))
        sim.run(steps)
        start = sim.energy()
        made = sim.replace(sim.ids, pattern, overlap=1.9).ravel()
        sim.set_scale(made, packed.scales)
        assert sim.energy().elastic < 1e-12 * start.kinetic
        for k in range(1, 201):
            sim.set_scale(made, packed.scales * growth ** (k / 200))
            sim.run(steps)
        assert sim.mass.sum() == pytest.approx(BALL.mass, rel=1e-12)
        errors.append(abs(sim.energy().balance - start.balance) / start.kinetic)
    assert errors[0] < 1e-2 and errors[2] < errors[0] / 8.0, errors


def test_neighbours_that_break_together():
    """Fragments of one clump may overlap fragments of another one as much as the clumps did."""
    sim = pair(-2e-4)
    made = sim.replace([0, 1], PATTERNS["ball"])
    assert made.tolist() == [list(range(2, 11)), list(range(11, 20))]
    contacts = sim.contacts()
    assert (contacts["overlap"][contacts["clump_j"] >= 0] <= 2e-4 * (1 + 1e-9)).all()


def test_one_clump_at_the_last_of_many_walls():
    """Two fragments touch walls whose numbers are larger than theirs as deep as the clump did."""
    sim, along = md.Simulation(md.Material(1e7, 0.3), md.box_walls((-0.00999,) * 3, (0.00999,) * 3), dt=1e-6), \
        md.Fragments(BALL, HALF.with_density(1e4), ALONG, scales=0.5)
    sim.add_clumps(BALL, [(0, 0, 0)])
    sim.replace([0], along, orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))
    contacts = sim.contacts()[sim.contacts()["clump_j"] < 0]
    assert sorted(contacts["clump_j"]) == [-6, -5] and np.allclose(contacts["overlap"], 1e-5)


@pytest.mark.parametrize("n, radius", [(2, 0.5), (3, 0.4641), (4, 0.4495), (6, 0.4142), (13, 0.3333), (50, 0.2211)])
def test_packings_of_equal_spheres(n, radius):
    """Against the densest ones known (H. Pfoertner, Densest packing of spheres in a sphere)."""
    pattern = md.Fragments.packed(BALL, n, seed=1)
    assert pattern.templates[0].radii[0] * pattern.scales[0] == pytest.approx(0.01 * radius, rel=0.03)


@pytest.mark.parametrize("parent", [BALL, ROD, CLUMP, md.shapes.fibre(0.1, 0.01, 7, bend=1.0, density=1000.0)])
@pytest.mark.parametrize("n", [2, 20])
def test_packings_are_in_the_parent(parent, n):
    pattern = md.Fragments.packed(parent, n, sizes=np.linspace(1.0, 2.0, n), seed=5)
    radii, x = pattern.templates[0].radii[0] * pattern.scales, pattern.offsets + parent.center_of_mass
    assert np.allclose(radii / radii[0], np.linspace(1.0, 2.0, n), rtol=1e-14)
    inside = parent.radii - np.linalg.norm(x[:, None] - parent.centers, axis=2) - radii[:, None]
    assert inside.max(axis=1).min() > -1e-15
    gaps = np.linalg.norm(x[:, None] - x, axis=2) - radii[:, None] - radii + np.diag(np.full(n, 1.0))
    assert gaps.min() > -1e-15 and (n == 2 or gaps.min() < 1e-3 * parent.bounding_radius)
    assert pattern.masses.sum() == pytest.approx(parent.mass, rel=1e-14)
    assert np.abs(pattern.masses @ pattern.offsets).max() < 1e-15 * parent.mass * parent.bounding_radius
    again = md.Fragments.packed(parent, n, sizes=np.linspace(1.0, 2.0, n), seed=5)
    assert np.array_equal(again.offsets, pattern.offsets) and repr(again) == repr(pattern)
