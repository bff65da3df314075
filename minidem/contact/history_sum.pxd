"""Sums of the forces of contacts with history, in canonical order."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport History
from minidem.contact.narrow_phase cimport Contacts
from minidem.state.state cimport StateView

cdef struct Ranges:                 # of the positions in the lists of a thread
    Py_ssize_t own                  # pairs of own spheres come first
    Py_ssize_t walls                # then those of spheres and walls, then cross-thread pairs
    Py_ssize_t all


cdef inline Ranges ranges_of(const Neighbours *mine) noexcept nogil:
    cdef Ranges ranges
    ranges.own, ranges.walls = mine.n_own // 2, mine.walls.size // 2
    ranges.all = mine.pairs.size // 2 + ranges.walls
    return ranges


cdef inline void candidate_at(const Neighbours *mine, const Ranges *ranges, Py_ssize_t position,
                              int *pair) noexcept nogil:
    """The two bodies of the candidate at a position of the lists."""
    cdef Py_ssize_t k = position - ranges.own
    if 0 <= k < ranges.walls:
        pair[0], pair[1] = mine.walls.data[2 * k], -1 - mine.walls.data[2 * k + 1]
        return
    k = position if k < 0 else position - ranges.walls
    pair[0], pair[1] = mine.pairs.data[2 * k], mine.pairs.data[2 * k + 1]


cdef bint prepare_order(History *history, const Neighbours *mine, const StateView *state) noexcept nogil
cdef void sum_in_order(Contacts *contacts, const Neighbours *mine, const StateView *state,
                       double *dissipated) noexcept nogil
cdef const double *reduce_couples(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *body_force,
                                  double *wrench) noexcept nogil
