"""Symmetric 3 x 3 tensors by value."""
from minidem.core.vec3 cimport Vec3, vec3

cdef struct Sym:
    double xx
    double yy
    double zz
    double xy
    double xz
    double yz


cdef inline Sym sym_zero() noexcept nogil:
    return Sym(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


cdef inline void sym_add(Sym* t, double weight, Sym a) noexcept nogil:
    """t += weight a"""
    t.xx += weight * a.xx
    t.yy += weight * a.yy
    t.zz += weight * a.zz
    t.xy += weight * a.xy
    t.xz += weight * a.xz
    t.yz += weight * a.yz


cdef inline void sym_add_unit(Sym* t, double weight) noexcept nogil:
    """t += weight delta_ab"""
    t.xx += weight
    t.yy += weight
    t.zz += weight


cdef inline void sym_add_both(Sym* t, double weight, Vec3 a, Vec3 b) noexcept nogil:
    """t += weight (a b + b a)"""
    t.xx += weight * 2.0 * (a.x * b.x)
    t.yy += weight * 2.0 * (a.y * b.y)
    t.zz += weight * 2.0 * (a.z * b.z)
    t.xy += weight * (a.x * b.y + a.y * b.x)
    t.xz += weight * (a.x * b.z + a.z * b.x)
    t.yz += weight * (a.y * b.z + a.z * b.y)


cdef inline Vec3 sym_times(Sym t, Vec3 a) noexcept nogil:
    return vec3(t.xx * a.x + t.xy * a.y + t.xz * a.z,
                t.xy * a.x + t.yy * a.y + t.yz * a.z,
                t.xz * a.x + t.yz * a.y + t.zz * a.z)
