"""Euler's equations over a time h, which may be negative, with the body torque held: w at its end.

SSPRK3 is Eqs 9, 10 of the SPIRAL paper (10.1016/j.cpc.2023.109077); `rk4` is the classical method.
"""
from minidem.geometry.vec3 cimport Vec3, add, add_scaled, scale
from minidem.rotation.scheme cimport Body, angular_acceleration


cdef inline Vec3 ssprk3(const Body *b, double h) noexcept nogil:
    cdef Vec3 k1 = scale(h, angular_acceleration(b, b.w, b.torque))
    cdef Vec3 k2 = scale(h, angular_acceleration(b, add(b.w, k1), b.torque))
    cdef Vec3 k3 = scale(h, angular_acceleration(b, add_scaled(b.w, 0.25, add(k1, k2)), b.torque))
    return add_scaled(b.w, 1.0 / 6.0, add_scaled(add(k1, k2), 4.0, k3))


cdef inline Vec3 rk4(const Body *b, double h) noexcept nogil:
    cdef Vec3 k1 = scale(h, angular_acceleration(b, b.w, b.torque))
    cdef Vec3 k2 = scale(h, angular_acceleration(b, add_scaled(b.w, 0.5, k1), b.torque))
    cdef Vec3 k3 = scale(h, angular_acceleration(b, add_scaled(b.w, 0.5, k2), b.torque))
    cdef Vec3 k4 = scale(h, angular_acceleration(b, add(b.w, k3), b.torque))
    return add_scaled(b.w, 1.0 / 6.0, add(add(k1, k4), scale(2.0, add(k2, k3))))
