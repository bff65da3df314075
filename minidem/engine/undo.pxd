"""One way back: copies of all that steps change."""
from minidem.loop.loop cimport Loop


cdef class Undo:
    cdef list arrays                    # that steps change
    cdef list copies                    # of them; empty: there is no memory for them yet
    cdef object values                  # see `keep`; None: there is nothing to go back to
    cdef bint is_small
    cdef double due                     # when a run makes the next copies [s]
    cdef bint is_due(self)
    cdef object keep(self, Loop *loop, tuple values, bint rebuilds)
    cdef tuple go_back(self, Loop *loop)
    cdef object forget(self, Loop *loop)
