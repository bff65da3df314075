"""The fused pass over the blocks of a thread."""
from minidem.engine.loop cimport Loop

cdef Py_ssize_t advance_blocks(Loop *loop, int thread, int stage, bint norms, bint wrench_known, Py_ssize_t first,
                               Py_ssize_t last, Py_ssize_t active) noexcept nogil
