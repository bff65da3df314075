"""Parts of several schemes: w after a time h, which may be negative, with the body torque held; turns with w held;
roles that several have.

`ssprk3` is Eqs 9, 10 of the SPIRAL paper (10.1016/j.cpc.2023.109077); `rk4` is the classical method.
Products that are the same in all stages are formed before the first.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport (
    Quat, add_scaled_quat, exponential, is_small, little_exponential, multiply, multiply_vector, normalise, rotate,
    rotate_back, turns_little,
)
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, sub, times
from minidem.rotation.scheme cimport (
    FINISH, MOVE, PREDICT, Body, BodyBlock, BodyFunction, BodyTest, Step, all_bodies, angular_acceleration, differences,
    products, role,
)
from minidem.state.rows cimport ClumpBlock, load, load_quat, store, store_quat


cdef struct Change:             # of w in a time h: push + coupling * (w_y w_z, w_z w_x, w_x w_y)
    Vec3 push                   # h M / I
    Vec3 coupling               # h (I_y - I_z) / I_x and so on; exactly zero where two moments are equal


cdef inline Change held(const Body *b, double h) noexcept nogil:
    cdef Change c
    cdef Vec3 each = scale(h, b.inverse_inertia)
    c.push = times(each, b.torque)
    c.coupling = times(each, differences(b))
    return c


cdef inline Vec3 at(Change c, Vec3 w) noexcept nogil:
    return add(c.push, times(c.coupling, products(w)))


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


cdef inline Quat turned_by_euler(Quat q, double h, Vec3 w) noexcept nogil:
    """q (1, h/2 w), normalised; w in the body frame."""
    return normalise(add_scaled_quat(q, 0.5 * h, multiply_vector(q, w)))


cdef inline Vec3 body_rate(const Body *b, Quat q, Vec3 momentum) noexcept nogil:
    """w at the orientation q, of an angular momentum in the lab."""
    return times(b.inverse_inertia, rotate_back(q, momentum))


cdef inline int move_by_size(BodyFunction formula, BodyTest test, const BodyBlock *b) noexcept nogil:
    """MOVE by a formula that takes its exponentials from `exponential_of(h, step.variant)`.

    A step rarely turns a body by more than 2.5 degrees. If none of the eight turns further, as `test` says, the
    exponential needs neither root nor division, and few terms; its bits are the same.
    """
    if b.wanted == MOVE and all_bodies(test, b):
        return role(MOVE, formula, b, True)
    return role(MOVE, formula, b, False)


cdef inline Quat exponential_of(Vec3 h, bint little) noexcept nogil:
    return little_exponential(h) if little else exponential(h)


cdef inline bint momentum_turns_little(const Body *b, Vec3 momentum, double h) noexcept nogil:
    """Whether a body of this angular momentum turns by less than 2.5 degrees in a time h, whatever its w becomes."""
    cdef double most = max(b.inverse_inertia.x, max(b.inverse_inertia.y, b.inverse_inertia.z))
    return is_small(0.25 * h * h * most * most * dot(momentum, momentum))


cdef inline void turn_block(ClumpBlock *clumps, double h) noexcept nogil:
    """q <- q exp(h/2 w) for the bodies of a block, w as stored. It loads and stores no more; see `move_by_size`."""
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


cdef inline int turn(const BodyBlock *b) noexcept nogil:
    """The end of MOVE: q <- q exp(dt/2 w), w as stored."""
    if b.wanted == MOVE:
        turn_block(b.clumps, b.step.dt)
    return 1 << MOVE


cdef inline void start_by_euler(Body *b, const Step *step) noexcept nogil:
    """START of a leapfrog: w half a step back."""
    b.w = add_scaled(b.w, -0.5 * step.dt, angular_acceleration(b, b.w, b.torque))


cdef inline void start_in_lab(Body *b, const Step *step) noexcept nogil:
    """START of a scheme that stores the angular momentum in the lab."""
    store(b.scratch, rotate(b.q, times(b.inertia, b.w)))


cdef inline Vec3 pushed(const Body *b, double h) noexcept nogil:
    """w after the torque alone has acted for a time h."""
    return add_scaled(b.w, h, times(b.inverse_inertia, b.torque))


cdef inline bint turns_little_after_push(const Body *b, const Step *step) noexcept nogil:
    return momentum_turns_little(b, add_scaled(times(b.inertia, b.w), 0.5 * step.dt, b.torque), step.dt)


cdef inline void finish_with_push(Body *b, const Step *step) noexcept nogil:
    b.w = pushed(b, 0.5 * step.dt)


cdef inline void predict_with_push(Body *b, const Step *step) noexcept nogil:
    b.predicted = pushed(b, 0.5 * step.dt)


cdef inline int second_half_kick(const BodyBlock *b) noexcept nogil:
    """FINISH and PREDICT of a scheme whose step begins and ends with half a kick by the torque."""
    return role(FINISH, finish_with_push, b) | role(PREDICT, predict_with_push, b)


cdef inline int four_stages(BodyFunction first, BodyFunction second, BodyFunction third, BodyFunction last,
                            const BodyBlock *b) noexcept nogil:
    """MOVE of the stages of a Runge-Kutta method."""
    if b.step.stage == 0:
        return role(MOVE, first, b)
    if b.step.stage == 1:
        return role(MOVE, second, b)
    if b.step.stage == 2:
        return role(MOVE, third, b)
    return role(MOVE, last, b)


cdef inline Vec3 with_momentum(const Body *b, Vec3 w, Vec3 momentum) noexcept nogil:
    """I^-1 momentum, from w near it: I times the rounded 1/I is not 1, and would change w alike in every step."""
    return add(w, times(b.inverse_inertia, sub(momentum, times(b.inertia, w))))
