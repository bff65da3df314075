"""Clumps of simple shapes: rods, fibres, solids of revolution, platonic solids.

All spheres lie inside the ideal shape: the volume is too small, by less with more spheres. The axis of rods and solids
of revolution is z.
"""
from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, MOST_SPHERES, finite_array, number, positive, refuse, short_repr, whole
from minidem.templates.clump_template import DENSITY, ClumpTemplate
from minidem.templates.fit_revolution import CELLS, area_of_profile, fit_rings, volume_of_revolution
from minidem.templates.triangle_mesh import TriangleMesh

THINNEST = 2e-3     # least volume of a solid of revolution over its bounding cylinder; thinner ones contain no cells


def rod(length: float, radius: float, spheres: int, density: float = DENSITY) -> ClumpTemplate:
    """A straight rod with round ends along z, about the origin: equal spheres in a row, evenly spaced.

    The union tends to the spherocylinder as the number grows; with a spacing s < 2 radius it lacks the part
    (s / radius)^2 / 12 of the cylinder.

    Parameters
    ----------
    length, radius, spheres, density
        As of `fibre`. One sphere requires length == 2 radius.
    """
    return fibre(length, radius, spheres, bend=0.0, density=density)


def fibre(length: float, radius: float, spheres: int, bend: float = 0.0, density: float = DENSITY) -> ClumpTemplate:
    """A fibre: a rod whose axis is a circular arc in the x, z plane, with its middle at the origin.

    Parameters
    ----------
    length : float
        Length along the arc, round ends included; at least twice the radius [m].
    radius : float
        Radius of the spheres [m].
    spheres : int
        Number of spheres, evenly spaced along the arc.
    bend : float
        Angle between the tangents at both ends [rad], 0 (straight) to below 2 pi. The ends bend towards +x.
    density : float
        Density [kg/m3].
    """
    length, radius, bend = positive("length", length), positive("radius", radius), number("bend", bend)
    spheres = whole("spheres", spheres, 1, MOST_SPHERES)
    span = length - 2.0 * radius
    if span < 0.0:
        raise ValueError(f"length = {length}: shorter than the two round ends; give at least "
                         f"2 radius = {2.0 * radius}")
    if spheres == 1 and span > 0.0:
        raise ValueError(f"spheres = 1: a rod of length {length} and radius {radius} needs at least 2")
    if not 0.0 <= bend < 2.0 * np.pi:
        raise ValueError(f"bend = {bend}: give an angle from 0 to below 2 pi, in radians")
    along = span * ((np.arange(spheres) / max(spheres - 1, 1)) - 0.5)
    centers = np.zeros((spheres, 3))
    if bend < 1e-200 or span == 0.0:                    # span / bend would overflow
        centers[:, 2] = along
    else:
        around = span / bend                            # radius of the arc
        centers[:, 0] = 2.0 * around * np.sin(0.5 * along / around) ** 2
        centers[:, 2] = around * np.sin(along / around)
    return ClumpTemplate(centers, np.full(spheres, radius), density)


def surface_of_revolution(profile: ArrayLike, spheres: int = 100, density: float = DENSITY) -> ClumpTemplate:
    """A solid of revolution about z, of single spheres on the axis and rings (`minidem.templates.fit_revolution`).

    Parameters
    ----------
    profile : (k, 2) array_like
        Points [z, r] of the outline, r >= 0, from the lowest end of the axis to the highest, joined by straight lines
        that do not cross [m]. An end with r > 0 is closed by a flat disc. Length and largest radius stay within a
        ratio of 6000.
    spheres : int
        Number of spheres; the clump has fewer only if they fill the solid (a sphere).
    density : float
        Density [kg/m3].
    """
    profile = finite_array("profile", profile, (-1, 2), limit=LARGEST)
    spheres = whole("spheres", spheres, 1, MOST_SPHERES)
    if len(profile) < 2:
        raise ValueError(f"profile has shape {profile.shape}: give at least two points [z, r]")
    refuse("profile", profile, (profile < 0.0) & [False, True], "give radii of 0 or more")
    length, radius = np.ptp(profile[:, 0]), profile[:, 1].max()
    # The volume is at most 2 pi radius times the area; the area is too small only if lines cross.
    if not (volume_of_revolution(profile) > THINNEST * np.pi * length * radius ** 2
            and area_of_profile(profile) > THINNEST * length * radius / 2.0):
        raise ValueError("profile: encloses hardly any volume, or runs downward; "
                         "give points [z, r] from the lowest end of the axis to the highest, some with r > 0")
    if not max(length, radius) <= CELLS[0] * min(length, radius):       # no square cell would fit inside
        raise ValueError(f"profile: its length is {length:g} and its largest radius {radius:g}; "
                         f"stay within a ratio of {CELLS[0]}")
    centers, radii = fit_rings(profile, spheres)
    return ClumpTemplate(centers, radii, density)


def platonic(kind: str, edge: float, spheres: int = 100, density: float = DENSITY) -> ClumpTemplate:
    """A platonic solid about the origin, filled as a mesh is (`minidem.templates.fit_mesh`).

    Parameters
    ----------
    kind : {"tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"}
    edge : float
        Length of the edges [m].
    spheres : int
        Largest number of spheres.
    density : float
        Density [kg/m3].
    """
    return ClumpTemplate.from_mesh(platonic_mesh(kind, edge), spheres, density)


def platonic_mesh(kind: str, edge: float) -> TriangleMesh:
    """The mesh of a platonic solid about the origin with edges of length `edge` [m]; see `platonic`."""
    if not isinstance(kind, str) or kind not in PLATONIC:
        raise ValueError(f"kind = {short_repr(kind)}: give one of {', '.join(PLATONIC)}")
    vertices = np.array(PLATONIC[kind], dtype=float)
    distances = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    shortest = np.min(distances[distances > 0.0])
    vertices *= positive("edge", edge) / shortest
    return TriangleMesh(vertices, scipy.spatial.ConvexHull(vertices).simplices, kind)       # which orients them


_GOLDEN = (1.0 + 5.0 ** 0.5) / 2.0
_SIGNS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def _cyclic(a, b):
    """Return (0, a, b) with all signs of a and b, and its cyclic permutations."""
    return [point for s in (-a, a) for t in (-b, b) for point in ((0.0, s, t), (s, t, 0.0), (t, 0.0, s))]


PLATONIC = {
    "tetrahedron": [point for point in _SIGNS if point[0] * point[1] * point[2] > 0],
    "cube": _SIGNS,
    "octahedron": [(s * (k == 0), s * (k == 1), s * (k == 2)) for k in range(3) for s in (-1, 1)],
    "dodecahedron": _SIGNS + _cyclic(1.0 / _GOLDEN, _GOLDEN),
    "icosahedron": _cyclic(1.0, _GOLDEN),
}
