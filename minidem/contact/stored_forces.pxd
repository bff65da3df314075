"""Forces of contacts of laws with records."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks, ContactBlock
from minidem.contact.contact cimport Contact, Result
from minidem.contact.contact_motion cimport Side
from minidem.contact.law cimport Law
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.stored cimport Stored
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView

cdef bint evaluate_stored(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil
cdef bint take_sent(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil
cdef const WrenchBlock *reduce_stored(Stored *stored, const StateView *state, Py_ssize_t b,
                                      const WrenchBlock *body_force, WrenchBlock *wrench) noexcept nogil
cdef void describe_kept(const Law *law, const ContactBlock *block, const Contact *contact,
                        Result *result) noexcept nogil
cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil
cdef bint load_block(const Law *law, const StateView *state, const Blocks *blocks, Py_ssize_t b, bint walls,
                     Contact *contact, Side *sides, double *points, double *images) noexcept nogil
