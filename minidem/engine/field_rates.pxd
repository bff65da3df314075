"""Fields of clumps in time: their rates, and values that follow from them."""
from minidem.engine.loop cimport Loop

cdef void advance_fields(Loop *loop, int thread, double ahead) noexcept nogil
cdef void take_amounts(Loop *loop, Py_ssize_t b) noexcept nogil
cdef void reduce_rates(Loop *loop, Py_ssize_t b, const double *sources, bint ends_step) noexcept nogil
