"""The work of a periodic box that moves, by contacts with images."""
from minidem.contact.contacts cimport Contacts
from minidem.contact.fixed_point cimport Wide
from minidem.core.vectors cimport LINE_PAIR
from minidem.state.state cimport StateView

cdef struct ImageWork:              # of own contacts of a thread, at a pose
    Wide half_steps[2]              # in the half steps that end and begin there
    char padding[LINE_PAIR]

cdef void observe_images(Contacts *contacts, ImageWork *work) noexcept nogil
cdef void sum_again(Contacts *contacts, const StateView *state, ImageWork *work) noexcept nogil
