"""Forces of contacts."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport Contact, Result
from minidem.contact.contact_motion cimport Bodies
from minidem.contact.contacts cimport Contacts
from minidem.contact.law cimport Law
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView


cdef void find_contacts(Contacts *contacts, Neighbours *mine, const StateView *state, Py_ssize_t end) noexcept nogil
cdef void evaluate_contacts(Contacts *contacts, Neighbours *mine, const StateView *state) noexcept nogil
cdef void clear_sent(Contacts *contacts) noexcept nogil
cdef void take_sent(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil
cdef void describe_kept(const Law *law, const ContactBlock *block, const Contact *contact,
                        Result *result) noexcept nogil
cdef void prepare_room(Contacts *contacts) noexcept nogil
cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil
cdef bint load_block(const Law *law, const StateView *state, const ContactBlock *block, bint walls, Contact *contact,
                     Bodies *sides, double *images) noexcept nogil
cdef void call_central(const Law *law, const Contact *contact, double *magnitude, double *force) noexcept nogil
cdef void add_central(Contacts *contacts, const ContactBlock *block, const double *force, const Bodies *sides,
                      bint walls) noexcept nogil
cdef void add_image_work(Contacts *contacts, const int *first, int free_slot, const double *force,
                         const double *images) noexcept nogil

cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const WrenchBlock *base,
                                     WrenchBlock *wrench) noexcept nogil
