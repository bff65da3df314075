"""The onset pass: corrections of contacts that begin or end within a step."""
from minidem.contact.contacts cimport Contacts
from minidem.engine.loop cimport Loop
from minidem.state.state cimport StateView

cdef struct Onset:                  # a correction
    double force                    # [N]
    int first, second               # spheres in the user's numbers, the first one smaller; or -1 - element of a wall


cdef void mark_onsets(Loop *loop, int thread) noexcept nogil
cdef void add_onset_forces(Loop *loop, int thread) noexcept nogil
cdef bint take_onsets(Loop *loop, int thread, const unsigned char *kept) noexcept nogil
cdef void note_onsets(Contacts *contacts, const StateView *state) noexcept nogil
cdef object noted_onsets(const Loop *loop)
