"""Triangles near a sphere: search by the grids of the meshes, and which of neighbouring ones count.

Each triangle within the radius of a sphere has a nearest point. Of two triangles, the one farther away is dropped if

* its nearest point belongs to the nearer triangle as well: the sphere is beside a face, at an edge or corner that both
  share, or at a joint of triangles without common corners; or
* they have a common corner, and the directions of the nearest points differ by less than the feature angle: both are
  parts of a surface that approximates a smooth one.

What remains are the places where the distance to the surface has a local minimum: a sphere over a seam of two coplanar
triangles feels one plane, over a convex edge a force that turns continuously, and in a concave corner two forces. The
potential energy is continuous.
"""
from libc.math cimport ceil, floor, sqrt
from libc.stdlib cimport qsort

from minidem.core.vectors cimport push
from minidem.walls.triangle cimport nearest_of


cdef int compare(const void *a, const void *b) noexcept nogil:
    return (<const int *> a)[0] - (<const int *> b)[0]


cdef inline int cell_index(const TriangleGrid *grid, int axis, double x) noexcept nogil:
    """Index of the cell of a coordinate along an axis; -1 or the number of cells outside of the grid."""
    cdef double cell = floor((x - grid.low[axis]) / grid.cell)
    return <int> min(max(cell, -1.0), <double> grid.side[axis])


cdef void find_near(const TriangleGrid *grid, Vec3 centre, double reach, IntVector *found) noexcept nogil:
    """Append the triangles in the cells within `reach` of a centre, frame of the wall."""
    cdef double x[3]
    cdef int first[3], last[3], i, j, k, e
    cdef Py_ssize_t cell
    x[0], x[1], x[2] = centre.x, centre.y, centre.z
    for k in range(3):
        first[k] = max(0, cell_index(grid, k, x[k] - reach))
        last[k] = min(grid.side[k] - 1, cell_index(grid, k, x[k] + reach))
    for i in range(first[0], last[0] + 1):
        for j in range(first[1], last[1] + 1):
            for k in range(first[2], last[2] + 1):
                cell = (<Py_ssize_t> i * grid.side[1] + j) * grid.side[2] + k
                for e in range(grid.start[cell], grid.start[cell + 1]):
                    push(found, grid.primitives[e])


cdef void find_in_grid(const Walls *walls, const TriangleGrid *grid, const double *sphere, double reach,
                       IntVector *found) noexcept nogil:
    """Append the triangles near a centre in the lab, and near all its images; some triangles more than once."""
    cdef const WallPose *pose = walls.now + grid.wall
    cdef bint moves = walls.moves[grid.wall]
    cdef Vec3 x = vector(sphere), middle
    cdef double half[3], d[3], length, low, high, diagonal = 0.0
    cdef int first[3], last[3], i, j, k
    if not walls.repeats[grid.wall]:
        find_near(grid, to_wall(pose, x) if moves else x, reach, found)
        return
    for k in range(3):
        half[k] = 0.5 * grid.cell * grid.side[k]
        diagonal += half[k] * half[k]
    middle = vec3(grid.low[0] + half[0], grid.low[1] + half[1], grid.low[2] + half[2])
    middle = sub(x, point_in_lab(walls, grid.wall, middle))
    d[0], d[1], d[2] = middle.x, middle.y, middle.z
    for k in range(3):                                  # images whose distance from the middle is at most that
        length = (sqrt(diagonal) if moves else half[k]) + reach
        low, high = ceil((-length - d[k]) * walls.inverse_period[k]), floor((length - d[k]) * walls.inverse_period[k])
        if not (-1e9 < low <= high < 1e9):              # none, also of a position that is not finite
            return
        first[k], last[k] = <int> low, <int> high
    for i in range(first[0], last[0] + 1):
        for j in range(first[1], last[1] + 1):
            for k in range(first[2], last[2] + 1):
                middle = vec3(x.x + i * walls.period[0], x.y + j * walls.period[1], x.z + k * walls.period[2])
                find_near(grid, to_wall(pose, middle) if moves else middle, reach, found)


cdef void find_triangles(const Walls *walls, const double *sphere, double skin, IntVector *found) noexcept nogil:
    """List the primitives of meshes whose gap to a sphere is below `skin`, ascending."""
    cdef Py_ssize_t k, n = 0
    cdef int mesh, primitive, last = -1
    found.size = 0
    for mesh in range(walls.n_meshes):
        find_in_grid(walls, walls.grids + mesh, sphere, sphere[3] + skin, found)
    if found.size > 1:
        qsort(found.data, found.size, sizeof(int), compare)
    for k in range(found.size):
        primitive = found.data[k]
        if primitive != last and touch_wall(walls, primitive, sphere).height < sphere[3] + skin:
            found.data[n] = primitive
            n += 1
        last = primitive
    found.size = n


cdef extern from *:
    """
    #define MINIDEM_SAME_POINT 1e-5     /* distance of a point from a triangle / radius that counts as 0 */
    """
    const double SAME_POINT "MINIDEM_SAME_POINT"

cdef enum:
    FEW = 16                            # triangles that are all compared with each other


cdef inline bint same_direction(const Walls *walls, const Facet *a, const Facet *b) noexcept nogil:
    """Whether the directions of two triangles of a mesh are within its feature angle."""
    return dot(a.normal, b.normal) >= walls.smooth[walls.wall_of[a.primitive]]


cdef inline bint have_common_corner(const Walls *walls, const Facet *a, const Facet *b) noexcept nogil:
    cdef const int *first = walls.vertices + 3 * (a.primitive - walls.n_simple)
    cdef const int *second = walls.vertices + 3 * (b.primitive - walls.n_simple)
    cdef int k, m
    for k in range(3):
        for m in range(3):
            if first[k] == second[m]:
                return True
    return False


cdef inline bint has_point(const Walls *walls, const Facet *facet, Vec3 point, double distance) noexcept nogil:
    """Whether a triangle has a point, in the frame of the wall, or an image of it."""
    cdef int wall = walls.wall_of[facet.primitive]
    cdef Vec3 nearest
    if walls.repeats[wall]:
        point = near_primitive(walls, facet.primitive, point_in_lab(walls, wall, point))
    nearest = nearest_of(walls.corners + 9 * <Py_ssize_t> (facet.primitive - walls.n_simple), point).point
    return norm(sub(nearest, point)) < distance


cdef inline bint drops(const Walls *walls, const Facet *near, const Facet *far, double radius) noexcept nogil:
    """Whether a triangle does not count beside another one; both are within the radius."""
    if near.height > far.height or near.height == far.height and near.primitive >= far.primitive \
            or walls.wall_of[near.primitive] != walls.wall_of[far.primitive]:
        return False
    return same_direction(walls, near, far) and have_common_corner(walls, near, far) \
        or has_point(walls, near, far.point, SAME_POINT * radius)


cdef bint neighbour_drops(const Walls *walls, const Facet *facets, const int *reached, Py_ssize_t n, const Facet *far,
                          double radius) noexcept nogil:
    """Whether a triangle with a common corner drops one; reached : positions of n facets, by ascending primitive."""
    cdef const int *corners = walls.vertices + 3 * (far.primitive - walls.n_simple)
    cdef Py_ssize_t k, e, low, high, middle
    cdef int primitive
    for k in range(3):
        for e in range(walls.around_start[corners[k]], walls.around_start[corners[k] + 1]):
            primitive, low, high = walls.around[e], 0, n
            while high - low > 1:
                middle = (low + high) // 2
                if facets[reached[middle]].primitive <= primitive:
                    low = middle
                else:
                    high = middle
            if facets[reached[low]].primitive == primitive and drops(walls, facets + reached[low], far, radius):
                return True
    return False


cdef void drop_farther(const Walls *walls, Facet *facets, Py_ssize_t n, int *reached, double radius) noexcept nogil:
    """Mark the triangles that do not count. reached : room for n ints.

    Nearly all that are dropped of many are dropped by a neighbour, and few remain to be compared with all others.
    """
    cdef Py_ssize_t k, m, count = 0
    cdef Facet *far
    for k in range(n):
        facets[k].dropped = facets[k].height >= radius
        reached[count] = <int> k
        count += not facets[k].dropped
    for k in range(count):
        far = facets + reached[k]
        far.dropped = count > FEW and neighbour_drops(walls, facets, reached, count, far, radius)
        m = 0
        while m < count and not far.dropped:
            far.dropped = drops(walls, facets + reached[m], far, radius)
            m += 1


cdef bint replaces(const Walls *walls, const Facet *near, const Facet *far, double radius) noexcept nogil:
    """Whether a contact with a dropped triangle continues on another one."""
    return walls.wall_of[near.primitive] == walls.wall_of[far.primitive] and same_direction(walls, near, far) \
        and (have_common_corner(walls, near, far) or has_point(walls, near, far.point, SAME_POINT * radius))


cdef void find_facets(const Walls *walls, const double *sphere, double radius, Facet *facets, Py_ssize_t n,
                      int *room) noexcept nogil:
    """Measure n triangles near a sphere, whose primitives are given, and mark those that do not count.

    radius : distance within which they count [m].  room : for n ints.
    """
    cdef Touch touch
    cdef Vec3 centre
    cdef Py_ssize_t k
    for k in range(n):
        centre = near_primitive(walls, facets[k].primitive, vector(sphere))
        touch = touch_triangle(walls, facets[k].primitive, centre)
        facets[k].height, facets[k].normal = touch.height, touch.normal
        facets[k].point = add_scaled(centre, -touch.height, touch.normal)
    drop_farther(walls, facets, n, room, radius)
