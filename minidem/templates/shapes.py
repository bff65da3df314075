"""Clumps of simple shapes: rod, fibre, solid of revolution, platonic solids.

Every sphere lies inside the ideal shape, so that the volume error is one of too little and falls as spheres
are added. Lengths in m, densities in kg/m3. The axis of rods and solids of revolution is z.
"""
import numpy as np
import scipy

from minidem.core.checks import LARGEST, MOST_SPHERES, finite_array, number, positive, refuse, shown, whole
from minidem.templates.clump_template import ClumpTemplate
from minidem.templates.fit_revolution import CELLS, area_of_profile, fit_rings, volume_of_revolution
from minidem.templates.triangle_mesh import TriangleMesh

THINNEST = 2e-3     # volume of a solid of revolution, over the cylinder about it; thinner ones leave cells no room


def rod(length, radius, spheres, density=2500.0):
    """A straight rod with round ends along z, about the origin: equal spheres in a row, evenly spaced.

    Args:
        length: over all, ends included; at least twice the radius [m].
        radius: of the spheres [m].
        spheres: how many; 1 needs length == 2 radius. As they grow in number the union tends to the
            spherocylinder; spaced by s < 2 radius it lacks the part (s / radius)^2 / 12 of the cylinder.
    """
    return fibre(length, radius, spheres, bend=0.0, density=density)


def fibre(length, radius, spheres, bend=0.0, density=2500.0):
    """A fibre: a rod whose axis is bent into an arc of a circle in the x, z plane, its middle at the origin.

    Args:
        length: along the arc, round ends included [m].
        radius: of the spheres [m].
        spheres: how many, evenly spaced along the arc.
        bend: angle between the tangents at the two ends [rad], below 2 pi; 0 is straight. The ends bend
            towards +x.
    """
    length, radius, bend = positive("length", length), positive("radius", radius), number("bend", bend)
    spheres = whole("spheres", spheres, 1, MOST_SPHERES)
    span = length - 2.0 * radius
    if span < 0.0:
        raise ValueError(f"length = {length}: shorter than the two round ends; give at least "
                         f"2 radius = {2.0 * radius}")
    if spheres == 1 and span > 0.0:
        raise ValueError(f"spheres = 1: a rod of length {length} and radius {radius} needs 2 at least")
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


def surface_of_revolution(profile, spheres=100, density=2500.0):
    """A solid of revolution about z, in rings of equal spheres (`minidem.templates.fit_revolution`).

    Args:
        profile: (k, 2) points [z, r] of the outline, r >= 0, from the lowest end of the axis to the highest,
            joined by straight lines that do not cross; an end with r > 0 is closed by a flat disc. Length and
            largest radius stay within a ratio of 6000.
        spheres: how many; fewer only where these fill the solid (a sphere).

    Spheres with centres on the axis stand alone, others in rings of k; a ring is a choice as a whole.
    """
    profile = finite_array("profile", profile, (-1, 2), limit=LARGEST)
    spheres = whole("spheres", spheres, 1, MOST_SPHERES)
    if len(profile) < 2:
        raise ValueError(f"profile has shape {profile.shape}: give two points [z, r] at least")
    refuse("profile", profile, (profile < 0.0) & [False, True], "give radii of 0 or more")
    length, radius = np.ptp(profile[:, 0]), profile[:, 1].max()
    # The volume is 2 pi r, at most 2 pi radius, times the area: this is too small only where lines cross.
    if not (volume_of_revolution(profile) > THINNEST * np.pi * length * radius ** 2
            and area_of_profile(profile) > THINNEST * length * radius / 2.0):
        raise ValueError("profile: encloses hardly any volume, or runs downward; "
                         "give points [z, r] from the lowest end of the axis to the highest, some with r > 0")
    if not max(length, radius) <= CELLS[0] * min(length, radius):       # a square cell would not fit into it
        raise ValueError(f"profile: its length is {length:g} and its largest radius {radius:g}; "
                         f"stay within a ratio of {CELLS[0]}")
    return ClumpTemplate(*fit_rings(profile, spheres), density)


def platonic(kind, edge, spheres=100, density=2500.0):
    """A platonic solid about the origin, filled as a mesh is (`minidem.templates.fit_mesh`).

    Args:
        kind: "tetrahedron", "cube", "octahedron", "dodecahedron" or "icosahedron".
        edge: length of its edges [m].
        spheres: how many at most, best first.
    """
    return ClumpTemplate.from_mesh(platonic_mesh(kind, edge), spheres, density)


def platonic_mesh(kind, edge):
    """The `TriangleMesh` of a platonic solid about the origin with edges of length `edge` [m]."""
    if not isinstance(kind, str) or kind not in PLATONIC:
        raise ValueError(f"kind = {shown(kind)}: give one of {', '.join(PLATONIC)}")
    vertices = np.array(PLATONIC[kind], dtype=float)
    apart = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    shortest = np.min(apart[apart > 0.0])
    vertices *= positive("edge", edge) / shortest
    return TriangleMesh(vertices, _faces(vertices), kind)


def _faces(vertices):
    """Triangles (m, 3) of the convex hull, counterclockwise from outside."""
    hull = scipy.spatial.ConvexHull(vertices)
    a, b, c = vertices[hull.simplices].swapaxes(0, 1)
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    return np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)


_GOLDEN = (1.0 + 5.0 ** 0.5) / 2.0
_SIGNS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def _turned(pairs):
    """(0, a, b) with all signs of a and b, and the two that follow by turning the axes."""
    return [point for a, b in pairs for s in (-a, a) for t in (-b, b)
            for point in ((0.0, s, t), (s, t, 0.0), (t, 0.0, s))]


PLATONIC = {
    "tetrahedron": [point for point in _SIGNS if point[0] * point[1] * point[2] > 0],
    "cube": _SIGNS,
    "octahedron": [(s * (k == 0), s * (k == 1), s * (k == 2)) for k in range(3) for s in (-1, 1)],
    "dodecahedron": _SIGNS + _turned([(1.0 / _GOLDEN, _GOLDEN)]),
    "icosahedron": _turned([(1.0, _GOLDEN)]),
}
