"""Contacts with history over a rebuild of the lists."""
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.history cimport History, HistoryTable
from minidem.contact.narrow_phase cimport Contacts
from minidem.state.state cimport StateView

cdef bint tabulate(Contacts *contacts, const StateView *state) noexcept nogil
cdef bint carry_over(Contacts *all, int thread, int n_threads, const HistoryTable *imported, const Neighbours *mine,
                     const StateView *state) noexcept nogil
cdef void take_carried(History *history) noexcept nogil
