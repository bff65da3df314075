"""Positions of the spheres in the lab: centre of mass + R(q) offset, eight spheres at a time.

With them the twists of the clumps, for contact laws that need velocities.
"""
from minidem.core.lanes cimport LANES, LOG_LANES
from minidem.core.transpose cimport check_lanes, records_from_rows
from minidem.core.vec3 cimport add, cross, sub
from minidem.state.rows cimport ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, load, store
from minidem.state.state cimport StateView, member

cdef struct Frames:                 # origins and rotation matrices of the eight clumps of a block
    double x[3 * LANES]
    double matrix[9 * LANES]


cdef inline void write_twists(const Frames *f, const double *block, double *twists) noexcept nogil:
    """Twists (2, LANES, 4) of the clumps of a block: see layout.pxd."""
    cdef double w[4 * LANES], velocity[4 * LANES]
    cdef int lane
    for lane in range(LANES):
        store(w + lane, to_lab(f.matrix + lane, load(block + ANGULAR_VELOCITY * LANES + lane)))
        store(velocity + lane, sub(load(block + VELOCITY * LANES + lane), cross(load(w + lane), load(f.x + lane))))
        w[3 * LANES + lane] = velocity[3 * LANES + lane] = 0.0
    records_from_rows(w, twists)
    records_from_rows(velocity, twists + 4 * LANES)


cdef inline void load_frames(Frames *f, const double *block) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        store(f.x + lane, load(block + POSITION * LANES + lane))
    load_matrices(f.matrix, block + ORIENTATION * LANES)


cdef inline void pose_member(const Frames *f, const double *offsets, double *spheres) noexcept nogil:
    cdef double centres[4 * LANES]
    cdef int lane
    for lane in range(LANES):
        store(centres + lane, add(load(f.x + lane), to_lab(f.matrix + lane, load(offsets + lane))))
        centres[3 * LANES + lane] = offsets[3 * LANES + lane]
    records_from_rows(centres, spheres)


cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil:
    """Pose those member rows of a block that are listed; returns the index of the first one of the next block.

    members : (count,) listed member rows, ascending.
    k : index near which those of the block begin.
    """
    cdef Frames frames
    cdef Py_ssize_t begin = state.first_member[block], end = state.first_member[block + 1]
    while k < count and members[k] < begin:
        k += 1
    while k > 0 and members[k - 1] >= begin:
        k -= 1
    if k < count and members[k] < end:
        load_frames(&frames, state.blocks + block * state.n_rows * LANES)
        while k < count and members[k] < end:
            pose_member(&frames, member(state, members[k]), state.spheres + members[k] * 4 * LANES)
            k += 1
        if state.twists != NULL:
            write_twists(&frames, state.blocks + block * state.n_rows * LANES, state.twists + block * 8 * LANES)
    return k


cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Pose all spheres of the blocks first <= b < last."""
    cdef Frames frames
    cdef Py_ssize_t block, row
    check_lanes(LANES, LOG_LANES)
    for block in range(first, last):
        load_frames(&frames, state.blocks + block * state.n_rows * LANES)
        for row in range(state.first_member[block], state.first_member[block + 1]):
            pose_member(&frames, member(state, row), state.spheres + row * 4 * LANES)
        if state.twists != NULL:
            write_twists(&frames, state.blocks + block * state.n_rows * LANES, state.twists + block * 8 * LANES)
