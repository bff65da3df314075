"""Boxes that move: what can be read, files, clumps that are added and removed."""
import numpy as np
import pytest
from sheared_scenes import MOTIONS, ROD, gas, material

import minidem as md

CUBE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (True, True, True)
BOTH = {"shear": ("x", "y", 5.0), "rates": (0.0, 0.0, -2.0)}
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.03], density=2500.0)


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


def test_lammps_input(tmp_path):
    """Commands that move the box; after it has stopped the files have its lengths and tilt, and nothing deforms it."""
    sim = gas(BOTH, "hertz-mindlin", template=BALL)
    sim.run(3000)
    for deform, tilted in ("1 z trate -2", False), ("1 xy erate 0 remap", True):
        sim.write_lammps(tmp_path, steps=10)
        text, data = ((tmp_path / name).read_text() for name in ("in.minidem", "spheres.data"))
        assert f"deform {deform}" in text and " xy xz yz" in data and f"{sim.box.lattice[1, 0]:.17g}" in data
        assert tilted or "xy erate 5 remap v flip yes" in text
        sim.deform()
        sim.run(10)
    with pytest.raises(ValueError, match="moves or is tilted"):
        md.Simulation.read_lammps(tmp_path)
    for motion, template, words in (("shear", ROD, "clumps of one sphere only"),
                                    ("pressure", BALL, "a pressure or a function")):
        with pytest.raises(ValueError, match=words):
            gas(MOTIONS[motion], "hertz-mindlin", template=template).write_lammps(tmp_path, steps=10)
    sim = gas({"rates": (0.0, 0.0, -2.0)}, "hertz-mindlin", solid_fraction=0.1)
    sim.run(100)
    sim.deform()
    sim.run(1)
    sim.write_lammps(tmp_path / "rods", steps=10)
    assert "deform" not in (tmp_path / "rods" / "in.minidem").read_text()


def test_gsd_has_the_tilt(tmp_path):
    """Of a box that moves, and of one that has stopped."""
    hoomd = pytest.importorskip("gsd.hoomd")
    sim = gas(BOTH, template=BALL, solid_fraction=0.3)
    with md.Trajectory(tmp_path / "gas.gsd") as trajectory:
        for motion, steps in (BOTH, 4000), ({}, 10):
            sim.deform(**motion)
            sim.run(steps)
            trajectory(sim)
            with hoomd.open(tmp_path / "gas.gsd", "r") as file:
                frame = file[-1]
            box, p, tilt = frame.configuration.box, frame.particles, sim.box.lattice[1, 0] / sim.box.length[1]
            assert box == pytest.approx([*sim.box.length, tilt, 0.0, 0.0], rel=1e-6) and tilt != 0.0
            assert np.abs(p.position[:, 0] - tilt * p.position[:, 1]).max() < 0.5 * box[0] * (1.0 + 1e-5)
            lattice = np.array([[box[0], 0, 0], [tilt * box[1], box[1], 0], [0, 0, box[2]]])
            np.testing.assert_allclose(p.position + p.image @ lattice + frame.log["origin"], sim.position, atol=1e-5)
    sideways = gas(MOTIONS["oscillation"], template=BALL, n=20, solid_fraction=0.05)
    sideways.run(20)
    with pytest.raises(ValueError, match="flow axis behind its gradient axis"):
        md.Trajectory(tmp_path / "other.gsd")(sideways)
