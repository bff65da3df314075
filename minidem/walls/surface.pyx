"""Search of the triangles near a sphere, by the grids of the meshes."""
from libc.math cimport ceil, floor, sqrt
from libc.stdlib cimport qsort

from minidem.core.vectors cimport push


cdef int compare(const void *a, const void *b) noexcept nogil:
    return (<const int *> a)[0] - (<const int *> b)[0]


cdef inline int cell_index(const TriangleGrid *grid, int axis, double x) noexcept nogil:
    """Of a coordinate, the cells at the ends if it is outside."""
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
    """Likewise of a centre in the lab, and of all its images; some triangles more than once."""
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
