"""How far the spheres of a clump can have moved while it turned: bounds for the Verlet lists.

A rotation by t about the unit vector n moves the point p by 2 sin(t/2) |n x p| = 2 |u x p|, u the vector
part of the quaternion of the rotation, in the body frame. |u x p|^2 = u A u with A = |p|^2 - p p; a
symmetric matrix is bounded by the diagonal one of its absolute row sums. So a rod that spins about
its own axis, where they vanish, keeps its lists.
The REACH rows are its three diagonal terms and one for the scalar part, which covers orientations that
are not quite of norm 1, as some schemes leave them.
"""
from minidem.core.lanes cimport LANES


cdef inline double turn_squared(const double *old, const double *new, const double *reach) noexcept nogil:
    """Square of a bound of what the spheres of one clump have moved by its rotation [m2].

    old, new : its lane in the first of four rows: orientations
    reach : its lane in the first REACH row [m2]
    """
    cdef double a = old[0], b = old[LANES], c = old[2 * LANES], d = old[3 * LANES]
    cdef double w = new[0], x = new[LANES], y = new[2 * LANES], z = new[3 * LANES]
    cdef double ux = (a * x - b * w) - (c * z - d * y)
    cdef double uy = (a * y - c * w) - (d * x - b * z)
    cdef double uz = (a * z - d * w) - (b * y - c * x)
    cdef double s = (a * w + b * x) + (c * y + d * z) - 1.0
    return (reach[0] * (ux * ux) + reach[LANES] * (uy * uy)) \
        + (reach[2 * LANES] * (uz * uz) + reach[3 * LANES] * (s * s))
