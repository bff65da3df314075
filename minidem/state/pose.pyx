"""Positions of the spheres in the lab: centre of mass + R(q) offset, eight spheres at a time.

With them the twists of the clumps or the motions of the spheres, for contact laws that need velocities.
"""
from libc.string cimport memcpy

from minidem.core.lanes cimport LANES, LOG_LANES
from minidem.core.transpose cimport check_lanes, records_from_rows
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, sub
from minidem.state.rows cimport ANGULAR_VELOCITY, INVERSE_MASS, ORIENTATION, POSITION, VELOCITY, load, store
from minidem.state.state cimport StateView, fixed_rows, member

cdef struct Frames:                 # origins and rotation matrices of the eight clumps of a block
    double x[3 * LANES]
    double matrix[9 * LANES]
    double velocity[4 * LANES]      # where motions are needed: of the origins; 1 / mass
    double spin[4 * LANES]          # likewise: a row of StateView.spins


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


cdef inline void load_frames(Frames *f, const StateView *state, Py_ssize_t b) noexcept nogil:
    cdef const double *block = state.blocks + b * state.n_rows * LANES
    cdef int lane
    for lane in range(LANES):
        store(f.x + lane, load(block + POSITION * LANES + lane))
    load_matrices(f.matrix, block + ORIENTATION * LANES)
    if state.motions != NULL:
        memcpy(f.velocity, block + VELOCITY * LANES, 3 * LANES * sizeof(double))
        memcpy(f.velocity + 3 * LANES, fixed_rows(state, b) + INVERSE_MASS * LANES, LANES * sizeof(double))
        memcpy(f.spin, state.spins + 4 * b * LANES, 4 * LANES * sizeof(double))


cdef inline void write_motions(const Frames *f, const double *offsets, double half_step,
                               double *motions) noexcept nogil:
    """Motions (LANES, 8) of eight spheres with offsets (3, LANES), lab.

    The displacement of a point that turns is the angular velocity times the mean of its two positions.
    """
    cdef double velocity[4 * LANES]
    cdef double records[2][4 * LANES]
    cdef Vec3 w, arm
    cdef int lane
    for lane in range(LANES):
        w, arm = load(f.spin + lane), load(offsets + lane)
        store(velocity + lane, add(load(f.velocity + lane), cross(w, add_scaled(arm, -half_step, cross(w, arm)))))
        velocity[3 * LANES + lane] = f.velocity[3 * LANES + lane]
    records_from_rows(velocity, records[0])
    records_from_rows(f.spin, records[1])
    for lane in range(LANES):
        memcpy(motions + 8 * lane, records[0] + 4 * lane, 4 * sizeof(double))
        memcpy(motions + 8 * lane + 4, records[1] + 4 * lane, 4 * sizeof(double))


cdef inline void pose_member(const Frames *f, const StateView *state, Py_ssize_t row) noexcept nogil:
    """Centres of the spheres of a member row, and their motions if they are needed."""
    cdef const double *offsets = member(state, row)
    cdef double centres[4 * LANES]
    cdef double turned[3 * LANES]
    cdef int lane
    for lane in range(LANES):
        store(turned + lane, to_lab(f.matrix + lane, load(offsets + lane)))
        store(centres + lane, add(load(f.x + lane), load(turned + lane)))
        centres[3 * LANES + lane] = offsets[3 * LANES + lane]
    records_from_rows(centres, state.spheres + row * 4 * LANES)
    if state.motions != NULL:
        write_motions(f, turned, state.half_step, state.motions + row * 8 * LANES)


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
        load_frames(&frames, state, block)
        while k < count and members[k] < end:
            pose_member(&frames, state, members[k])
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
        load_frames(&frames, state, block)
        for row in range(state.first_member[block], state.first_member[block + 1]):
            pose_member(&frames, state, row)
        if state.twists != NULL:
            write_twists(&frames, state.blocks + block * state.n_rows * LANES, state.twists + block * 8 * LANES)


cdef void spins_as_stored(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Angular velocities as the rotation scheme stores them, for laws with history between two steps."""
    cdef Frames frames
    cdef const double *block
    cdef Py_ssize_t b
    cdef int lane
    for b in range(first, last):
        block = state.blocks + b * state.n_rows * LANES
        load_matrices(frames.matrix, block + ORIENTATION * LANES)
        for lane in range(LANES):
            store(state.spins + 4 * b * LANES + lane,
                  to_lab(frames.matrix + lane, load(block + ANGULAR_VELOCITY * LANES + lane)))
