# distutils: extra_compile_args = -O1
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Volume and moments of a union of spheres, exact to round-off.

The divergence theorem turns the volume integrals of 1, x_a and x_a x_b, all of them homogeneous, into integrals of
(x.n) / 3, x_a (x.n) / 4 and x_a x_b (x.n) / 5 over the surface of the union. The surface consists of the part of each
sphere outside all others. On the sphere with centre c and radius r, x = c + r u and n = u, so that the integrals of 1,
u_a, u_a u_b and u_a u_b u_c over its exposed patch are needed. These are integrals along the boundary of the patch
(`patch`), which consists of arcs of the circles in which other spheres cut this one: the part of each circle that no
other neighbour covers (`caps`, `exposed_arcs`). Neither the connection of the arcs nor the number of holes of a patch
is needed, and a missing arc of zero length has no effect. Therefore, and because spheres within round-off of touching
count as touching, degenerate clumps (tangent spheres, many spheres through one point or circle, duplicates) are as
accurate as others.

The errors returned are bounds in practice, not theorems. They add
- round-off: EPS times ROUNDING times the sum of the magnitudes of all terms;
- inconsistencies of the result: over a closed surface the integral of n vanishes and the integral of x_a n_b is the
  volume times delta_ab. An arc that round-off creates on one circle and not on the other leaves a gap, which shows in
  these.
The quadrature adds less than round-off. ROUNDING was determined by comparison with closed forms and with independent
integration; the tests repeat the comparison.
"""
import numpy as np

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from minidem.core.quaternion cimport Matrix, turn_vector
from minidem.core.vec3 cimport Vec3, vec3, add_scaled, dot, norm, scale, sub, times
from minidem.templates.mass.caps cimport Cap, cap_of, drop_hidden
from minidem.templates.mass.exposed_arcs cimport Arc, Interval
from minidem.templates.mass.patch cimport PI, Patch, add_both, add_matrix, add_unit, exposed_patch

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 16.0

cdef struct Sums:
    double volume
    Vec3 first
    Matrix second
    Vec3 normal             # integral of n over the surface: zero if it is closed
    Matrix flux             # of x_a n: the volume times the unit tensor
    double volume_size      # sums of the magnitudes of the terms, for the bound of round-off
    Vec3 second_size


cdef inline void add_sphere(Sums* sums, Vec3 c, double r) noexcept nogil:
    """Add a sphere that intersects no other one, by its closed form."""
    cdef double volume = 4.0 / 3.0 * PI * r * r * r
    cdef double own = 0.2 * volume * r * r
    sums.volume += volume
    sums.first = add_scaled(sums.first, volume, c)
    add_both(&sums.second, 0.5 * volume, c, c)
    add_unit(&sums.second, own)
    add_unit(&sums.flux, volume)
    sums.volume_size += volume
    add_size(&sums.second_size, volume, times(c, c), 0.2 * r * r)


cdef inline void add_patch(Sums* sums, Vec3 c, double r, Patch patch) noexcept nogil:
    """Add the exposed patch of a sphere."""
    cdef double flow = dot(c, patch.one) + r * patch.area               # of x.n, per r^2
    cdef Vec3 slope = add_scaled(scale(r, turn_vector(patch.two, c)), r * r, patch.one)     # of r u (x.n)
    cdef double third = r * r / 3.0, fifth = r * r / 5.0, farthest = norm(c) + r
    sums.volume += third * flow
    sums.first = add_scaled(sums.first, 0.25 * r * r, add_scaled(slope, flow, c))
    add_both(&sums.second, 0.5 * fifth * flow, c, c)
    add_both(&sums.second, fifth, c, slope)
    add_matrix(&sums.second, fifth * r * r, patch.three)
    add_matrix(&sums.second, fifth * r * r * r, patch.two)

    sums.normal = add_scaled(sums.normal, r * r, patch.one)
    sums.flux.x = add_scaled(sums.flux.x, r * r * c.x, patch.one)
    sums.flux.y = add_scaled(sums.flux.y, r * r * c.y, patch.one)
    sums.flux.z = add_scaled(sums.flux.z, r * r * c.z, patch.one)
    add_matrix(&sums.flux, r * r * r, patch.two)
    sums.volume_size += third * farthest * patch.size
    add_size(&sums.second_size, fifth * farthest * patch.size, times(c, c), r * r)


cdef inline void add_size(Vec3* size, double weight, Vec3 squares, double own) noexcept nogil:
    size[0] = add_scaled(size[0], weight, vec3(squares.x + own, squares.y + own, squares.z + own))


cdef object array_of(Vec3 v):
    return np.array([v.x, v.y, v.z])


cdef object matrix_of(Matrix m):
    return np.array([array_of(m.x), array_of(m.y), array_of(m.z)])


def moments_of_union(centers, radii):
    """Integrals of 1, x_a (3,) and x_a x_b (3, 3) over the union of spheres about the origin.

    Also absolute error bounds of the first, and of the diagonal of the last one (3,).

    centers : (n, 3), near the origin, n >= 1: moments about a distant one cancel
    radii : (n,), positive, in any unit; sizes near 1 keep fifth powers in range
    """
    centers, radii = np.ascontiguousarray(centers), np.ascontiguousarray(radii)
    outside = _not_contained(centers, radii)
    centers, radii = centers[outside], radii[outside]
    cdef Sums sums
    memset(&sums, 0, sizeof(sums))
    _sum_over_surfaces(centers, radii, &sums)
    cdef double volume = sums.volume
    first, normal, size = array_of(sums.first), array_of(sums.normal), array_of(sums.second_size)
    second, flux = matrix_of(sums.second), matrix_of(sums.flux)
    extent = (np.abs(centers).max(axis=1) + radii).max()
    gap = max(np.abs(normal).max() * extent, np.abs(flux - volume * np.eye(3)).max()) / volume
    return (volume, first, second, ROUNDING * EPS * sums.volume_size + gap * volume,
            ROUNDING * EPS * size + gap * np.diag(second))


def _not_contained(const double[:, ::1] centers, const double[::1] radii):
    """Return a mask of the spheres that no other one contains; of equal ones the first."""
    cdef int n = <int> radii.shape[0], i, j
    cdef double distance
    outside = np.ones(n, dtype=bool)
    cdef unsigned char[::1] keep = outside.view(np.uint8)
    for i in range(n):
        for j in range(n):
            if radii[i] < radii[j] or (radii[i] == radii[j] and j < i):
                distance = norm(sub(center_of(&centers[0, 0], i), center_of(&centers[0, 0], j)))
                if distance <= radii[j] - radii[i]:
                    keep[i] = 0
                    break
    return outside


cdef int _sum_over_surfaces(const double[:, ::1] centers, const double[::1] radii, Sums* sums) except -1:
    cdef int n = <int> radii.shape[0], i, count
    cdef const double* c = &centers[0, 0]
    cdef Cap* caps = <Cap*> malloc(n * sizeof(Cap))
    cdef Interval* space = <Interval*> malloc(n * sizeof(Interval))
    cdef Arc* arcs = <Arc*> malloc(n * sizeof(Arc))
    try:
        if caps == NULL or space == NULL or arcs == NULL:
            raise MemoryError(f"no memory for a clump of {n} spheres")
        with nogil:
            for i in range(n):
                count = caps_of(c, &radii[0], n, i, caps)
                if count == 0:
                    add_sphere(sums, center_of(c, i), radii[i])
                    continue
                count = drop_hidden(caps, count)
                if count > 0:
                    add_patch(sums, center_of(c, i), radii[i],
                              exposed_patch(center_of(c, i), caps, count, space, arcs))
    finally:
        free(caps)
        free(space)
        free(arcs)
    return 0


cdef inline Vec3 center_of(const double* centers, int i) noexcept nogil:
    return vec3(centers[3 * i], centers[3 * i + 1], centers[3 * i + 2])


cdef inline int caps_of(const double* centers, const double* radii, int n, int i, Cap* caps) noexcept nogil:
    """Set the caps that the others cover on sphere i; return their number."""
    cdef int count = 0, j
    cdef double distance
    cdef Vec3 away
    for j in range(n):
        away = sub(center_of(centers, j), center_of(centers, i))
        distance = norm(away)
        if j != i and radii[j] + radii[i] - distance > 0.0:     # the same expression as a factor in `cap_of`
            caps[count] = cap_of(away, distance, radii[i], radii[j], j)
            count += 1
    return count
