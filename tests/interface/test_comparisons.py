"""tools/compare_*.py: tables, energies and states of other codes, and the same systems in those that are installed."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import compare_shear
import numpy as np
import pytest
from installed_lammps import needs_lammps
from peers.lammps_peer import LAMMPS
from peers.state import clump_state, elastic_energy, total_energy

import minidem as md
from minidem.output.lammps.walls import contact_commands
from minidem.scenarios.spiral import chess_box

PROGRAMS = {"yade": "yade", "lammps": "lmp", "liggghts": "liggghts"}
EPS = np.finfo(float).eps


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fake(name, folder, *lines):
    program = folder / name
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)


# --- without other codes ---

@pytest.mark.parametrize("tool", ["drum", "impact", "repose", "friction", "shear", "peers"])
def test_what_is_missing_is_skipped(tool, here, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(here))
    done = run_tool(f"compare_{tool}", *(["--json", "out.json"] if tool == "peers" else []))
    assert (done.returncode, done.stderr) == (77, "") and "lammps: skipped" in done.stdout
    for name in PROGRAMS if tool == "peers" else ():
        assert f"{name}: skipped" in done.stdout and f"apt-get install {name}" in done.stdout
    assert not list(here.iterdir())


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_of_a_failing_program_is_quoted(name, here, run_tool, monkeypatch):
    monkeypatch.setenv("PATH", str(here), prepend=os.pathsep)
    fake(PROGRAMS[name], here, "echo no walls today", "exit 3")
    done = run_tool("compare_peers", "--peers", name, "--steps", "1")
    assert done.returncode == 1 and "status 3" in done.stderr and "no walls today" in done.stderr


@pytest.mark.parametrize("words, status, told", [
    ("peers --case D --peers liggghts", 77, "liggghts: skipped, case D has more than 20000 clumps"),
    ("peers --case B --peers lammps --clumps .", 1, "'king' in its name"),
    ("impact --quick --count 400 --time 0.02 --skip 0.008 --dt 2e-6 --seeds 1", 1, "not above the bed")])
def test_what_cannot_be_compared(words, status, told, here, run_tool, monkeypatch):
    for program in PROGRAMS.values():
        fake(program, here)
    monkeypatch.setenv("PATH", str(here))
    tool, *arguments = words.split()
    done = run_tool(f"compare_{tool}", *arguments)
    assert done.returncode == status and told in done.stdout + done.stderr


# --- beside LAMMPS ---

BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.01], density=2500.0)
GLASS = md.Material(1e8, 0.2, friction=0.2)
DRUM, END, SPEED, G = 0.1, 0.03, (0.0, 2.0, 0.0), 9.81


def drum(**options):
    """One sphere lies on the cylinder, one hits an end without damping; both slide all the time: the cylinder has
    0.2 m/s and the end 0.1 m/s at the contact."""
    walls = [md.Cylinder((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), DRUM, angular_velocity=SPEED, **options),
             *(md.Plane((0.0, end, 0.0), (0.0, -end, 0.0), angular_velocity=SPEED) for end in (-END, END))]
    sim = md.Simulation(GLASS, walls, contact="hertz-mindlin:tangential_damping=0", dt=1e-6, gravity=(0.0, 0.0, -G),
                        threads=1)
    radius = BALL.radii[0]
    stiffness = 4.0 / 3.0 * md.effective_modulus(GLASS, GLASS) * radius ** 0.5
    at_rest = (BALL.mass * G / stiffness) ** (2.0 / 3.0)
    sim.add_clumps(BALL, [(0.0, 0.0, radius - DRUM - at_rest), (0.04, END - radius, 0.03)],
                   velocity=[(0.0, 0.0, 0.0), (0.0, 0.01, 0.0)])
    return sim


def test_commands_and_energies_of_a_drum():
    """Energies from centres and momenta; half a kick leads to the momenta of the whole step."""
    sim = drum()
    *_, region, fix = contact_commands(sim)
    assert region == ("region drum cylinder y 0 0 0.10000000000000001 -0.029999999999999999 0.029999999999999999 "
                      "units box rotate v_angle 0 0 0 0 1 0")
    assert fix.startswith("fix region_0_1 type1 wall/gran/region granular hertz") and fix.endswith(" region drum")
    sim.run(100)
    state, energy, mass = clump_state(sim), sim.energy(), sim.mass[:, None]
    assert elastic_energy(sim, sim.sphere_centers()) == pytest.approx(energy.elastic, rel=1e-9)
    assert total_energy(sim, sim.mass, sim.velocity, sim.angular_velocity, state["angular_momentum"],
                        sim.sphere_centers()) == pytest.approx(energy.total - energy.potential, rel=1e-9)
    for now, before, rate in (
            (mass * sim.velocity, mass * state["velocity_before"], sim.force),
            (state["angular_momentum"], state["angular_momentum_before"], sim.torque)):
        np.testing.assert_allclose(now - before, 0.5 * sim.dt * rate, rtol=0, atol=8 * EPS * np.abs(now).max())


@needs_lammps
def test_a_sheared_gas_beside_lammps():
    """From one state over a strain of 0.2, in which each sphere collides a few times: the same temperature. Pressures
    are those of ten instants, at which few spheres touch."""
    sim = compare_shear.prepared(1, 500)
    theirs = compare_shear.of_lammps(sim, 10, LAMMPS.find())
    ours = compare_shear.of_minidem(sim, 10)
    assert theirs[0] == pytest.approx(ours[0], rel=0.02) and theirs[1:] == pytest.approx(ours[1:], rel=0.6)


# --- beside Yade, LAMMPS and LIGGGHTS ---

@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {name}"))
    for name, program in PROGRAMS.items()])
@pytest.mark.parametrize("case, steps", [("A", "--steps 2000"), ("B", "--warmup 4000 --steps 100")])
def test_peers_agree(name, case, steps, tmp_path):
    """Rods; and chess pieces, with three different moments, up to after the first contacts."""
    tool = Path(__file__).parents[2] / "tools" / "compare_peers.py"
    words = ["--peers", name, "--case", case, *steps.split(), "--repeats", "1", "--json", tmp_path / "out.json"]
    done = subprocess.run([sys.executable, tool, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [report] = json.loads((tmp_path / "out.json").read_text())["reports"]
    [theirs], [ours] = report["peer_runs"], report["minidem_runs"]
    assert report["ratio"] == theirs["us_per_step"] / ours["us_per_step"]
    # A contact lasts T = 34 steps of 38e-6 s. A stiffness wrong by the fraction e turns a rod of v = 4 m/s back by
    # 2/5 e T too early or late: 0.06 e radii; 1 % is allowed. A mass or moment wrong by e changes speeds of 1 m/s by
    # about e m/s in a bounce, and moves a piece by e * 19 mm at most in the warm-up; 1e-4 is allowed.
    radius = min(piece.radii.min() for piece in chess_box.templates().values())
    allowed = {"A": 0.06 * 0.01, "B": 1e-4 * 4000 * chess_box.STEP * chess_box.SPEED / radius}
    assert report["apart_in_radii"] < allowed[case]
