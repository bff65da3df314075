"""Vectors of three doubles by value: leaf arithmetic for the kernels, nothing allocated."""
from libc.math cimport sqrt

cdef struct Vec3:
    double x
    double y
    double z


cdef inline Vec3 vec3(double x, double y, double z) noexcept nogil:
    cdef Vec3 v
    v.x = x
    v.y = y
    v.z = z
    return v


cdef inline Vec3 add(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z)


cdef inline Vec3 sub(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z)


cdef inline Vec3 scale(double s, Vec3 a) noexcept nogil:
    return vec3(s * a.x, s * a.y, s * a.z)


cdef inline Vec3 add_scaled(Vec3 a, double s, Vec3 b) noexcept nogil:
    """a + s b"""
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z)


cdef inline Vec3 times(Vec3 a, Vec3 b) noexcept nogil:
    """Component by component; with a diagonal tensor, its product with a vector."""
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z)


cdef inline double dot(Vec3 a, Vec3 b) noexcept nogil:
    return a.x * b.x + a.y * b.y + a.z * b.z


cdef inline Vec3 cross(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


cdef inline double norm(Vec3 a) noexcept nogil:
    return sqrt(dot(a, a))
