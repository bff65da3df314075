"""tools/compare_peers.py: messages and exit status without peers, and comparisons with installed peers."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from peers.liggghts_peer import motion_of_clumps
from peers.state import clump_state, elastic_energy, total_energy

import minidem as md
from minidem.scenario import place_densely
from minidem.scenarios.spiral import chess_box

TOOL = Path(__file__).parents[2] / "tools" / "compare_peers.py"
PROGRAMS = {"yade": "yade", "lammps": "lmp", "liggghts": "liggghts"}


def compare_peers(*arguments, path):
    return subprocess.run([sys.executable, TOOL, *arguments], env={**os.environ, "PATH": str(path)},
                          capture_output=True, text=True)


def fake(name, folder, *lines):
    """A program of this name in `folder`."""
    program = folder / name
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)


def test_missing_peers_are_skipped_and_their_packages_named(tmp_path):
    done = compare_peers("--json", tmp_path / "out.json", path=tmp_path)
    assert done.returncode == 77
    assert done.stderr == ""
    for name in PROGRAMS:
        assert f"{name}: skipped" in done.stdout and f"apt-get install {name}" in done.stdout
    assert not (tmp_path / "out.json").exists()


def test_a_case_with_too_many_clumps_is_skipped(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    fake("liggghts", tmp_path, "exit 3")
    done = run_tool("compare_peers", "--case", "D", "--peers", "liggghts")
    assert (done.returncode, done.stderr) == (77, "")
    assert "liggghts: skipped, case D has more than 20000 clumps" in done.stdout


@pytest.mark.parametrize("arguments, complaint", [
    (["--peers", "yade,nobody"], "nobody"), (["--steps", "0"], "0"), (["--case", "Z"], "Z"),
    (["--json", "no/such/folder/out.json"], "no/such/folder"), (["--clumps", "folder"], "case B")])
def test_a_bad_argument_is_named(arguments, complaint, tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run_tool("compare_peers", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_of_a_failing_peer_is_quoted(name, tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    fake(PROGRAMS[name], tmp_path, "echo no walls today", "exit 3")
    done = run_tool("compare_peers", "--peers", name, "--steps", "1")
    assert done.returncode == 1
    assert "status 3" in done.stderr and "no walls today" in done.stderr


def test_a_folder_without_chess_pieces(tmp_path, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    fake("lmp", tmp_path)
    done = run_tool("compare_peers", "--case", "B", "--peers", "lammps", "--clumps", tmp_path)
    assert done.returncode == 1 and "'king' in its name" in done.stderr


@pytest.fixture(scope="module")
def colliding(rod, lumpy):
    """Dense system of rods and softer lumpy clumps in contact, and a bound for the rounding of its energy."""
    rng = np.random.default_rng(4)
    templates, numbers = [rod.template, lumpy.template], [60, 60]
    edge = (sum(n * t.volume for n, t in zip(numbers, templates)) / 0.25) ** (1 / 3)
    stiff, soft = md.Material(1e9, 0.1), md.Material(3e8, 0.3)
    sim = md.Simulation(stiff, walls=md.box((0, 0, 0), (edge,) * 3), dt=2e-5, threads=1)
    placed = place_densely(templates, numbers, (0,) * 3, (edge,) * 3, rng)
    for template, n, poses, material in zip(templates, numbers, placed, (stiff, soft)):
        velocity, spin = rng.standard_normal((2, n, 3))
        sim.add_clumps(template, *poses, 4.0 * velocity, 20.0 * spin, material=material)
    sim.run(500)
    contacts = sim.contacts()
    assert np.any(contacts["clump_j"] >= 0) and np.any(contacts["clump_j"] < 0)
    # A hundred operations on coordinates as large as the box, that forces and speeds turn into energy;
    # the inverse of a body's extent, some box over radius, comes in where its orientation is found again.
    forces = np.linalg.norm(contacts["force"], axis=1).sum()
    energy = sim.energy()
    return sim, 100 * np.finfo(float).eps * (forces * edge + energy.total * edge / sim.sphere_radii.min())


def test_energy_of_a_recorded_state(colliding):
    sim, rounding = colliding
    state, energy = clump_state(sim), sim.energy()
    assert elastic_energy(sim, sim.sphere_centers()) == pytest.approx(energy.elastic, abs=rounding)
    total = total_energy(sim, sim.mass, sim.velocity, sim.angular_velocity, state["angular_momentum"],
                         sim.sphere_centers())
    assert total == pytest.approx(energy.total, abs=rounding)


def test_state_half_a_step_earlier(colliding):
    """Half a kick leads from the momenta half a step earlier to those of the whole step."""
    sim, _ = colliding
    state, mass = clump_state(sim), sim.mass[:, None]
    for now, before, rate in (
            (mass * sim.velocity, mass * state["velocity_before"], sim.force),
            (state["angular_momentum"], state["angular_momentum_before"], sim.torque)):
        np.testing.assert_allclose(now - before, 0.5 * sim.dt * rate, rtol=0,
                                   atol=8 * np.finfo(float).eps * np.abs(now).max())


def test_motion_of_clumps_from_motion_of_spheres(colliding, tmp_path):
    """Velocities of rigid bodies, in a dump with unsorted rows."""
    sim, rounding = colliding
    center, clump = sim.sphere_centers(), sim.sphere_clump
    omega = sim.angular_velocity[clump]
    velocity = sim.velocity[clump] + np.cross(omega, center - sim.position[clump])
    rows = np.column_stack([np.arange(1, len(clump) + 1), center, velocity, omega])
    np.savetxt(tmp_path / "dump", np.random.default_rng(1).permutation(rows), "%d" + 9 * " %.17g",
               header="\n" * 8, comments="")
    position, energy = motion_of_clumps(sim, tmp_path / "dump")
    edge = center.max()
    np.testing.assert_allclose(position, sim.position, rtol=0, atol=100 * np.finfo(float).eps * edge)
    assert energy == pytest.approx(sim.energy().total, abs=rounding)


def report_of(path, *arguments):
    done = compare_peers(*arguments, "--repeats", "1", "--json", path, path=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    [report] = json.loads(path.read_text())["reports"]
    [theirs], [ours] = report["peer_runs"], report["minidem_runs"]
    assert report["ratio"] == theirs["us_per_step"] / ours["us_per_step"]
    return report


present = pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {name}"))
    for name, program in PROGRAMS.items()])


@pytest.mark.slow
@present
def test_rods_agree(name, tmp_path):
    report = report_of(tmp_path / "out.json", "--peers", name, "--steps", "2000")
    # A contact lasts T = 34 steps of 38e-6 s, and T goes with the stiffness to the power -2/5. A stiffness
    # wrong by the fraction e turns a rod of v = 4 m/s back 2/5 e T too early or late and so displaces it by
    # about 2/5 e T v = 0.06 e radii. Measured with R* = R/2 at the walls (e = 0.29): 0.02 radii.
    wrong_by_one_percent = 0.06 * 0.01
    assert report["apart_in_radii"] < wrong_by_one_percent


@pytest.mark.slow
@present
def test_chess_pieces_agree(name, tmp_path):
    """Bodies with three different moments, up to after the first contacts."""
    report = report_of(tmp_path / "out.json", "--peers", name, "--case", "B", "--warmup", "4000",
                       "--steps", "100")
    # A mass or a moment wrong by the fraction e changes speeds of 1 m/s by about e m/s in a bounce, and so
    # moves a piece by e * 19 mm at most in the 19 ms of the warm-up. Measured with Yade's own sums, in which
    # overlaps count twice: 3 radii.
    radius = min(piece.radii.min() for piece in chess_box.templates().values())
    wrong_by_1e_4 = 1e-4 * 4000 * chess_box.STEP * chess_box.SPEED / radius
    assert report["apart_in_radii"] < wrong_by_1e_4
