"""Chess pieces as clumps, as in the energy study of the SPIRAL paper but with shapes drawn for minidem::

    from minidem.scenarios.spiral import chess
    king = chess.piece("king")                     # 100 spheres, 9.5 cm high, 3200 kg/m3

Each piece is drawn in units of its height, standing on z = 0: an outline of (z, r) about the z axis, for the king also
the arms of a cross, for the knight a flat head that faces +x. Heights and density follow del Valle et al. 2024,
doi:10.1016/j.cpc.2023.109077, section 5.

The pieces of a hundred spheres are stored in chess_pieces/, because fitting all six takes 4 s. Other numbers of spheres
are fitted on demand.
"""
from pathlib import Path
from typing import NamedTuple

import numpy as np

from minidem.core.checks import positive, whole
from minidem.templates.clump_template import ClumpTemplate
from minidem.templates.fit_mesh import fit_spheres
from minidem.templates.fit_revolution import fit_rings, volume_of_revolution
from minidem.templates.sphere_files import read_spheres
from minidem.templates.triangle_mesh import TriangleMesh

HEIGHTS = {"king": 0.095, "queen": 0.085, "bishop": 0.07, "knight": 0.06, "rook": 0.055, "pawn": 0.05}  # [m]
DENSITY = 3200.0        # [kg/m3]
STORED = 100            # spheres of the pieces in chess_pieces/


class _Board(NamedTuple):
    """A flat part of some thickness in y, between two edges (k, 2) of [x, z] with equally many points."""
    back: np.ndarray
    front: np.ndarray
    thickness: float
    hidden: float           # area inside the solid of revolution
    share: float            # of the spheres of the piece


class _Drawing(NamedTuple):
    profile: np.ndarray                         # (k, 2) of [z, r]
    beads: tuple = ()                           # spheres (x, y, z, r) that touch the solid from outside
    board: _Board | None = None


def piece(name: str, spheres: int = STORED, density: float = DENSITY, height: float | None = None) -> ClumpTemplate:
    """The clump of a chess piece, standing on z = 0 with the z axis of the input frame as its axis.

    Parameters
    ----------
    name : {"king", "queen", "bishop", "knight", "rook", "pawn"}
    spheres : int
        Number of spheres; the volume error falls with it.
    density : float
        Density [kg/m3].
    height : float, optional
        Height from the lowest to the highest point of the spheres [m]; default: HEIGHTS[name]. The fitted spheres end
        0 to 3 % below the top of the drawing and are enlarged to this height.
    """
    table = _spheres(name, spheres)
    height = positive("height", HEIGHTS[name] if height is None else height)
    low, high = np.min(table[:, 2] - table[:, 3]), np.max(table[:, 2] + table[:, 3])
    table[:, 2] -= low
    table *= height / (high - low)
    return ClumpTemplate(table[:, :3], table[:, 3], density)


def volume_error(name: str, spheres: int = STORED) -> float:
    """Relative difference of the volume of the fitted spheres from the volume of the drawing."""
    table = _spheres(name, spheres)
    return ClumpTemplate(table[:, :3], table[:, 3]).volume / drawn_volume(name) - 1.0


def drawn_volume(name: str) -> float:
    """Exact volume of the drawing of a piece, whose height is 1."""
    drawing = _drawing(name)
    volume = volume_of_revolution(drawing.profile)
    volume += sum(4.0 / 3.0 * np.pi * radius ** 3 for *_, radius in drawing.beads)
    if drawing.board is not None:
        volume += _mesh(drawing.board).volume - drawing.board.hidden * drawing.board.thickness
    return volume


def _spheres(name, spheres):
    """Return the spheres (n, 4), x, y, z, r, inside the drawing, in its units."""
    _drawing(name)
    if whole("spheres", spheres, 10) != STORED:
        return _fit(name, spheres)
    return np.column_stack(read_spheres(Path(__file__).with_name("chess_pieces") / f"{name}.txt"))


def _fit(name, spheres):
    """Fit the spheres of `_spheres`."""
    drawing = _drawing(name)
    parts = [np.array(drawing.beads).reshape(-1, 4)]
    if drawing.board is not None:
        parts.append(np.column_stack(fit_spheres(_mesh(drawing.board), round(drawing.board.share * spheres))))
    rest = spheres - sum(map(len, parts))
    return np.concatenate([np.column_stack(fit_rings(drawing.profile, rest)), *parts])


def _drawing(name):
    if name not in _DRAWINGS:
        raise ValueError(f"name = {name!r}: give one of {', '.join(_DRAWINGS)}")
    return _DRAWINGS[name]


def _mesh(board):
    """Return the board as a closed mesh: a strip of quadrilaterals on either side, a band around."""
    k = len(board.back)
    outline = np.concatenate([board.back, board.front[::-1]])
    sides = [np.insert(outline, 1, y, axis=1) for y in (-0.5 * board.thickness, 0.5 * board.thickness)]
    rungs = [(i, i + 1, 2 * k - 2 - i, 2 * k - 1 - i) for i in range(k - 1)]
    near = [t for a, b, c, d in rungs for t in ((a, b, c), (a, c, d))]
    far = [(c + 2 * k, b + 2 * k, a + 2 * k) for a, b, c in near]
    band = [t for i in range(2 * k) for j in [(i + 1) % (2 * k)]
            for t in ((i, i + 2 * k, j + 2 * k), (i, j + 2 * k, j))]
    return TriangleMesh(np.concatenate(sides), np.array(near + far + band), "board")


def _points(*pairs):
    return np.array(pairs, dtype=float)


def _arc(middle, radius, start, end, steps=12):
    """Return points (z, r) of a circle about (middle, 0), between two angles from the upward axis [degrees]."""
    angle = np.radians(np.linspace(start, end, steps))
    return np.stack([middle + radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _foot(radius, top):
    """Return a stepped foot up to the height `top`, narrowing to 0.6 of the radius."""
    return [top, radius] * _points(
        (0, 0.97), (0.1, 1.0), (0.36, 1.0), (0.46, 0.9), (0.6, 0.9), (0.72, 0.74), (1.0, 0.6))


_DRAWINGS = {
    "king": _Drawing(
        np.concatenate([_foot(0.205, 0.19), _points(
            (0.28, 0.095), (0.40, 0.078), (0.56, 0.072), (0.60, 0.078), (0.605, 0.125), (0.64, 0.13),
            (0.655, 0.09), (0.68, 0.085), (0.75, 0.105), (0.82, 0.13), (0.84, 0.125), (0.87, 0.07),
            (0.885, 0.026), (0.975, 0.026)), _arc(0.974, 0.026, 80.0, 0.0, 8)]),
        beads=((0.052, 0.0, 0.94, 0.026), (-0.052, 0.0, 0.94, 0.026))),
    "queen": _Drawing(np.concatenate([_foot(0.21, 0.19), _points(
        (0.28, 0.095), (0.42, 0.075), (0.60, 0.07), (0.64, 0.078), (0.645, 0.125), (0.68, 0.13),
        (0.695, 0.085), (0.72, 0.08), (0.80, 0.105), (0.88, 0.15), (0.905, 0.15), (0.90, 0.105),
        (0.915, 0.075)), _arc(0.95, 0.05, 115.0, 0.0)])),
    "bishop": _Drawing(np.concatenate([_foot(0.215, 0.20), _points(
        (0.28, 0.10), (0.42, 0.08), (0.56, 0.072), (0.575, 0.12), (0.61, 0.125), (0.63, 0.08), (0.66, 0.085),
        (0.70, 0.11), (0.75, 0.12), (0.80, 0.11), (0.86, 0.078), (0.905, 0.04)),
        _arc(0.955, 0.045, 140.0, 0.0)])),
    "rook": _Drawing(np.concatenate([_foot(0.265, 0.24), _points(
        (0.36, 0.145), (0.50, 0.13), (0.66, 0.135), (0.70, 0.145), (0.72, 0.20), (0.76, 0.205), (0.80, 0.21),
        (1.0, 0.21), (1.0, 0.12), (0.88, 0.12), (0.88, 0.0))])),
    "pawn": _Drawing(np.concatenate([_foot(0.26, 0.24), _points(
        (0.36, 0.125), (0.50, 0.09), (0.60, 0.08), (0.615, 0.15), (0.65, 0.155), (0.675, 0.095)),
        _arc(0.835, 0.165, 145.0, 0.0, 16)])),
    "knight": _Drawing(
        _points((0.0, 0.25), (0.02, 0.26), (0.10, 0.26), (0.12, 0.235), (0.16, 0.235), (0.20, 0.22),
                (0.30, 0.22)),
        board=_Board(
            back=_points(
                (-0.15, 0.22), (-0.18, 0.34), (-0.215, 0.48), (-0.21, 0.62), (-0.17, 0.75), (-0.10, 0.87),
                (-0.02, 0.945), (0.045, 1.0), (0.075, 0.90), (0.17, 0.80), (0.27, 0.685), (0.31, 0.62)),
            front=_points(
                (0.17, 0.22), (0.17, 0.34), (0.15, 0.42), (0.11, 0.49), (0.06, 0.54), (0.04, 0.58),
                (0.05, 0.61), (0.08, 0.62), (0.12, 0.60), (0.17, 0.56), (0.24, 0.53), (0.285, 0.545)),
            # The hidden part, 0.22 < z < 0.30, is the trapezium whose upper back corner is at x = -0.17; its
            # corners are within hypot(0.17, 0.12) = 0.208 of the axis, and so inside the body.
            thickness=0.24, hidden=0.08 * 0.5 * (0.32 + 0.34), share=0.6)),
}
