"""Exact rotations by an angular velocity that is constant for a time h."""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat, exponential, little_exponential, multiply, rotate, turns_little
from minidem.core.vec3 cimport Vec3, scale
from minidem.state.rows cimport ANGULAR_VELOCITY, ORIENTATION, load, load_quat, store_quat


cdef inline Quat turned(Quat q, double h, Vec3 w) noexcept nogil:
    """q exp(h/2 w), w in the body frame."""
    return multiply(q, exponential(scale(0.5 * h, w)))


cdef inline Quat turned_by_lab(Quat q, double h, Vec3 w) noexcept nogil:
    """exp(h/2 w) q, w in the lab frame."""
    return multiply(exponential(scale(0.5 * h, w)), q)


cdef inline void turn_block(double *block, double h) noexcept nogil:
    """q <- q exp(h/2 w) for the bodies of a block, w as stored; the bits of `turned`.

    A step rarely turns a body by more than 2.5 degrees. If none of the eight turns further, the exponential
    needs neither root nor division, and few terms.
    """
    cdef long long large = 0                            # as wide as a double, so that the loop vectorises
    cdef int lane
    for lane in range(LANES):
        large |= <long long> (not turns_little(scale(0.5 * h, load(block + ANGULAR_VELOCITY * LANES + lane))))
    if large:
        for lane in range(LANES):
            store_quat(block + ORIENTATION * LANES + lane, turned(
                load_quat(block + ORIENTATION * LANES + lane), h, load(block + ANGULAR_VELOCITY * LANES + lane)))
    else:
        for lane in range(LANES):
            store_quat(block + ORIENTATION * LANES + lane, multiply(
                load_quat(block + ORIENTATION * LANES + lane),
                little_exponential(scale(0.5 * h, load(block + ANGULAR_VELOCITY * LANES + lane)))))
