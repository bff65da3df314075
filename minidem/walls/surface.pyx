"""Search of the triangles near a sphere, by the grids of the meshes."""
from libc.math cimport floor
from libc.stdlib cimport qsort

from minidem.core.vectors cimport push


cdef int compare(const void *a, const void *b) noexcept nogil:
    return (<const int *> a)[0] - (<const int *> b)[0]


cdef inline int cell_index(const TriangleGrid *grid, int axis, double x) noexcept nogil:
    """Of a coordinate, the cells at the ends if it is outside."""
    cdef double cell = floor((x - grid.low[axis]) / grid.cell)
    return <int> min(max(cell, -1.0), <double> grid.side[axis])


cdef bint find_in_grid(const Walls *walls, const TriangleGrid *grid, const double *sphere, double reach,
                       IntVector *found) noexcept nogil:
    """Append the triangles in the cells within `reach` of a centre; some more than once. False: memory exhausted."""
    cdef Vec3 centre = centre_in_wall(walls, grid.wall, sphere)
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
                    if not push(found, grid.elements[e]):
                        return False
    return True


cdef bint find_triangles(const Walls *walls, const double *sphere, double skin, IntVector *found) noexcept nogil:
    """List the elements of meshes whose gap to a sphere is below `skin`, ascending. False: memory exhausted."""
    cdef Py_ssize_t k, n = 0
    cdef int mesh, element, last = -1
    found.size = 0
    for mesh in range(walls.n_meshes):
        if not find_in_grid(walls, walls.grids + mesh, sphere, sphere[3] + skin, found):
            return False
    if found.size > 1:
        qsort(found.data, found.size, sizeof(int), compare)
    for k in range(found.size):
        element = found.data[k]
        if element != last and touch_wall(walls, element, sphere).height < sphere[3] + skin:
            found.data[n] = element
            n += 1
        last = element
    found.size = n
    return True
