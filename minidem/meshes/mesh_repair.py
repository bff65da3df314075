"""Repair of triangle meshes: merging of vertices, removal of duplicates, orientation, filling of holes.

Holes are filled on request only, by pymeshfix (Attene 2010, "A lightweight approach to repairing digitized polygon
meshes", doi:10.1007/s00371-010-0416-3). The other repairs preserve the shape and are applied to every mesh. The repairs
of trimesh give other answers: a cavity counts as a body, four triangles at an edge make the surface open, vertices that
differ by the rounding of single precision remain apart, and one-sided surfaces are accepted.
"""
import numpy as np
import scipy

from minidem.core.rows import unique_rows

MERGED = 1e-8               # vertices closer than this part of the size of the mesh are merged
SINGLE = 1e-6               # or closer than this, the resolution of single precision, if that closes the surface
EPS = float(np.finfo(np.float64).eps)
PROBES = 15                 # vertices of a body that are tested for being inside another


def cleaned(vertices, triangles):
    """Return vertices and triangles with near vertices merged, without degenerate and duplicate triangles.

    Vertices are merged within MERGED times the diagonal of the bounding box. If edges are then open, within SINGLE
    times that, or the largest coordinate if that is more, provided that this closes the surface.
    """
    trials = []
    for part in (MERGED, SINGLE):
        corners = vertices[np.unique(triangles)]
        size = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
        if part == SINGLE:
            size = min(max(size, float(np.abs(corners).max(initial=0.0))), 1e3 * size)
        trials.append(_without_duplicates(*merged(vertices, triangles, part * size)))
        if not open_edges(trials[-1][1])[0].any():
            return trials[-1]
    return trials[0]


def open_edges(triangles):
    """Return a mask of the edges with an odd number of triangles, the edges (k, 2), and their sums of directions."""
    edges, which, way = _edges(triangles)
    return np.bincount(which, minlength=len(edges)) % 2 == 1, edges, np.bincount(which, way, minlength=len(edges))


def oriented(triangles):
    """Return the triangles flipped so that the two at an edge agree; a one-sided surface unchanged."""
    edges, which, way = _edges(triangles)
    faces, n = np.bincount(which), len(triangles)
    order = np.argsort(which, kind="stable")
    starts = np.concatenate([[0], np.cumsum(faces)[:-1]])[faces == 2]
    a, b = order[starts], order[starts + 1]
    agree = way[a] != way[b]
    a, b = a % n, b % n
    # two nodes per triangle, as given and flipped; links join consistent nodes of neighbours
    links = np.concatenate([np.stack([a, b + n * ~agree]), np.stack([a + n, b + n * agree])], axis=1)
    group = groups(links, 2 * n)
    if (group[:n] == group[n:]).any():          # one-sided
        return triangles
    part = np.minimum(group[:n], group[n:])     # the same for all connected triangles
    as_given = group[:n] == part
    majority = np.bincount(part, as_given) * 2 >= np.bincount(part)
    flipped = as_given != majority[part]
    return np.where(flipped[:, None], triangles[:, ::-1], triangles)


def bodies(triangles):
    """Return the index of the body of each triangle (m,); a body is connected by edges."""
    edges, which, _ = _edges(triangles)
    n = len(triangles)
    return groups(np.stack([np.arange(3 * n) % n, n + which]), n + len(edges))[:n]


def surrounded(points, corners):
    """Mask of the points (n, 3) in a closed surface (m, 3, 3): Van Oosterom, doi:10.1109/TBME.1983.325207."""
    angle = np.empty(len(points))
    for k, point in enumerate(points):
        a, b, c = (corners - point).swapaxes(0, 1)
        la, lb, lc = (np.sqrt((x * x).sum(axis=1)) for x in (a, b, c))
        volume = (a * np.cross(b, c)).sum(axis=1)
        rest = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
        angle[k] = 2.0 * np.arctan2(volume, rest).sum()
    return angle > 2.0 * np.pi


def facing_out(vertices, triangles):
    """Return the triangles with every body oriented outward, except cavities, and their bodies (m,)."""
    body = bodies(triangles)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    parts = np.linalg.det(vertices[triangles] - middle)
    volume, scale = np.bincount(body, parts), np.bincount(body, np.abs(parts))
    if volume.sum() < 0.0:                                      # all bodies are inverted
        triangles, volume = triangles[:, ::-1], -volume
    empty = np.abs(volume) <= 64.0 * EPS * scale
    for k in np.nonzero((volume < 0.0) & ~empty)[0]:
        own = np.unique(triangles[body == k])
        probes = vertices[own[np.linspace(0, len(own) - 1, min(PROBES, len(own))).astype(int)]]
        others = vertices[triangles[(volume > 0.0)[body]]]
        if 2 * surrounded(probes, others).sum() <= len(probes):
            triangles = np.where((body == k)[:, None], triangles[:, ::-1], triangles)
    keep = ~empty[body]
    return triangles[keep], body[keep]


def filled(vertices, triangles, name):
    """Return the surface with holes of every body filled by pymeshfix; ValueError without it, or without a body."""
    try:
        from pymeshfix import MeshFix
    except ImportError:
        raise ValueError(f"{name}: repair needs pymeshfix: pip install -e '.[mesh]'") from None
    body, parts, start = bodies(triangles), [], 0
    for k in range(body.max() + 1):           # of several that intersect, pymeshfix keeps the largest only
        points, faces = _used_only(vertices, triangles[body == k])
        if open_edges(faces)[0].any():
            fix = MeshFix(points, faces)
            fix.repair(joincomp=False, remove_smallest_components=False)
            points, faces = np.array(fix.points, dtype=np.float64), np.array(fix.faces, dtype=np.int64)
        if len(faces) and not open_edges(faces)[0].any():
            parts.append((points, faces + start))
            start += len(points)
    if not parts:
        raise ValueError(f"{name}: no closed body is left after the repair; give the surface of a solid body")
    return tuple(np.concatenate(part) for part in zip(*parts))


def area(vertices, triangles):
    """Return the total area of the triangles."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return 0.5 * float(np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1)).sum())


def _edges(triangles):
    """Return the distinct edges (k, 2); for each triangle side (3 m,) its edge and its direction, 1 or -1."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges, _, which = unique_rows(np.sort(sides, axis=1))
    return edges, which, np.where(sides[:, 0] < sides[:, 1], 1, -1)


def groups(links, n):
    """Return the connected component of each of n nodes that the links (2, k) join."""
    graph = scipy.sparse.coo_array((np.ones(links.shape[1]), links), shape=(n, n))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]


def merged(vertices, triangles, distance):
    """Replace near vertices by the first of them, and remove triangles that become degenerate."""
    vertices, _, same = unique_rows(vertices)
    triangles = same[triangles]
    used = np.unique(triangles)
    near = scipy.spatial.cKDTree(vertices[used]).query_pairs(distance, output_type="ndarray") if len(used) else used
    if len(near):
        group = groups(used[near].T, len(vertices))
        first = np.unique(group, return_index=True)[1]
        triangles = first[group][triangles]
    flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)     # with an edge of zero length
    return _used_only(vertices, triangles[~flat])


def _without_duplicates(vertices, triangles):
    """Remove duplicates: one triangle of equal ones stays, none of two with opposite orientation.

    One of two opposite triangles stays if only that closes the surface, and all stay if only all close it.
    """
    kinds, first, which = unique_rows(np.sort(triangles, axis=1))
    if len(kinds) == len(triangles):
        return vertices, triangles
    a, b, c = triangles.T
    way = np.where((a < b) ^ (b < c) ^ (c < a), 1, -1)
    net = np.bincount(which, way)
    one = np.where((net * way[first] < 0)[:, None], triangles[first][:, ::-1], triangles[first])
    trials = (one[net != 0], one, triangles)
    for trial in trials:
        if len(trial) and not open_edges(trial)[0].any():
            return _used_only(vertices, trial)
    return _used_only(vertices, trials[0])


def _used_only(vertices, triangles):
    used, triangles = np.unique(triangles, return_inverse=True)
    return vertices[used], triangles.reshape(-1, 3)
