"""Materials of clumps and walls, and the properties of pairs of them."""
import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scenes

import minidem as md
import minidem.engine.loop_memory
from minidem.contact.pair_table import PROPERTIES, PairTable

DT = 38e-6
STEEL = md.Material(2.1e11, 0.3, restitution=0.6, friction=0.5, name="steel")
GLASS = md.Material(1e9, 0.2, restitution=0.5, friction=0.3, rolling_friction=0.01, adhesion=0.2)
SOFT = md.Material(1e8, 0.45)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01])
PAIR = md.Pair(GLASS, STEEL, restitution=0.4, friction=0.2, rolling_friction=0.02, adhesion=0.1)
READS_PAIRS = replace(md.contact.info("hertz"), name="reading",
                      reads_of_pairs=("restitution", "friction", "rolling_friction"))
# Checks of materials and pairs do not depend on the law.
without_friction = pytest.mark.filterwarnings(
    "ignore:contact law 'hertz' does not read restitution, friction:UserWarning")


def test_effective_shear_modulus():
    """Of the materials M1 and M2 of Dosta et al. 2024, Comput. Phys. Commun. 296, 109066."""
    first, second = md.Material(1e9, 0.2), md.Material(0.5e9, 0.2)
    assert md.effective_shear_modulus(first, first) == pytest.approx(115740740.74, rel=1e-10)
    assert md.effective_shear_modulus(first, second) == pytest.approx(77160493.83, rel=1e-10)


def test_table_of_pairs():
    walls = [md.Plane((0, 0, 0), (0, 0, 1), STEEL), md.Plane((0, 0, 0), (0, 1, 0))]
    table = PairTable(GLASS, walls, [PAIR, md.Pair(SOFT, md.Material(1.0, 0.0))]).with_material(SOFT)
    assert table.materials == (GLASS, STEEL, SOFT) and list(table.wall_index) == [1, 0]
    assert table.index(replace(STEEL)) == 1 and table.with_material(replace(SOFT)) is table
    found = table.properties(PROPERTIES)
    for name, function in ("modulus", md.effective_modulus), ("shear_modulus", md.effective_shear_modulus):
        assert np.array_equal(found[name], [[function(a, b) for b in table.materials] for a in table.materials])
    nan = np.nan
    assert np.array_equal(found["restitution"], [[0.5, 0.4, nan], [0.4, 0.6, nan], [nan, nan, 1.0]], equal_nan=True)
    assert np.array_equal(found["friction"], [[0.3, 0.2, nan], [0.2, 0.5, nan], [nan, nan, 0.0]], equal_nan=True)
    assert np.array_equal(found["rolling_friction"], [[0.01, 0.02, nan], [0.02, 0, nan], [nan, nan, 0]], equal_nan=True)
    assert np.array_equal(found["adhesion"], [[0.2, 0.1, nan], [0.1, 0, nan], [nan, nan, 0]], equal_nan=True)


def test_missing_pairs_are_named():
    def require(walls, pairs, *index):
        table = PairTable(GLASS, [md.Plane((0, 0, 0), (0, 0, 1), wall) for wall in walls], pairs)
        table.with_material(SOFT).require_pairs(READS_PAIRS, [0], np.array(index, dtype=np.int32))

    for walls, index in ([STEEL], ()), ([STEEL], (0,)), ([STEEL, STEEL], (0, 0)):
        with pytest.raises(ValueError, match=r"poisson=0.2.*'steel' can meet.*'reading' reads restitution, friction"):
            require(walls, [], *index)
        require(walls, [PAIR], *index)
    with pytest.raises(ValueError, match=r"young=1000000000.0.*young=100000000.0.*can meet"):
        require([], [], 1, 0)
    with pytest.raises(ValueError, match=r"young=100000000.0.*'steel' can meet"):
        require([STEEL], [PAIR, md.Pair(GLASS, SOFT)], 0, 2)
    require([STEEL, SOFT], [PAIR, md.Pair(GLASS, SOFT)], 0, 0)          # walls do not meet
    PairTable(GLASS, [md.Plane((0, 0, 0), (0, 0, 1), STEEL)]).require_pairs(md.contact.info("hertz"), [0],
                                                                         np.zeros(1, int))


def test_a_missing_pair_adds_nothing(monkeypatch):
    monkeypatch.setitem(md.contact.registry._registry.known, "reading", READS_PAIRS)
    with pytest.raises(ValueError, match="pairs: .*'steel' can meet"):
        md.Simulation(GLASS, md.box((0, 0, 0), (1, 1, 1), STEEL), contact="reading", dt=DT)
    sim = md.Simulation(GLASS, md.box((0, 0, 0), (1, 1, 1), STEEL), contact="reading", dt=1e-6, pairs=[PAIR])
    sim.add_clumps(BALL, (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="pairs: .* can meet"):
        sim.add_clumps(BALL, (0.2, 0.5, 0.5), material=SOFT)
    assert sim.n_clumps == 1 and sim.materials == (GLASS, STEEL)


def outcome(sim):
    return [*scenes.state_of(sim), sim.force, sim.torque, sim.material_index, sim.contacts(), sim.energy()]


def assert_same(one, other):
    assert one.materials == other.materials
    assert all(np.array_equal(a, b) for a, b in zip(outcome(one), outcome(other), strict=True))


def test_friction_of_each_contact():
    """Spheres of two materials between walls of both and of a third one: a contact that slides has the limit, and its
    energy the modulus, of its pair."""
    pairs = [PAIR, md.Pair(GLASS, SOFT, restitution=0.9, friction=0.05), md.Pair(STEEL, SOFT, friction=0.1)]
    walls = [replace(wall, material=(STEEL, GLASS, SOFT)[k % 3]) for k, wall in enumerate(md.box([0.0] * 3, [0.1] * 3))]
    sim = md.Simulation(GLASS, walls, contact="hertz-mindlin:tangential_damping=0", dt=1e-5, pairs=pairs)
    site, rng = np.argwhere(np.ones((4, 4, 4))), np.random.default_rng(1)
    for k, material in enumerate((GLASS, SOFT)):
        place = 0.0125 + 0.025 * site[site.sum(axis=1) % 2 == k]
        sim.add_clumps(BALL, place, velocity=8.0 * rng.normal(size=(32, 3)), material=material)
    known = {frozenset((pair.a, pair.b)): pair.friction for pair in pairs}
    known, met = known | {frozenset([a]): a.friction for a in sim.materials}, set()
    for _ in range(200):
        sim.run(10)
        for contact in sim.contacts():
            j, a = contact["clump_j"], sim.materials[sim.material_index[contact["clump_i"]]]
            b = walls[-1 - j].material if j < 0 else sim.materials[sim.material_index[j]]
            radius = 0.01 if j < 0 else 0.005
            energy = 8.0 / 15.0 * md.effective_modulus(a, b) * np.sqrt(radius) * contact["overlap"]**2.5
            assert contact["energy"] == pytest.approx(energy, rel=1e-12)
            if contact["sliding"]:
                limit = known[frozenset((a, b))] * max(contact["force"] @ contact["normal"], 0.0)
                assert np.linalg.norm(contact["tangential"]) == pytest.approx(limit, rel=1e-9)
                met.add((frozenset((a, b)), min(j, 0)))
    assert len(met) == 3 + 2 * len(walls)


@without_friction
def test_add_a_material_while_running(tmp_path):
    def second(sim):
        sim.run(100)
        sim.add_clumps(BALL, (-1.0, 0.0, 0.0), velocity=(40.0, 0, 0), material=STEEL)
        sim.add_clumps(BALL, (-1.02, 0.0, 0.0), velocity=(60.0, 0, 0), material=SOFT)
        return sim

    sim = md.Simulation(GLASS, dt=1e-6, pairs=[PAIR])
    sim.add_clumps(BALL, [(-0.96, 0, 0)])
    second(sim).save(tmp_path / "mixed.npz")
    others = [md.Simulation.load(tmp_path / "mixed.npz"), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    sim.run(3000)
    assert sim.materials == (GLASS, STEEL, SOFT) and np.array_equal(sim.material_index, [0, 1, 2])
    assert sim.velocity[0, 0] > 10.0                                    # struck
    for other in others:
        assert other.pairs == (PAIR,)
        other.run(3000)
        assert_same(other, sim)


@without_friction
def test_the_monitor_allows_for_the_stiffest_material():
    safe = []
    for default in SOFT, STEEL:
        sim = md.Simulation(default, [md.Plane((0, 0, -1), (0, 0, 1), GLASS)], dt=1e-7)
        sim.add_clumps(BALL, [(0, 0, 0), (1, 0, 0)], material=STEEL)
        sim.run(1)
        safe.append(sim.monitor._limits["step"])
    assert 0.0 < safe[0] == safe[1]


def test_the_rayleigh_step_is_that_of_the_material():
    stiff = md.Material(1e12, 0.2)
    sim = md.Simulation(SOFT, dt=1.01 * stiff.rayleigh_step(0.01, 2500.0))
    sim.add_clumps(BALL, (0, 0, 0))
    with pytest.warns(UserWarning, match="Rayleigh step"):
        sim.add_clumps(BALL, (1, 0, 0), material=stiff)
