"""Displacement bound of the spheres of a clump under rotation, for the Verlet lists.

A rotation by t about the unit vector n moves the point p by 2 sin(t/2) |n x p| = 2 |u x p|, u the vector
part of the quaternion of the rotation, in the body frame. |u x p|^2 = u A u with A = |p|^2 - p p; a
symmetric matrix is bounded by the diagonal one of its absolute row sums. So a rod that spins about
its own axis, where they vanish, needs no rebuild.
The TURN_BOUND rows are the three diagonal terms and one for the scalar part, which covers orientations whose norm is
not exactly 1 (some schemes do not conserve it).
"""
from minidem.core.lanes cimport LANES


cdef inline double turn_squared(const double *old, const double *new, const double *turn_bound) noexcept nogil:
    """Square of the bound for one clump [m2].

    old, new : its lane in the first of four rows: orientations
    turn_bound : its lane in the first TURN_BOUND row [m2]
    """
    cdef double a = old[0], b = old[LANES], c = old[2 * LANES], d = old[3 * LANES]
    cdef double w = new[0], x = new[LANES], y = new[2 * LANES], z = new[3 * LANES]
    cdef double ux = (a * x - b * w) - (c * z - d * y)
    cdef double uy = (a * y - c * w) - (d * x - b * z)
    cdef double uz = (a * z - d * w) - (b * y - c * x)
    cdef double s = (a * w + b * x) + (c * y + d * z) - 1.0
    return (turn_bound[0] * (ux * ux) + turn_bound[LANES] * (uy * uy)) \
        + (turn_bound[2 * LANES] * (uz * uz) + turn_bound[3 * LANES] * (s * s))
