"""Positions and motions of the spheres in the lab, and how far a sphere can have moved.

The neighbor lists need a bound of the displacement of the spheres of a clump under rotation. A rotation by t about the
unit vector n moves the point p by 2 sin(t/2) |n x p| = 2 |u x p|, with u the vector part of the quaternion of the
rotation, in the body frame. |u x p|^2 = u A u with A = |p|^2 - p p; a symmetric matrix is bounded by the diagonal one
of its absolute row sums. So a rod that spins about its own axis, where they vanish, needs no rebuild. The rows of
`turn_bound` are the three diagonal terms and one for the scalar part, which covers orientations whose norm is not
exactly 1, since some schemes do not conserve it.
"""
from minidem.core.eight cimport Eight3, add3, dot3, load_eight3, scale3
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Matrix, Quat, conjugate, matrix, multiply
from minidem.state.rows cimport load, load_quat, store
from minidem.state.state cimport StateView


cdef inline void load_matrices(double *matrices, const double *q) noexcept nogil:
    """Rotation matrices (9, LANES), row by row, principal frame -> lab, of the orientations (4, LANES)."""
    cdef Matrix m
    cdef int lane
    for lane in range(LANES):
        m = matrix(load_quat(q + lane))
        store(matrices + lane, m.x)
        store(matrices + 3 * LANES + lane, m.y)
        store(matrices + 6 * LANES + lane, m.z)


cdef inline Eight3 to_lab3(const double *m, Eight3 v) noexcept nogil:
    """Eight vectors, principal frame -> lab. m : (9, LANES) matrices."""
    cdef Eight3 u
    u.x = dot3(load_eight3(m), v)
    u.y = dot3(load_eight3(m + 3 * LANES), v)
    u.z = dot3(load_eight3(m + 6 * LANES), v)
    return u


cdef inline Eight3 to_body3(const double *m, Eight3 v) noexcept nogil:
    """Lab -> principal frame."""
    cdef Eight3 x = load_eight3(m), y = load_eight3(m + 3 * LANES), z = load_eight3(m + 6 * LANES)
    return add3(add3(scale3(v.x, x), scale3(v.y, y)), scale3(v.z, z))


cdef inline double turn_squared(const double *old, const double *new, const double *turn_bound) noexcept nogil:
    """Square of the bound for one clump [m2].

    old, new : its lane in the first of four rows: orientations
    turn_bound : its lane in the first row of turn_bound [m2]
    """
    cdef Quat turn = multiply(conjugate(load_quat(old)), load_quat(new))
    return (turn_bound[0] * (turn.x * turn.x) + turn_bound[LANES] * (turn.y * turn.y)) \
        + (turn_bound[2 * LANES] * (turn.z * turn.z) + turn_bound[3 * LANES] * ((turn.w - 1.0) * (turn.w - 1.0)))


cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil
cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void write_motions(const StateView *state, Py_ssize_t block, Py_ssize_t first, Py_ssize_t last,
                        const int *wanted) noexcept nogil
cdef void motions_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void spins_of_turn(const StateView *state, Py_ssize_t block, const double *old, double dt) noexcept nogil
cdef void spins_as_stored(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
