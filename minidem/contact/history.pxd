"""Contacts with a history: what one thread keeps of them from step to step.

`last` holds the contacts at the present pose, `now` those at the pose that a step has reached; a completed step
exchanges them (`commit`). So a step can be undone, and forces can be evaluated again. A contact that ended is in
`now` once more, with a force of zero, so that the energy of its springs is accounted for.
"""
from minidem.contact.rows cimport MAX_RECORDS
from minidem.core.int_vector cimport IntVector, reserve

cdef enum:
    # Doubles of a result: force on the first body [N] (3), contact point [m] (3), lab; energies that each body
    # dissipated in the step [J], four floats in two doubles.
    RESULT = 8
    DOUBLE = 2                      # ints

cdef struct Touching:               # contacts at one pose, in the order of the lists
    Py_ssize_t n
    IntVector pairs                 # (n, 2): sphere or ghost; sphere, ghost or -1 - wall
    IntVector positions             # (n,) in the lists; -1 - position of a contact that has ended
    IntVector records[MAX_RECORDS]  # doubles (n + 1, 4): history, see rows.pxd; the first one is zero
    IntVector results               # doubles (n + 1, RESULT), see there; the first one is zero
    IntVector couples               # doubles (n + 1, 4): couple on the first body, lab [N m]; of laws that have couples

cdef struct HistoryTable:           # contacts of `last` by the lower slot of their two spheres
    int first_slot
    int n_slots
    const int *start                # (n_slots + 1,): index of the first entry of each slot
    const int *entries              # (start[n_slots], 2): other slot or -1 - wall; contact
    IntVector room                  # of these two arrays
    const Touching *contacts

cdef struct History:                # of one thread
    int n_records                   # of the law; 0: it has no history, and nothing here is used
    bint has_couples
    Touching last
    Touching now
    Touching carried                # `last`, while it is brought into the order of new lists
    IntVector sources               # (now.n,): 1 + index in `last`; 0: a new contact
    Py_ssize_t last_cursor          # contacts of `last` that have been passed
    Py_ssize_t list_cursor          # ints of the inner list that have been tested
    Py_ssize_t n_evaluated          # contacts of `now` that have been evaluated
    bint replay                     # forces of known contacts are those of `last`
    bint undone                     # a step may be undone: results of the last step are kept
    IntVector contact_at            # (positions of the lists,): 2 (1 + index in `now`); 0: no contact
    IntVector first_entry           # (own slots + 1,): where the entries of each slot begin
    IntVector entries               # 2 position + side, of each own sphere in canonical order of the other sides
    IntVector found_pairs           # room
    IntVector found_numbers
    IntVector slot_rows             # doubles (own member rows, SUM_ROWS, LANES)
    HistoryTable table


cdef inline double *doubles(const IntVector *vector) noexcept nogil:
    return <double *> vector.data


cdef inline bint reserve_doubles(IntVector *vector, Py_ssize_t count) noexcept nogil:
    """Room for so many doubles. False: memory exhausted."""
    return reserve(vector, DOUBLE * count)


cdef inline double *result_of(const Touching *touching, Py_ssize_t k) noexcept nogil:
    """Of contact number k: RESULT doubles."""
    return doubles(&touching.results) + RESULT * (k + 1)


cdef inline double *couple_of(const Touching *touching, Py_ssize_t k) noexcept nogil:
    return doubles(&touching.couples) + 4 * (k + 1)


cdef inline double *record_of(const Touching *touching, int r, Py_ssize_t k) noexcept nogil:
    """Record r of the history of contact number k: four doubles."""
    return doubles(&touching.records[r]) + 4 * (k + 1)


cdef inline bint reserve_contacts(Touching *touching, int n_records, Py_ssize_t n) noexcept nogil:
    """Room for n contacts, and eight more that are written but not used. False: memory exhausted."""
    cdef int r
    cdef bint fine = reserve(&touching.pairs, 2 * (n + 8)) and reserve(&touching.positions, n + 8) \
        and reserve_doubles(&touching.results, RESULT * (n + 9)) and reserve_doubles(&touching.couples, 4 * (n + 9))
    for r in range(n_records if fine else 0):
        fine &= reserve_doubles(&touching.records[r], 4 * (n + 9))
    return fine
