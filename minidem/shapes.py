"""Clumps of simple shapes: rod, fibre, solid of revolution, platonic solids.

Every sphere lies inside the ideal shape, so that the volume error is one of too little and falls as spheres are
added. Lengths in m, densities in kg/m3. The axis of rods and solids of revolution is z.
"""
import numpy as np

from .checks import finite_array, number, positive, refuse, whole
from .clump import ClumpTemplate
from .meshes import TriangleMesh
from .revolution import fit_rings
from .sphere_fit import fit_spheres


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
    spheres = whole("spheres", spheres, 1)
    span = length - 2.0 * radius
    if span < 0.0:
        raise ValueError(f"length = {length}: shorter than the two round ends; give at least 2 radius = {2.0 * radius}")
    if spheres == 1 and span > 0.0:
        raise ValueError(f"spheres = 1: a rod of length {length} and radius {radius} needs 2 at least")
    if not 0.0 <= bend < 2.0 * np.pi:
        raise ValueError(f"bend = {bend}: give an angle from 0 to below 2 pi, in radians")
    along = span * ((np.arange(spheres) / max(spheres - 1, 1)) - 0.5)
    centers = np.zeros((spheres, 3))
    if bend == 0.0 or span == 0.0:
        centers[:, 2] = along
    else:
        around = span / bend                            # radius of the arc
        centers[:, 0] = 2.0 * around * np.sin(0.5 * along / around) ** 2
        centers[:, 2] = around * np.sin(along / around)
    return ClumpTemplate(centers, np.full(spheres, radius), density)


def surface_of_revolution(profile, spheres=100, density=2500.0):
    """A solid of revolution about z, in rings of equal spheres (`minidem.revolution`).

    Args:
        profile: (k, 2) points [z, r] of the outline, r >= 0, from the lowest end of the axis to the highest,
            joined by straight lines that do not cross; an end with r > 0 is closed by a flat disc.
        spheres: how many; fewer only where these fill the solid (a sphere).

    Spheres with centres on the axis stand alone, others in rings of k; a ring is a choice as a whole.
    """
    profile = finite_array("profile", profile, (-1, 2))
    spheres = whole("spheres", spheres, 1)
    if len(profile) < 2:
        raise ValueError(f"profile has shape {profile.shape}: give two points [z, r] at least")
    refuse("profile", profile, (profile < 0.0) & [False, True], "give radii of 0 or more")
    if np.ptp(profile[:, 0]) == 0.0 or profile[:, 1].max() == 0.0 or profile[0, 0] > profile[-1, 0]:
        raise ValueError("profile: encloses no volume, or runs downward; "
                         "give points [z, r] from the lowest end of the axis to the highest, some with r > 0")
    return ClumpTemplate(*fit_rings(profile, spheres), density)


def platonic(kind, edge, spheres=100, density=2500.0):
    """A platonic solid about the origin, filled as a mesh is (`minidem.sphere_fit`).

    Args:
        kind: "tetrahedron", "cube", "octahedron", "dodecahedron" or "icosahedron".
        edge: length of its edges [m].
        spheres: how many at most, best first.
    """
    return ClumpTemplate(*fit_spheres(platonic_mesh(kind, edge), spheres), density)


def platonic_mesh(kind, edge):
    """The `TriangleMesh` of a platonic solid about the origin with edges of length `edge` [m]."""
    if kind not in PLATONIC:
        raise ValueError(f"kind = {kind!r}: give one of {', '.join(PLATONIC)}")
    vertices = np.array(PLATONIC[kind], dtype=float)
    apart = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    shortest = np.min(apart[apart > 0.0])
    vertices *= positive("edge", edge) / shortest
    return TriangleMesh(vertices, _faces(vertices), kind)


def _faces(vertices):
    """Triangles of the convex hull, counterclockwise from outside: a fan about each facet's first corner."""
    triangles, done = [], set()
    for a, b, c in np.argwhere(np.ones((len(vertices),) * 3)):
        if not a < b < c:
            continue
        normal = np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])
        height = (vertices - vertices[a]) @ normal
        tolerance = 1e-9 * np.abs(height).max()             # corners of a facet against the opposite side
        corners = np.nonzero(np.abs(height) <= tolerance)[0]
        if tuple(corners) in done or (height.max() > tolerance and height.min() < -tolerance):
            continue
        done.add(tuple(corners))
        outward = normal if height.min() < -tolerance else -normal
        spokes = vertices[corners] - vertices[corners].mean(axis=0)
        angle = np.arctan2(np.cross(spokes[0], spokes) @ outward / np.linalg.norm(outward), spokes @ spokes[0])
        ring = corners[np.argsort(angle)]
        triangles += [(ring[0], ring[k], ring[k + 1]) for k in range(1, len(ring) - 1)]
    return np.array(triangles)


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
