"""Contact laws by name, every combination of their parts, Hooke's closed form; materials, their pairs, and walls."""
import warnings
from dataclasses import replace
from itertools import product
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scenes import motion, unit_vectors

import minidem as md
from minidem.contact import columns
from minidem.contact.law import MOST_COEFFICIENTS
from minidem.contact.pair_table import PROPERTIES, PairTable
from minidem.core.checks import unit_quaternions
from minidem.core.parameters import named_values

SPHERE = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)


def test_records():
    assert md.contact.available() == ["hertz", "hertz-mindlin", "hooke", "hooke-coulomb"]
    for name in md.contact.available():
        law, with_friction = md.contact.info(name), "-" in name
        assert law.name == name and law.title and law.doi.startswith("10.") and law.doc
        assert law.needs_velocity == law.has_history == with_friction and law.conservative != with_friction
        assert ("onset" in law.parameters) != with_friction
    assert md.contact.info("hertz:onset=corrected").power == 1.5 and md.contact.info("hooke").power == 1.0
    assert md.contact.info("hertz").reads == ("young", "poisson") and md.contact.info("hooke").reads == ()


def test_hooke_collision():
    """Head on: duration pi sqrt(m / 2k), largest overlap v sqrt(m / 2k) with the relative speed v, energy k d^2 / 2."""
    stiffness, dt, speed, overlaps = 1e6, 1e-6, 1.0, []
    def note(sim):
        table = sim.contacts()
        overlaps.extend(table["overlap"])
        assert np.allclose(table["energy"], 0.5 * stiffness * table["overlap"]**2, rtol=1e-12)
        assert np.allclose(table["force"][:, 0], -stiffness * table["overlap"], rtol=1e-12)
    unit = np.sqrt(SPHERE.mass / (2.0 * stiffness))
    sim = md.Simulation(md.Material(1e9, 0.1), contact=f"hooke:stiffness={stiffness}", dt=dt)
    sim.add_clumps(SPHERE, [(0.449, 0.5, 0.5), (0.551, 0.5, 0.5)], velocity=[(speed, 0, 0), (-speed, 0, 0)])
    sim.run(int((1e-3 + 4.0 * unit) / dt), every=1, callback=note)
    assert len(overlaps) * dt == pytest.approx(np.pi * unit, abs=2 * dt)
    assert max(overlaps) == pytest.approx(2.0 * speed * unit, rel=1e-3)
    assert sim.velocity[:, 0] == pytest.approx([-speed, speed], rel=1e-3)


# --- laws that are sums of parts ---

LAWS = {"hertz-mindlin": "", "hooke-coulomb": "stiffness=1e5"}
TANGENTIAL = {"hertz-mindlin": ("rescale", "mindlin", "mindlin-rescale", "mindlin-force",
                                "linear,tangential_stiffness=3e4"),
              "hooke-coulomb": ("rescale", "mindlin", "linear")}
COMBINATIONS = [",".join(filter(None, (f"{name}:tangential={model}", f"rolling={rolling}", f"mass={mass}", LAWS[name])))
                for name in LAWS
                for model, rolling, mass in product(TANGENTIAL[name], ("none", "epsd"), ("shared", "clump"))]
COMBINATIONS += [f"{contact},cohesion=jkr" for contact in COMBINATIONS if contact.startswith("hertz")] \
    + [f"{contact},plastic=walton-braun" for contact in COMBINATIONS if contact.startswith("hooke")] \
    + [f"{contact},plastic=luding,adhesive_stiffness=0.3" for contact in COMBINATIONS
       if contact.startswith("hooke") and "=rescale" in contact] \
    + [f"{contact},{option}" for contact in COMBINATIONS if "=rescale" in contact
       for option in ("liquid=willett", "twisting=marshall", "sliding=static")] \
    + [contact.replace("epsd", "constant") for contact in COMBINATIONS if "=rescale,rolling=epsd" in contact]
COMBINATIONS += ["hertz-mindlin:tangential=mindlin,rolling=epsd,cohesion=jkr,friction_limit=magnitude",
                 "hertz-mindlin:tangential=mindlin,twisting=marshall,cohesion=jkr,friction_limit=magnitude",
                 "hertz-mindlin:mass=single", "hertz-mindlin:rolling=epsd,cohesion=jkr,mass=single",
                 "hertz-mindlin:rolling=epsd,cohesion=dmt,twisting=marshall"]
CLUMP = md.ClumpTemplate([(-0.008, 0.0, 0.0), (0.008, 0.0, 0.0), (0.0, 0.009, 0.004)], [0.01, 0.01, 0.008],
                         density=2500.0)
N = 24


def collisions(contact, exchanged=False):
    """Two clouds of clumps that meet in pairs; exchanged : added in the opposite order, so that i and j change."""
    rng = np.random.default_rng(6)
    material = md.Material(1e7, 0.3, restitution=0.6, friction=0.3,
                           rolling_friction=0.1 if "epsd" in contact or "constant" in contact else 0.0,
                           adhesion=1.0 if "cohesion" in contact else 0.0,
                           bridge_volume=1e-9 if "liquid" in contact else 0.0,
                           static_friction=0.5 if "sliding" in contact else 0.0)
    sim = md.Simulation(material, contact=contact, dt=4e-6)
    place = np.column_stack([np.zeros((N, 2)), 0.1 * np.arange(N)])
    sides = []
    for side in 1.0, -1.0:
        sides.append((place + (side * 0.021, 0.0, 0.0), unit_vectors(rng, N, 4),
                      (-3.0 * side, 0.0, 0.0) + 0.5 * rng.normal(size=(N, 3)), 30.0 * rng.normal(size=(N, 3))))
    for side in sides[::-1] if exchanged else sides:
        sim.add_clumps(CLUMP, **motion(side))
    return sim


def state(sim):
    return np.array([sim.position, sim.velocity, sim.angular_velocity]).reshape(3, 2, N, 3)


@pytest.mark.parametrize("contact", COMBINATIONS)
def test_every_combination(contact):
    """Momentum is conserved, energy is lost and accounted for, bodies can be exchanged to the last bit."""
    sim, other = collisions(contact), collisions(contact, exchanged=True)
    start, momentum = sim.energy(), sim.velocity.sum(axis=0)
    touched = 0
    for _ in range(30):
        sim.run(50)
        touched = max(touched, len(sim.contacts()))
    other.run(1500)
    end = sim.energy()
    assert touched > 0.5 * N and np.array_equal(state(sim), state(other)[:, ::-1])
    np.testing.assert_allclose(sim.velocity.sum(axis=0), momentum, atol=1e-12)
    assert 0.2 * start.kinetic < start.kinetic - end.kinetic
    assert abs(end.balance - start.balance) < 1e-3 * start.kinetic
    assert (end.dissipated_rolling != 0.0) == any(word in contact for word in ("epsd", "constant", "marshall"))
    assert {md.contact.info(contact).mass_of_clumps(md.contact.registry.select(contact)[1])} == {"clump" in contact}


@pytest.mark.parametrize("name", LAWS)
def test_mass_is_shared_by_default(name):
    def mass(given):
        law, values = md.contact.registry.select(",".join(filter(None, (f"{name}:{given}", LAWS[name]))))
        return named_values(law.parameters, values)["mass"]
    assert mass("") == "shared"
    with pytest.warns(DeprecationWarning, match="mass=contact is now mass=single"):
        assert mass("mass=contact") == "single"


# --- materials, pairs, templates and walls in every form ---

STEEL = md.Material(2.1e11, 0.3, restitution=0.6, friction=0.5, name="steel")
GLASS = md.Material(1e9, 0.2, restitution=0.5, friction=0.3, rolling_friction=0.01, adhesion=0.2)
SOFT = md.Material(1e8, 0.45)
IRON = md.Material(young=210e9, poisson=0.3)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01])
PAIR = md.Pair(GLASS, STEEL, restitution=0.4, friction=0.2, rolling_friction=0.02, adhesion=0.1)


def test_table_of_pairs():
    """What a law gets of each pair of materials; NaN where no pair is given."""
    table = PairTable(GLASS, [md.Plane((0, 0, 0), (0, 0, 1), material=STEEL)], [PAIR]).with_material(SOFT)
    assert table.materials == (GLASS, STEEL, SOFT) and table.with_material(replace(SOFT)) is table
    found = table.properties(PROPERTIES)
    for name, function in ("modulus", md.effective_modulus), ("shear_modulus", md.effective_shear_modulus):
        assert np.array_equal(found[name], [[function(a, b) for b in table.materials] for a in table.materials])
    for name, glass, pair, steel, soft in (
            ("restitution", 0.5, 0.4, 0.6, 1.0), ("friction", 0.3, 0.2, 0.5, 0.0),
            ("rolling_friction", 0.01, 0.02, 0.0, 0.0), ("adhesion", 0.2, 0.1, 0.0, 0.0)):
        expected = [[glass, pair, np.nan], [pair, steel, np.nan], [np.nan, np.nan, soft]]
        assert np.array_equal(found[name], expected, equal_nan=True), name


def test_a_missing_pair_adds_nothing(monkeypatch):
    """It is named by its materials. Walls do not meet, and need none."""
    monkeypatch.setitem(md.contact.registry._registry.known, "reading", replace(
        md.contact.info("hertz"), name="reading", reads_of_pairs=("restitution", "friction")))
    walls = [md.Plane((0, 0, 0), (0, 0, 1), material=wall) for wall in (STEEL, SOFT)]
    with pytest.raises(ValueError, match="pairs: .*'steel' can meet.*'reading' reads restitution, friction"):
        md.Simulation(GLASS, walls[:1], contact="reading", dt=1e-6)
    sim = md.Simulation(GLASS, walls, contact="reading", dt=1e-6,
                        pairs=[PAIR, md.Pair(GLASS, SOFT, restitution=1.0, friction=0.0)])
    sim.add_clumps(BALL, (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match=r"pairs: .*young=100000000.0.*'steel' can meet"):
        sim.add_clumps(BALL, (0.2, 0.5, 0.5), material=SOFT)
    assert sim.n_clumps == 1 and sim.materials == (GLASS, STEEL, SOFT)


@pytest.mark.parametrize("contact, reads", [
    ("hertz-mindlin", ("restitution", "friction")), ("hooke-coulomb:stiffness=1e5", ("restitution", "friction")),
    ("hertz-mindlin:rolling=epsd", ("rolling_friction",)), ("hertz-mindlin:cohesion=jkr", ("adhesion",)),
    ("hooke-coulomb:stiffness=1e5,liquid=willett", ("bridge_volume",)),
    ("hertz-mindlin:sliding=static", ("static_friction",))])
def test_what_a_pair_does_not_give(tmp_path, contact, reads):
    """It is what both materials have; where they differ, a law that reads it refuses a pair that can meet."""
    given = {"restitution": 0.5, "friction": 0.25, "rolling_friction": 0.125, "adhesion": 0.0625,
             "bridge_volume": 2.0 ** -30, "static_friction": 0.875}
    first, same = (md.Material(1e7, 0.3, **given, name=name) for name in "ab")
    assert {name: getattr(md.Pair(first, same), name) for name in given} == given
    for name in reads:
        other = replace(same, **{name: 0.75})
        assert getattr(md.Pair(first, other), name) is None
        wall = [md.Plane((0, 0, 0), (0, 0, 1), material=other)]
        with pytest.raises(ValueError, match=rf"the pair of material 'a' and material 'b' gives no {name}, .*{name} "
                                             rf"{given[name]:g} and 0.75.*{name}=\.\.\."):
            md.Simulation(first, wall, contact=contact, dt=1e-6, pairs=[md.Pair(first, other)])
        md.Simulation(first, wall, contact=contact, dt=1e-6, pairs=[md.Pair(first, other, interacts=False)])
        with pytest.warns(UserWarning, match="does not read"):
            sim = md.Simulation(first, wall, contact="hertz", dt=1e-6, pairs=[md.Pair(first, other)])
        sim.save(tmp_path / "file.npz")
        assert md.Simulation.load(tmp_path / "file.npz").pairs == sim.pairs


def test_two_materials_of_one_restitution():
    """Without a word of the pair, their balls rebound with it."""
    glass, steel = (md.Material(1e7, 0.3, restitution=0.5, name=name) for name in ("glass", "steel"))
    sim = md.Simulation(glass, contact="hertz-mindlin", dt=5e-6, pairs=[md.Pair(glass, steel)])
    for side, material in (-1, glass), (1, steel):
        sim.add_clumps(BALL, (1.001 * side * 0.01, 0, 0), velocity=(-0.1 * side, 0, 0), material=material)
    sim.run(1000)
    assert len(sim.contacts()) == 0 and sim.velocity[1, 0] == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize("contact", ["hertz-mindlin", "hertz-mindlin:tangential_damping=0",
                                     "hooke-coulomb:stiffness=1e5"])
def test_friction_of_each_contact(contact):
    """Spheres of two materials between walls of both and of a third one: limits and moduli are those of each pair."""
    pairs = [PAIR, md.Pair(GLASS, SOFT, restitution=0.9, friction=0.05),
             md.Pair(STEEL, SOFT, restitution=1.0, friction=0.1)]
    walls = [replace(wall, material=(STEEL, GLASS, SOFT)[k % 3]) for k,
             wall in enumerate(md.box_walls([0.0] * 3, [0.1] * 3))]
    sim = md.Simulation(GLASS, walls, contact=contact, dt=1e-5, pairs=pairs)
    site, rng = np.argwhere(np.ones((4, 4, 4))), np.random.default_rng(1)
    for k, material in enumerate((GLASS, SOFT)):
        place = 0.0125 + 0.025 * site[site.sum(axis=1) % 2 == k]
        sim.add_clumps(BALL, place, velocity=8.0 * rng.normal(size=(32, 3)), material=material)
    known = {frozenset((pair.a, pair.b)): pair.friction for pair in pairs}
    known, met = known | {frozenset([a]): a.friction for a in sim.materials}, set()
    for _ in range(200):
        sim.run(10)
        for row in sim.contacts():
            j, a = row["clump_j"], sim.materials[sim.material_index[row["clump_i"]]]
            b = walls[-1 - j].material if j < 0 else sim.materials[sim.material_index[j]]
            energy = 8.0 / 15.0 * md.effective_modulus(a, b) * np.sqrt(0.01 if j < 0 else 0.005) * row["overlap"]**2.5
            assert row["energy"] == pytest.approx(energy if "hertz" in contact else 5e4 * row["overlap"]**2, rel=1e-12)
            if row["sliding"]:
                limit = known[frozenset((a, b))] * max(row["force"] @ row["normal"], 0.0)
                assert np.linalg.norm(row["tangential"]) == pytest.approx(limit, rel=1e-9)
                met.add((frozenset((a, b)), min(j, 0)))
    assert len(met) == 3 + 2 * len(walls)


TWO = [[0, 0, 0], [1, 0, 0]]


def test_any_array_like():
    expected = md.ClumpTemplate(np.array(TWO, dtype=float), np.array([1.0, 0.5]))
    for centers, radii in [(TWO, [1, 0.5]), (tuple(map(tuple, TWO)), (1.0, 0.5)),
                           (np.array(TWO, dtype=np.int8), np.array([1, 0.5], dtype=np.float32)),
                           (np.array(TWO, dtype=float, order="F"), np.array([1, 7, 0.5, 7])[::2])]:
        clump = md.ClumpTemplate(centers, radii)
        assert np.array_equal(clump.inertia, expected.inertia) and clump.centers.flags.c_contiguous


def test_quaternions_are_normalised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")                  # printed with seven digits: no warning
        q = unit_quaternions("orientation", [[0.5, 0.5, 0.5, 0.5], [0.7071068, 0.7071068, 0, 0]], 2)
        one = unit_quaternions("orientation", (0, 0, 0, 1), 3)
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 4 * np.finfo(float).eps
    assert np.array_equal(one, [[0, 0, 0, 1]] * 3)
    for tiny in (1e-200, 1e-9, 1e200):
        with pytest.warns(UserWarning, match=r"orientation\[1\].*1 of 2"):
            q = unit_quaternions("orientation", [[1, 0, 0, 0], [0, 3 * tiny, 0, 4 * tiny]], 2)
        assert q[1] == pytest.approx([0, 0.6, 0, 0.8], rel=4 * np.finfo(float).eps)


def test_material_in_numbers():
    assert IRON.shear_modulus == pytest.approx(210e9 / 2.6, rel=1e-15)
    assert IRON.rayleigh_step(0.01, 7800) == pytest.approx(
        pi * 0.01 * sqrt(7800 * 2.6 / 210e9) / (0.1631 * 0.3 + 0.8766), rel=1e-15)
    assert IRON.p_wave_step(0.01, 7800) == pytest.approx(0.01 * sqrt(7800 / 210e9), rel=1e-15)
    assert md.effective_modulus(IRON, IRON) == pytest.approx(210e9 / (2 * 0.91), rel=1e-15)
    rubber = md.Material(young=5e6, poisson=0.5)
    for pair in (IRON, rubber), (rubber, IRON):
        assert md.effective_modulus(*pair) == pytest.approx(1 / (0.91 / 210e9 + 0.75 / 5e6), rel=1e-15)
    first, second = md.Material(1e9, 0.2), md.Material(0.5e9, 0.2)    # Dosta et al. 2024, 10.1016/j.cpc.2023.109066
    assert md.effective_shear_modulus(first, first) == pytest.approx(115740740.74, rel=1e-10)
    assert md.effective_shear_modulus(first, second) == pytest.approx(77160493.83, rel=1e-10)
    with pytest.raises(AttributeError):
        IRON.young = 1.0


def test_planes_compare_by_value():
    same = md.Plane((0, 0, 1.0), np.array([0, 0, 1e-200]), material=md.Material(210e9, 0.3))
    assert md.Plane([0, 0, 1], [0, 0, 5], material=IRON) == same
    assert md.Plane([0, 0, 0], [3, 0, 4]).normal == pytest.approx((0.6, 0, 0.8), rel=1e-15)
    assert hash(md.Plane([0, 0, 0], [0, 0, 1])) == hash(md.Plane([0, 0, 0], [0, 0, 2]))


def test_box_faces_inwards():
    low, high = np.array([-1.0, 2.0, -3.0]), np.array([4.0, 5.0, 6.0])
    walls = md.box_walls(low, high, material=IRON)
    normals = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    assert [list(wall.normal) for wall in walls] == normals and all(wall.material is IRON for wall in walls)
    distances = [np.dot((low + high) / 2 - wall.point, wall.normal) for wall in walls]
    assert distances == pytest.approx([2.5, 2.5, 1.5, 1.5, 4.5, 4.5], rel=1e-15)


def test_the_guide_states_every_default():
    """Of laws with friction; readers from other codes have other defaults in mind."""
    page = (Path(md.__file__).parent / "guide" / "coming_from.md").read_text()
    for law in ("hertz-mindlin", "hooke-coulomb"):
        for name, default in md.contact.info(law).parameters.items():
            default = default[0] if isinstance(default, tuple) else default
            stated = f"{name}={default:.4g}" if isinstance(default, float) else f"{name}={default}"
            assert stated in page or name == "stiffness", f"{law}: guide/coming_from.md does not say `{stated}`"


def test_dashpots_across_the_normal_near_a_hinge():
    """A clump that can hardly approach another slides all the same: they take ten times the mass of clumps at most."""
    law, values = md.contact.registry.select("hertz-mindlin")
    pair = PairTable(STEEL).properties(PROPERTIES)
    rows = np.zeros((columns.COEFFICIENTS + MOST_COEFFICIENTS, 8))
    coefficients = np.ravel(law.coefficient_rows(pair, values))
    rows[columns.COEFFICIENTS:columns.COEFFICIENTS + len(coefficients)] = coefficients[:, None]
    rows[columns.NORMAL + 2] = rows[columns.MIDDLE_NORMAL + 2] = 1.0
    rows[columns.VELOCITY], rows[columns.VELOCITY + 2] = 1e-6, -1e-3
    rows[columns.OVERLAP], rows[columns.RADIUS], rows[columns.STEP] = 1e-5, 0.01, 1e-12
    rows[columns.ROLLING_INERTIA], rows[columns.MASS] = 1.4 * 0.02 * 0.01 ** 2, np.tile([0.02, 0.2, 20.0, 0.01], 2)
    force = law.kernels_for(values).results_at(rows, np.zeros((13, 4, 8)), values)
    elastic = law.normal_force(1e-5, 0.01, pair, values)[0, 0]
    across, along = force[0] / force[0, 0], (force[2] - elastic) / (force[2, 0] - elastic)
    assert across == pytest.approx(np.sqrt(np.minimum(rows[columns.MASS] / 0.02, 10.0)), rel=1e-4)
    assert along == pytest.approx(np.sqrt(rows[columns.MASS] / 0.02), rel=1e-4)
