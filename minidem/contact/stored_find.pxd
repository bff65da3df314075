"""Which contacts begin: of laws with records."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.law cimport Law
from minidem.contact.stored cimport Stored
from minidem.state.state cimport StateView

cdef void drop_known(const Stored *stored, Neighbours *mine) noexcept nogil
cdef bint find_new(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil
cdef void end_contact(Stored *stored, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil
cdef int find_known(const Stored *stored, int i, int j) noexcept nogil


cdef inline int table_key(const Stored *stored, int i, int j) noexcept nogil:
    """The own sphere under which a contact is listed: the lower one of two."""
    cdef bint first = <unsigned int> (i - stored.first_slot) < <unsigned int> stored.n_slots
    cdef bint second = <unsigned int> (j - stored.first_slot) < <unsigned int> stored.n_slots
    return (i if i < j else j) if first and second else (i if first else j)
