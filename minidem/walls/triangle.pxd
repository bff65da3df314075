"""The point of a triangle that is nearest to another point."""
from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, scale, sub, vec3

cdef struct Nearest:
    Vec3 point
    Vec3 edge                       # direction of the edge on which it is, of any length; zero on a face or a corner
    bint on_face


cdef inline Nearest nearest_on_edge(Vec3 a, Vec3 along, double part) noexcept nogil:
    cdef Nearest nearest
    nearest.point, nearest.edge, nearest.on_face = add_scaled(a, part, along), along, False
    return nearest


cdef inline Nearest nearest_corner(Vec3 a) noexcept nogil:
    cdef Nearest nearest
    nearest.point, nearest.edge, nearest.on_face = a, vec3(0.0, 0.0, 0.0), False
    return nearest


cdef inline Nearest nearest_of(const double *corners, Vec3 p) noexcept nogil:
    """By the region of the plane in which the projection of p lies.

    C. Ericson, Real-Time Collision Detection (2005), section 5.1.5, ISBN 978-1-55860-732-3.

    corners : (3, 3).
    """
    cdef Vec3 a = vec3(corners[0], corners[1], corners[2])
    cdef Vec3 b = vec3(corners[3], corners[4], corners[5])
    cdef Vec3 c = vec3(corners[6], corners[7], corners[8])
    cdef Vec3 ab = sub(b, a), ac = sub(c, a), bc = sub(c, b), ap = sub(p, a), bp = sub(p, b), cp = sub(p, c), n
    cdef double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp)
    cdef double d6 = dot(ac, cp), va, vb, vc
    cdef Nearest nearest
    if d1 <= 0.0 and d2 <= 0.0:
        return nearest_corner(a)
    if d3 >= 0.0 and d4 <= d3:
        return nearest_corner(b)
    if d6 >= 0.0 and d5 <= d6:
        return nearest_corner(c)
    vc, vb, va = d1 * d4 - d3 * d2, d5 * d2 - d1 * d6, d3 * d6 - d5 * d4
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return nearest_on_edge(a, ab, d1 / (d1 - d3))
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return nearest_on_edge(a, ac, d2 / (d2 - d6))
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        return nearest_on_edge(b, bc, (d4 - d3) / ((d4 - d3) + (d5 - d6)))
    n = cross(ab, ac)
    nearest.point = add_scaled(p, -dot(ap, n) / dot(n, n), n)
    nearest.edge, nearest.on_face = vec3(0.0, 0.0, 0.0), True
    return nearest
