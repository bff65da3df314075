"""Motions of spheres over a step, for contact laws with history: see layout.pxd.

They follow the poses of the spheres, apart from them, so that other laws pay nothing for them.
"""
from libc.string cimport memcpy

from minidem.core.eight cimport (
    Eight3, add3, add_scaled3, cross3, eight_of, load_eight, load_eight3, store_eight, store_eight3,
)
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat, conjugate, multiply
from minidem.core.transpose cimport lines_in_order
from minidem.core.vec3 cimport scale, vec3
from minidem.state.pose cimport load_matrices, to_lab, to_lab3
from minidem.state.rows cimport ANGULAR_VELOCITY, ORIENTATION, VELOCITY, load, load_quat, store
from minidem.state.state cimport StateView, member


cdef inline void write_member(const StateView *state, const double *matrices, const double *block,
                              const double *spins, Py_ssize_t row) noexcept nogil:
    """Motions of the spheres of a member row: two records of velocities, each with a unit as its fourth number.

    matrices (9, LANES), spins (3, LANES), block : of their clumps. The displacement of a point that turns is the
    angular velocity times the mean of its two positions.
    """
    cdef const double *units = state.units + row * 2 * LANES
    cdef double rows[8 * LANES]
    cdef Eight3 w = load_eight3(spins), arm = to_lab3(matrices, load_eight3(member(state, row)))
    arm = add_scaled3(arm, eight_of(-state.half_step), cross3(w, arm))
    store_eight3(rows, add3(load_eight3(block + VELOCITY * LANES), cross3(w, arm)))
    store_eight(rows + 3 * LANES, load_eight(units))
    store_eight3(rows + 4 * LANES, w)
    store_eight(rows + 7 * LANES, load_eight(units + LANES))
    lines_in_order(rows, state.motions + row * 8 * LANES)


cdef void write_motions(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t count) noexcept nogil:
    """Motions of the spheres of the listed member rows (count,) of a block, which are posed."""
    cdef const double *rows = state.blocks + block * state.n_rows * LANES
    cdef double matrices[9 * LANES]
    cdef Py_ssize_t k
    load_matrices(matrices, rows + ORIENTATION * LANES)
    for k in range(count):
        write_member(state, matrices, rows, state.spins + 4 * block * LANES, members[k])


cdef void motions_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Motions of all spheres of the blocks first <= b < last."""
    cdef int row
    cdef Py_ssize_t b, k
    for b in range(first, last):
        for k in range(state.first_member[b], state.first_member[b + 1]):
            row = <int> k
            write_motions(state, b, &row, 1)


cdef void spins_of_turn(const StateView *state, Py_ssize_t block, const double *old, double dt) noexcept nogil:
    """Angular velocities of the rotations from the orientations `old` (4, LANES) of a block to the present ones, lab.

    They are 2 tan(angle / 2) / dt long, with which the displacement of a point is the product with its mean position.
    """
    cdef const double *q = state.blocks + (block * state.n_rows + ORIENTATION) * LANES
    cdef double spins[3 * LANES]                        # known not to alias anything
    cdef double per_step = 2.0 / dt
    cdef Quat turn
    cdef int lane
    for lane in range(LANES):
        turn = multiply(load_quat(q + lane), conjugate(load_quat(old + lane)))
        store(spins + lane, scale(per_step / turn.w, vec3(turn.x, turn.y, turn.z)))
    memcpy(state.spins + 4 * block * LANES, spins, sizeof(spins))


cdef void spins_as_stored(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Angular velocities as the rotation scheme stores them, for forces between two steps."""
    cdef double matrices[9 * LANES]
    cdef const double *block
    cdef Py_ssize_t b
    cdef int lane
    for b in range(first, last):
        block = state.blocks + b * state.n_rows * LANES
        load_matrices(matrices, block + ORIENTATION * LANES)
        for lane in range(LANES):
            store(state.spins + 4 * b * LANES + lane,
                  to_lab(matrices + lane, load(block + ANGULAR_VELOCITY * LANES + lane)))
