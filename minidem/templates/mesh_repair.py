"""Repairs of a surface of triangles: vertices merged, doubles left out, orientation, holes filled.

All but the last change nothing that is meant: they are applied to every mesh. Holes are filled on request, by
pymeshfix, after Attene, "A lightweight approach to repairing digitized polygon meshes", The Visual Computer 26
(2010), doi:10.1007/s00371-010-0416-3.
"""
import numpy as np
import scipy

MERGED = 1e-8               # vertices closer than this part of the size of the mesh are one
SINGLE = 1e-6               # and, where that closes the surface, closer than what single precision leaves
EPS = float(np.finfo(np.float64).eps)
PROBES = 15                 # vertices of a body that are tried for being inside another


def cleaned(vertices, triangles):
    """Vertices and triangles with near vertices merged, without unused ones, flat triangles and doubles.

    The distance is MERGED of the diagonal of the box about the triangles. If edges are then still open, it
    is SINGLE of that diagonal, or of the largest coordinate where that is more, provided that this closes all.
    """
    found = None
    for part in (MERGED, SINGLE):
        corners = vertices[np.unique(triangles)]
        size = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
        if part == SINGLE:
            size = min(max(size, float(np.abs(corners).max(initial=0.0))), 1e3 * size)
        trial = _without_doubles(*_merged(vertices, triangles, part * size))
        is_closed = not open_edges(trial[1])[0].any()
        if found is None or is_closed:
            found = trial
        if is_closed:
            break
    return found


def open_edges(triangles):
    """Of each edge, is it one of an odd number of triangles?; the edges (k, 2), and their sums of directions."""
    edges, which, way = _edges(triangles)
    return np.bincount(which, minlength=len(edges)) % 2 == 1, edges, np.bincount(which, way, minlength=len(edges))


def oriented(triangles):
    """Triangles turned so that neighbours agree, where edges of two triangles each say how; else as they are.

    Groups of triangles that agree already stay as they are.
    """
    edges, which, way = _edges(triangles)
    faces, n = np.bincount(which), len(triangles)
    order = np.argsort(which, kind="stable")
    starts = np.concatenate([[0], np.cumsum(faces)[:-1]])[faces == 2]
    a, b = order[starts], order[starts + 1]
    agree = way[a] != way[b]
    a, b = a % n, b % n
    # every triangle twice, as drawn and turned; what agrees is joined
    links = np.concatenate([np.stack([a, b + n * ~agree]), np.stack([a + n, b + n * agree])], axis=1)
    group = _groups(links, 2 * n)
    if (group[:n] == group[n:]).any():          # one-sided
        return triangles
    turned = np.zeros(n, dtype=bool)
    patch = np.minimum(group[:n], group[n:])    # the same for all triangles that hang together
    as_drawn = group[:n] == patch
    many = np.bincount(patch, as_drawn) * 2 >= np.bincount(patch)
    turned = as_drawn != many[patch]            # the fewer are turned
    return np.where(turned[:, None], triangles[:, ::-1], triangles)


def bodies(triangles):
    """Number of the body of each triangle (m,): those that hang together by edges."""
    edges, which, _ = _edges(triangles)
    n = len(triangles)
    graph = scipy.sparse.coo_array((np.ones(3 * n), (np.arange(3 * n) % n, which)), shape=(n, len(edges))).tocsr()
    return scipy.sparse.csgraph.connected_components(graph @ graph.T, directed=False)[1]


def surrounded(points, corners):
    """Is each point (n, 3) inside the closed surface (m, 3, 3)? By the solid angle that it is seen at.

    After van Oosterom and Strackee 1983, doi:10.1109/TBME.1983.325207.
    """
    angle = np.empty(len(points))
    for k, point in enumerate(points):
        a, b, c = (corners - point).swapaxes(0, 1)
        la, lb, lc = (np.sqrt((x * x).sum(axis=1)) for x in (a, b, c))
        volume = (a * np.cross(b, c)).sum(axis=1)
        rest = la * lb * lc + (a * b).sum(axis=1) * lc + (b * c).sum(axis=1) * la + (c * a).sum(axis=1) * lb
        angle[k] = 2.0 * np.arctan2(volume, rest).sum()
    return angle > 2.0 * np.pi


def facing_out(vertices, triangles):
    """Triangles with every body's outside out, without bodies that enclose nothing; and each one's body.

    A body drawn inside out that lies in another is a cavity and stays.
    """
    body = bodies(triangles)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    parts = np.linalg.det(vertices[triangles] - middle)
    volume, scale = np.bincount(body, parts), np.bincount(body, np.abs(parts))
    if volume.sum() < 0.0:                                      # all of it drawn inside out
        triangles, volume = triangles[:, ::-1], -volume
    empty = np.abs(volume) <= 64.0 * EPS * scale
    for one in np.nonzero((volume < 0.0) & ~empty)[0]:
        mine = np.unique(triangles[body == one])
        probes = vertices[mine[np.linspace(0, len(mine) - 1, min(PROBES, len(mine))).astype(int)]]
        others = vertices[triangles[(volume > 0.0)[body]]]
        if 2 * surrounded(probes, others).sum() <= len(probes):
            triangles = np.where((body == one)[:, None], triangles[:, ::-1], triangles)
    keep = ~empty[body]
    return triangles[keep], body[keep]


def filled(vertices, triangles, name):
    """The surface with the holes of every body filled and what crosses itself in these cut away (pymeshfix).

    Raises ValueError with the command to install it where pymeshfix is missing, or if nothing closed is left.
    """
    try:
        from pymeshfix import MeshFix
    except ImportError:
        raise ValueError(f"{name}: repair needs pymeshfix: pip install -e '.[mesh]'") from None
    body, parts, start = bodies(triangles), [], 0
    for one in range(body.max() + 1):           # pymeshfix would keep the largest alone
        points, faces = _used_only(vertices, triangles[body == one])
        if open_edges(faces)[0].any():
            fix = MeshFix(points, faces)
            fix.repair(joincomp=False, remove_smallest_components=False)
            points, faces = np.array(fix.points, dtype=np.float64), np.array(fix.faces, dtype=np.int64)
        if len(faces) and not open_edges(faces)[0].any():
            parts.append((points, faces + start))
            start += len(points)
    if not parts:
        raise ValueError(f"{name}: nothing closed is left after the repair; give the surface of a solid body")
    return tuple(np.concatenate(part) for part in zip(*parts))


def area(vertices, triangles):
    """Of all triangles."""
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return 0.5 * float(np.sqrt((np.cross(b - a, c - a) ** 2).sum(axis=1)).sum())


def _edges(triangles):
    """Distinct edges (k, 2); the edge of each side of each triangle, (3 m,), by side; and its direction."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges, which = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    return edges, which.reshape(-1), np.where(sides[:, 0] < sides[:, 1], 1, -1)


def _groups(links, n):
    """Number of the group of each of n items, which the links (2, k) join."""
    graph = scipy.sparse.coo_array((np.ones(links.shape[1]), links), shape=(n, n))
    return scipy.sparse.csgraph.connected_components(graph, directed=False)[1]


def _merged(vertices, triangles, distance):
    """The first of each group of near vertices stands for all."""
    vertices, same = np.unique(vertices, axis=0, return_inverse=True)
    triangles = same.reshape(-1)[triangles]
    used = np.unique(triangles)
    near = scipy.spatial.cKDTree(vertices[used]).query_pairs(distance, output_type="ndarray") if len(used) else used
    if len(near):
        group = _groups(used[near].T, len(vertices))
        first = np.unique(group, return_index=True)[1]
        triangles = first[group][triangles]
    flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)     # with an edge of no length
    return _used_only(vertices, triangles[~flat])


def _without_doubles(vertices, triangles):
    """One triangle of several with the same corners, none where two of them face each other.

    But if only one of two that face each other closes the surface, one; and all, if only all do.
    """
    kinds, which = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True)
    if len(kinds) == len(triangles):
        return vertices, triangles
    which = which.reshape(-1)
    a, b, c = triangles.T
    way = np.where((a < b) ^ (b < c) ^ (c < a), 1, -1)
    net = np.bincount(which, way)
    first = np.unique(which, return_index=True)[1]
    one = np.where((net * way[first] < 0)[:, None], triangles[first][:, ::-1], triangles[first])
    trials = (one[net != 0], one, triangles)
    for trial in trials:
        if len(trial) and not open_edges(trial)[0].any():
            return _used_only(vertices, trial)
    return _used_only(vertices, trials[0])


def _used_only(vertices, triangles):
    used, triangles = np.unique(triangles, return_inverse=True)
    return vertices[used], triangles.reshape(-1, 3)
