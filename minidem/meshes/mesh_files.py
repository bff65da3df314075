"""Triangles from mesh files, read by trimesh; those that it cannot read, VTK and Gmsh, by meshio.

All bodies and groups of a file form one surface, because exporters split a body into groups by material.
"""
import codecs
import io

import numpy as np

from minidem.core.checks import existing_file, file_path
from minidem.core.rows import unique_rows

MESHIO = {".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh"}       # its modules: meshio.read calls sys.exit
SUFFIXES = (".stl", ".obj", ".ply", ".off", ".glb", *MESHIO)


def read_triangles(path):
    """Return vertices (n, 3), unique and ascending, in the unit of the file, and triangles (m, 3), also of polygons.

    ValueError for a suffix that is not in SUFFIXES, or a file that cannot be read; FileNotFoundError without a file.
    """
    path = file_path("path", path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"{path}: the suffix {path.suffix!r} is none of {', '.join(SUFFIXES)}; convert the mesh")
    existing_file("path", path, "give the name of a mesh file")
    try:
        points, triangles = _in_order(*(_with_meshio if suffix in MESHIO else _with_trimesh)(path, suffix))
    except (Exception, SystemExit) as error:            # a damaged file raises anything
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path}: not a readable {suffix[1:].upper()} file ({reason})") from None
    if not len(triangles):
        raise ValueError(f"{path}: no triangles in it; give a surface. Points with radii, such as particles of "
                         "MercuryDPM or frames of minidem, are read by md.read_particles")
    return points, triangles


def _with_trimesh(path, suffix):
    """Read this file only, without materials and textures, and without merging vertices (process=False)."""
    import trimesh  # takes as long as the rest of minidem
    data = path.read_bytes()
    if suffix == ".obj":                        # names in it may be in any encoding; numbers are ASCII
        encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        data = data.decode(encoding, errors="replace").encode()
    mesh = trimesh.load(io.BytesIO(data), file_type=suffix[1:], force="scene", process=False,
                        skip_materials=True).to_mesh()
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def _with_meshio(path, suffix):
    import meshio  # not with minidem: it takes a tenth of a second
    try:
        mesh = getattr(meshio, MESHIO[suffix]).read(str(path))
    except IndexError:              # of meshio, for points without cells
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    points = np.asarray(mesh.points, dtype=np.float64).reshape(len(mesh.points), 3)
    triangles = [np.stack([block.data[:, 0], block.data[:, k], block.data[:, k + 1]], axis=1)
                 for block in mesh.cells if block.type in ("triangle", "quad", "polygon")
                 for k in range(1, block.data.shape[1] - 1)]
    return points, np.concatenate([np.zeros((0, 3), np.int64), *triangles])


def _in_order(points, triangles):
    """Return the surface in an order that does not depend on the order in the file."""
    if len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(points):
        raise ValueError(f"triangles of vertices {triangles.min()} to {triangles.max()}, of {len(points)}")
    used, triangles = np.unique(triangles, return_inverse=True)     # unused vertices may be NaN
    points, _, same = unique_rows(points[used])
    triangles = same[triangles.reshape(-1, 3)]
    first = triangles.argmin(axis=1)[:, None]
    triangles = np.take_along_axis(triangles, (first + np.arange(3)) % 3, axis=1)
    return points, triangles[np.lexsort(triangles.T[::-1])]
