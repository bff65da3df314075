"""Bonds in files of other programs: GSD and VTU files, read back with gsd and meshio."""
import meshio
import numpy as np
import pytest
from trajectory_files import SINGLE, content, frames_of, needs_gsd

import minidem as md

MATERIAL = md.Material(young=1e6, poisson=0.3, restitution=0.5, friction=0.5)
BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], density=1000.0)
PAIR = md.ClumpTemplate([(0, 0, 0), (0, 0.02, 0)], [0.01, 0.01], density=1000.0)
EDGE = 0.2


@pytest.fixture
def sim():
    """Pair, ball, pair and ball in a row through a face of a periodic box, of which the last is pulled off."""
    sim = md.Simulation(MATERIAL, contact="hertz-mindlin:bonds=parallel", dt=1e-6,
                        periodic=((0, 0, 0), (EDGE,) * 3, (True, True, True)))
    for k, template in enumerate((PAIR, BALL, PAIR, BALL)):
        sim.add_clumps(template, [(0.17 + 0.019 * k, 0.1, 0.1)], velocity=(5.0 * (k == 3), 0, 0),
                       angular_velocity=(30.0 * k, 0, 0))
    sim.add_bonds([(0, 2), (2, 4)], young=1e7, tensile=2e5)
    sim.add_bonds([(4, 5), (3, 5)], young=1e7, tensile=1e5)
    return sim


def particle_pairs(sim):
    """Particles of the bonds: centres of clumps of one sphere, spheres of the others behind all centres."""
    clump = sim.sphere_clump.tolist()
    alone = [clump.count(k) == 1 for k in clump]
    number = [k if one else sim.n_clumps + s - sum(alone[:s]) for s, (k, one) in enumerate(zip(clump, alone))]
    return [[number[i], number[j]] for i, j in sim.bonds()[["sphere_i", "sphere_j"]].tolist()]


def distances(sim):
    centers, bonds = sim.sphere_centers(), sim.bonds()
    return np.linalg.norm(centers[bonds["sphere_i"]] - centers[bonds["sphere_j"]], axis=1)


@needs_gsd
def test_bonds_of_a_trajectory(sim, tmp_path):
    """Pairs and distances as of the simulation, across a face too, and in each frame those that hold."""
    expected = []
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        for _ in range(6):
            trajectory(sim)
            expected.append((particle_pairs(sim), distances(sim)))
            sim.run(50)
    numbers = [len(pairs) for pairs, _ in expected]
    assert numbers[0] == 4 and 0 < numbers[-1] < 4
    for frame, (pairs, apart) in zip(frames_of(tmp_path / "a.gsd"), expected, strict=True):
        bonds, position = frame.bonds, frame.particles.position
        assert bonds.group.tolist() == pairs and bonds.N == len(pairs)
        assert bonds.types == ["parallel"] and bonds.typeid.tolist() == len(pairs) * [0]
        between = position[bonds.group[:, 0]] - position[bonds.group[:, 1]]
        between -= EDGE * np.round(between / EDGE)
        np.testing.assert_allclose(np.linalg.norm(between, axis=1), apart, rtol=0, atol=SINGLE)
    assert np.ptp(position[bonds.group], axis=1).max() > 0.5 * EDGE


@needs_gsd
def test_ovito_reads_bonds(sim, tmp_path):
    """With the images across a face; none in a frame without."""
    io, pairs, apart = pytest.importorskip("ovito.io"), particle_pairs(sim), distances(sim)
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        trajectory(sim)
        sim.run(1)
        sim.remove_clumps([1, 3])
        trajectory(sim)
    pipeline = io.import_file(str(tmp_path / "a.gsd"))
    first, second = (pipeline.compute(k) for k in range(2))
    bonds, position = first.particles.bonds, first.particles.positions[...]
    topology = bonds.topology[...]
    assert topology.tolist() == pairs and second.particles.bonds is None
    between = position[topology[:, 1]] - position[topology[:, 0]] + EDGE * bonds.pbc_vectors[...]
    np.testing.assert_allclose(np.linalg.norm(between, axis=1), apart, rtol=0, atol=SINGLE)


@needs_gsd
def test_a_continued_file_has_the_same_bonds(sim, tmp_path):
    """Through frames of more bonds, of none, and of as many as the first."""
    whole, parts = tmp_path / "whole.gsd", tmp_path / "parts.gsd"
    with md.Trajectory(whole) as first, md.Trajectory(parts) as second:
        for k in range(5):
            if k == 2:
                sim.remove_clumps([1, 3])
            if k == 3:
                sim.save(tmp_path / "a.npz")
                sim.add_clumps(BALL, [(0.17, 0.0695, 0.1)])
                sim.add_bonds([(0, 4)], young=1e7)
            first(sim)
            second(sim)
            sim.run(50)
    again = md.Simulation.load(tmp_path / "a.npz")
    with md.Trajectory(parts, append=True) as trajectory:
        trajectory(again)
        again.add_clumps(again.templates[1], [(0.17, 0.0695, 0.1)])
        again.add_bonds([(0, 4)], young=1e7)
        again.run(50, every=50, callback=trajectory)
    assert content(parts) == content(whole)
    found = [frame.bonds.N for frame in frames_of(parts)]
    assert found[0] == 4 and found[2] == 0 and found[-1] == 1


@needs_gsd
def test_bonds_of_chosen_clumps(sim, tmp_path):
    """Those between them; without, a file has nothing of bonds."""
    import gsd.fl
    for clumps, pairs in (([1, 2], [[0, 3]]), ([0, 3], [])):
        with md.Trajectory(tmp_path / "a.gsd", clumps=clumps) as trajectory:
            trajectory(sim)
        [frame] = frames_of(tmp_path / "a.gsd")
        assert frame.bonds.group.tolist() == pairs
    with gsd.fl.open(str(tmp_path / "a.gsd"), "r") as file:
        assert file.find_matching_chunk_names("particles/") and not file.find_matching_chunk_names("bonds/")


def test_bonds_as_lines(sim, tmp_path):
    """From centre to centre of the spheres, across a face to the image, with what `bonds` lists; none too."""
    sim.run(250)
    sim.remove_clumps([0])
    sim.write_bonds(tmp_path / "a.vtu")
    mesh, bonds = meshio.read(tmp_path / "a.vtu"), sim.bonds()
    assert len(bonds) > 0 and mesh.cells[0].type == "line"
    starts, ends = mesh.points[mesh.cells[0].data].swapaxes(0, 1)
    np.testing.assert_allclose(np.linalg.norm(ends - starts, axis=1), distances(sim), rtol=1e-12)
    off = (starts - sim.sphere_centers()[bonds["sphere_i"]]) / EDGE
    np.testing.assert_allclose(off, np.round(off), rtol=0, atol=1e-12)
    for name in ("normal_force", "shear_force", "bending", "torsion", "tension", "shear", "energy"):
        assert mesh.cell_data[name][0].tolist() == bonds[name].tolist() and np.any(bonds[name] != 0.0)
    for name in ("clump_i", "clump_j"):
        assert mesh.cell_data[name][0].tolist() == sim.ids[bonds[name]].tolist()
    sim.remove_clumps(sim.ids)
    sim.write_bonds(tmp_path / "a.vtu")
