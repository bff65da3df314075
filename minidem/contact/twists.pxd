"""Velocities of spheres from the twists of their clumps (state/layout.pxd), for the onset correction."""
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.quaternion cimport matrix, turn_vector
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, cross, sub, vec3
from minidem.state.rows cimport ClumpBlock, load, load_quat, store
from minidem.state.state cimport StateView, clump_of, clumps_of


cdef inline int twist_of(int clump) noexcept nogil:
    """Number of the first record of the twist of a clump (slot); the second is LANES records behind it."""
    return clump + (clump & ~(LANES - 1))


cdef inline Vec3 velocity_at(Vec3 turning, Vec3 moving, Vec3 point) noexcept nogil:
    """Velocity of a body's point: v0 + w x point, of the two records of a twist."""
    return vec3(moving.x + (turning.y * point.z - turning.z * point.y),
                moving.y + (turning.z * point.x - turning.x * point.z),
                moving.z + (turning.x * point.y - turning.y * point.x))


cdef inline Vec3 sphere_velocity(const StateView *state, int sphere) noexcept nogil:
    """Velocity of a sphere's centre, as stored: from the twist of its clump, or where none are kept from the clump."""
    cdef const double *x = state.spheres + 4 * <Py_ssize_t> sphere
    cdef const double *w
    cdef const double *v
    cdef const ClumpBlock *clumps
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef Vec3 turning
    if state.twists != NULL:
        w = state.twists + 4 * <Py_ssize_t> twist_of(clump)
        v = w + 4 * LANES
        return velocity_at(vec3(w[0], w[1], w[2]), vec3(v[0], v[1], v[2]), vec3(x[0], x[1], x[2]))
    clumps = clumps_of(state, row_of(clump))
    turning = turn_vector(matrix(load_quat(clumps.orientation + lane)), load(clumps.angular_velocity + lane))
    return velocity_at(turning, sub(load(clumps.velocity + lane), cross(turning, load(clumps.position + lane))),
                       vec3(x[0], x[1], x[2]))


cdef inline void relative_velocities(const StateView *state, const int *twists, const double *a, const double *b,
                                     double *relative) noexcept nogil:
    """Velocities (3, LANES) of eight spheres i at their centres a (4, LANES), relative to those of j at b.

    twists : (2 LANES,) their records: of i, j of the first pair, of i, j of the second, ...
    """
    cdef double turning[2][4 * LANES]
    cdef double moving[2][4 * LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef int lane
    for lane in range(LANES):
        i[lane] = twists[2 * lane]
        j[lane] = twists[2 * lane + 1]
    rows_from_records(state.twists, i, turning[0])
    rows_from_records(state.twists, j, turning[1])
    rows_from_records(state.twists + 4 * LANES, i, moving[0])
    rows_from_records(state.twists + 4 * LANES, j, moving[1])
    for lane in range(LANES):
        store(relative + lane, sub(
            velocity_at(load(turning[0] + lane), load(moving[0] + lane), load(a + lane)),
            velocity_at(load(turning[1] + lane), load(moving[1] + lane), load(b + lane))))
