"""Contribution of the exposed surface of each sphere to the volume and the moments of the body.

With x = c + r u and x.n = c.u + r, the divergence theorem gives the volume integrals of 1, x_a and
x_a x_b as surface integrals of x.n / 3, x_a x.n / 4 and x_a x_b x.n / 5.
"""
from minidem.core.vec3 cimport Vec3, vec3, add_scaled, dot, norm, scale
from minidem.templates.mass.patch cimport PI, Patch
from minidem.templates.mass.symmetric cimport Sym, sym_add, sym_add_both, sym_add_unit, sym_times, sym_zero

cdef struct Sums:
    double volume
    Vec3 first
    Sym second
    Vec3 normal             # integral of n over the surface: zero if it is closed
    Vec3 flux[3]            # of x_a n: the volume times the unit tensor
    double volume_size      # sums of the magnitudes of the terms, for the bound of round-off
    Vec3 second_size


cdef inline Sums sums_zero() noexcept nogil:
    cdef Sums sums
    cdef int a
    sums.volume = sums.volume_size = 0.0
    sums.first = sums.normal = sums.second_size = vec3(0.0, 0.0, 0.0)
    sums.second = sym_zero()
    for a in range(3):
        sums.flux[a] = vec3(0.0, 0.0, 0.0)
    return sums


cdef inline void add_sphere(Sums* sums, Vec3 c, double r) noexcept nogil:
    """Add a sphere that intersects no other one, by its closed form."""
    cdef double volume = 4.0 / 3.0 * PI * r * r * r
    cdef double own = 0.2 * volume * r * r
    sums.volume += volume
    sums.first = add_scaled(sums.first, volume, c)
    sym_add_both(&sums.second, 0.5 * volume, c, c)
    sym_add_unit(&sums.second, own)
    sums.flux[0].x += volume
    sums.flux[1].y += volume
    sums.flux[2].z += volume
    sums.volume_size += volume
    add_size(&sums.second_size, volume, vec3(c.x * c.x, c.y * c.y, c.z * c.z), 0.2 * r * r)


cdef inline void add_patch(Sums* sums, Vec3 c, double r, Patch patch) noexcept nogil:
    """Add the exposed patch of a sphere."""
    cdef double flow = dot(c, patch.one) + r * patch.area               # of x.n, per r^2
    cdef Vec3 slope = add_scaled(scale(r, sym_times(patch.two, c)), r * r, patch.one)     # of r u (x.n)
    cdef double third = r * r / 3.0, fifth = r * r / 5.0, farthest = norm(c) + r
    sums.volume += third * flow
    sums.first = add_scaled(sums.first, 0.25 * r * r, add_scaled(slope, flow, c))
    sym_add_both(&sums.second, 0.5 * fifth * flow, c, c)
    sym_add_both(&sums.second, fifth, c, slope)
    sym_add(&sums.second, fifth * r * r, patch.three)
    sym_add(&sums.second, fifth * r * r * r, patch.two)

    sums.normal = add_scaled(sums.normal, r * r, patch.one)
    sums.flux[0] = add_scaled(sums.flux[0], r * r * c.x, patch.one)
    sums.flux[1] = add_scaled(sums.flux[1], r * r * c.y, patch.one)
    sums.flux[2] = add_scaled(sums.flux[2], r * r * c.z, patch.one)
    sums.flux[0] = add_scaled(sums.flux[0], r * r * r, vec3(patch.two.xx, patch.two.xy, patch.two.xz))
    sums.flux[1] = add_scaled(sums.flux[1], r * r * r, vec3(patch.two.xy, patch.two.yy, patch.two.yz))
    sums.flux[2] = add_scaled(sums.flux[2], r * r * r, vec3(patch.two.xz, patch.two.yz, patch.two.zz))
    sums.volume_size += third * farthest * patch.size
    add_size(&sums.second_size, fifth * farthest * patch.size, vec3(c.x * c.x, c.y * c.y, c.z * c.z), r * r)


cdef inline void add_size(Vec3* size, double weight, Vec3 apart, double own) noexcept nogil:
    size[0] = add_scaled(size[0], weight, vec3(apart.x + own, apart.y + own, apart.z + own))
