"""See guard.pyx."""


cdef class Guard:
    cdef unsigned long thread           # that uses the simulation
    cdef int depth                      # of its calls that are under way
    cdef bint during_step               # the time loop is at work
