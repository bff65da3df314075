"""What broke in the contacts of a time loop."""
from libc.stdint cimport int64_t

from minidem.core.vectors cimport LINE_PAIR
from minidem.loop.loop cimport Loop

cdef struct Fracture:               # of an own contact
    int64_t step                    # number of the step at whose end it broke
    double energy                   # [J]
    int first, second               # spheres in the user's numbers, the first one smaller; or -1 - primitive of a wall

cdef struct FractureVector:         # which a thread has noted, and which have not yet been taken
    Fracture *data
    Py_ssize_t size
    Py_ssize_t capacity
    char padding[LINE_PAIR]


cdef class Fractures:
    cdef int n_threads
    cdef FractureVector *noted
    cdef object known
    cdef object attach(self, Loop *loop, known, bint breaks)
    cdef object take(self, driver)
    cdef object go_back(self, known)
