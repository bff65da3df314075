"""Walls as surfaces for ParaView: planes as polygons, surfaces of revolution as quadrilaterals, others as triangles."""
import warnings

import numpy as np

from minidem.analysis.wall_loads import LOAD
from minidem.output.vtu import write_mesh

# Side of the square that represents an infinite plane, in sizes of the scene. Clipping loses about
# HUGE * 2^-52 = 2e-13 of the scene's size, below the resolution of float32.
HUGE = 1e3
BEYOND = 0.1        # how far infinite walls reach beyond the clumps, in the largest length of their bounding box
SIDES = 96
CORNERS = np.arange(8)[:, None] >> np.arange(3) & 1         # of a box: 0 low, 1 high along each axis
EDGES = np.array([(k, k | 1 << axis) for k in range(8) for axis in range(3) if not CORNERS[k, axis]])


def write_walls(path, sim, bounds=None):
    """Write the walls of `sim`, see `wall_mesh`, to the VTU file `path`; False if there is nothing to write."""
    mesh = wall_mesh(sim, bounds)
    if mesh is not None:
        write_mesh(path, mesh)
    return mesh is not None


def reach(sim, earlier=None):
    """Low and high corner, lists, of what infinite walls cover: a tenth more than the bounding box of the spheres.

    earlier : such a box, which is returned while the spheres are in it, and covered as well when they have left it.
    """
    centers, radii = sim.sphere_centers, np.asarray(sim.sphere_radii)[:, None]
    if not len(centers):
        return earlier
    low, high = (centers - radii).min(axis=0), (centers + radii).max(axis=0)
    if earlier and np.all(low >= earlier[0]) and np.all(high <= earlier[1]):
        return earlier
    beyond = BEYOND * np.max(high - low)
    low, high = low - beyond, high + beyond
    return [low.tolist(), high.tolist()] if not earlier else [np.minimum(low, earlier[0]).tolist(),
                                                              np.maximum(high, earlier[1]).tolist()]


def wall_mesh(sim, bounds=None, loads=None):
    """The walls of `sim` at this instant as a meshio.Mesh; None if there is nothing to draw.

    Planes that enclose a convex room are written completely, and so are the ends of a cylinder with clumps inside. An
    infinite plane or cylinder reaches a tenth beyond the bounding box of the spheres, also where it is inclined;
    without spheres its extent is arbitrary, and it is not drawn. Along periodic axes the periodic box replaces the
    bounding box; its edges are drawn as lines.

    bounds : low and high corner of what infinite walls cover; default: `reach` of the spheres now.
    loads : WallLoads, which become cell data; nan where there are none
    """
    import meshio  # not with minidem: it takes a tenth of a second
    bounds, box = bounds or reach(sim), sim.box
    if box is not None:
        ends = box.low, box.high
        bounds = tuple(np.where(box.axes, end, bound) for end, bound in zip(ends, bounds or ends))
    numbers, walls = zip(*((k, piece) for k, wall in enumerate(sim.walls.at_rest) for piece in wall.pieces())) \
        if sim.walls else ((), ())
    planes = [wall.half_space for wall in walls if wall.half_space]
    revolved = [wall for wall in walls if wall.profile((0.0, 0.0))]
    parts = [(polygon, np.arange(len(polygon))[None, :]) for polygon in wall_polygons(planes, bounds, revolved)]
    parts += [strip(wall, planes, bounds) for wall in revolved if wall.profile(bounds)]
    triangles, first_mesh = [wall.drawn() for wall in walls], len(parts)
    parts += [found for found in triangles if found is not None]
    for k, wall, found in zip(numbers, walls, triangles):
        if found is None and not (wall.half_space or wall.profile((0.0, 0.0))) and wall.primitives():
            warnings.warn(f"wall {k}, a {type(wall).__name__}, is not drawn: let its method `drawn` return points "
                          "(n, 3) and triangles (m, 3) of the surface", stacklevel=2)
    if box is not None:
        tilt = (CORNERS - 0.5) @ (box.lattice - np.diag(box.length))        # about its centre
        parts.append((corners_of(ends) + tilt, EDGES))
    if not parts:
        return None
    first = np.cumsum([0] + [len(points) for points, _ in parts])
    names = {2: "line", 3: "triangle", 4: "quad"}
    cells = [(names.get(corners.shape[1], "polygon"), (corners + start).astype(np.int32))
             for (_, corners), start in zip(parts, first)]
    rows = [np.full(len(corners), np.nan, dtype=LOAD) for _, corners in parts]
    drawn = [sim.walls[k].name or k for k, found in zip(numbers, triangles) if found is not None]
    for n, wall in enumerate(drawn if loads is not None else ()):
        if wall in loads:
            rows[first_mesh + n] = loads[wall]
    data = {} if loads is None else {name: [row[name] for row in rows] for name in LOAD.names[1:]}
    return meshio.Mesh(np.concatenate([points for points, _ in parts]), cells, cell_data=data)


def strip(wall, planes, bounds):
    """Points (n, 3) and quadrilaterals (m, 4) of a surface of revolution; an infinite one ends at planes or bounds."""
    axis, reach = np.array(wall.axis), None
    if bounds:
        heights = (corners_of(bounds) - wall.point) @ axis
        reach = [np.min(heights), np.max(heights)]
        for place, normal in planes:
            if is_across(wall, normal):
                reach[int(np.dot(normal, axis) < 0.0)] = np.dot(np.subtract(place, wall.point), axis)
    k = np.arange(SIDES)
    after = (k + 1) % SIDES
    return (np.concatenate([ring_of(wall, radius) + height * axis for height, radius in wall.profile(reach)]),
            np.column_stack([k, after, after + SIDES, k + SIDES]))


def corners_of(bounds):
    """Corners (8, 3) of a box from its low and high one, in the order of EDGES."""
    return np.where(CORNERS, bounds[1], bounds[0])


def ring_of(wall, radius):
    """Points (SIDES, 3) of a circle about `point`."""
    square = _square(np.zeros(3), np.array(wall.axis), 1.0)
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)[:, None]
    return wall.point + radius * (np.cos(angle) * (square[1] - square[2]) + np.sin(angle) * (square[0] - square[1]))


def is_across(wall, normal):
    """Whether a plane with this unit normal is perpendicular to the axis."""
    return abs(np.dot(normal, wall.axis)) > 1.0 - 1e-9


def sides_of(wall):
    """Point and inward normal of the sides of the polygon that represents the circle of a cylinder."""
    ring = ring_of(wall, wall.radius)
    middle = 0.5 * (ring + np.roll(ring, -1, axis=0))
    return [(point, wall.point - point) for point in middle]


def wall_polygons(walls, bounds, revolved=()):
    """The visible part of each plane, cut by the others, and by `bounds` where it would be infinite.

    Returns a list of corners (n, 3), counter-clockwise about the normal, without planes of which nothing remains.

    walls : list of (point (3,), normal (3,));  bounds : corners of a box; None: infinite planes are omitted
    revolved : walls; planes across a cylinder with clumps inside are cut by it
    """
    planes = [(np.asarray(p, dtype=float), np.asarray(n, dtype=float) / np.linalg.norm(n)) for p, n in walls]
    marks = [point for point, _ in planes] + list(bounds or ())
    if not planes or np.ptp(marks, axis=0).max() == 0.0:
        return []       # a single plane without spheres: the extent is undefined
    middle = 0.5 * (np.max(marks, axis=0) + np.min(marks, axis=0))
    size = np.ptp(marks, axis=0).max()
    corners = corners_of(bounds) if bounds is not None else np.empty((0, 3))
    polygons = []
    for k, (point, normal) in enumerate(planes):
        polygon = _square(middle - normal * np.dot(normal, middle - point), normal, HUGE * size)
        around = [side for wall in revolved if wall.encloses and is_across(wall, normal) for side in sides_of(wall)]
        for other in planes[:k] + planes[k + 1:] + around:
            polygon = _clip(polygon, *other)
        below = corners - np.outer((corners - point) @ normal, normal)      # the plane reaches as far as the clumps
        reach = np.concatenate([corners, below])
        sides = [(np.choose(side, (reach.min(axis=0), reach.max(axis=0))), (1.0 - 2.0 * side) * axis)
                 for side in (0, 1) for axis in np.eye(3) if len(reach)]
        for corner, inward in sides:
            if len(polygon) and np.min((polygon - corner) @ inward) < -0.1 * HUGE * size:  # open on this side
                polygon = _clip(polygon, corner, inward)
        infinite = len(polygon) and np.abs(polygon - middle).max() > 0.1 * HUGE * size
        if len(polygon) >= 3 and not infinite:
            polygons.append(polygon)
    return polygons


def _square(center, normal, side):
    """Corners (4, 3) of a square of this side, counter-clockwise about the normal."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    return center + 0.5 * side * np.array([first + second, second - first, -first - second, first - second])


def _clip(polygon, point, normal):
    """The part of a convex polygon on the positive side of a plane (Sutherland and Hodgman)."""
    height = (polygon - point) @ normal
    corners = []
    for k in range(len(polygon)):
        last, this = k - 1, k
        if (height[last] >= 0.0) != (height[this] >= 0.0):
            fraction = height[last] / (height[last] - height[this])
            corners.append(polygon[last] + fraction * (polygon[this] - polygon[last]))
        if height[this] >= 0.0:
            corners.append(polygon[this])
    return np.array(corners).reshape(-1, 3)
