"""The arcs of a cap's circle that no other cap covers.

A point of the circle is given by the cosine and sine of its angle, and by a key that grows with the angle from 0 to 4
in one turn, so that sorting needs no arc tangent.
"""
from libc.math cimport fabs, sqrt
from libc.stdlib cimport qsort

from minidem.core.vec3 cimport Vec3, vec3, add, scale, dot, cross
from minidem.templates.mass.caps cimport Cap, CROSSING, compare, crossings

cdef struct Circle:
    Vec3 n          # axis of the cap
    Vec3 e1         # n, e1, e2: right-handed, orthonormal
    Vec3 e2
    double c        # cosine and sine of the angular radius
    double s

cdef struct Mark:
    double x        # cosine and sine of the angle from e1 towards e2
    double y
    double key

cdef struct Interval:
    Mark begin
    Mark end
    double end_key  # key of the end, continued from the key of the beginning

cdef struct Arc:
    double x        # cosine and sine of the angle of its middle
    double y
    double c        # cosine and sine of half its angle, which is at most pi
    double s


cdef inline Circle circle_of(const Cap* cap) noexcept nogil:
    cdef Circle circle
    cdef double x = fabs(cap.n.x), y = fabs(cap.n.y), z = fabs(cap.n.z)
    cdef Vec3 aside = vec3(x <= y and x <= z, y < x and y <= z, z < x and z < y)
    circle.n, circle.c, circle.s = cap.n, cap.c, cap.s
    circle.e1 = cross(cap.n, aside)
    circle.e1 = scale(1.0 / sqrt(dot(circle.e1, circle.e1)), circle.e1)
    circle.e2 = cross(cap.n, circle.e1)
    return circle


cdef inline Vec3 radial(const Circle* circle, double x, double y) noexcept nogil:
    """Unit vector in the circle's plane from its centre to the point at (cosine, sine) = (x, y)."""
    return add(scale(x, circle.e1), scale(y, circle.e2))


cdef inline Mark mark(const Circle* circle, Vec3 point) noexcept nogil:
    cdef Mark m
    cdef double x = dot(point, circle.e1), y = dot(point, circle.e2)
    cdef double size = 1.0 / sqrt(x * x + y * y)
    m.x, m.y = x * size, y * size
    m.key = m.y / (fabs(m.x) + fabs(m.y))
    m.key = 2.0 - m.key if m.x < 0.0 else (m.key if m.y >= 0.0 else 4.0 + m.key)
    return m


cdef inline void half_angle(double cosine, double sine, Arc* half) noexcept nogil:
    """Set cosine and sine of half an angle up to a turn, without cancellation."""
    if cosine > 0.0:
        half.c = sqrt(0.5 * (1.0 + cosine))
        half.s = 0.5 * sine / half.c
    else:
        half.s = sqrt(0.5 * (1.0 - cosine))
        half.c = 0.5 * sine / half.s


cdef inline Arc arc_between(Mark a, Mark b, double turn) noexcept nogil:
    """Return the arc from a counter-clockwise to b, whose keys differ by `turn`."""
    cdef Arc arc
    cdef double cosine = a.x * b.x + a.y * b.y, sine = a.x * b.y - a.y * b.x
    half_angle(cosine, fabs(sine) if cosine > 0.0 else sine, &arc)
    if cosine > 0.0 and turn >= 2.0:    # the keys distinguish a tiny arc from nearly a full turn
        arc.c = -arc.c
    arc.x, arc.y = a.x * arc.c - a.y * arc.s, a.y * arc.c + a.x * arc.s
    return arc


cdef inline int by_begin(const void* a, const void* b) noexcept nogil:
    cdef const Interval* p = <const Interval*> a
    cdef const Interval* q = <const Interval*> b
    if p.begin.key != q.begin.key:
        return -1 if p.begin.key < q.begin.key else 1
    return -1 if p.end_key < q.end_key else 1


cdef inline int covered_intervals(const Cap* caps, int count, int j, const Circle* circle,
                                  Interval* out) noexcept nogil:
    """Set the intervals of circle j that the other caps cover; return their number."""
    cdef int found = 0, k
    cdef double inner = 0.0, outer = 0.0, turn
    cdef Vec3 begin, end
    cdef Interval part
    for k in range(count):
        if k == j or compare(&caps[min(j, k)], &caps[max(j, k)], &inner, &outer) != CROSSING:
            continue
        if j < k:
            crossings(&caps[j], &caps[k], inner, outer, &begin, &end)
        else:
            crossings(&caps[k], &caps[j], inner, outer, &end, &begin)
        part.begin, part.end = mark(circle, begin), mark(circle, end)
        turn = part.end.key - part.begin.key
        if turn < 0.0:
            turn += 4.0
        part.end_key = part.begin.key + turn
        out[found] = part
        found += 1
    return found


cdef inline int exposed_arcs(const Cap* caps, int count, int j, const Circle* circle,
                             Interval* space, Arc* arcs) noexcept nogil:
    """Set the exposed arcs of circle j; return their number. `space` and `arcs` have room for `count` items."""
    cdef int covered = covered_intervals(caps, count, j, circle, space), found = 0, k, last = 0
    cdef double last_key
    if covered == 0:                    # the whole circle
        arcs[0].x, arcs[0].y, arcs[0].c, arcs[0].s = 1.0, 0.0, -1.0, 0.0
        return 1
    qsort(space, covered, sizeof(Interval), by_begin)
    for k in range(covered):
        if space[k].end_key > space[last].end_key:
            last = k
    last_key = space[last].end_key - 4.0     # end of the last one in the next turn
    for k in range(covered):
        if space[k].begin.key > last_key:
            arcs[found] = arc_between(space[last].end, space[k].begin, space[k].begin.key - last_key)
            found += 1
        if space[k].end_key > last_key:
            last_key, last = space[k].end_key, k
    return found
