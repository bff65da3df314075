"""Memory of the time loop that depends on the layout: lists of candidates and contacts."""
from minidem.broadphase.broadphase cimport Broadphase, create_broadphase, free_broadphase
from minidem.contact.narrow_phase cimport Contacts, create_contacts, free_contacts, set_owned_slots
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FORCE, MASS
from minidem.state.state cimport StateView


cdef inline void set_body_force(const double[:, :, ::1] fixed, const double[::1] gravity,
                                double[:, :, ::1] body_force) noexcept nogil:
    """Gravity on each clump of each block type, into the FORCE rows."""
    cdef const double *rows
    cdef double *force
    cdef Py_ssize_t m
    cdef int k, lane
    for m in range(fixed.shape[0]):
        rows, force = &fixed[m, 0, 0] + MASS * LANES, &body_force[m, 0, 0] + FORCE * LANES
        for k in range(3):
            for lane in range(LANES):
                force[k * LANES + lane] = rows[lane] * gravity[k]


cdef inline bint create_lists(Broadphase *broad, Contacts *contacts, const StateView *state, int n_threads,
                              int log_slab) noexcept nogil:
    """Allocate lists and contacts. False: memory exhausted.

    broad, contacts (n_threads,) : all zero before.
    log_slab : see Neighbours.
    """
    cdef int t
    cdef bint fine = create_broadphase(broad, state, n_threads, log_slab)
    for t in range(n_threads if fine else 0):
        fine &= create_contacts(contacts + t, state)
        set_owned_slots(contacts + t, broad.threads + t, state)
    return fine


cdef inline void free_lists(Broadphase *broad, Contacts *contacts, int n_threads) noexcept nogil:
    cdef int t
    for t in range(n_threads if contacts != NULL else 0):
        free_contacts(contacts + t)
    free_broadphase(broad)
