"""Boxes that move: arguments and their errors, files, contacts while clumps are added and removed."""
import re

import numpy as np
import pytest
from sheared_scenes import MOTIONS, ROD, gas, material

import minidem as md

CUBE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (True, True, True)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.03], density=2500.0)


def test_pressure_below_ten_steps():
    box = md.PeriodicBox(*CUBE, rates=(md.Pressure(1.0, 9e-3), 0.0, 0.0))
    with pytest.raises(ValueError, match="time = 0.009 of md.Pressure is below 10 steps .*give 0.01 or more"):
        md.Simulation(material("hertz"), dt=1e-3, periodic=box)


@pytest.mark.parametrize("rate", [np.inf, 1e300])
def test_function_that_returns_something_else(rate):
    with pytest.raises(ValueError, match="the function of a rate returned something else than a finite number"):
        md.Simulation(material("hertz"), dt=1e-3, periodic=md.PeriodicBox(*CUBE, shear=("x", "y", lambda t: rate)))


def test_walls_only_across_the_vorticity():
    box = md.PeriodicBox(*CUBE[:2], (True, True, False), shear=("x", "y", 1.0))
    for wall in md.Plane((0, 0, 0), (0, 1, 0)), md.Cylinder((0.5, 0.5, 0.5), (0, 0, 1), 0.2):
        with pytest.raises(ValueError, match="not the same along the axis [xy], which moves"):
            md.Simulation(material("hertz"), [wall], dt=1e-3, periodic=box)
    md.Simulation(material("hertz"), [md.Plane((0, 0, 0), (0, 0, 1))], dt=1e-3, periodic=box)


def test_what_can_be_read():
    sim = md.Simulation(material("hertz"), dt=1e-3, periodic=md.PeriodicBox(*CUBE, shear=("x", "y", 0.75)))
    sim.add_clumps(BALL, (0.2, 2.9, 0.5))
    sim.run(1000)
    assert sim.strain == pytest.approx([0.0, 0.0, 0.0, 0.75])
    assert sim.box.lattice == pytest.approx(np.array([[1.0, 0.0, 0.0], [-0.25, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert sim.box.gradient == pytest.approx(np.array([[0.0, 0.75, 0.0], [0.0] * 3, [0.0] * 3]))
    assert sim.velocity[0] == pytest.approx([0.75 * 2.4, 0.0, 0.0])
    assert sim.wrapped_position[0, 1] == pytest.approx(0.9)
    assert "PeriodicBox" in repr(sim.periodic) and "0.75" in repr(sim.periodic) and "lattice" in repr(sim.box)
    assert md.Simulation(material("hertz"), dt=1e-3).strain.tolist() == [0.0] * 4


def test_clumps_come_and_go():
    """The balance is continuous, and work is not changed by either."""
    sim = gas(MOTIONS["stretched"], "hertz-mindlin", solid_fraction=0.1)
    sim.run(2000)
    before = sim.energy()
    place = sim.box.center + [3.0, 0.0, 0.0]
    ids = sim.add_clumps(BALL, place, velocity=sim.box.flow(place), scale=0.1)
    added = sim.energy()
    sim.run(500)
    ran = sim.energy()
    sim.remove_clumps([*ids, 3, 17])
    removed = sim.energy()
    assert added.balance == pytest.approx(before.balance, rel=1e-12)
    assert added.work == pytest.approx(before.work, rel=1e-9)
    assert removed.balance == pytest.approx(ran.balance, rel=1e-12)
    assert removed.work == pytest.approx(ran.work, rel=1e-9)
    sim.run(500)
    assert sim.energy().balance == pytest.approx(ran.balance, abs=2e-3 * abs(sim.energy().work))


def test_gsd_has_the_tilt(tmp_path):
    hoomd = pytest.importorskip("gsd.hoomd")
    sim = gas(MOTIONS["shear"], template=BALL, solid_fraction=0.3)
    sim.run(4000)
    trajectory = md.Trajectory(tmp_path / "gas.gsd")
    trajectory(sim)
    with hoomd.open(tmp_path / "gas.gsd", "r") as file:
        frame = file[0]
    box, tilt = frame.configuration.box, sim.box.lattice[1, 0] / sim.box.length[1]
    assert box == pytest.approx([*sim.box.length, tilt, 0.0, 0.0], rel=1e-6) and tilt != 0.0
    slanted = frame.particles.position[:, 0] - tilt * frame.particles.position[:, 1]
    assert np.abs(slanted).max() < 0.5 * box[0] * (1.0 + 1e-5)
    lattice = np.array([[box[0], 0, 0], [tilt * box[1], box[1], 0], [0, 0, box[2]]])
    assert frame.particles.position + frame.particles.image @ lattice + frame.log["origin"] == pytest.approx(
        np.asarray(sim.position), abs=1e-5)
    sideways = gas(MOTIONS["oscillation"], template=BALL, n=20, solid_fraction=0.05)
    sideways.run(20)
    with pytest.raises(ValueError, match="flow axis behind its gradient axis"):
        md.Trajectory(tmp_path / "other.gsd")(sideways)


def test_lammps_input(tmp_path):
    sim = gas({"shear": ("x", "y", 5.0), "rates": (0.0, 0.0, -0.2)}, "hertz-mindlin", template=BALL)
    sim.run(100)
    sim.write_lammps(tmp_path, steps=10)
    assert "fix             box all deform 1 z trate -0.2" in (tmp_path / "in.minidem").read_text()
    assert re.search(r"xy erate 5 remap v flip yes", (tmp_path / "in.minidem").read_text())
    assert " xy xz yz" in (tmp_path / "spheres.data").read_text()
    for motion, template, words in (("shear", ROD, "clumps of one sphere only"),
                                    ("pressure", BALL, "a pressure or a function")):
        with pytest.raises(ValueError, match=words):
            gas(MOTIONS[motion], "hertz-mindlin", template=template).write_lammps(tmp_path, steps=10)


def test_files_of_a_box_that_has_stopped(tmp_path):
    """Sheared and stretched, then at rest: its lengths and tilt are in the files, and nothing deforms it."""
    hoomd = pytest.importorskip("gsd.hoomd")
    sim = gas({"shear": ("x", "y", 5.0), "rates": (0.0, 0.0, -2.0)}, "hertz-mindlin", template=BALL)
    with md.Trajectory(tmp_path / "gas.gsd") as trajectory:
        for motion, steps in (({}, 0), ({"shear": ("x", "y", 5.0), "rates": (0.0, 0.0, -2.0)}, 3000), ({}, 10)):
            if steps:
                sim.deform(**motion)
            sim.run(steps)
            trajectory(sim)
    assert sim.box.lattice[1, 0] > 0.1 and not sim.box.moves
    frame = hoomd.open(tmp_path / "gas.gsd")[-1]
    assert frame.configuration.box[:3] == pytest.approx(sim.box.length, rel=1e-6)
    assert frame.configuration.box[3] == pytest.approx(sim.box.lattice[1, 0] / sim.box.length[1], rel=1e-6)
    sim.write_lammps(tmp_path, steps=10)
    assert "deform 1 xy erate 0 remap" in (tmp_path / "in.minidem").read_text()
    assert f"{sim.box.lattice[1, 0]:.17g}" in (tmp_path / "spheres.data").read_text()
    with pytest.raises(ValueError, match="moves or is tilted"):
        md.Simulation.read_lammps(tmp_path)
    sim = gas({}, "hertz-mindlin", solid_fraction=0.1)
    sim.deform(rates=(0.0, 0.0, -2.0))
    sim.run(100)
    with pytest.raises(ValueError, match="clumps of one sphere only"):
        sim.write_lammps(tmp_path, steps=10)
    sim.deform()
    sim.run(1)
    sim.write_lammps(tmp_path / "rods", steps=10)
    assert "deform" not in (tmp_path / "rods" / "in.minidem").read_text()
