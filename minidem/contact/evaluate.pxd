"""Forces of contacts."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport SideBlock, Contact, Result
from minidem.contact.contacts cimport Contacts
from minidem.core.instant cimport Instant
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView


cdef void find_contacts(Contacts *contacts, Neighbours *mine, const StateView *state, Py_ssize_t end,
                        const Instant *now) noexcept nogil
cdef void evaluate_contacts(Contacts *contacts, Neighbours *mine, const StateView *state,
                            const Instant *now) noexcept nogil
cdef void prepare_room(Contacts *contacts) noexcept nogil
