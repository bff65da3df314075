"""Moments of the exposed part of a unit sphere's surface, from integrals along its boundary.

With m = u x du along the boundary, the patch on the left, and h a harmonic polynomial of degree
l, Green's theorem on the sphere turns the integral of h over the patch into the integral of
grad h . m / (l (l + 1)) along the boundary, because h is an eigenfunction of the sphere's Laplacian. Degrees 1,
2 and 3 give the integrals of u_a, u_a u_b and u_a u_b u_c. Degree 0, the area, has the potential -log(1 - u.S), with a
pole at a direction S far from the boundary: the area is the integral of -m.S / (1 - u.S), plus 4 pi if S is exposed.

Along the circle of a cap these are smooth functions. Arcs are halved until they span at most 45
degrees and are not longer than their distance from S; on each piece Gauss's rule with 16 points in
t = tan(angle / 4) is exact to round-off: the nearest pole of the integrand lies at 3.7 or more
(sum of the half axes of the ellipse of convergence, Trefethen 2008, doi:10.1137/060659831), which
bounds the error by about 3.7^-32 = 7e-19. Only + - * / and square roots are used, so that the bits do not depend on
the mathematical library of the machine.
"""
from libc.string cimport memset

from minidem.core.quaternion cimport Matrix
from minidem.core.vec3 cimport Vec3, add, scale, add_scaled, dot
from minidem.templates.mass.caps cimport Cap, clear_direction
from minidem.templates.mass.exposed_arcs cimport Arc, Circle, Interval, circle_of, exposed_arcs, half_angle, radial

cdef extern from *:
    """
    /* Gauss-Legendre rule of 16 points on (-1, 1), the positive half. */
    static const double GAUSS_POINT[8] = {
        0.095012509837637440185, 0.281603550779258913230, 0.458016777657227386342, 0.617876244402643748447,
        0.755404408355003033895, 0.865631202387831743880, 0.944575023073232576078, 0.989400934991649932596};
    static const double GAUSS_WEIGHT[8] = {
        0.189450610455068496285, 0.182603415044923588867, 0.169156519395002538189, 0.149595988816576732081,
        0.124628971255533872052, 0.095158511682492784810, 0.062253523938647892863, 0.027152459411754094852};
    static const double PI = 3.141592653589793;
    """
    const double GAUSS_POINT[8]
    const double GAUSS_WEIGHT[8]
    const double PI


cdef inline void add_matrix(Matrix* t, double weight, Matrix a) noexcept nogil:
    """t += weight a"""
    t.x, t.y, t.z = add_scaled(t.x, weight, a.x), add_scaled(t.y, weight, a.y), add_scaled(t.z, weight, a.z)


cdef inline void add_unit(Matrix* t, double weight) noexcept nogil:
    """t += weight delta_ab"""
    t.x.x, t.y.y, t.z.z = t.x.x + weight, t.y.y + weight, t.z.z + weight


cdef inline void add_both(Matrix* t, double weight, Vec3 a, Vec3 b) noexcept nogil:
    """t += weight (a b + b a)"""
    t.x = add_scaled(t.x, weight, add_scaled(scale(a.x, b), b.x, a))
    t.y = add_scaled(t.y, weight, add_scaled(scale(a.y, b), b.y, a))
    t.z = add_scaled(t.z, weight, add_scaled(scale(a.z, b), b.z, a))


cdef struct Patch:          # of the unit sphere's surface: integrals
    double area             # of 1
    Vec3 one                # of u
    Matrix two                 # of u u
    Matrix three               # of u u (c.u)
    double size             # of the terms that were added up: area plus length of the boundary

cdef struct Boundary:
    Vec3 clear      # S
    Vec3 center     # c, of the sphere
    double length   # of the boundary
    double area     # integrals along the boundary: of -m.S / (1 - u.S)
    Vec3 one        # of m
    Matrix two         # of u m + m u
    Matrix three       # of (u m + m u) (c.u) + u u (c.m)


cdef inline void add_point(Boundary* sums, const Circle* circle,
                           double x, double y, double weight) noexcept nogil:
    """Add a point of the rule. The patch is outside the cap, hence clockwise and the minus sign."""
    cdef Vec3 ray = radial(circle, x, y)
    cdef Vec3 u = add_scaled(scale(circle.s, ray), circle.c, circle.n)
    cdef double turned = circle.s * weight
    cdef Vec3 m = add_scaled(scale(circle.c * turned, ray), -circle.s * turned, circle.n)
    sums.length += turned
    sums.area -= dot(m, sums.clear) / (1.0 - dot(u, sums.clear))
    sums.one = add(sums.one, m)
    add_both(&sums.two, 1.0, u, m)
    add_both(&sums.three, dot(sums.center, u), u, m)
    add_both(&sums.three, 0.5 * dot(sums.center, m), u, u)


cdef inline void add_piece(Boundary* sums, const Circle* circle, Arc arc) noexcept nogil:
    cdef double span = arc.s / (1.0 + arc.c)            # tangent of a quarter of the arc
    cdef double t, share, cosine, sine, weight
    cdef int k
    for k in range(8):
        t = span * GAUSS_POINT[k]
        share = 1.0 / (1.0 + t * t)
        cosine, sine = (1.0 - t * t) * share, 2.0 * t * share
        weight = 2.0 * share * span * GAUSS_WEIGHT[k]
        add_point(sums, circle, arc.x * cosine - arc.y * sine, arc.y * cosine + arc.x * sine, weight)
        add_point(sums, circle, arc.x * cosine + arc.y * sine, arc.y * cosine - arc.x * sine, weight)


cdef inline void add_arc(Boundary* sums, const Circle* circle, Arc arc) noexcept nogil:
    """Add an arc, halved if it is long or close to the pole of the integrand of the area."""
    cdef double cos_eighth = 0.9238795325112867         # of half of 45 degrees
    cdef Vec3 middle = add_scaled(scale(circle.s, radial(circle, arc.x, arc.y)), circle.c, circle.n)
    cdef double distance = 2.0 * (1.0 - dot(middle, sums.clear))        # squared
    cdef double length = 2.0 * circle.s * arc.s
    cdef Arc half
    if arc.c < cos_eighth or length * length > distance:
        half_angle(arc.c, arc.s, &half)
        half.x, half.y = arc.x * half.c + arc.y * half.s, arc.y * half.c - arc.x * half.s
        add_arc(sums, circle, half)
        half.x, half.y = arc.x * half.c - arc.y * half.s, arc.y * half.c + arc.x * half.s
        add_arc(sums, circle, half)
    else:
        add_piece(sums, circle, arc)


cdef inline Patch exposed_patch(Vec3 center, const Cap* caps, int count,
                                Interval* space, Arc* arcs) noexcept nogil:
    """Return the part of the unit sphere outside all caps. `space` and `arcs` have room for `count` items."""
    cdef Boundary edge
    cdef Patch patch
    cdef Circle circle
    cdef double depth
    cdef int j, k, found
    memset(&edge, 0, sizeof(edge))
    memset(&patch, 0, sizeof(patch))
    edge.center = center
    edge.clear = clear_direction(caps, count, &depth)
    for j in range(count):
        circle = circle_of(&caps[j])
        found = exposed_arcs(caps, count, j, &circle, space, arcs)
        for k in range(found):
            add_arc(&edge, &circle, arcs[k])

    patch.area = edge.area + (4.0 * PI if depth < 0.0 else 0.0)
    patch.one = scale(0.5, edge.one)
    add_matrix(&patch.two, 1.0 / 6.0, edge.two)
    add_unit(&patch.two, patch.area / 3.0)
    # u_a u_b u_c is harmonic except for (delta_ab u_c + delta_bc u_a + delta_ca u_b) / 5, of degree 1
    add_matrix(&patch.three, 1.0 / 12.0, edge.three)
    add_unit(&patch.three, dot(center, patch.one) / 6.0)
    add_both(&patch.three, 1.0 / 6.0, center, patch.one)
    patch.size = patch.area + edge.length
    return patch
