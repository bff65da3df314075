"""Exclusive use of a simulation."""


cdef class Guard:
    cdef unsigned long thread           # the thread that uses the simulation
    cdef int depth                      # its nested calls
    cdef bint during_step               # the time loop is running
