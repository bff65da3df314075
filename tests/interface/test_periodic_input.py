"""Arguments, files and regions of periodic boxes."""
import meshio
import numpy as np
import pytest
import scenes

import minidem as md
from minidem.initial import Inlet, Outlet

BOX = ((0.0, 0.0, 0.0), (1.0, 0.8, 0.6), (True, False, True))
MATERIAL = md.Material(young=1e8, poisson=0.1)
ROD = scenes.rod().template


def simulation(periodic=BOX, walls=None, **options):
    return md.Simulation(MATERIAL, walls, dt=2e-5, periodic=periodic, **options)


def filled(**options):
    sim = simulation(**options)
    sim.add_clumps(ROD, [(0.99, 0.4, 0.3), (2.3, 0.4, -1.55), (0.5, 0.9, 0.3)], velocity=(40.0, 3.0, 0.0))
    return sim


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
    """Each clump is drawn whole, with its centre of mass in the box; one is across a face."""
    sim = filled()
    sim.run(1)
    sim.write_vtu(tmp_path / "frame.vtu")
    mesh = meshio.read(tmp_path / "frame.vtu")
    centers = mesh.points.reshape(3, 3, 3)
    np.testing.assert_allclose(centers.mean(axis=1), sim.wrapped_position, rtol=0, atol=1e-12)
    relative = sim.sphere_centers().reshape(3, 3, 3) - sim.position[:, None]
    np.testing.assert_allclose(centers - centers.mean(axis=1, keepdims=True), relative, rtol=0, atol=1e-12)
    image = mesh.point_data["image"]
    assert image.dtype == np.int32 and np.array_equal(image[::3], sim.image) and len(np.unique(image, axis=0)) == 2
    assert centers[:, :, 0].max() > 1.0
    np.testing.assert_allclose(mesh.point_data["velocity"][::3], sim.velocity, atol=1e-12)
    sim.write_vtu(tmp_path / "frame.vtu", fields="clump")
    assert "image" not in meshio.read(tmp_path / "frame.vtu").point_data


def test_inlet_and_outlet():
    """An inlet avoids images of spheres; an outlet takes positions in the box."""
    ball = scenes.ball(0.05).template
    sim = simulation(((0, 0, 0), (1, 1, 1), (True, True, True)))
    lattice = 0.5 + np.argwhere(np.ones((8, 8, 4)))
    sim.add_clumps(ball, np.concatenate([lattice * 0.125 + [0, 0, 0.54], [(5.0, -3.0, 0.1)]]))
    inlet = Inlet(ball, (0, 0, 0), (1, 1, 0.5), rate=5e6, every=1, seed=3)
    sim.run(1)
    for _ in range(3):
        new = inlet(sim)
        assert len(new) > 5 and not np.any(sim.contacts()["overlap"] > 0.0)
        sim.run(1)
    gone = Outlet((0, 0, 0.5), (1, 1, 1))(sim)
    assert set(range(256)) <= set(gone) and np.all(sim.wrapped_position[:, 2] < 0.5)
    Outlet((-9, -9, -9), (9, 9, 9))(sim)
    assert sim.n_clumps == 0
