"""Contacts with a history: what one thread keeps of them from step to step.

Each contact keeps its number, and all that is known of it is replaced in place, from the step in which it begins to the
one in which it ends. It is then evaluated once more, with a force of zero, so that the energy of its springs is
accounted for, and the last contact gets its number. A rebuild of the lists numbers the contacts in the order of the
lists (history_carry.pyx). Where a step may be undone, `saved` is a copy from its beginning.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from minidem.contact.rows cimport MAX_RECORDS
from minidem.core.int_vector cimport IntVector, reserve

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void **address, size_t alignment, size_t size)

cdef enum:
    # Doubles of a result: force on the first body, lab [N] (3); part of the overlap on either side [m]; unit normal,
    # from the second to the first body, times the force [N] (3); zero. So the moment about the centre of either sphere
    # is -(radius - part) times the second vector, and a result fills a cache line.
    RESULT = 8
    LEVER = 3
    MOMENT = 4
    DOUBLE = 2                      # ints
    CACHE_LINE = 64                 # bytes

cdef struct Touching:               # contacts at one pose
    Py_ssize_t n
    IntVector pairs                 # (n, 2): sphere or ghost; sphere, ghost or -1 - element of a wall
    IntVector positions             # (n,) in the lists
    IntVector parities              # (n,): of the step that evaluated them last
    IntVector records[MAX_RECORDS]  # doubles (n, 4): history, see rows.pxd
    IntVector results               # doubles (n, RESULT), see there
    IntVector energies              # floats (n, 4): dissipated in the last step, at each of the two bodies [J]
    IntVector couples               # doubles (n, 4): couple on the first body, lab [N m]; of laws that have couples

cdef struct HistoryTable:           # contacts by the lower slot of their two spheres
    int first_slot
    int n_slots
    const int *start                # (n_slots + 1,): index of the first entry of each slot
    const int *entries              # (start[n_slots], 2): other slot or -1 - element; contact
    IntVector room                  # of these two arrays
    const Touching *contacts

cdef struct History:                # of one thread
    int n_records                   # of the law; 0: it has no history, and nothing here is used
    bint has_couples
    Touching contacts
    Touching spare                  # the contacts while they are brought into the order of new lists
    Touching saved                  # where a step may be undone: the contacts before it
    int first_slot                  # of the own spheres
    int n_slots
    int parity                      # of the step
    bint resumed                    # lists were rebuilt in this step: some contacts are evaluated already
    bint replay                     # known contacts keep their forces
    Py_ssize_t list_cursor          # ints of the inner list that have been tested
    IntVector pending               # contacts to be evaluated
    IntVector ended                 # contacts that ended in this step
    double force_after_end[3]       # on the first body of one of them, where it must be zero [N] ...
    int pair_after_end[2]           # ... its pair ...
    bint has_force_after_end        # ... if there is one
    IntVector contact_at            # (positions of the lists,): 1 + contact; 0: none
    IntVector first_entry           # (own slots + 1,): where the entries of each slot begin
    IntVector entries               # 2 position + side, of each own sphere in canonical order of the other sides
    IntVector contacts_of           # (entries,): 2 contact + side, of each own sphere likewise
    IntVector n_contacts_of         # (own slots,): -1: to be listed again
    IntVector found_pairs           # room
    IntVector found_numbers
    IntVector facets                # likewise, for the triangles near one sphere
    IntVector slot_rows             # doubles (own member rows, SUM_ROWS, LANES)
    HistoryTable table


cdef inline double *doubles(const IntVector *vector) noexcept nogil:
    return <double *> vector.data


cdef inline float *floats(const IntVector *vector) noexcept nogil:
    return <float *> vector.data


cdef inline bint reserve_doubles(IntVector *vector, Py_ssize_t count) noexcept nogil:
    """Room for so many doubles, from a cache line on; contents are kept. False: memory exhausted."""
    cdef void *data = NULL
    cdef Py_ssize_t capacity = DOUBLE * (count + count // 2 + 64)
    if DOUBLE * count <= vector.capacity:
        return True
    if posix_memalign(&data, CACHE_LINE, capacity * sizeof(int)) != 0:
        return False
    if vector.capacity > 0:
        memcpy(data, vector.data, vector.capacity * sizeof(int))
        free(vector.data)
    vector.data, vector.capacity = <int *> data, capacity
    return True


cdef inline double *result_of(const Touching *touching, Py_ssize_t k) noexcept nogil:
    """Of contact number k: RESULT doubles."""
    return doubles(&touching.results) + RESULT * k


cdef inline double *couple_of(const Touching *touching, Py_ssize_t k) noexcept nogil:
    return doubles(&touching.couples) + 4 * k


cdef inline double *record_of(const Touching *touching, int r, Py_ssize_t k) noexcept nogil:
    """Record r of the history of contact number k: four doubles."""
    return doubles(&touching.records[r]) + 4 * k


cdef inline bint reserve_contacts(Touching *touching, int n_records, bint has_couples, Py_ssize_t n) noexcept nogil:
    """Room for n contacts. False: memory exhausted."""
    cdef int r
    cdef bint fine = reserve(&touching.pairs, 2 * n) and reserve(&touching.positions, n) \
        and reserve(&touching.parities, n) and reserve_doubles(&touching.results, RESULT * n) \
        and reserve_doubles(&touching.energies, 2 * n) and reserve_doubles(&touching.couples, 4 * n * has_couples)
    for r in range(n_records if fine else 0):
        fine &= reserve_doubles(&touching.records[r], 4 * n)
    return fine


cdef inline void list_again(History *history, const int *pair) noexcept nogil:
    """The contacts of both spheres of a pair have changed, or their numbers."""
    cdef int side
    cdef unsigned int own
    for side in range(2):
        own = <unsigned int> (pair[side] - history.first_slot)
        if own < <unsigned int> history.n_slots:
            history.n_contacts_of.data[own] = -1


cdef inline void copy_contact(Touching *to, Py_ssize_t n, const Touching *source, Py_ssize_t k, int n_records,
                              bint has_couples, double sign) noexcept nogil:
    """Contact k of `source` as number n of `to`, but for pair and position; sign : -1 if its bodies are exchanged."""
    cdef const double *old
    cdef double *new
    cdef int r, m
    to.parities.data[n] = source.parities.data[k]
    for r in range(n_records):
        old, new = record_of(source, r, k), record_of(to, r, n)
        for m in range(3):
            new[m] = sign * old[m]
        new[3] = old[3]
    old, new = result_of(source, k), result_of(to, n)
    memcpy(new, old, RESULT * sizeof(double))
    for m in range(3):
        new[m] = sign * old[m]
    memcpy(floats(&to.energies) + 4 * n, floats(&source.energies) + 4 * k, 4 * sizeof(float))
    old, new = couple_of(source, k), couple_of(to, n)
    for m in range(4 * has_couples):
        new[m] = sign * old[m]


cdef bint begin_step(History *history, bint replay, bint undoable) noexcept nogil
cdef bint save_contacts(History *history) noexcept nogil
cdef void resume_step(History *history) noexcept nogil
cdef void restore_contacts(History *history) noexcept nogil
cdef void commit(History *history) noexcept nogil
cdef void release_history(History *history) noexcept nogil
