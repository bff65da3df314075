# distutils: extra_compile_args = -Og
"""The arrays behind the walls of the time loops."""
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from minidem.walls.mesh_grid import PART, divided, joined_across, mesh_grid
from minidem.walls.motion import POSE, STEERED, Driven, Motions

from minidem.core.vectors cimport IntVector, release, require_memory
from minidem.walls.surface cimport (
    CYLINDER, OTHER, PLANE, Drive, Shape, TouchFunction, TriangleGrid, Walls, find_triangles, touch_wall,
)

KINDS = {"plane": PLANE, "cylinder": CYLINDER, "other": OTHER}
ROUNDING = 1e-14                    # of a height, relative to coordinates and radius


def rounding_errors(spheres):
    """(n,) of the heights of spheres (n, 4) [m]."""
    return ROUNDING * np.abs(spheres).sum(axis=1)


def in_box(wall, length, repeated):
    """Points and triangles of a mesh with images along periodic axes of these lengths (3,), numbers of the corners, and
    of which triangle of the mesh each is a part.

    Corners with one number make triangles neighbours. A sphere has a radius below a quarter of the length, and edges
    are shorter: so it touches one image of a triangle, and two triangles with a common corner on the same side of it.
    """
    points, triangles = wall.surface
    if not repeated:
        return points, triangles, triangles, np.arange(len(triangles))
    points, triangles, whole = divided(points, triangles, PART * length[length > 0.0].min())
    return points, triangles, joined_across(points, triangles, length), whole


cdef class WallPrimitives:
    """Primitives of walls in the frames of their walls, see surface.pxd, which time loops share until walls change.

    Nothing of it changes but `ahead`, the last table of poses.

    periodic : (3,) lengths of the periodic box, 0 along open axes [m]; None without. Planes may not turn then.
    """

    def __cinit__(self, walls, periodic=None):
        cdef int axis
        length = np.zeros(3) if periodic is None else periodic
        simple = [(k, primitive) for k, wall in enumerate(walls) for primitive in wall.primitives()]
        repeated = np.array([wall.uneven(length > 0.0)[0].any() for wall in walls], dtype=bool)
        meshes = [(k, *in_box(wall, length, repeated[k])) for k, wall in enumerate(walls) if wall.surface is not None]
        self._keep, self.walls, self.periodic, self.ahead = [], walls, periodic, (0, (), ())
        self.moving = [k for k, wall in enumerate(walls) if wall.moves]
        self.motions = Motions([walls[k] for k in self.moving], [
            [walls[k].without_images(length, turns=about) for about in np.eye(4, 3)]
            if length.any() and callable(walls[k].motion) else [None] * 4 for k in self.moving])
        self.servos = [k for k, wall in enumerate(walls) if isinstance(wall.motion, STEERED)]
        numbers = [(k, 1) for k, _ in simple] + [(k, len(triangles)) for k, _, triangles, *_ in meshes]
        self.wall_of = np.repeat(*np.array(numbers, dtype=np.int32).reshape(-1, 2).T)
        self.view.count, self.view.n_simple = len(walls), len(simple)
        self.view.n_primitives, self.view.wall_of = len(self.wall_of), <int *> self.kept(self.wall_of, np.int32)
        self.view.moves = <unsigned char *> self.kept([wall.moves for wall in walls], np.uint8)
        self._fill_drives()
        surfaces = [(*wall.surface_velocity, *wall.surface_angular_velocity) for wall in walls]
        self.view.surfaces, self.view.any_slides = <double *> self.kept(surfaces), np.any(surfaces)
        self.view.repeats = <unsigned char *> self.kept(repeated, np.uint8)
        for axis in range(3):
            self.view.period[axis] = length[axis]
            self.view.inverse_period[axis] = 1.0 / length[axis] if length[axis] > 0.0 else 0.0
        self._fill_shapes(simple)
        self._fill_references(simple, self._fill_meshes(meshes, len(simple)))

    def __reduce__(self):
        return WallPrimitives, (self.walls, self.periodic)

    def __dealloc__(self):
        free(<void *> self.view.drives)
        free(<void *> self.view.shapes)
        free(<void *> self.view.grids)

    cdef const void *kept(self, values, kind=np.float64) except NULL:
        """Address of an array of the values, which lives as long as this object."""
        array = np.ascontiguousarray(values, dtype=kind)
        self._keep.append(array)
        return <const void *> <size_t> array.ctypes.data

    cdef object _fill_drives(self):
        cdef Drive *drives
        cdef int k, axis
        driven = [k for k, wall in enumerate(self.walls) if isinstance(wall.motion, Driven)]
        if not driven:
            return
        self.view.drives = drives = <Drive *> calloc(len(self.walls), sizeof(Drive))
        if drives == NULL:
            raise MemoryError("no memory for the walls")
        for k in driven:
            motion = self.walls[k].motion
            drives[k].turns, drives[k].mobility = motion.turns, 1.0 / (motion.inertia if motion.turns else motion.mass)
            for axis in range(3):
                drives[k].axis[axis] = motion.direction[axis]

    cdef object _fill_shapes(self, simple):
        """simple : of (number of the wall, values of its primitive, see Wall.primitives)."""
        cdef Shape *shapes = <Shape *> calloc(len(simple) + 1, sizeof(Shape))
        cdef int m, k
        if shapes == NULL:
            raise MemoryError("no memory for the walls")
        self.view.shapes = shapes
        for m, (k, given) in enumerate(simple):
            wall = self.walls[k]
            point = np.array(given["point"]) - (np.array(wall.center) if wall.moves else 0.0)
            shapes[m].kind = KINDS[given["kind"]]
            shapes[m].touch = <TouchFunction> <size_t> given.get("touch", 0)
            for k in range(3):
                shapes[m].point[k], shapes[m].axis[k] = point[k], given["axis"][k]
            for k, number in enumerate(given.get("numbers", ())):
                shapes[m].numbers[k] = number

    cdef object _fill_meshes(self, meshes, Py_ssize_t n_simple):
        """Arrays of triangles, in the frames of their walls. Returns the centres of all (n, 3)."""
        cdef TriangleGrid *grids = <TriangleGrid *> calloc(len(meshes) + 1, sizeof(TriangleGrid))
        cdef int m, k
        if grids == NULL:
            raise MemoryError("no memory for the grids of the meshes")
        self.view.grids, self.view.n_meshes = grids, len(meshes)
        cosines, all_corners, all_vertices = np.ones(self.view.count), [np.zeros((0, 3, 3))], [np.zeros((0, 3), int)]
        first, first_point = n_simple, 0
        whole = np.concatenate([[], *(parts for *_, parts in meshes)])
        self.view.triangle_of = <int *> self.kept(whole, np.int32)
        for m, (number, points, triangles, joined, _) in enumerate(meshes):
            wall = self.walls[number]
            of_mesh = (points - (np.array(wall.center) if wall.moves else 0.0))[triangles]
            origin, width, sides, start, primitives = mesh_grid(of_mesh, first)
            grids[m].wall, grids[m].cell = number, width
            grids[m].start = <int *> self.kept(start, np.int32)
            grids[m].primitives = <int *> self.kept(primitives, np.int32)
            for k in range(3):
                grids[m].low[k], grids[m].side[k] = origin[k], sides[k]
            all_corners.append(of_mesh)
            all_vertices.append(joined + first_point)
            cosines[number] = np.cos(wall.feature_angle)
            first, first_point = first + len(triangles), first_point + len(points)
        corners, vertices = np.concatenate(all_corners), np.concatenate(all_vertices)
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(across, axis=1)[:, None]
        normals = np.divide(across, length, out=across, where=length > 0.0)
        listed = vertices.reshape(-1)
        self.view.corners, self.view.normal = <double *> self.kept(corners), <double *> self.kept(normals)
        self.view.vertices, self.view.smooth = <int *> self.kept(vertices, np.int32), <double *> self.kept(cosines)
        self.view.around = <int *> self.kept(n_simple + np.argsort(listed, kind="stable") // 3, np.int32)
        self.view.around_start = <int *> self.kept(np.append(0, np.cumsum(np.bincount(listed, minlength=1))), np.int32)
        return 0.5 * (corners.min(axis=1) + corners.max(axis=1))

    cdef object _fill_references(self, simple, of_triangles):
        """simple : as for `_fill_shapes`, whose references are the middles of their axes."""
        middles = [np.array(given["point"]) + 0.5 * given.get("height", 0.0) * np.array(given["axis"])
                   - (np.array(self.walls[number].center) if self.walls[number].moves else 0.0)
                   for number, given in simple]
        self.view.references = <double *> self.kept(np.concatenate([np.reshape(middles, (-1, 3)), of_triangles]))

    def tabulate(self, long long step, long long least, long long steps, double half_step):
        """Poses (entries, walls + 1), and bounds (entries,) of the distance that any surface has moved [m].

        One entry for each half step from a step on, for `steps` steps; of a Servo the motion without the force. The
        last table is used again if it has `least` steps more, as functions of the user may be slow.
        """
        first, poses, moved = self.ahead
        cdef long long offset = 2 * (step - first)
        if 0 <= offset and offset + 2 * least < len(poses):
            return poses[offset:], moved[offset:]
        poses, moved = np.zeros((2 * steps + 1, self.view.count + 1), POSE), np.zeros(2 * steps + 1)
        poses["matrix"] = np.eye(3)
        if self.moving:
            poses[:, self.moving] = found = self.motions.poses(2 * step, 2 * steps + 1, half_step)
            moved = np.cumsum(self.motions.travel(found))
        if self.moving and not self.servos:             # whose poses depend on the loop
            self.ahead = step, poses, moved
        return poses, moved


cdef object deepest_in_walls(const Walls *walls, const double[:, ::1] spheres):
    """Largest overlaps (n,) of spheres (n, 4) with walls at their present poses [m], and the numbers of these walls.

    Minus infinity where no wall is near.
    """
    cdef IntVector triangles
    cdef Py_ssize_t k, m, primitive
    cdef double overlap
    cdef double[::1] depth = np.full(len(spheres), -np.inf)
    cdef int[::1] numbers = np.zeros(len(spheres), dtype=np.int32)
    cdef const double[::1] rounding = rounding_errors(np.asarray(spheres))
    memset(&triangles, 0, sizeof(triangles))
    for k in range(len(spheres)):
        find_triangles(walls, &spheres[k, 0], rounding[k], &triangles)
        for m in range(walls.n_simple + triangles.size):
            primitive = m if m < walls.n_simple else triangles.data[m - walls.n_simple]
            overlap = spheres[k, 3] - touch_wall(walls, primitive, &spheres[k, 0]).height
            if overlap > depth[k]:
                depth[k], numbers[k] = overlap, walls.wall_of[primitive]
    release(&triangles)
    require_memory("the triangles near a sphere")
    return np.asarray(depth), np.asarray(numbers)
