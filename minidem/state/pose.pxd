"""Positions of the spheres in the lab."""
from minidem.core.eight cimport Eight3, add3, dot3, load_eight3, scale3
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Matrix, matrix
from minidem.core.vec3 cimport Vec3, dot, vec3
from minidem.state.rows cimport load, load_quat, store
from minidem.state.state cimport StateView

cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil
cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil


cdef inline void load_matrices(double *matrices, const double *q) noexcept nogil:
    """Rotation matrices (9, LANES), row by row, principal frame -> lab, of the orientations (4, LANES)."""
    cdef Matrix m
    cdef int lane
    for lane in range(LANES):
        m = matrix(load_quat(q + lane))
        store(matrices + lane, m.x)
        store(matrices + 3 * LANES + lane, m.y)
        store(matrices + 6 * LANES + lane, m.z)


cdef inline Vec3 to_lab(const double *m, Vec3 v) noexcept nogil:
    """Principal frame -> lab. m : a clump's lane in the first of nine rows of matrices."""
    return vec3(dot(load(m), v), dot(load(m + 3 * LANES), v), dot(load(m + 6 * LANES), v))


cdef inline Vec3 to_body(const double *m, Vec3 v) noexcept nogil:
    """Lab -> principal frame."""
    return vec3(m[0] * v.x + m[3 * LANES] * v.y + m[6 * LANES] * v.z,
                m[LANES] * v.x + m[4 * LANES] * v.y + m[7 * LANES] * v.z,
                m[2 * LANES] * v.x + m[5 * LANES] * v.y + m[8 * LANES] * v.z)


cdef inline Eight3 to_lab3(const double *m, Eight3 v) noexcept nogil:
    """As to_lab, of all lanes. m : (9, LANES) matrices."""
    cdef Eight3 u
    u.x = dot3(load_eight3(m), v)
    u.y = dot3(load_eight3(m + 3 * LANES), v)
    u.z = dot3(load_eight3(m + 6 * LANES), v)
    return u


cdef inline Eight3 to_body3(const double *m, Eight3 v) noexcept nogil:
    """As to_body, likewise."""
    cdef Eight3 x = load_eight3(m), y = load_eight3(m + 3 * LANES), z = load_eight3(m + 6 * LANES)
    return add3(add3(scale3(v.x, x), scale3(v.y, y)), scale3(v.z, z))
