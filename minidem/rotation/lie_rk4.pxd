"""Runge-Kutta methods of order 4 on the group of rotations: the angular velocity, and what stages store.

The angular velocity follows the classical method; cf4.pyx and munthe_kaas.pyx say how the orientation follows it. The
stages (1/2, 1/2, 1, 1) are the same as in rk4.pyx: the torque is evaluated at the pose that each of them leaves.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, add_scaled, scale
from minidem.rotation.formulas cimport turned
from minidem.rotation.scheme cimport Body, Step, angular_acceleration
from minidem.state.rows cimport load, load_quat, store, store_quat

cdef enum Scratch:                  # first index of each stored quantity
    Q_START = 0                     # orientation at the start of the step
    W_1 = 4                         # angular velocities of the stages
    W_2 = 7
    W_3 = 10
    RATE_SUM = 13                   # weighted sum of the angular accelerations so far
    N_SCRATCH = 16


cdef inline Vec3 stage_w(const Body *b, int which) noexcept nogil:
    return load(b.scratch + which * LANES)


cdef inline Quat turned_from_start(const Body *b, double h, Vec3 w) noexcept nogil:
    return turned(load_quat(b.scratch + Q_START * LANES), h, w)


cdef inline void next_w(Body *b, const Step *step, int which, double weight, double ahead) noexcept nogil:
    """Store w of a stage, W_1 to W_3, add the angular acceleration, and go `ahead` dt along it from the start."""
    cdef Vec3 rate = angular_acceleration(b, b.w, b.torque)
    store(b.scratch + which * LANES, b.w)
    store(b.scratch + RATE_SUM * LANES, add_scaled(load(b.scratch + RATE_SUM * LANES), weight, rate))
    b.w = add_scaled(stage_w(b, W_1), ahead * step.dt, rate)


cdef inline void first(Body *b, const Step *step) noexcept nogil:
    """The first stage of all such methods."""
    store_quat(b.scratch + Q_START * LANES, b.q)
    store(b.scratch + RATE_SUM * LANES, scale(0.0, b.w))
    b.q = turned(b.q, 0.5 * step.dt, b.w)
    next_w(b, step, W_1, 1.0, 0.5)


cdef inline void last_w(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 rate = add_scaled(load(b.scratch + RATE_SUM * LANES), 1.0, angular_acceleration(b, b.w, b.torque))
    b.w = add_scaled(stage_w(b, W_1), step.dt / 6.0, rate)
