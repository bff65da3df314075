"""Exact turns of an orientation by an angular velocity that stays the same for a time h."""
from minidem.geometry.quaternion cimport Quat, exponential, multiply, rotate
from minidem.geometry.vec3 cimport Vec3, scale


cdef inline Quat turned(Quat q, double h, Vec3 w) noexcept nogil:
    """q exp(h/2 w), w in the body frame."""
    return multiply(q, exponential(scale(0.5 * h, w)))


cdef inline Quat turned_by_lab(Quat q, double h, Vec3 w) noexcept nogil:
    """exp(h/2 w) q, w in the lab frame."""
    return multiply(exponential(scale(0.5 * h, w)), q)
