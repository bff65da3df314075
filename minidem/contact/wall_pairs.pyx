"""Which primitives of walls near a sphere it touches, and how a contact goes from one triangle to the next.

Of the triangles near a sphere some count (walls/surface.pyx); one that was a contact and counts no more gives its
history to the one that replaced it, if their directions differ by less than the feature angle.
"""
from minidem.contact.blocks cimport ContactBlock, block_of
from minidem.contact.contacts cimport WALLS
from minidem.core.lanes cimport lane_of
from minidem.core.vectors cimport grow, reserve
from minidem.walls.surface cimport Facet, Walls, find_facets, overlaps_simple, replaces


cdef void hand_over(Contacts *contacts, double radius, Py_ssize_t first) noexcept nogil:
    """Hand contacts of dropped triangles over to the triangles that replace them; first : of them in the list."""
    cdef const Facet *facets = contacts.facets.data
    cdef Py_ssize_t n = contacts.facets.size
    cdef int *contact_at = contacts.contact_at.data + first
    cdef ContactBlock *block
    cdef Py_ssize_t k, m
    cdef int lane
    for k in range(n):
        if facets[k].dropped or contact_at[k]:
            continue
        for m in range(n):
            if facets[m].dropped and contact_at[m] and replaces(contacts.law.walls, facets + k, facets + m, radius):
                block, lane = block_of(&contacts.groups[WALLS], contact_at[m] - 1), lane_of(contact_at[m] - 1)
                block.second[lane], block.wall_pair[lane] = -1 - facets[k].primitive, <int> (first + k)
                contact_at[k], contact_at[m] = contact_at[m], 0
                break


cdef Py_ssize_t find_near_triangles(Contacts *contacts, const Neighbours *mine, const StateView *state, Py_ssize_t k,
                                    double reach) noexcept nogil:
    """The triangles near one sphere, from k on in the list, into `facets`; returns where the next sphere begins."""
    cdef const int *near = mine.wall_pairs.data
    cdef const double *sphere = state.spheres + 4 * <Py_ssize_t> near[k]
    cdef Py_ssize_t end = k, n, m
    while end < mine.wall_pairs.size and near[end] == near[k]:
        end += 2
    n, contacts.facets.size = (end - k) // 2, 0
    if grow(&contacts.facets, n, sizeof(Facet)) and reserve(&contacts.order, n):
        contacts.facets.size = n
        for m in range(n):
            contacts.facets.data[m].primitive = near[k + 2 * m + 1]
        find_facets(contacts.law.walls, sphere, sphere[3] + reach, contacts.facets.data, n, contacts.order.data)
    return end


cdef Py_ssize_t find_wall_pairs(Contacts *contacts, const Neighbours *mine, const StateView *state, int *pairs,
                                int *listed, double reach) noexcept nogil:
    """Contacts of own spheres with walls; returns how many.

    pairs : room for 2 ints per pair: slot, -1 - primitive.  listed : room for one int per pair, its index in the
        list; with them contacts are handed over from triangle to triangle. NULL: of a law without history.
    reach : gap up to which they count [m].
    """
    cdef const Walls *walls = contacts.law.walls
    cdef const int *near = mine.wall_pairs.data
    cdef const double *sphere
    cdef Py_ssize_t k, m, end, n = 0
    for k in range(mine.n_simple // 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[2 * k]
        pairs[2 * n], pairs[2 * n + 1] = near[2 * k], -1 - near[2 * k + 1]
        if listed != NULL:
            listed[n] = <int> k
        n += overlaps_simple(walls, near[2 * k + 1], sphere, sphere[3] + reach)     # no branch: it is unpredictable
    k = mine.n_simple
    while k < mine.wall_pairs.size:
        end = find_near_triangles(contacts, mine, state, k, reach)
        if listed != NULL:
            hand_over(contacts, state.spheres[4 * <Py_ssize_t> near[k] + 3] + reach, k // 2)
        for m in range(contacts.facets.size):
            pairs[2 * n], pairs[2 * n + 1] = near[k], -1 - near[k + 2 * m + 1]
            if listed != NULL:
                listed[n] = <int> (k // 2 + m)
            n += not contacts.facets.data[m].dropped
        k = end
    return n
