"""Caps: the parts of a unit sphere's surface that its neighbours cover.

A neighbour covers the directions u with n.u > c: a cap about the unit vector n with the angular radius alpha,
c = cos(alpha), s = sin(alpha). Two caps are compared by the chords |na - nb| and |na + nb| against the chords of the
angles alpha_a -+ alpha_b, and by 1 - c and 1 + c rather than c. No digits are lost on tiny caps, nor on caps that
almost coincide or almost complement one another.
"""
from libc.math cimport fabs, sqrt
from libc.stdlib cimport qsort

from minidem.core.vec3 cimport Vec3, vec3, add, sub, scale, add_scaled, dot, cross, norm

cdef struct Cap:
    Vec3 n          # centre
    double c        # cosine of the angular radius
    double s        # its sine
    double below    # 1 - c and 1 + c, to the last digit also where they are small
    double above
    int sphere      # the neighbour

cdef enum Relation:
    CROSSING        # the circles cross at two points
    DISJOINT           # no common point, or touching from outside
    NESTED          # the smaller cap lies in the larger one, or they are the same
    COVERING        # together they cover the sphere


cdef inline Cap cap_of(Vec3 away, double distance, double radius, double other, int sphere) noexcept nogil:
    """Return the cap that a sphere of radius `other`, displaced by `away`, covers of one of radius `radius`.

    The spheres must intersect: |radius - other| < distance < radius + other.
    """
    cdef Cap cap
    cdef double share = 1.0 / (2.0 * distance * radius)
    cap.n = scale(1.0 / distance, away)
    cap.below = (other + radius - distance) * (distance + (other - radius)) * share
    cap.above = (distance + (radius - other)) * (distance + radius + other) * share
    cap.c = 1.0 - cap.below
    cap.s = sqrt(cap.below * cap.above)
    cap.sphere = sphere
    return cap


cdef inline double cosine_difference(const Cap* a, const Cap* b) noexcept nogil:
    return b.below - a.below if a.below + b.below < a.above + b.above else a.above - b.above


cdef inline double cosine_sum(const Cap* a, const Cap* b) noexcept nogil:
    return a.above - b.below if a.above + b.below < a.below + b.above else b.above - a.below


cdef inline Relation compare(const Cap* a, const Cap* b, double* inner, double* outer) noexcept nogil:
    """Return the relation of two caps; set the two factors of the squared half distance of their circles' crossings.

    inner = 0 where the circles touch from inside, outer = 0 where they touch from outside.
    """
    # Unit normals carry a few roundings each: circles closer than this are the same circle.
    cdef double same = 1e-12
    # Lengths of chords carry a few roundings of numbers up to 1, their squares that times their length: circles
    # within this round-off of touching count as touching. Crossing circles then cross at two points farther apart than
    # round-off, and the neglected lens is thinner.
    cdef double touching = 64.0 * 2.220446049250313e-16
    cdef Vec3 difference = sub(a.n, b.n), total = add(a.n, b.n)
    cdef double minus = dot(difference, difference), plus = dot(total, total)
    cdef double chord = sqrt(min(minus, plus))
    # Squared chords of the difference and the sum of alpha_a and alpha_b, or of their supplements if smaller.
    cdef double dc = cosine_difference(a, b), sc = cosine_sum(a, b), ds = a.s - b.s, ss = a.s + b.s
    if minus <= plus:
        inner[0] = minus - (dc * dc + ds * ds)
        outer[0] = dc * dc + ss * ss - minus
    else:
        inner[0] = sc * sc + ss * ss - plus
        outer[0] = plus - (sc * sc + ds * ds)
    if inner[0] <= touching * chord or minus <= same * same:
        return NESTED
    if outer[0] <= touching * chord or plus <= same * same:
        return DISJOINT if a.s * b.c + a.c * b.s > 0.0 else COVERING       # the sign of sin(alpha_a + alpha_b)
    inner[0] /= minus
    outer[0] /= plus
    return CROSSING


cdef inline void crossings(const Cap* a, const Cap* b, double inner, double outer,
                           Vec3* begin, Vec3* end) noexcept nogil:
    """Set the two points where the circles of crossing caps meet.

    Counter-clockwise about a.n, cap b covers circle a from `begin` to `end`; about b.n, cap a
    covers circle b from `end` to `begin`.
    """
    cdef Vec3 difference = sub(a.n, b.n), total = add(a.n, b.n)
    cdef Vec3 middle = add(scale(cosine_sum(a, b) / dot(total, total), total),
                           scale(cosine_difference(a, b) / dot(difference, difference), difference))
    cdef Vec3 across = cross(difference, total)         # 2 na x nb
    cdef double half = sqrt(inner * outer / dot(across, across))
    begin[0] = add_scaled(middle, -half, across)
    end[0] = add_scaled(middle, half, across)


cdef inline int larger_first(const void* a, const void* b) noexcept nogil:
    cdef const Cap* p = <const Cap*> a
    cdef const Cap* q = <const Cap*> b
    if p.c != q.c:
        return -1 if p.c < q.c else 1
    return -1 if p.sphere < q.sphere else 1


cdef inline int drop_hidden(Cap* caps, int count) noexcept nogil:
    """Keep the caps that no other one contains, larger ones first; return their number, or -1 if they cover all."""
    cdef int kept = 0, i, j
    cdef double inner = 0.0, outer = 0.0
    cdef Relation kind
    qsort(caps, count, sizeof(Cap), larger_first)
    for i in range(count):
        for j in range(kept):
            kind = compare(&caps[j], &caps[i], &inner, &outer)
            if kind == COVERING:
                return -1
            if kind == NESTED:
                break
        else:
            caps[kept] = caps[i]
            kept += 1
    return kept


cdef inline double cover(const Cap* caps, int count, Vec3 u) noexcept nogil:
    """Return a number, positive for a covered direction, whose magnitude is at most the angle to the boundary."""
    cdef double most = -2.0
    cdef int k
    for k in range(count):
        most = max(most, dot(caps[k].n, u) - caps[k].c)
    return most


cdef inline Vec3 clear_direction(const Cap* caps, int count, double* depth) noexcept nogil:
    """Return a direction far from the boundary of the covered part; set `depth` to its `cover`.

    It is the best of the centres of the caps, their antipodes, and the 26 directions to corners, edges and faces of a
    cube.
    """
    cdef Vec3 u, best = vec3(1.0, 0.0, 0.0)
    cdef double found
    cdef int k
    depth[0] = 0.0
    for k in range(2 * count + 27):
        if k < 2 * count:
            u = scale(1.0 if k % 2 == 0 else -1.0, caps[k // 2].n)
        elif k == 2 * count + 13:       # the cube's own centre
            continue
        else:
            u = vec3((k - 2 * count) % 3 - 1.0, (k - 2 * count) // 3 % 3 - 1.0, (k - 2 * count) // 9 - 1.0)
            u = scale(1.0 / norm(u), u)
        found = cover(caps, count, u)
        if fabs(found) > fabs(depth[0]):
            depth[0] = found
            best = u
    return best
