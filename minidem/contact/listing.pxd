"""All contacts at the present pose, as arrays for Python."""
from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contacts cimport Contacts, Room
from minidem.contact.law cimport Law
from minidem.state.state cimport State, StateView


cdef object all_blocks(const Contacts *contacts, int n_threads)
cdef void load_room(const Law *law, const StateView *state, const ContactBlock *block, bint walls,
                    Room *room) noexcept nogil
cdef object list_contacts(State state, const StateView *view, const Contacts *contacts, int n_threads, double above)
cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads)
