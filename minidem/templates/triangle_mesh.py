"""Closed surfaces of triangles, read from mesh files: watertightness, volume, inertia.

The volume integrals of 1, x and x x of the solid are sums over the tetrahedra that its triangles span
with an origin near it, signed by orientation: the divergence theorem, as in Kallay, "Computing the moment of
inertia of a solid defined by a triangle mesh", J. Graphics Tools 11 (2006),
doi:10.1080/2151237X.2006.10129220. They are exact for the polyhedron. Where a mesh passes through itself, a
part that is inside twice counts twice.
"""
import numpy as np

from minidem.core.checks import LARGEST, finite_array, flag, positive, refuse, shown
from minidem.templates.mass.principal_axes import principal_axes
from minidem.templates.mesh_files import read_triangles
from minidem.templates.mesh_repair import area, cleaned, facing_out, filled, open_edges, oriented

EPS = float(np.finfo(np.float64).eps)
SYMMETRIC = 1e-6        # moments that differ by less are equal: what single precision leaves in most files


class TriangleMesh:
    """A closed, oriented surface of triangles: of one body, or of several that are apart.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3) int, indices of vertices.
        name: what messages call it.
        repair: fill holes of an open surface with pymeshfix (extra `mesh`); it also cuts away what crosses
            itself. The shape may change: look at the picture of `tools/make_clump.py`.

    Vertices within 1e-8 of the size of the mesh are merged (within what single precision leaves, where that
    closes the surface), flat and double triangles left out. Triangles that are oriented against their
    neighbours are turned where edges of two triangles each say how, bodies drawn inside out as a whole; a
    body inside out within another is a cavity.

    Attributes: name; vertices (n, 3) and triangles (m, 3), merged and counterclockwise from outside; corners
    (m, 3, 3) [m]; bodies, how many parts hang together; filled, how many open edges the repair closed; kept,
    surface after the repair over that before; volume [m3]; center_of_mass (3,) [m]; moments (3,), principal
    moments of inertia about it per density, ascending [m5]; axes (3, 3), columns = principal axes, as those of
    a ClumpTemplate (moments that differ by less than 1e-6 of the largest are made equal); relative_error, bound
    of the relative error of volume and moments, for exactly these triangles.

    Raises ValueError if the surface has open edges (it names the first), if neighbours are oriented against
    each other and nothing says how to turn them, or if it encloses no volume.
    """

    def __init__(self, vertices, triangles, name="mesh", repair=False):
        vertices = finite_array(f"{name}: vertices", vertices, (-1, 3), limit=LARGEST)
        try:
            triangles = np.asarray(triangles)
        except ValueError:
            raise ValueError(f"{name}: triangles = {shown(triangles)}; give whole numbers of shape (n, 3)") from None
        if triangles.ndim and len(triangles) == 0:
            raise ValueError(f"{name}: no triangles in it; give a closed surface of triangles")
        if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
            raise ValueError(f"{name}: triangles has shape {triangles.shape} of {triangles.dtype}; "
                             "give whole numbers of shape (n, 3)")
        refuse(f"{name}: triangles", triangles, (triangles < 0) | (triangles >= len(vertices)),
               f"there are vertices 0 to {len(vertices) - 1} only; repair the mesh")
        vertices, triangles = cleaned(vertices, triangles)
        self.filled = int(open_edges(triangles)[0].sum()) if flag("repair", repair) else 0
        if self.filled:
            before = area(vertices, triangles)
            vertices, triangles = cleaned(*filled(vertices, triangles, name))
        triangles = _closed(name, vertices, triangles)
        if len(triangles):
            triangles, body = facing_out(vertices, triangles)
        if len(triangles) == 0:
            raise ValueError(f"{name}: the surface encloses no volume; give the surface of a solid body")

        self.kept = area(vertices, triangles) / before if self.filled else 1.0
        self.name, self.vertices, self.triangles = name, vertices, triangles
        self.bodies, self.corners = len(np.unique(body)), vertices[triangles]
        middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
        corners = self.corners - middle
        parts = np.linalg.det(corners) / 6.0
        self.volume = volume = float(parts.sum())
        total = corners.sum(axis=1)
        center = parts @ total / (4.0 * volume)
        # over a tetrahedron with one corner at the origin: V/20 (sum of a a over its corners + s s)
        second = sum(np.einsum("m,ma,mb->ab", parts, x, x) for x in (*corners.swapaxes(0, 1), total)) / 20.0
        second -= volume * np.outer(center, center)
        self.center_of_mass = middle + center
        self.moments, self.axes = principal_axes(second, SYMMETRIC)
        self.relative_error = self._error(corners, parts, total, second)

    @classmethod
    def read(cls, path, scale=1.0, repair=False):
        """The surface in the file `path`, lengths times `scale`; `minidem.templates.mesh_files` lists the formats.

        Raises ValueError for another suffix, a file that cannot be read, and as the class does;
        FileNotFoundError when there is none.
        """
        scale = positive("scale", scale)
        vertices, triangles = read_triangles(path)
        return cls(vertices * scale, triangles, str(path), repair)

    def _error(self, corners, parts, total, second):
        """Round-off of the sums, and what making moments equal has changed."""
        # a determinant: a few roundings of the product of its sides' lengths
        sides = np.sqrt((corners * corners).sum(axis=2)).prod(axis=1)
        reach = (corners * corners).sum(axis=(1, 2)) + (total * total).sum(axis=1)
        exact = principal_axes(second, 0.0)[0]
        volume = 16.0 * EPS * float(sides.sum()) / self.volume
        moment = 16.0 * EPS * float((sides * reach).sum()) / float(exact[0])
        return max(volume, moment + float(np.abs(self.moments / exact - 1.0).max()))


def _closed(name, vertices, triangles):
    """The triangles, some turned if need be; or refuse a surface with an edge that is not walked as often one way
    as the other."""
    is_open, edges, sums = open_edges(triangles)
    if not is_open.any() and sums.any():
        triangles = oriented(triangles)
        is_open, edges, sums = open_edges(triangles)
    for bad, what, remedy in ((is_open, "open edges: the mesh is not watertight",
                               "fill its holes, or let repair=True do it (make_clump: --repair)"),
                              (sums != 0, "edges between triangles of opposite orientation",
                               "make the orientation of its triangles consistent")):
        if bad.any():
            start, end = vertices[edges[np.argmax(bad)]].tolist()
            raise ValueError(f"{name}: {bad.sum()} {what}; the first from ({start[0]:.6g}, {start[1]:.6g}, "
                             f"{start[2]:.6g}) to ({end[0]:.6g}, {end[1]:.6g}, {end[2]:.6g}); {remedy}")
    return triangles
