"""The onset pass: corrections of contacts that begin or end within a step."""
from minidem.contact.contacts cimport Contacts
from minidem.engine.loop cimport Loop
from minidem.state.state cimport StateView

cdef void mark_onsets(Loop *loop, int thread) noexcept nogil
cdef void add_onset_forces(Loop *loop, int thread) noexcept nogil
cdef void take_onsets(Loop *loop, int thread, const unsigned char *kept) noexcept nogil
cdef void note_onsets(Contacts *contacts, const StateView *state) noexcept nogil
cdef object noted_onsets(const Loop *loop)
