"""Clumps of simple shapes: volume, and how its error falls with the number of spheres. Stored chess pieces."""
from pathlib import Path

import numpy as np
import pytest

from minidem import shapes
from minidem.scenarios.spiral import chess
from minidem.templates import fit_mesh
from minidem.templates.fit_revolution import volume_of_revolution
from minidem.templates.sphere_files import read_spheres

PROFILE = [(0.0, 0.02), (0.01, 0.02), (0.03, 0.008), (0.05, 0.012), (0.06, 0.0)]     # a stout pawn [m]


def test_rod_tends_to_the_spherocylinder():
    """Equal spheres with spacing s lack the part (s / r)^2 / 12 of the cylinder."""
    for spheres in (9, 17, 33, 65):
        rod, cylinder, spacing = shapes.rod(0.06, 0.01, spheres), np.pi * 0.01**2 * 0.04, 0.04 / (spheres - 1)
        missing = 4 / 3 * np.pi * 0.01**3 + cylinder - rod.volume
        assert missing == pytest.approx(cylinder * (spacing / 0.01) ** 2 / 12, rel=1e-9)


def test_length_of_a_fibre_along_its_arc():
    fibre, radius = shapes.fibre(0.1, 0.005, 46, bend=2.0), 0.09 / 2.0
    steps = np.linalg.norm(np.diff(fibre.centers, axis=0), axis=1)
    assert steps == pytest.approx(2 * radius * np.sin(0.09 / 45 / radius / 2), rel=1e-12)
    assert fibre.centers[0, 0] > 0.0 and fibre.centers[-1, 0] > 0.0


def test_solid_of_revolution():
    """The missing volume falls with the number of spheres, all are inside, the centre of mass is on the axis."""
    solid, counts = volume_of_revolution(PROFILE), (10, 30, 100, 300)
    clumps = [shapes.surface_of_revolution(PROFILE, n) for n in counts]
    missing = np.array([1.0 - clump.volume / solid for clump in clumps])
    assert np.all(missing > 0.0) and np.all(np.diff(missing) < 0.0)
    assert tuple(len(clump.radii) for clump in clumps) == counts
    assert np.abs(clumps[2].center_of_mass[:2]).max() < 1e-3 * 0.02        # rings of a few spheres are not round
    (z, r), angle, slack = np.array(PROFILE).T, np.linspace(0.0, 2 * np.pi, 200), 1e-9 * 0.06
    for center, radius in zip(clumps[2].centers, clumps[2].radii):
        height, out = center[2] + radius * np.cos(angle), np.hypot(*center[:2]) + radius * np.sin(angle)
        assert np.all((height >= -slack) & (height <= 0.06 + slack)) and np.all(out <= np.interp(height, z, r) + slack)


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


# --- Chess pieces, whose spheres are stored.

@pytest.mark.parametrize("name", [name if name == "pawn" else pytest.param(name, marks=pytest.mark.slow)
                                  for name in chess.HEIGHTS])
def test_stored_pieces_equal_fitted_ones(name):
    """Within rounding, which depends on the processor. After a deliberate change of the fit: store its result with
    write_spheres."""
    stored = read_spheres(Path(chess.__file__).with_name("chess_pieces") / f"{name}.txt")
    assert np.column_stack(stored) == pytest.approx(chess._fit(name, 100), rel=0, abs=1e-15)


def test_pieces_stand_on_the_ground(monkeypatch):
    monkeypatch.setattr(chess, "_fit", None)
    monkeypatch.setattr(chess, "fit_rings", None)
    for name in chess.HEIGHTS:
        piece, roundings = chess.piece(name, height=2.0), 8 * 2.0 * np.finfo(float).eps
        bottom, top = piece.centers[:, 2] - piece.radii, piece.centers[:, 2] + piece.radii
        assert len(piece.radii) == 100 and abs(bottom.min()) <= roundings and abs(top.max() - 2.0) <= roundings
    for arguments, words in (({"name": "duke"}, "king, queen"), ({"name": "king", "spheres": 5}, "spheres = 5"),
                             ({"name": "pawn", "height": 0}, "height = 0")):
        with pytest.raises(ValueError, match=words):
            chess.piece(**arguments)
