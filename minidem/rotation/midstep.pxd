"""Leapfrogs that conserve angular momentum: what they share.

Such a scheme stores the angular velocity w of the middle of a step. Its function `momentum` gives the angular momentum
in the body frame at the beginning of the step, Pi(h, w), and with -h at the end. Both are one vector of the lab, seen
from two orientations. Between two steps of length h, the torque at the pose acts for the time h:

    Pi(h, w') = Pi(-h, w) + h M

Three iterations of Newton's method solve this for w', with the function `derivative` of the scheme. They leave rounding
up to h |w| = 0.1, and up to 0.3 an error of w below 2e-11 of it; so far, schemes are symmetric in time.
"""
from libc.math cimport sqrt

from minidem.core.quaternion cimport Matrix, Quat, add_scaled_quat, multiply_vector, scale_quat
from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, scale, sub, times, vec3
from minidem.rotation.scheme cimport Body, gyroscopic

ctypedef Vec3 (*Momentum)(const Body *b, double h, Vec3 w) noexcept nogil
ctypedef Matrix (*Derivative)(const Body *b, double h, Vec3 w) noexcept nogil


cdef inline Vec3 midpoint_momentum(const Body *b, double h, Vec3 w) noexcept nogil:
    """I w + h/2 w x I w"""
    return add_scaled(times(b.inertia, w), -0.5 * h, gyroscopic(b, w))


cdef inline Matrix midpoint_derivative(const Body *b, double h, Vec3 w) noexcept nogil:
    cdef double x = 0.5 * h * (b.inertia.z - b.inertia.y), y = 0.5 * h * (b.inertia.x - b.inertia.z)
    cdef double z = 0.5 * h * (b.inertia.y - b.inertia.x)
    cdef Matrix m
    m.x = vec3(b.inertia.x, x * w.z, x * w.y)
    m.y = vec3(y * w.z, b.inertia.y, y * w.x)
    m.z = vec3(z * w.y, z * w.x, b.inertia.z)
    return m


cdef inline void add_dyad(Matrix *m, Vec3 a, Vec3 b) noexcept nogil:
    """m + a b^T"""
    m.x, m.y, m.z = add_scaled(m.x, a.x, b), add_scaled(m.y, a.y, b), add_scaled(m.z, a.z, b)


cdef inline Vec3 quotient(Vec3 a, Matrix m) noexcept nogil:
    """m^-1 a, by Cramer's rule."""
    cdef Vec3 yz = cross(m.y, m.z)
    return scale(1.0 / dot(m.x, yz), add_scaled(add_scaled(
        scale(a.x, yz), a.y, cross(m.z, m.x)), a.z, cross(m.x, m.y)))


cdef inline Vec3 improved(Momentum momentum, Derivative derivative, const Body *b, double h, Vec3 w,
                          Vec3 wanted) noexcept nogil:
    return sub(w, quotient(sub(momentum(b, h, w), wanted), derivative(b, h, w)))


cdef inline Vec3 solved(Momentum momentum, Derivative derivative, const Body *b, double h,
                        Vec3 wanted) noexcept nogil:
    """w with Pi(h, w) = wanted. With a loop over the iterations, that over the bodies would not be vectorised."""
    cdef Vec3 w = times(b.inverse_inertia, wanted)
    w = add_scaled(w, 0.5 * h, times(b.inverse_inertia, gyroscopic(b, w)))
    w = improved(momentum, derivative, b, h, w, wanted)
    w = improved(momentum, derivative, b, h, w, wanted)
    return improved(momentum, derivative, b, h, w, wanted)


cdef inline Vec3 before(Momentum momentum, Derivative derivative, const Body *b, double h) noexcept nogil:
    """What a scheme stores at the start, where w is the angular velocity at the pose."""
    return solved(momentum, derivative, b, -h, add_scaled(times(b.inertia, b.w), -0.5 * h, b.torque))


cdef inline Vec3 after(Momentum momentum, Derivative derivative, const Body *b, double h) noexcept nogil:
    """w of the next step."""
    return solved(momentum, derivative, b, h, add_scaled(momentum(b, -h, b.w), h, b.torque))


cdef inline Vec3 at_pose(Momentum momentum, const Body *b, double h) noexcept nogil:
    """Angular velocity between the two steps."""
    return times(b.inverse_inertia, add_scaled(momentum(b, -h, b.w), 0.5 * h, b.torque))


cdef inline Quat turned_by_cayley(Quat q, double h, Vec3 w) noexcept nogil:
    """q (1, h/2 w), normalised: the Cayley map of h w, a rotation by 2 arctan(h/2 |w|)."""
    return scale_quat(1.0 / sqrt(1.0 + 0.25 * h * h * dot(w, w)), add_scaled_quat(q, 0.5 * h, multiply_vector(q, w)))
