"""Kicks between free rotations: what `dlm`, `exact` and `dmv` have in common.

In a step the torque at the pose, body frame, first kicks the angular velocity for the whole step; then the body
rotates freely over the step, as the scheme has it. The next kick is half of this step's and half of the next one's, so
that the splitting is symmetric with one force evaluation. `scratch` holds the angular velocity before a kick, in the
body frame of the pose and half a kick behind it; `w` is the one in the middle of the free rotation.
"""
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, dot, times, vec3
from minidem.rotation.scheme cimport START, SYNC, Body, BodyBlock, BodyFunction, Step, angular_acceleration, role
from minidem.state.rows cimport load, scratch_of, store

cdef enum: KICK_SCRATCH = 3


cdef inline Vec3 kicked(const Body *b, double h) noexcept nogil:
    """Angular velocity after the torque has acted for a time h."""
    return add_scaled(load(b.scratch), h, times(b.inverse_inertia, b.torque))


cdef inline void start_with_kick(Body *b, const Step *step) noexcept nogil:
    store(b.scratch, add_scaled(b.w, -0.5 * step.dt, times(b.inverse_inertia, b.torque)))
    b.w = add_scaled(b.w, -0.5 * step.dt, angular_acceleration(b, b.w, b.torque))


cdef inline void sync_with_kick(Body *b, const Step *step) noexcept nogil:
    b.predicted = kicked(b, 0.5 * step.dt)


cdef inline int start_and_sync(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    return role(START, start_with_kick, wanted, bodies, step) | role(SYNC, sync_with_kick, wanted, bodies, step)


# Whether a body rotates so little in a step, that is after its kick, that short series do.
ctypedef bint (*BodyTest)(const Body *body, Vec3 w, double h) noexcept nogil


cdef inline bint all_bodies(BodyTest little, BodyBlock bodies, const Step *step) noexcept nogil:
    cdef Body body
    cdef long long large = 0                            # as wide as a double, so that the loop vectorises
    cdef int lane
    for lane in range(LANES):
        body.torque = load(bodies.wrench.torque + lane)
        body.inertia = load(bodies.constants.inertia + lane)
        body.inverse_inertia = load(bodies.constants.inverse_inertia + lane)
        body.scratch = scratch_of(bodies.clumps) + lane
        large |= <long long> (not little(&body, kicked(&body, step.dt), step.dt))
    return large == 0


cdef inline Vec3 couplings(const Body *b) noexcept nogil:
    """(I_y - I_z) / I_x and so on; exactly zero where two moments are equal."""
    return times(b.inverse_inertia,
                 vec3(b.inertia.y - b.inertia.z, b.inertia.z - b.inertia.x, b.inertia.x - b.inertia.y))


cdef inline Vec3 products(Vec3 w) noexcept nogil:
    return vec3(w.y * w.z, w.z * w.x, w.x * w.y)


cdef struct Invariants:             # of a free rotation over a time h, times powers of h; all but it and im are in 1/I
    double t                        # h^2 L . w: twice the energy
    double it, jt, ktt              # i, j, k: elementary symmetric functions of 1/I_x, 1/I_y, 1/I_z
    double im, jm, km               # m = h^2 L . L


cdef inline Invariants invariants(const Body *b, Vec3 w, double h) noexcept nogil:
    cdef Invariants s
    cdef Vec3 v = b.inverse_inertia, momentum = times(b.inertia, w)
    cdef double j = v.x * v.y + v.y * v.z + v.z * v.x, k = v.x * v.y * v.z
    cdef double m = h * h * dot(momentum, momentum)
    s.t = h * h * dot(momentum, w)
    s.it = (v.x + v.y + v.z) * s.t
    s.jt = j * s.t
    s.ktt = k * s.t * s.t
    s.im = (v.x + v.y + v.z) * m
    s.jm = j * m
    s.km = k * m
    return s
