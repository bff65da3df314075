"""Euler's equations over a time h, which may be negative, with the body torque held: w at its end.

SSPRK3 is Eqs 9, 10 of the SPIRAL paper (10.1016/j.cpc.2023.109077); `rk4` is the classical method.
Products that are the same in all stages are formed before the first.
"""
from minidem.core.vec3 cimport Vec3, add, add_scaled, scale, times, vec3
from minidem.rotation.scheme cimport Body


cdef struct Change:             # of w in a time h: push + coupling * (w_y w_z, w_z w_x, w_x w_y)
    Vec3 push                   # h M / I
    Vec3 coupling               # h (I_y - I_z) / I_x and so on; exactly zero where two moments are equal


cdef inline Change held(const Body *b, double h) noexcept nogil:
    cdef Change c
    cdef Vec3 each = scale(h, b.inverse_inertia)
    c.push = times(each, b.torque)
    c.coupling = times(each, vec3(b.inertia.y - b.inertia.z, b.inertia.z - b.inertia.x, b.inertia.x - b.inertia.y))
    return c


cdef inline Vec3 at(Change c, Vec3 w) noexcept nogil:
    return add(c.push, times(c.coupling, vec3(w.y * w.z, w.z * w.x, w.x * w.y)))


cdef inline Vec3 ssprk3(const Body *b, double h) noexcept nogil:
    cdef Change c = held(b, h)
    cdef Vec3 k1 = at(c, b.w)
    cdef Vec3 k2 = at(c, add(b.w, k1))
    cdef Vec3 k3 = at(c, add_scaled(b.w, 0.25, add(k1, k2)))
    return add_scaled(b.w, 1.0 / 6.0, add_scaled(add(k1, k2), 4.0, k3))


cdef inline Vec3 rk4(const Body *b, double h) noexcept nogil:
    cdef Change c = held(b, h)
    cdef Vec3 k1 = at(c, b.w)
    cdef Vec3 k2 = at(c, add_scaled(b.w, 0.5, k1))
    cdef Vec3 k3 = at(c, add_scaled(b.w, 0.5, k2))
    cdef Vec3 k4 = at(c, add(b.w, k3))
    return add_scaled(b.w, 1.0 / 6.0, add(add(k1, k4), scale(2.0, add(k2, k3))))
