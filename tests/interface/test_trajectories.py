"""Trajectories in GSD and CSV files, read back with gsd."""
import csv
import os
from importlib.util import find_spec

import numpy as np
import pytest
import scenes
from rods_in_box import SCENARIO as RODS
from trajectory_files import SINGLE, content, frames_of, needs_gsd

import minidem as md
from minidem.core.quaternions import conjugate, multiply, rotate, rotate_back
from minidem.output import trajectory as trajectories, vtu
from minidem.scenario import run as scenario_run

pytestmark = pytest.mark.usefixtures("without_pictures", "few_rows")
FORMATS = [pytest.param("a.gsd", marks=needs_gsd), "a.csv"]


@needs_gsd
def test_rigid_bodies(sim, tmp_path):
    """Positions, diameters and bodies are those of the spheres; energies from the file are those of the simulation."""
    states = []
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        for _ in range(3):
            sim.run(100)
            trajectory(sim)
            states.append((sim.time, sim.sphere_centers, sim.position, sim.energy(), sim.velocity))
    n, of_sphere, offsets = sim.n_clumps, np.asarray(sim.sphere_clump), []
    part = np.bincount(of_sphere)[of_sphere] > 1
    for (now, spheres, position, energy, velocity), frame in zip(states, frames_of(tmp_path / "a.gsd"), strict=True):
        p, origin = frame.particles, frame.log["origin"]
        frame.validate()
        assert frame.log["time"] == now and frame.configuration.step == round(now / sim.dt)
        assert frame.configuration.box.tolist() == [9, 8, 7, 0, 0, 0] and not p.image.any()
        np.testing.assert_allclose(p.position[:n] + origin, position, rtol=0, atol=9 * SINGLE)
        np.testing.assert_allclose(p.position[n:] + origin, spheres[part], rtol=0, atol=9 * SINGLE)
        np.testing.assert_array_equal(p.body, [0, 1, -1, -1, 4, 5, *of_sphere[part]])
        np.testing.assert_allclose(p.diameter[n:], 2.0 * sim.sphere_radii[part], rtol=SINGLE)
        np.testing.assert_allclose(p.diameter[2:4], (0.4, 0.2), rtol=SINGLE)
        assert 0.0 < p.diameter[[0, 1, 4, 5]].max() < 0.02 * p.diameter[n:].max()       # markers: OVITO replaces 0
        np.testing.assert_array_equal(frame.log["particles/clump"], [*range(n), *of_sphere[part]])
        np.testing.assert_allclose(p.velocity[:n], velocity, rtol=SINGLE)
        np.testing.assert_allclose(p.mass.sum(), np.sum(sim.mass), rtol=SINGLE)
        spin = 0.5 * multiply(conjugate(p.orientation), p.angmom)[:n, 1:]
        np.testing.assert_allclose(np.sum(spin ** 2 / p.moment_inertia[:n]) / 2, energy.rotational, rtol=9 * SINGLE)
        np.testing.assert_allclose(np.sum(p.mass[:, None] * p.velocity.astype(float) ** 2) / 2, energy.translational,
                                   rtol=9 * SINGLE)
        offsets.append(rotate_back(p.orientation[n:], p.position[n:] - p.position[p.body[n:]]))
    np.testing.assert_allclose(offsets, np.broadcast_to(offsets[0], np.shape(offsets)), rtol=0, atol=9 * SINGLE)
    assert p.types == ["template_0", "template_0_sphere", "template_1", "template_2", "template_2_sphere"]
    kinds = [f"template_{k}" for k in sim.template_index]
    assert [p.types[k] for k in p.typeid] == [*kinds, *(f"{kinds[k]}_sphere" for k in of_sphere[part])]
    w, body = rotate(p.orientation[:n], spin / p.moment_inertia[:n]), p.body[n:]
    expected = p.velocity[body] + np.cross(w[body], p.position[n:] - p.position[body])
    np.testing.assert_allclose(p.velocity[n:], expected, rtol=0, atol=1e-5)


def test_rows_of_a_csv_file(sim, tmp_path):
    states = []
    def both(sim):
        trajectory(sim)
        trajectory(sim)     # writes nothing
        states.extend([sim.time, k, *sim.position[i], *sim.orientation[i], *sim.velocity[i], *sim.angular_velocity[i]]
                      for i, k in enumerate(sim.ids) if k in (1, 3))
    with md.Trajectory(tmp_path / "a.csv", clumps=[3, 1, 77]) as trajectory:
        sim.run(200, every=100, callback=both)
        sim.remove_clumps([1])
        sim.run(100, every=100, callback=both)
    with open(tmp_path / "a.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:6] == ["time", "clump", "position_x", "position_y", "position_z", "orientation_w"]
    assert header[-1] == "angular_velocity_z" and len(rows) == 5
    assert [[float(value) for value in row] for row in rows] == states


@needs_gsd
def test_box_of_an_open_axis(tmp_path):
    """Coordinates are those of the laboratory, also in a continued file; the box changes only if a clump leaves it.
    Planes at rest bound the box of all frames, and its middle is the origin; a moving one does not."""
    lid = md.Plane((0, 0, 2), (0, 0, -1), motion=md.Oscillation((0, 0, 0.1), 5.0))
    for walls, velocity, expected, origin in (
            ([md.Plane((0, 0, 0), (0, 0, 1))], (45, 15, 0),
             [(16, 0.5, 4)] + 2 * [(16, 1, 4)] + 3 * [(16, 2, 4)] + 2 * [(16, 4, 4)] + 2 * [(32, 4, 4)], None),
            ([*(wall for wall in md.box_walls((0, 1, 0), (5, 4, 2)) if wall.normal[2] >= 0), lid], (1, 0, 0),
             10 * [(5, 3, 4)], [2.5, 2.5, 0.0])):
        sim, positions = md.Simulation(md.Material(1e9, 0.1), walls, dt=1e-4), []
        y = 0.0 if origin is None else 2.5
        sim.add_clumps(scenes.rod().template, [(3, y, 1.2), (4, y, 1)], velocity=[(0, 0, 0), velocity])
        path = tmp_path / f"{len(walls)}.gsd"
        for _ in range(2):
            with md.Trajectory(path, append=True) as trajectory:
                sim.run(500, every=100, callback=lambda sim: (trajectory(sim), positions.append(sim.position)))
        frames = frames_of(path)
        found = [frame.particles.position[:2] + (frame.log["origin"] if origin else 0.0) for frame in frames]
        np.testing.assert_allclose(found, positions, rtol=SINGLE, atol=9 * SINGLE)
        assert [frame.configuration.box.tolist()[:3] for frame in frames] == [list(edges) for edges in expected]
        assert origin is None or frames[-1].log["origin"].tolist() == origin


@needs_gsd
def test_periodic_box(tmp_path):
    """Every particle is in the box; its position without jumps is position + image times the length of the box."""
    sim = md.Simulation(md.Material(1e9, 0.1), walls=[md.Plane((0, 0, 1), (0, 0, 1)), md.Plane((0, 0, 3), (0, 0, -1))],
                        dt=1e-4, periodic=((1, 1, 0), (2, 3, 1), (True, True, False)))
    sim.add_clumps(scenes.rod().template, [(1.98, 2, 1.5), (1.2, 2.99, 2)], velocity=[(9, 0, 0), (0, -50, 0)])
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        for _ in range(3):
            trajectory(sim)
            sim.run(500)
        trajectory(sim)
    for frame in frames_of(tmp_path / "a.gsd"):
        box, p = frame.configuration.box[:3], frame.particles
        assert box.tolist() == [1, 2, 2] and frame.log["periodic"].tolist() == [1, 1, 0]
        assert (np.abs(p.position) <= 0.5 * box).all() and not p.image[:, 2].any()
    unwrapped = p.position + p.image * box + frame.log["origin"]
    np.testing.assert_allclose(unwrapped, np.concatenate([sim.position, sim.sphere_centers]), rtol=0, atol=1e-6)
    assert p.image[0, 0] == 2 and p.image[1, 1] == -3


@needs_gsd
def test_chosen_clumps(bonded, tmp_path):
    """Only those that are present, with ids for life, and the bonds between them."""
    with md.Trajectory(tmp_path / "a.gsd", clumps=[1, 2, 4]) as trajectory:
        trajectory(bonded)
        bonded.run(1)
        bonded.remove_clumps([0, 1, 2])
        trajectory(bonded)
        bonded.add_clumps(bonded.templates[0], [(0.1, 0.1, 0.05)])
        bonded.run(1)
        trajectory(bonded)
    frames = frames_of(tmp_path / "a.gsd")
    assert [frame.log["particles/clump"].tolist() for frame in frames] == [[1, 2, 2, 2], [], [4, 4, 4]]
    assert [frame.bonds.group.tolist() for frame in frames] == [[[0, 3]], [], []]


@needs_gsd
def test_bonds_of_a_trajectory(bonded, tmp_path):
    """Pairs and distances as of the simulation, across a face too, and in each frame those that hold."""
    # Particles are the centres of all clumps, and behind them the spheres of those of more than one: pair and pair.
    expected, edge, particle = [], bonded.box.length[0], {0: 4, 1: 5, 2: 1, 3: 6, 4: 7, 5: 3}
    with md.Trajectory(tmp_path / "a.gsd") as trajectory:
        for _ in range(6):
            trajectory(bonded)
            i, j, centers = bonded.bonds()["sphere_i"], bonded.bonds()["sphere_j"], bonded.sphere_centers
            pairs = [[particle[one], particle[other]] for one, other in zip(i.tolist(), j.tolist())]
            expected.append((pairs, np.linalg.norm(centers[i] - centers[j], axis=1)))
            bonded.run(50)
    assert len(expected[0][0]) == 4 and 0 < len(expected[-1][0]) < 4
    for frame, (pairs, apart) in zip(frames_of(tmp_path / "a.gsd"), expected, strict=True):
        bonds, position = frame.bonds, frame.particles.position
        assert bonds.group.tolist() == pairs and bonds.N == len(pairs)
        assert bonds.types == ["parallel"] and bonds.typeid.tolist() == len(pairs) * [0]
        between = position[bonds.group[:, 0]] - position[bonds.group[:, 1]]
        between -= edge * np.round(between / edge)
        np.testing.assert_allclose(np.linalg.norm(between, axis=1), apart, rtol=0, atol=SINGLE)
    assert np.ptp(position[bonds.group], axis=1).max() > 0.5 * edge


@pytest.mark.parametrize("name", FORMATS)
def test_continued_file_equals_an_uninterrupted_one(name, bonded, tmp_path):
    """Through frames of fewer clumps and of more bonds, of none, and of as many as the first; then a new file."""
    def advance(sim, k):
        if k == 2:
            sim.remove_clumps([1, 3])
        if k == 4:
            sim.add_clumps(sim.templates[1], [(0.17, 0.0695, 0.1)])
            sim.bonds.add([(0, 4)], young=1e7)
        sim.run(50)
    whole, parts = tmp_path / f"whole_{name}", tmp_path / name
    with md.Trajectory(whole) as first, md.Trajectory(parts) as second:
        for k in range(6):
            advance(bonded, k)
            first(bonded)
            second(bonded)
            if k == 3:
                bonded.save(tmp_path / "a.npz")
    again = md.Simulation.load(tmp_path / "a.npz")
    with md.Trajectory(parts, append=True) as trajectory:
        trajectory(again)                   # exists; the later ones are removed
        assert len(content(parts)) < len(content(whole))
        for k in (4, 5):
            advance(again, k)
            trajectory(again)
    assert content(parts) == content(whole)
    if name == "a.gsd":
        assert [frame.bonds.N for frame in frames_of(parts)][1:] == [2, 0, 0, 1, 1]
    with md.Trajectory(parts) as trajectory:
        trajectory(again)
    assert len(content(parts)) < len(content(whole))


@pytest.mark.parametrize("name", FORMATS)
def test_an_incomplete_instant_is_removed(name, sim, tmp_path):
    """Of a killed process: a GSD frame without its last entry, the time; a part of the last row of six."""
    path = tmp_path / name
    with md.Trajectory(path) as trajectory:
        sim.run(200, every=100, callback=trajectory)
    whole = content(path)
    if name == "a.csv":
        os.truncate(path, path.stat().st_size - 60)
    else:
        import gsd.fl
        with gsd.fl.open(str(path), "r+") as file:
            file.write_chunk("particles/position", np.zeros((3, 3), dtype=np.float32))
            file.end_frame()
    with md.Trajectory(path, append=True) as trajectory:
        trajectory(sim)
    assert content(path) == whole


FAULTS = {      # done to the file while it is written, and the cause that is named
    "deleted": lambda path: path.unlink(), "deleted or moved": lambda path: path.rename(path.with_suffix(".old")),
    "replaced": lambda path: path.write_bytes(path.rename(path.with_suffix(".old")).read_bytes()),
    "cut off": lambda path: os.truncate(path, path.stat().st_size - 20),
    "written to by another": lambda path: path.open("ab").write(b"1.0,0,0")}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_another_program_changes(name, fault, sim, tmp_path):
    """The next call is an error, also when it is repeated; the file is not written to."""
    path = tmp_path / name
    with md.Trajectory(path) as trajectory:
        sim.run(200, every=100, callback=trajectory)
        FAULTS[fault](path)
        left = path.read_bytes() if path.exists() else None
        sim.run(100)
        for _ in range(2):
            with pytest.raises(OSError, match=f"trajectory was {fault}.* after its frame at 0.01 s; put it") as error:
                trajectory(sim)
            assert error.value.filename == str(path)
    assert (path.read_bytes() if path.exists() else None) == left


def test_refused_files(sim, tmp_path, monkeypatch):
    with md.Trajectory(tmp_path / "a.csv") as trajectory:
        sim.save(tmp_path / "a.npz")
        sim.run(200, every=100, callback=trajectory)
        again = md.Simulation.load(tmp_path / "a.npz")
        with pytest.raises(ValueError, match=r"a.csv: this trajectory has a frame at 0.01 s, later.* 0.0 s; close\(\)"):
            trajectory(again)
        trajectory.close()
        trajectory(again)
    assert {row.split(",")[0] for row in (tmp_path / "a.csv").read_text().splitlines()[1:]} == {"0.0"}
    (tmp_path / "a.gsd").write_text("time,x\n0.0,1.0\n" * 40)
    if find_spec("gsd"):
        with pytest.raises(ValueError, match="a.gsd: no trajectory"):
            md.Trajectory(tmp_path / "a.gsd", append=True)(sim)
    assert (tmp_path / "a.gsd").read_text() == "time,x\n0.0,1.0\n" * 40
    monkeypatch.setattr(trajectories, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install gsd; or give NAME.csv"):
        md.Trajectory("a.gsd")


@pytest.mark.parametrize("with_gsd", [pytest.param(True, marks=needs_gsd), False])
def test_trajectory_of_a_scenario(with_gsd, tmp_path, monkeypatch):
    """A continued run leaves the trajectory of an uninterrupted one, at its times; a new run one at those of frames."""
    def main(out, *options):
        return RODS.main(["--time", "0.05", "--frames", "6", "--quiet", "--out", str(out), *options])
    monkeypatch.setattr(scenario_run, "has_gsd", lambda: with_gsd)
    whole, two = tmp_path / "whole", tmp_path / "two"
    name = "rods_in_box.gsd" if with_gsd else "trajectory.csv"
    track = ["--track", "3", "--track-every", "0.003"]
    assert main(whole, *track) == 0 and main(two, *track, "--time", "0.02") == 0
    with md.Trajectory(two / name, append=True) as trajectory:                  # as of a killed run
        md.Simulation.load(two / "checkpoint.npz").run(500, every=100, callback=trajectory)
    assert main(two, "--resume") == 0 and content(two / name) == content(whole / name)
    assert main(two, "--time", "0.01", "--track", "all") == 0
    times = vtu.Pvd(two / "rods_in_box.pvd", keep=lambda time: True).frames
    table = content(two / name)
    found = [dict(frame)["time"][0] for frame in table] if with_gsd else sorted(
        {float(line.split(",")[0]) for line in table.splitlines()[1:]})
    assert found == [when for when, _ in times]
    (two / name).unlink()
    assert main(two, "--resume") == 2 and main(two) == 0 and not (two / name).exists()
