"""The narrow phase for laws with history."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport History
from minidem.contact.law cimport Law
from minidem.state.state cimport StateView

cdef bint find_touching(History *history, const Law *law, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil
cdef bint find_remaining_touching(History *history, const Law *law, const Neighbours *mine,
                                  const StateView *state) noexcept nogil
