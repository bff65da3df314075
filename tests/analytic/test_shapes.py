"""Clumps of simple shapes: volume, and how the volume error falls with the number of spheres."""
import numpy as np
import pytest

from minidem import shapes
from minidem.templates import fit_mesh
from minidem.templates.fit_revolution import volume_of_revolution

PROFILE = [(0.0, 0.02), (0.01, 0.02), (0.03, 0.008), (0.05, 0.012), (0.06, 0.0)]     # a stout pawn [m]


def test_rod_of_touching_spheres():
    rod = shapes.rod(0.06, 0.01, 3)
    assert rod.volume == pytest.approx(3 * 4 / 3 * np.pi * 0.01**3, rel=1e-14)
    assert np.ptp(rod.centers[:, 2]) == pytest.approx(0.04, rel=1e-14)


@pytest.mark.parametrize("spheres", [9, 17, 33, 65])
def test_rod_tends_to_the_spherocylinder(spheres):
    """Equal spheres with spacing s lack the part (s / r)^2 / 12 of the cylinder."""
    rod = shapes.rod(0.06, 0.01, spheres)
    cylinder = np.pi * 0.01**2 * 0.04
    spacing = 0.04 / (spheres - 1)
    missing = 4 / 3 * np.pi * 0.01**3 + cylinder - rod.volume
    assert missing == pytest.approx(cylinder * (spacing / 0.01) ** 2 / 12, rel=1e-9)


def test_length_of_a_fibre_along_its_arc():
    fibre = shapes.fibre(0.1, 0.005, 46, bend=2.0)
    steps = np.linalg.norm(np.diff(fibre.centers, axis=0), axis=1)
    radius = 0.09 / 2.0
    assert steps == pytest.approx(2 * radius * np.sin(0.09 / 45 / radius / 2), rel=1e-12)
    assert fibre.centers[0, 0] > 0.0 and fibre.centers[-1, 0] > 0.0


def test_solid_of_revolution():
    """The missing volume falls with the number of spheres and stays positive; the centre of mass is on the axis."""
    solid = volume_of_revolution(PROFILE)
    clumps = [shapes.surface_of_revolution(PROFILE, n) for n in (10, 30, 100, 300)]
    missing = np.array([1.0 - clump.volume / solid for clump in clumps])
    assert np.all(missing > 0.0) and np.all(np.diff(missing) < 0.0)
    assert [len(clump.radii) for clump in clumps] == [10, 30, 100, 300]
    assert np.abs(clumps[2].center_of_mass[:2]).max() < 1e-3 * 0.02        # rings of a few spheres are not round


def test_spheres_stay_inside_the_solid():
    z, r = np.array(PROFILE).T
    clump = shapes.surface_of_revolution(PROFILE, 60)
    angle = np.linspace(0.0, 2 * np.pi, 200)
    for center, radius in zip(clump.centers, clump.radii):
        distance = np.hypot(*center[:2])
        height, out = center[2] + radius * np.cos(angle), distance + radius * np.sin(angle)
        slack = 1e-9 * 0.06
        assert np.all((height >= -slack) & (height <= 0.06 + slack))
        assert np.all(out <= np.interp(height, z, r) + slack)


@pytest.mark.filterwarnings("ignore:.*fit badly")
@pytest.mark.parametrize("kind, volume", [
    ("tetrahedron", 1 / (6 * np.sqrt(2))), ("cube", 1.0), ("octahedron", np.sqrt(2) / 3),
    ("dodecahedron", (15 + 7 * np.sqrt(5)) / 4), ("icosahedron", 5 * (3 + np.sqrt(5)) / 12)])
def test_platonic(kind, volume, monkeypatch):
    """The inscribed sphere is found within half a cell. Fewer cells than usual."""
    mesh = shapes.platonic_mesh(kind, 0.02)
    assert mesh.volume == pytest.approx(volume * 0.02**3, rel=1e-12)
    assert np.ptp(mesh.moments) <= 1e-12 * mesh.moments[0]                  # all three are equal
    monkeypatch.setattr(fit_mesh, "CELLS", 20_000)
    cell = (mesh.volume / fit_mesh.CELLS) ** (1 / 3)
    radius, = shapes.platonic(kind, 0.02, 1).radii
    inscribed = {"tetrahedron": 1 / np.sqrt(24), "cube": 0.5, "octahedron": 1 / np.sqrt(6),
                 "dodecahedron": 0.5 * np.sqrt((25 + 11 * np.sqrt(5)) / 10),
                 "icosahedron": (3 + np.sqrt(5)) / (4 * np.sqrt(3))}
    largest = 0.02 * inscribed[kind]
    assert largest - 0.5 * cell < radius <= largest * (1 + 1e-12)
