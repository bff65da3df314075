"""Materials, grains and particle files of the comparison of DEM codes by Dosta et al.

M. Dosta et al., Comput. Phys. Commun. 296, 109066 (2024), doi 10.1016/j.cpc.2023.109066.
"""
from dataclasses import replace
from pathlib import Path

import numpy as np

from minidem.material import Material, Pair
from minidem.templates import shapes
from minidem.templates.clump_template import ClumpTemplate

M1 = Material(1e9, 0.2, restitution=0.5, friction=0.3, density=2500.0, name="M1")
M2 = Material(0.5e9, 0.2, restitution=0.4, friction=0.4, density=2000.0, name="M2")
STEEL = Material(210e9, 0.2, restitution=0.6, friction=0.5, density=7200.0, name="steel")
PAIRS = (Pair(M1, M2, restitution=0.45, friction=0.2), Pair(M1, STEEL, restitution=0.4, friction=0.2),
         Pair(M2, STEEL, restitution=0.4, friction=0.2))
G = 9.81                        # [m/s2]

_CORNERS = 0.55 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
SHAPES = {
    "rod": shapes.rod(6.0, 1.0, 3),                             # three touching spheres
    "capsule": shapes.rod(6.0, 1.0, 7),                         # the same with its notches filled: nearly convex
    "fibre": shapes.fibre(8.0, 1.0, 5, bend=1.5),               # five spheres along an arc
    "tetrapod": ClumpTemplate(_CORNERS, [1.0] * 4),             # four overlapping spheres
    "sphere": ClumpTemplate([(0, 0, 0)], [1.0]),
}


def grain(shape: str, radius: float, material: Material) -> ClumpTemplate:
    """Template of one of SHAPES, of a material, with the volume of a sphere of this radius [m]."""
    clump = SHAPES[shape]
    size = (4.0 / 3.0 * np.pi * radius ** 3 / clump.volume) ** (1.0 / 3.0)
    return ClumpTemplate(size * clump.centers, size * clump.radii, density=material.density)


def with_moduli(young: dict[str, float]) -> tuple[dict[str, Material], tuple[Pair, ...]]:
    """The materials by name, with other Young's moduli [Pa] where `young` names them, and their pairs."""
    materials = {m.name: replace(m, young=young.get(m.name, m.young)) for m in (M1, M2, STEEL)}
    return materials, tuple(replace(pair, a=materials[pair.a.name], b=materials[pair.b.name]) for pair in PAIRS)


def read_spheres(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Radii (n,) and centres (n, 3) [m] from a file of lines `radius x y z`.

    Of other lines only the first and the last are allowed, because the published files have such.

    Raises
    ------
    ValueError
        With the number of the line.
    """
    rows = [line.split() for line in Path(path).read_text().rstrip().splitlines()[1:]]
    if rows and len(rows[-1]) != 4:
        rows.pop()
    try:
        table = np.array(rows, dtype=float).reshape(-1, 4)
    except ValueError:
        bad = next((k for k, row in enumerate(rows) if len(row) != 4), None)
        where = "" if bad is None else f" in line {bad + 2}"
        raise ValueError(f"--particles {path}: not four numbers radius x y z{where}") from None
    if len(table) == 0:
        raise ValueError(f"--particles {path}: no line with radius x y z")
    return table[:, 0], table[:, 1:]
