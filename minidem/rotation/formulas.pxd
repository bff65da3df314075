"""Parts of several schemes: w after a time h, which may be negative, with the body torque held; turns with w held.

`ssprk3` is Eqs 9, 10 of the SPIRAL paper (10.1016/j.cpc.2023.109077); `rk4` is the classical method.
Products that are the same in all stages are formed before the first.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat, exponential, is_small, little_exponential, multiply, turns_little
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, sub, times, vec3
from minidem.rotation.scheme cimport Body, BodyBlock
from minidem.state.rows cimport ClumpBlock, load, load_quat, store_quat


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


cdef inline Quat turned(Quat q, double h, Vec3 w) noexcept nogil:
    """q exp(h/2 w), w in the body frame."""
    return multiply(q, exponential(scale(0.5 * h, w)))


cdef inline Quat turned_by_lab(Quat q, double h, Vec3 w) noexcept nogil:
    """exp(h/2 w) q, w in the lab frame."""
    return multiply(exponential(scale(0.5 * h, w)), q)


cdef inline void turn_block(ClumpBlock *clumps, double h) noexcept nogil:
    """q <- q exp(h/2 w) for the bodies of a block, w as stored; the bits of `turned`.

    A step rarely turns a body by more than 2.5 degrees. If none of the eight turns further, the exponential
    needs neither root nor division, and few terms.
    """
    cdef long long large = 0                            # as wide as a double, so that the loop vectorises
    cdef int lane
    for lane in range(LANES):
        large |= <long long> (not turns_little(scale(0.5 * h, load(clumps.angular_velocity + lane))))
    if large:
        for lane in range(LANES):
            store_quat(clumps.orientation + lane, turned(
                load_quat(clumps.orientation + lane), h, load(clumps.angular_velocity + lane)))
    else:
        for lane in range(LANES):
            store_quat(clumps.orientation + lane, multiply(
                load_quat(clumps.orientation + lane),
                little_exponential(scale(0.5 * h, load(clumps.angular_velocity + lane)))))


cdef inline Vec3 with_momentum(const Body *b, Vec3 w, Vec3 momentum) noexcept nogil:
    """I^-1 momentum, from w near it: I times the rounded 1/I is not 1, and would change w alike in every step."""
    return add(w, times(b.inverse_inertia, sub(momentum, times(b.inertia, w))))


cdef inline bint all_turn_little(BodyBlock bodies, double h) noexcept nogil:
    """Whether every body of a block turns by less than 2.5 degrees in a time h, once half a kick has acted.

    Then `exponential_of(v, True)` has the bits of the exponential for any part of such a turn.
    """
    cdef long long large = 0
    cdef int lane
    cdef Vec3 momentum, inverse
    cdef double most
    for lane in range(LANES):
        inverse = load(bodies.constants.inverse_inertia + lane)
        momentum = add_scaled(times(load(bodies.constants.inertia + lane), load(bodies.clumps.angular_velocity + lane)),
                              0.5 * h, load(bodies.wrench.torque + lane))
        most = inverse.x if inverse.x > inverse.y else inverse.y
        most = most if most > inverse.z else inverse.z
        large |= <long long> (not is_small(0.25 * h * h * most * most * dot(momentum, momentum)))
    return not large


cdef inline Quat exponential_of(Vec3 h, bint little) noexcept nogil:
    """`little` must be a constant, so that the loop over bodies is vectorised."""
    return little_exponential(h) if little else exponential(h)
