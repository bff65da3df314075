"""Kicks between free rotations: what `dlm`, `exact` and `dmv` have in common.

A step begins with a kick: the torque at the pose changes the angular velocity as it does in a whole step. Then the body
rotates freely over the step, as the scheme has it. A kick is the second half of the last step and the first half of
this one, so that the splitting is symmetric, with one force evaluation and nothing to do at the end of a step.

`scratch` holds the angular velocity before a kick, half a kick behind the pose, in the body frame of the pose. `w` is
the angular velocity in the middle of the last free rotation, in the body frame of that instant.
"""
from libc.math cimport fabs

from minidem.core.vec3 cimport Vec3, add_scaled, dot, times
from minidem.rotation.formulas cimport pushed, start_by_euler
from minidem.rotation.scheme cimport START, SYNC, Body, BodyBlock, Step, differences, role
from minidem.state.rows cimport load, store

cdef enum: KICK_SCRATCH = 3


cdef inline Vec3 kicked(const Body *b, double h) noexcept nogil:
    """Angular velocity after the torque has acted for a time h."""
    return add_scaled(load(b.scratch), h, times(b.inverse_inertia, b.torque))


cdef inline void start_with_kick(Body *b, const Step *step) noexcept nogil:
    store(b.scratch, pushed(b, -0.5 * step.dt))
    start_by_euler(b, step)


cdef inline void sync_with_kick(Body *b, const Step *step) noexcept nogil:
    b.predicted = kicked(b, 0.5 * step.dt)


cdef inline int start_and_sync(const BodyBlock *b) noexcept nogil:
    return role(START, start_with_kick, b) | role(SYNC, sync_with_kick, b)


cdef inline double equal(double a, double b) noexcept nogil:
    """1 if two whole numbers are equal, else 0; a comparison would prevent vectorisation."""
    cdef double apart = fabs(a - b)
    return 0.5 * (1.0 - apart + fabs(apart - 1.0))


cdef inline Vec3 couplings(const Body *b) noexcept nogil:
    """(I_y - I_z) / I_x and so on."""
    return times(b.inverse_inertia, differences(b))


cdef struct Invariants:             # of a free rotation over h; t = h^2 L . w (twice the energy), m = h^2 L . L
    double t, im                    # i, j, k: elementary symmetric functions of 1/I_x, 1/I_y, 1/I_z
    double it, jm                   # dimensionless; above like a moment of inertia, below like its reciprocal
    double jt, km, ktt


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


cdef inline double kappa(Invariants v) noexcept nogil:
    """(d_3 + d_5 + ...) / (1 + s_3 + s_5 + ...) of E. Hairer and G. Vilmart, J. Phys. A 39, 13225 (2006), up to h^6.

    All terms together make the discrete free rotation of `dmv` exact. We found these from the Taylor series of exact
    rotations in rational numbers.
    """
    return v.jt * (1.0 / 12.0 + v.it * (7.0 / 720.0 + 31.0 / 30240.0 * v.it - 1.0 / 756.0 * v.jm)
                   + v.jm * (1.0 / 3024.0 * v.jm - 1.0 / 90.0) - 19.0 / 20160.0 * (v.t * v.jt)) \
        + v.km * (v.it * (1.0 / 180.0 - 13.0 / 15120.0 * v.it + 53.0 / 30240.0 * v.jm) - 1.0 / 6.0
                  + v.jm * (7.0 / 720.0 - 11.0 / 30240.0 * v.jm) - v.km * (1.0 / 315.0 * v.t + 1.0 / 1680.0 * v.im)) \
        + v.ktt * (41.0 / 10080.0 * v.jm - 1.0 / 840.0 * v.it - 1.0 / 40.0)
