"""Spheres in contact with walls: of neighbouring triangles the nearest one counts.

Each triangle within the radius of a sphere has a nearest point. Of two triangles, the one farther away is dropped if

* its nearest point belongs to the nearer triangle as well: the sphere is beside a face, at an edge or corner that both
  share, or at a joint of triangles without common corners; or
* they have a common corner, and the directions of the nearest points differ by less than the feature angle: both are
  parts of a surface that approximates a smooth one.

What remains are the places where the distance to the surface has a local minimum: a sphere over a seam of two coplanar
triangles feels one plane, over a convex edge a force that turns continuously, and in a concave corner two forces. The
potential energy is continuous. A dropped triangle that was a contact one step ago gives its history to the one that
replaced it, if their directions differ by less than the feature angle.
"""
from minidem.contact.blocks cimport ContactBlock, block_of
from minidem.contact.contacts cimport WALLS
from minidem.core.lanes cimport lane_of
from minidem.core.vectors cimport reserve
from minidem.core.vec3 cimport Vec3, add_scaled, dot, norm, sub
from minidem.walls.surface cimport Touch, near_element, overlaps_simple, point_in_lab, touch_triangle, vector
from minidem.walls.triangle cimport nearest_of

cdef extern from *:
    """
    #define MINIDEM_SAME_POINT 1e-5     /* distance of a point from a triangle / radius that counts as 0 */
    """
    const double SAME_POINT "MINIDEM_SAME_POINT"

cdef enum:
    FEW = 16                            # triangles that are all compared with each other

cdef struct Facet:                      # a candidate triangle of a sphere, in the frame of its wall
    double height
    Vec3 normal
    Vec3 point                          # of the triangle, nearest to the centre
    int element
    bint dropped


cdef inline bint same_direction(const Walls *walls, const Facet *a, const Facet *b) noexcept nogil:
    """Whether the directions of two triangles of a mesh are within its feature angle."""
    return dot(a.normal, b.normal) >= walls.smooth[walls.wall_of[a.element]]


cdef inline bint have_common_corner(const Walls *walls, const Facet *a, const Facet *b) noexcept nogil:
    cdef const int *first = walls.vertices + 3 * (a.element - walls.n_simple)
    cdef const int *second = walls.vertices + 3 * (b.element - walls.n_simple)
    cdef int k, m
    for k in range(3):
        for m in range(3):
            if first[k] == second[m]:
                return True
    return False


cdef inline bint has_point(const Walls *walls, const Facet *facet, Vec3 point, double distance) noexcept nogil:
    """Whether a triangle has a point, in the frame of the wall, or an image of it."""
    cdef int wall = walls.wall_of[facet.element]
    cdef Vec3 nearest
    if walls.repeats[wall]:
        point = near_element(walls, facet.element, point_in_lab(walls, wall, point))
    nearest = nearest_of(walls.corners + 9 * <Py_ssize_t> (facet.element - walls.n_simple), point).point
    return norm(sub(nearest, point)) < distance


cdef inline bint drops(const Walls *walls, const Facet *near, const Facet *far, double radius) noexcept nogil:
    """Whether a triangle does not count beside another one; both are within the radius."""
    if near.height > far.height or near.height == far.height and near.element >= far.element \
            or walls.wall_of[near.element] != walls.wall_of[far.element]:
        return False
    return same_direction(walls, near, far) and have_common_corner(walls, near, far) \
        or has_point(walls, near, far.point, SAME_POINT * radius)


cdef bint neighbour_drops(const Walls *walls, const Facet *facets, const int *reached, Py_ssize_t n, const Facet *far,
                          double radius) noexcept nogil:
    """Whether a triangle with a common corner drops one; reached : positions of n facets, by ascending element."""
    cdef const int *corners = walls.vertices + 3 * (far.element - walls.n_simple)
    cdef Py_ssize_t k, e, low, high, middle
    cdef int element
    for k in range(3):
        for e in range(walls.around_start[corners[k]], walls.around_start[corners[k] + 1]):
            element, low, high = walls.around[e], 0, n
            while high - low > 1:
                middle = (low + high) // 2
                if facets[reached[middle]].element <= element:
                    low = middle
                else:
                    high = middle
            if facets[reached[low]].element == element and drops(walls, facets + reached[low], far, radius):
                return True
    return False


cdef void drop_farther(const Walls *walls, Facet *facets, Py_ssize_t n, int *reached, double radius) noexcept nogil:
    """Mark the triangles that do not count. reached : room for n ints.

    Nearly all that are dropped of many are dropped by a neighbour, and few remain to be compared with all others.
    """
    cdef Py_ssize_t k, m, count = 0
    cdef Facet *far
    for k in range(n):
        facets[k].dropped = facets[k].height >= radius
        reached[count] = <int> k
        count += not facets[k].dropped
    for k in range(count):
        far = facets + reached[k]
        far.dropped = count > FEW and neighbour_drops(walls, facets, reached, count, far, radius)
        m = 0
        while m < count and not far.dropped:
            far.dropped = drops(walls, facets + reached[m], far, radius)
            m += 1


cdef inline bint replaces(const Walls *walls, const Facet *near, const Facet *far, double radius) noexcept nogil:
    """Whether a contact with a dropped triangle goes on with another one."""
    return walls.wall_of[near.element] == walls.wall_of[far.element] and same_direction(walls, near, far) \
        and (have_common_corner(walls, near, far) or has_point(walls, near, far.point, SAME_POINT * radius))


cdef void hand_over(Contacts *contacts, const Walls *walls, const Facet *facets, Py_ssize_t n, double radius,
                    Py_ssize_t first) noexcept nogil:
    """Contacts of dropped triangles become those of the triangles that replace them; first : place in the list."""
    cdef int *contact_at = contacts.contact_at.data + first
    cdef ContactBlock *block
    cdef Py_ssize_t k, m
    cdef int lane
    for k in range(n):
        if facets[k].dropped or contact_at[k]:
            continue
        for m in range(n):
            if facets[m].dropped and contact_at[m] and replaces(walls, facets + k, facets + m, radius):
                block, lane = block_of(&contacts.groups[WALLS], contact_at[m] - 1), lane_of(contact_at[m] - 1)
                block.second[lane], block.place[lane] = -1 - facets[k].element, <int> (first + k)
                contact_at[k], contact_at[m] = contact_at[m], 0
                break


cdef Py_ssize_t find_facets(const Walls *walls, const Neighbours *mine, const StateView *state, IntVector *room,
                            Py_ssize_t k, double reach) noexcept nogil:
    """The candidate triangles of one sphere from k on, into `room`; returns the end of its part of the list, or -1."""
    cdef const int *near = mine.wall_candidates.data
    cdef const double *sphere = state.spheres + 4 * <Py_ssize_t> near[k]
    cdef Py_ssize_t end = k, n, m
    cdef Facet *facets
    cdef Touch touch
    cdef Vec3 centre
    while end < mine.wall_candidates.size and near[end] == near[k]:
        end += 2
    n = (end - k) // 2
    if not reserve(room, n * <Py_ssize_t> (sizeof(Facet) // sizeof(int) + 1)):
        return -1
    facets = <Facet *> room.data
    for m in range(n):
        facets[m].element = near[k + 2 * m + 1]
        centre = near_element(walls, facets[m].element, vector(sphere))
        touch = touch_triangle(walls, facets[m].element, centre)
        facets[m].height, facets[m].normal = touch.height, touch.normal
        facets[m].point = add_scaled(centre, -touch.height, touch.normal)
    drop_farther(walls, facets, n, <int *> (facets + n), sphere[3] + reach)
    return end


cdef Py_ssize_t find_wall_pairs(const Walls *walls, const Neighbours *mine, const StateView *state, IntVector *room,
                                int *pairs, int64_t *numbers, Contacts *contacts, double reach) noexcept nogil:
    """Contacts of own spheres with walls; returns how many, or -1: memory exhausted.

    pairs : room for 2 ints per candidate: slot, -1 - element.  numbers : likewise, of the candidate in the list; NULL
        or with `contacts`, which contacts are handed over from triangle to triangle.
    reach : gap up to which they count [m].
    """
    cdef const int *near = mine.wall_candidates.data
    cdef const double *sphere
    cdef Py_ssize_t k, m, end, n = 0
    for k in range(mine.n_simple // 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[2 * k]
        pairs[2 * n], pairs[2 * n + 1] = near[2 * k], -1 - near[2 * k + 1]
        if numbers != NULL:
            numbers[n] = k
        n += overlaps_simple(walls, near[2 * k + 1], sphere, sphere[3] + reach)     # no branch: it is unpredictable
    k = mine.n_simple
    while k < mine.wall_candidates.size:
        end = find_facets(walls, mine, state, room, k, reach)
        if end < 0:
            return -1
        if contacts != NULL:
            hand_over(contacts, walls, <const Facet *> room.data, (end - k) // 2,
                      state.spheres[4 * <Py_ssize_t> near[k] + 3] + reach, k // 2)
        for m in range((end - k) // 2):
            pairs[2 * n], pairs[2 * n + 1] = near[k], -1 - near[k + 2 * m + 1]
            if numbers != NULL:
                numbers[n] = k // 2 + m
            n += not (<const Facet *> room.data)[m].dropped
        k = end
    return n
