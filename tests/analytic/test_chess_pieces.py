"""Chess pieces of a hundred spheres: mass properties by a second method, and the missing volume."""
import os
import time
from pathlib import Path

import numpy as np
import pytest
from reference_union import union_by_slices

import minidem as md
from minidem import chess
from minidem.templates.sphere_files import read_spheres

# A folder of sphere files of your own that the slow test takes as well.
FOLDER = os.environ.get("MINIDEM_SPHERE_FILES")
STORED = Path(chess.__file__).with_name("chess_pieces")
FILES = sorted(Path(FOLDER).glob("*.txt")) if FOLDER else []


def tensor(clump):
    """About the centre of mass, in the axes of the input frame."""
    return clump.axes @ np.diag(clump.inertia) @ clump.axes.T


def assert_as_by_slices(clump):
    """Volume, centre of mass and inertia to 1e-9; more than 12 nodes change the slices by 1e-11 to 6e-10."""
    size = clump.bounding_radius
    centers = (clump.centers - clump.center_of_mass) / size
    volume, first, second = union_by_slices(centers, clump.radii / size, nodes=12)
    assert clump.volume == pytest.approx(volume * size**3, rel=1e-9)
    assert np.linalg.norm(first / volume) < 1e-9
    expected = clump.density * size**5 * (np.trace(second) * np.eye(3) - second)
    assert np.abs(tensor(clump) - expected).max() < 1e-9 * np.abs(expected).max()
    assert clump.relative_error < 1e-12                     # and says so itself


@pytest.mark.parametrize("name", ["king", "rook"])
def test_mass_properties_with_fifty_spheres(name):
    assert_as_by_slices(chess.piece(name, spheres=50))


@pytest.mark.slow
@pytest.mark.parametrize("name", chess.HEIGHTS)
def test_mass_properties(name):
    assert_as_by_slices(chess.piece(name))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mass_properties_of_sphere_files(path):
    assert_as_by_slices(md.ClumpTemplate.from_file(path))


def test_order_and_units_change_round_off_only():
    """Within the error that the template states, and a few roundings; and in far less than 50 ms."""
    king = chess.piece("king")
    order = np.random.default_rng(1).permutation(len(king.radii))
    begun = time.process_time()
    mixed = md.ClumpTemplate(king.centers[order], king.radii[order], king.density)
    assert time.process_time() - begun < 0.05
    scaled = md.ClumpTemplate(1e-6 * king.centers, 1e-6 * king.radii, king.density)
    few = 2 * king.relative_error + 64 * np.finfo(float).eps
    for other, scale in (mixed, 1.0), (scaled, 1e-6):
        assert other.volume == pytest.approx(king.volume * scale**3, rel=few)
        difference = np.abs(tensor(other) / scale**5 - tensor(king)).max()
        assert difference <= few * king.inertia[2]


# Parts of the drawn volume that a hundred spheres lack (tools/chess_volumes.py). All stay below 1.52 / sqrt(n):
# the worst, knight and rook, lack 0.30, 0.21, 0.15 and 0.09 of themselves with 25, 50, 100 and 200 spheres.
MISSING = {"king": 0.0903, "queen": 0.1045, "bishop": 0.0688, "knight": 0.1453, "rook": 0.1187, "pawn": 0.0682}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] if name == "knight" else []) for name in MISSING])
def test_missing_volume_falls_with_the_number_of_spheres(name):
    counts = np.array([25, 50, 100, 200])
    missing = np.array([-chess.volume_error(name, int(count)) for count in counts])
    assert np.all(np.diff(missing) < 0.0) and np.all((missing > 0.0) & (missing < 1.52 / np.sqrt(counts)))
    # another way to sample the surface changed the knight's by 1.5 %
    assert missing[2] < 1.02 * MISSING[name]


@pytest.mark.parametrize("name", chess.HEIGHTS)
def test_stored_pieces_are_those_that_a_fit_finds(name):
    """To the last bit. After a change of the fit that is meant: write_spheres of what it finds."""
    centers, radii = read_spheres(STORED / f"{name}.txt")
    assert np.column_stack([centers, radii]).tobytes() == chess._fit(name, 100).tobytes()


def test_pieces_of_a_hundred_spheres_need_no_fit(monkeypatch):
    def no_fit(name, spheres):
        raise AssertionError("a fit takes seconds")
    monkeypatch.setattr(chess, "_fit", no_fit)
    monkeypatch.setattr(chess, "fit_rings", no_fit)
    assert all(len(chess.piece(name).radii) == 100 for name in chess.HEIGHTS)
    assert np.array_equal(chess.piece("king", height=2.0).centers, chess.piece("king", height=2.0).centers)


@pytest.mark.parametrize("name", ["king", "knight"])
def test_piece_stands_on_the_ground_and_has_its_height(name):
    piece = chess.piece(name, height=2.0)
    bottom, top = piece.centers[:, 2] - piece.radii, piece.centers[:, 2] + piece.radii
    roundings = 8 * 2.0 * np.finfo(float).eps
    assert len(piece.radii) == 100 and abs(bottom.min()) <= roundings and abs(top.max() - 2.0) <= roundings


def test_refused():
    for arguments, word in ({"name": "duke"}, "king, queen"), ({"name": "king", "spheres": 5}, "spheres = 5"):
        with pytest.raises(ValueError, match=word):
            chess.piece(**arguments)
    with pytest.raises(ValueError, match="height = 0"):
        chess.piece("pawn", height=0)
