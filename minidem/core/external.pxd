"""Functions of a user's own, in Python or compiled, in place of built-in ones."""

cdef class External:
    cdef public object functions            # those written in Python: role -> function
    cdef public object keep                 # owners of the C functions
    cdef public object values               # of the parameters, for Python functions
    cdef public object error                # exception raised by a Python function
    cdef public bint failed                 # whether there was one
    cdef object raise_error(self)

cdef object array_at(const double *rows, int count, int access)
