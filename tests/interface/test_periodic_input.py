"""Periodic boxes, at rest and moving: arguments, files, regions, clumps that are added and removed."""
import meshio
import numpy as np
import pytest
import scenes
from scenes import MOTIONS, SHORT_ROD, gas

import minidem as md
from minidem.initial import Outlet

BOX = ((0.0, 0.0, 0.0), (1.0, 0.8, 0.6), (True, False, True))
ROD = scenes.rod().template


def simulation(periodic=BOX, walls=None, **options):
    return md.Simulation(md.Material(young=1e8, poisson=0.1), walls, dt=2e-5, periodic=periodic, **options)


def test_walls():
    """Planes along the periodic axes are accepted. A function that turns one is refused before the first step."""
    def motion(t):
        return (0.0, 0.0, 0.0), (0.0, 2.0 * t, 0.0)
    for options in {}, {"velocity": (1.0, 0.0, 0.0)}:
        wall = md.Plane((0, 0, 0), (0, 1, 0), **options)
        assert simulation(walls=[wall]).walls == (wall,)
    sim = simulation(walls=[md.Plane((0, 0, 0), (0, 1, 0), motion=motion)])
    with pytest.raises(ValueError, match="motion of Plane.*: a plane that turns needs open axes"):
        sim.run(3)
    assert sim.step_count == 0
    simulation((*BOX[:2], (False, True, False)), [md.Cylinder((0, 0, 0), (0, 1, 0), 0.3, motion=motion)]).run(3)


@pytest.mark.parametrize("ball, least", [(True, 0.4), (False, 2.0 * ROD.bounding_radius)])
def test_least_length(ball, least):
    """Longer than the diameter of a clump and four radii of a sphere, along periodic axes only."""
    template = scenes.ball(0.1).template if ball else ROD
    for axes, length, refused in (((True, False, True), least * (1.0 - 1e-9), True),
                                  ((True, False, True), least * (1.0 + 1e-9), False),
                                  ((True, False, False), least * (1.0 - 1e-9), False)):
        sim = simulation(((0, 0, 0), (5.0, 0.01, length), axes))
        if refused:
            with pytest.raises(ValueError, match=f"template: the periodic box is {length:.6g} m long along z, which is "
                                                 f"not more than .*, {least:.6g} m; take a longer"):
                sim.add_clumps(template, (0, 0, 0))
        else:
            sim.add_clumps(template, (0, 0, 0))
        assert sim.n_clumps == 1 - refused and not len(sim.contacts())


def test_frames(tmp_path):
    sim = simulation()
    sim.add_clumps(ROD, [(0.99, 0.4, 0.3), (2.3, 0.4, -1.55), (0.5, 0.9, 0.3)], velocity=(40.0, 3.0, 0.0))
    sim.run(1)
    sim.io.write_vtu(tmp_path / "frame.vtu")
    mesh = meshio.read(tmp_path / "frame.vtu")
    centers = mesh.points.reshape(3, 3, 3)
    np.testing.assert_allclose(centers.mean(axis=1), sim.wrapped_position, rtol=0, atol=1e-12)
    relative = sim.sphere_centers.reshape(3, 3, 3) - sim.position[:, None]
    np.testing.assert_allclose(centers - centers.mean(axis=1, keepdims=True), relative, rtol=0, atol=1e-12)
    image = mesh.point_data["image"]
    assert image.dtype == np.int32 and np.array_equal(image[::3], sim.image) and len(np.unique(image, axis=0)) == 2
    assert centers[:, :, 0].max() > 1.0
    np.testing.assert_allclose(mesh.point_data["velocity"][::3], sim.velocity, atol=1e-12)
    sim.io.write_vtu(tmp_path / "frame.vtu", fields="clump")
    assert "image" not in meshio.read(tmp_path / "frame.vtu").point_data


def test_outlet():
    """It takes positions in the box, of clumps that are boxes away too. An inlet: test_inlet_fills_a_sheared_box."""
    sim = simulation(((0, 0, 0), (1, 1, 1), (True, True, True)))
    sim.add_clumps(scenes.ball(0.05).template, [(0.5, 0.5, 0.2), (5.2, -2.8, 3.7), (0.1, 0.2, 0.9), (5.5, -3.5, 0.1)])
    assert Outlet((0, 0, 0.5), (1, 1, 1))(sim).tolist() == [1, 2] and np.all(sim.wrapped_position[:, 2] < 0.5)
    Outlet((-9, -9, -9), (9, 9, 9))(sim)
    assert sim.n_clumps == 0


# --- boxes that move ---

BOTH = {"shear": ("x", "y", 5.0), "rates": (0.0, 0.0, -2.0)}
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.03], density=2500.0)


def test_clumps_come_and_go():
    """The balance is continuous, and work is not changed by either."""
    sim = gas(MOTIONS["stretched"], "hertz-mindlin", solid_fraction=0.1)
    sim.run(2000)
    before, place = sim.energy(), sim.box.center + [3.0, 0.0, 0.0]
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
        sim.io.write_lammps(tmp_path, steps=10)
        text, data = ((tmp_path / name).read_text() for name in ("in.minidem", "spheres.data"))
        assert f"deform {deform}" in text and " xy xz yz" in data and f"{sim.box.lattice[1, 0]:.17g}" in data
        assert tilted or "xy erate 5 remap v flip yes" in text
        sim.deform()
        sim.run(10)
    with pytest.raises(ValueError, match="moves or is tilted"):
        md.Simulation.read_lammps(tmp_path)
    for motion, template, words in (("shear", SHORT_ROD, "clumps of one sphere only"),
                                    ("pressure", BALL, "a pressure or a function")):
        with pytest.raises(ValueError, match=words):
            gas(MOTIONS[motion], "hertz-mindlin", template=template).io.write_lammps(tmp_path, steps=10)
    sim = gas({"rates": (0.0, 0.0, -2.0)}, "hertz-mindlin", solid_fraction=0.1)
    sim.run(100)
    sim.deform()
    sim.run(1)
    sim.io.write_lammps(tmp_path / "rods", steps=10)
    assert "deform" not in (tmp_path / "rods" / "in.minidem").read_text()


def test_gsd_has_the_tilt(tmp_path):
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
