"""Random numbers of clumps, functions of seed, id and step: see philox.h."""
from libc.stdint cimport uint64_t

cdef extern from "core/philox.h" nogil:
    void random_numbers "minidem_random_numbers"(uint64_t seed, uint64_t id, uint64_t step, int n, double *out,
                                                 int stride)
