"""Lab positions of the spheres: centre of the clump + R(q) offset, eight spheres at a time."""
from minidem.records cimport records_from_rows
from minidem.rows cimport LANES, ORIENTATION, POSITION
from minidem.state cimport StateView, member

cdef struct Frames:                 # origins and rotation matrices of the eight clumps of a block
    double x[3][LANES]
    double matrix[9][LANES]         # row by row, principal frame -> lab


cdef inline void load_frames(Frames *f, const double *block) noexcept nogil:
    cdef const double *q = block + ORIENTATION * LANES
    cdef const double *x = block + POSITION * LANES
    cdef double w, a, b, c
    cdef int l
    for l in range(LANES):
        w = q[l]
        a = q[LANES + l]
        b = q[2 * LANES + l]
        c = q[3 * LANES + l]
        f.x[0][l] = x[l]
        f.x[1][l] = x[LANES + l]
        f.x[2][l] = x[2 * LANES + l]
        f.matrix[0][l] = 1.0 - 2.0 * (b * b + c * c)
        f.matrix[1][l] = 2.0 * (a * b - w * c)
        f.matrix[2][l] = 2.0 * (a * c + w * b)
        f.matrix[3][l] = 2.0 * (a * b + w * c)
        f.matrix[4][l] = 1.0 - 2.0 * (a * a + c * c)
        f.matrix[5][l] = 2.0 * (b * c - w * a)
        f.matrix[6][l] = 2.0 * (a * c - w * b)
        f.matrix[7][l] = 2.0 * (b * c + w * a)
        f.matrix[8][l] = 1.0 - 2.0 * (a * a + b * b)


cdef inline void pose_member(const Frames *f, const double *offsets, double *spheres) noexcept nogil:
    cdef double centres[4][LANES]
    cdef double a, b, c
    cdef int l
    for l in range(LANES):
        a = offsets[l]
        b = offsets[LANES + l]
        c = offsets[2 * LANES + l]
        centres[0][l] = f.x[0][l] + (f.matrix[0][l] * a + f.matrix[1][l] * b + f.matrix[2][l] * c)
        centres[1][l] = f.x[1][l] + (f.matrix[3][l] * a + f.matrix[4][l] * b + f.matrix[5][l] * c)
        centres[2][l] = f.x[2][l] + (f.matrix[6][l] * a + f.matrix[7][l] * b + f.matrix[8][l] * c)
        centres[3][l] = offsets[3 * LANES + l]
    records_from_rows(centres[0], spheres)


cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil:
    """Pose member rows of a block, from members[k] on; returns where those of the next block begin.

    members : (count,) member rows of all blocks in ascending order.
    """
    cdef Frames frames
    cdef Py_ssize_t end = state.first_member[block + 1]
    if k < count and members[k] < end:
        load_frames(&frames, state.blocks + block * state.n_rows * LANES)
        while k < count and members[k] < end:
            pose_member(&frames, member(state, members[k]), state.spheres + members[k] * 4 * LANES)
            k += 1
    return k


cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Pose all spheres of the blocks first <= b < last."""
    cdef Frames frames
    cdef Py_ssize_t block, row
    for block in range(first, last):
        load_frames(&frames, state.blocks + block * state.n_rows * LANES)
        for row in range(state.first_member[block], state.first_member[block + 1]):
            pose_member(&frames, member(state, row), state.spheres + row * 4 * LANES)
