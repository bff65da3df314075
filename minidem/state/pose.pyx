"""Positions of the spheres in the lab: centre of mass + R(q) offset, eight spheres at a time.

The motions of spheres over a step, for contact laws with history (state.pxd), follow apart from them, so that other
laws pay nothing.
"""
from libc.string cimport memcpy

from minidem.core.eight cimport add_scaled3, cross3, eight_of, load_eight, store_eight, store_eight3
from minidem.core.lanes cimport LOG_LANES
from minidem.core.transpose cimport check_lanes, lines_in_order, records_from_rows
from minidem.core.vec3 cimport scale, vec3
from minidem.state.rows cimport ClumpBlock
from minidem.state.state cimport clumps_of, member


cdef inline void pose_member(const double *matrices, Eight3 position, const double *offsets,
                             double *spheres) noexcept nogil:
    """Centres and radii of the spheres of a member row, records of four; offsets : (4, LANES)."""
    cdef double centres[4 * LANES]
    store_eight3(centres, add3(position, to_lab3(matrices, load_eight3(offsets))))
    store_eight(centres + 3 * LANES, load_eight(offsets + 3 * LANES))
    records_from_rows(centres, spheres)


cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil:
    """Pose the listed member rows of a block; returns the index of the first one of the next block.

    members : (count,) listed member rows, ascending.
    k : index near which the rows of the block begin.
    """
    cdef double matrices[9 * LANES]
    cdef Eight3 position
    cdef Py_ssize_t begin = state.first_member[block], end = state.first_member[block + 1]
    while k < count and members[k] < begin:
        k += 1
    while k > 0 and members[k - 1] >= begin:
        k -= 1
    if k < count and members[k] < end:
        position = load_eight3(clumps_of(state, block).position)
        load_matrices(matrices, clumps_of(state, block).orientation)
        while k < count and members[k] < end:
            pose_member(matrices, position, member(state, members[k]), state.spheres + members[k] * 4 * LANES)
            k += 1
    return k


cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Pose all spheres of the blocks first <= b < last."""
    cdef double matrices[9 * LANES]
    cdef Py_ssize_t block, row
    check_lanes(LANES, LOG_LANES)
    for block in range(first, last):
        load_matrices(matrices, clumps_of(state, block).orientation)
        for row in range(state.first_member[block], state.first_member[block + 1]):
            pose_member(matrices, load_eight3(clumps_of(state, block).position), member(state, row),
                        state.spheres + row * 4 * LANES)


cdef inline void write_member(const StateView *state, const double *matrices, const ClumpBlock *clumps,
                              const double *spins, Py_ssize_t row) noexcept nogil:
    """Motions of the spheres of a member row: two records of velocities, whose fourth numbers are zero.

    matrices (9, LANES), spins (3, LANES), clumps : of the block. The displacement of a point that turns is the
    angular velocity times the mean of its two positions.
    """
    cdef double rows[8 * LANES]
    cdef Eight3 w = load_eight3(spins), arm = to_lab3(matrices, load_eight3(member(state, row)))
    arm = add_scaled3(arm, eight_of(-state.half_step), cross3(w, arm))
    store_eight3(rows, add3(load_eight3(clumps.velocity), cross3(w, arm)))
    store_eight(rows + 3 * LANES, eight_of(0.0))
    store_eight3(rows + 4 * LANES, w)
    store_eight(rows + 7 * LANES, eight_of(0.0))
    lines_in_order(rows, state.motions + row * 8 * LANES)


cdef void write_motions(const StateView *state, Py_ssize_t block, Py_ssize_t first, Py_ssize_t last,
                        const int *wanted) noexcept nogil:
    """Motions of the spheres of the member rows first <= row < last of a block, which are posed.

    wanted : (last - first,), not zero for rows that are written; NULL: all.
    """
    cdef const ClumpBlock *clumps = clumps_of(state, block)
    cdef double matrices[9 * LANES]
    cdef Py_ssize_t row
    cdef bint loaded = False
    for row in range(first, last):
        if wanted != NULL and not wanted[row - first]:
            continue
        if not loaded:
            load_matrices(matrices, clumps.orientation)
            loaded = True
        write_member(state, matrices, clumps, state.spins + 3 * block * LANES, row)


cdef void motions_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Motions of all spheres of the blocks first <= b < last."""
    cdef Py_ssize_t block
    for block in range(first, last):
        write_motions(state, block, state.first_member[block], state.first_member[block + 1], NULL)


cdef void spins_of_turn(const StateView *state, Py_ssize_t block, const double *old, double dt) noexcept nogil:
    """Angular velocities of the rotations from the orientations `old` (4, LANES) of a block to the present ones, lab.

    They are 2 tan(angle / 2) / dt long, with which the displacement of a point is the product with its mean position.
    """
    cdef const double *q = clumps_of(state, block).orientation
    cdef double spins[3 * LANES]                        # known not to alias anything
    cdef double per_step = 2.0 / dt
    cdef Quat turn
    cdef int lane
    for lane in range(LANES):
        turn = multiply(load_quat(q + lane), conjugate(load_quat(old + lane)))
        store(spins + lane, scale(per_step / turn.w, vec3(turn.x, turn.y, turn.z)))
    memcpy(state.spins + 3 * block * LANES, spins, sizeof(spins))


cdef void spins_as_stored(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Angular velocities as the rotation scheme stores them, for forces between two steps."""
    cdef double matrices[9 * LANES]
    cdef const ClumpBlock *clumps
    cdef Py_ssize_t b
    for b in range(first, last):
        clumps = clumps_of(state, b)
        load_matrices(matrices, clumps.orientation)
        store_eight3(state.spins + 3 * b * LANES, to_lab3(matrices, load_eight3(clumps.angular_velocity)))
