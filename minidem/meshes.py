"""Closed surfaces of triangles, read from STL, OBJ or PLY: watertightness, volume, inertia.

The volume integrals of 1, x and x x of the solid are sums over the tetrahedra that its triangles span
with an origin near it, signed by orientation: the divergence theorem, as in Kallay, "Computing the moment of
inertia of a solid defined by a triangle mesh", J. Graphics Tools 11 (2006),
doi:10.1080/2151237X.2006.10129220. They are exact for the polyhedron. Where a mesh passes through itself, a
part that is inside twice counts twice.
"""
import meshio
import numpy as np

from .checks import LARGEST, file_path, finite_array, positive, refuse, shown
from .mass.principal_axes import principal_axes

# The readers themselves, by suffix: meshio.read ends the process (sys.exit) on files it cannot read.
READERS = {".stl": meshio.stl.read, ".obj": meshio.obj.read, ".ply": meshio.ply.read}
EPS = float(np.finfo(np.float64).eps)


class TriangleMesh:
    """A closed, oriented surface of triangles.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3) int, indices of vertices; all counterclockwise from outside, or all clockwise.
        name: what messages call it.

    Attributes: name; vertices (n, 3) and triangles (m, 3), merged where vertices have the same coordinates
    and turned counterclockwise from outside; corners (m, 3, 3) [m]; volume [m3]; center_of_mass (3,) [m];
    moments (3,), principal moments of inertia about it per density, ascending [m5].

    Raises ValueError if the surface has open edges (it names the first), if neighbours are oriented against
    each other, or if it encloses no volume.
    """

    def __init__(self, vertices, triangles, name="mesh"):
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
        self.vertices, same = np.unique(vertices, axis=0, return_inverse=True)
        triangles = same.reshape(-1)[triangles]
        flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)     # with an edge of no length
        triangles = triangles[~flat]
        _check_closed(name, self.vertices, triangles)

        middle = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        corners = self.vertices[triangles] - middle
        parts = np.linalg.det(corners) / 6.0
        volume = float(parts.sum())
        if abs(volume) <= 64.0 * EPS * float(np.abs(parts).sum()):
            raise ValueError(f"{name}: the surface encloses no volume; give the surface of a solid body")
        if volume < 0.0:                                        # drawn inside out
            volume, parts, triangles = -volume, -parts, triangles[:, ::-1]
        total = corners.sum(axis=1)
        center = parts @ total / (4.0 * volume)
        # over a tetrahedron with one corner at the origin: V/20 (sum of a a over its corners + s s)
        second = sum(np.einsum("m,ma,mb->ab", parts, x, x) for x in (*corners.swapaxes(0, 1), total))
        self.name, self.triangles, self.corners = name, triangles, self.vertices[triangles]
        self.volume, self.center_of_mass = volume, middle + center
        self.moments = principal_axes(second / 20.0 - volume * np.outer(center, center), 0.0)[0]

    @classmethod
    def read(cls, path, scale=1.0):
        """The surface in the file `path` (.stl, .obj or .ply), lengths times `scale`; facets with more than
        three corners are cut into triangles.

        Raises ValueError for another suffix, a file that cannot be read, and as the class does.
        """
        scale = positive("scale", scale)
        path = file_path("path", path)
        reader = READERS.get(path.suffix.lower())
        if reader is None:
            raise ValueError(f"{path}: the suffix {path.suffix!r} is none of {', '.join(READERS)}; "
                             "convert the mesh")
        if not path.is_file():
            raise FileNotFoundError(f"{path}: there is no such file")
        if reader is meshio.ply.read and b"end_header" not in path.read_bytes():    # meshio waits for it
            raise ValueError(f"{path}: a PLY file without the end of its header; it is damaged")
        try:
            mesh = reader(str(path))
            points = np.asarray(mesh.points, dtype=np.float64).reshape(len(mesh.points), 3)
        except (Exception, SystemExit) as error:        # the readers raise whatever the damage leads to
            raise ValueError(f"{path}: not a readable {path.suffix[1:].upper()} file "
                             f"({type(error).__name__}: {error})") from None
        return cls(points * scale, _fans(mesh.cells), str(path))


def _fans(blocks):
    """Triangles (m, 3) of all blocks of flat facets, each cut from its first corner."""
    fans = [np.stack([block.data[:, 0], block.data[:, k], block.data[:, k + 1]], axis=1)
            for block in blocks if block.type in ("triangle", "quad", "polygon")
            for k in range(1, block.data.shape[1] - 1)]
    return np.concatenate(fans) if fans else np.zeros((0, 3), dtype=int)


def _check_closed(name, vertices, triangles):
    """Refuse a surface on which an edge is not walked as often one way as the other."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    way = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    edges, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    faces = np.bincount(which)
    unbalanced = np.bincount(which, way) != 0
    is_open = faces % 2 == 1
    for bad, what, remedy in ((is_open, "open edges: the mesh is not watertight",
                               "fill its holes and merge vertices that are nearly the same"),
                              (unbalanced, "edges between triangles of opposite orientation",
                               "make the orientation of its triangles consistent")):
        if bad.any():
            start, end = vertices[edges[np.argmax(bad)]].tolist()
            raise ValueError(f"{name}: {bad.sum()} {what}; the first from ({start[0]:.6g}, {start[1]:.6g}, "
                             f"{start[2]:.6g}) to ({end[0]:.6g}, {end[1]:.6g}, {end[2]:.6g}); {remedy}")
