"""Materials of clumps and walls, and the properties of pairs of them."""
import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scenes

import minidem as md
from minidem.contact.pair_table import PROPERTIES, PairTable

STEEL = md.Material(2.1e11, 0.3, restitution=0.6, friction=0.5, name="steel")
GLASS = md.Material(1e9, 0.2, restitution=0.5, friction=0.3, rolling_friction=0.01, adhesion=0.2)
SOFT = md.Material(1e8, 0.45)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01])
PAIR = md.Pair(GLASS, STEEL, restitution=0.4, friction=0.2, rolling_friction=0.02, adhesion=0.1)
def test_table_of_pairs():
    """What a law gets of each pair of materials; NaN where no pair is given."""
    table = PairTable(GLASS, [md.Plane((0, 0, 0), (0, 0, 1), STEEL)], [PAIR]).with_material(SOFT)
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
    monkeypatch.setitem(md.contact.registry._registry.records, "reading", replace(
        md.contact.info("hertz"), name="reading", reads_of_pairs=("restitution", "friction")))
    walls = [md.Plane((0, 0, 0), (0, 0, 1), wall) for wall in (STEEL, SOFT)]
    with pytest.raises(ValueError, match="pairs: .*'steel' can meet.*'reading' reads restitution, friction"):
        md.Simulation(GLASS, walls[:1], contact="reading", dt=1e-6)
    sim = md.Simulation(GLASS, walls, contact="reading", dt=1e-6, pairs=[PAIR, md.Pair(GLASS, SOFT)])
    sim.add_clumps(BALL, (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match=r"pairs: .*young=100000000.0.*'steel' can meet"):
        sim.add_clumps(BALL, (0.2, 0.5, 0.5), material=SOFT)
    assert sim.n_clumps == 1 and sim.materials == (GLASS, STEEL, SOFT)


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


@pytest.mark.filterwarnings("ignore:contact law 'hertz' does not read restitution, friction:UserWarning")
def test_add_a_material_while_running(tmp_path):
    sim = md.Simulation(GLASS, dt=1e-6, pairs=[PAIR])
    sim.add_clumps(BALL, [(-0.96, 0, 0)])
    sim.run(100)
    sim.add_clumps(BALL, (-1.0, 0.0, 0.0), velocity=(40.0, 0, 0), material=STEEL)
    sim.add_clumps(BALL, (-1.02, 0.0, 0.0), velocity=(60.0, 0, 0), material=SOFT)
    sim.save(tmp_path / "mixed.npz")
    others = [md.Simulation.load(tmp_path / "mixed.npz"), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    sim.run(3000)
    assert sim.materials == (GLASS, STEEL, SOFT) and sim.material_index.tolist() == [0, 1, 2]
    assert sim.velocity[0, 0] > 10.0                                    # struck
    for other in others:
        other.run(3000)
        assert other.pairs == (PAIR,) and other.materials == sim.materials and other.energy() == sim.energy()
        assert all(np.array_equal(a, b) for a, b in zip(scenes.state_of(other), scenes.state_of(sim), strict=True))
