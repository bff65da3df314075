"""Closed triangle meshes: watertightness, volume, inertia.

The volume integrals of 1, x and x x are sums over the tetrahedra spanned by the triangles and an origin near the
solid, signed by orientation (divergence theorem; Kallay 2006, "Computing the moment of inertia of a solid defined by a
triangle mesh", doi:10.1080/2151237X.2006.10129220). They are exact for the polyhedron. Where a mesh intersects itself,
overlapping parts count twice.
"""
from __future__ import annotations

from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, finite_array, flag, positive, triangle_array
from minidem.meshes.mesh_files import read_triangles
from minidem.meshes.mesh_repair import area, cleaned, facing_out, filled, open_edges, oriented
from minidem.templates.mass.mass_properties import principal_axes

EPS = float(np.finfo(np.float64).eps)
SYMMETRIC = 1e-6        # relative difference below which moments are equal: most files have single precision


class TriangleMesh:
    """A closed, oriented triangle mesh of one body or of several separate bodies.

    Vertices within 1e-8 of the size of the mesh are merged, or within single precision if that closes the surface.
    Degenerate and duplicate triangles are removed. Triangles oriented against their neighbours are flipped where edges
    of two triangles define the orientation. Inverted bodies are flipped; an inverted body inside another is a cavity.

    Parameters
    ----------
    vertices : (n, 3) array_like
        Positions [m].
    triangles : (m, 3) array_like of int
        Indices of vertices.
    name : str
        Name of the mesh in messages.
    repair : bool
        Fill the holes of an open surface with pymeshfix (extra `mesh`), which also removes self-intersections. The
        shape may change: look at the picture of `tools/make_clump.py`.

    Attributes
    ----------
    name : str
    vertices, triangles : (n, 3) and (m, 3) ndarray
        After cleaning; triangles are counterclockwise from outside.
    corners : (m, 3, 3) ndarray
        Corners of the triangles [m].
    bodies : int
        Number of parts connected by edges.
    closed_edges : int
        Number of open edges that the repair closed.
    remaining_surface : float
        Area after the repair over that before.
    volume, center_of_mass : float and (3,) ndarray
        [m3] and [m]
    moments : (3,) ndarray
        Principal moments of inertia about the centre of mass per density, ascending [m5].
    axes : (3, 3) ndarray
        Principal axes as columns, as of ClumpTemplate; moments within 1e-6 of the largest are made equal.
    relative_error : float
        Bound of the relative error of volume and moments, for exactly these triangles.

    Raises
    ------
    ValueError
        The surface has open edges (the first is given), has neighbours of opposite orientation that cannot be made
        consistent, or encloses no volume.
    """

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, name: str = "mesh", repair: bool = False):
        vertices = finite_array(f"{name}: vertices", vertices, (-1, 3), limit=LARGEST)
        triangles = triangle_array(f"{name}: triangles", triangles, len(vertices))
        if len(triangles) == 0:
            raise ValueError(f"{name}: no triangles in it; give a closed surface of triangles")
        vertices, triangles = cleaned(vertices, triangles)
        self.closed_edges = int(open_edges(triangles)[0].sum()) if flag("repair", repair) else 0
        if self.closed_edges:
            before = area(vertices, triangles)
            vertices, triangles = cleaned(*filled(vertices, triangles, name))
        triangles = _closed(name, vertices, triangles)
        if len(triangles):
            triangles, body = facing_out(vertices, triangles)
        if len(triangles) == 0:
            raise ValueError(f"{name}: the surface encloses no volume; give the surface of a solid body")

        self.remaining_surface = area(vertices, triangles) / before if self.closed_edges else 1.0
        self.name, self.vertices, self.triangles = name, vertices, triangles
        self.bodies, self.corners = len(np.unique(body)), vertices[triangles]
        self._integrate(0.5 * (vertices.min(axis=0) + vertices.max(axis=0)))

    @classmethod
    def read(cls, path: str | Path, scale: float = 1.0, repair: bool = False) -> Self:
        """Read a mesh file (`minidem.meshes.mesh_files` lists the formats).

        Parameters
        ----------
        path : str or Path
            File to read.
        scale : float
            Unit of length of the file [m].
        repair : bool
            As for the class.

        Raises
        ------
        ValueError
            Another suffix, a file that cannot be read, or a mesh that the class rejects.
        FileNotFoundError
            The file does not exist.
        """
        scale = positive("scale", scale)
        vertices, triangles = read_triangles(path)
        return cls(vertices * scale, triangles, str(path), repair)

    def _integrate(self, origin):
        """Set volume, centre of mass, moments, axes and their relative error; `origin` is near the solid."""
        corners = self.corners - origin
        parts = np.linalg.det(corners) / 6.0
        self.volume = volume = float(parts.sum())
        total = corners.sum(axis=1)
        center = parts @ total / (4.0 * volume)
        # over a tetrahedron with one corner at the origin: V/20 (sum of a a over its corners + s s)
        second = sum(np.einsum("m,ma,mb->ab", parts, x, x) for x in (*corners.swapaxes(0, 1), total)) / 20.0
        second -= volume * np.outer(center, center)
        self.center_of_mass = origin + center
        self.moments, self.axes = principal_axes(second, SYMMETRIC)
        # Round-off of a determinant: a few units of the product of its side lengths.
        sides = np.sqrt((corners * corners).sum(axis=2)).prod(axis=1)
        squares = (corners * corners).sum(axis=(1, 2)) + (total * total).sum(axis=1)
        exact = principal_axes(second, 0.0)[0]
        moment_error = 16.0 * EPS * float((sides * squares).sum()) / float(exact[0])
        self.relative_error = max(16.0 * EPS * float(sides.sum()) / volume,
                                  moment_error + float(np.abs(self.moments / exact - 1.0).max()))


def _closed(name, vertices, triangles):
    """Return the triangles, oriented consistently; ValueError if edges are open or orientations contradict."""
    is_open, edges, sums = open_edges(triangles)
    if not is_open.any() and sums.any():
        triangles = oriented(triangles)
        is_open, edges, sums = open_edges(triangles)
    for bad, what, remedy in ((is_open, "open edges: the mesh is not watertight",
                               "fill its holes, or give repair=True (make_clump: --repair)"),
                              (sums != 0, "edges between triangles of opposite orientation",
                               "make the orientation of its triangles consistent")):
        if bad.any():
            start, end = vertices[edges[np.argmax(bad)]].tolist()
            raise ValueError(f"{name}: {bad.sum()} {what}; the first from ({start[0]:.6g}, {start[1]:.6g}, "
                             f"{start[2]:.6g}) to ({end[0]:.6g}, {end[1]:.6g}, {end[2]:.6g}); {remedy}")
    return triangles
