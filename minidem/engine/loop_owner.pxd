"""See loop_owner.pyx."""
from minidem.rotation.scheme cimport Kernels
from minidem.state.state cimport Order, State
from minidem.engine.time_loop cimport Loop

cdef class LoopOwner:
    cdef Loop loop
    cdef readonly State state
    cdef readonly bint contacts_known   # contacts have been looked for at the present pose
    cdef readonly object broken         # why the state is not whole; None: it is
    cdef Kernels kernels
    cdef long long next_order           # number of the outer list at which clumps are ordered anew
    cdef object keep
    cdef object gravity
    cdef object weights
    cdef object set_scheme(self, scheme, parameters)
    cdef object allocate(self, int n_threads)
    cdef object fill(self)
    cdef object weights_of(self, fixed)
    cdef object order_if_due(self)
    cdef object forget_lists(self)
    cdef object order_with_lists(self, Order new)
    cdef object use_one_thread(self)
