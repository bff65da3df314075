"""Load balance: the fraction of the clumps that each thread owns."""

cdef struct Share:                  # of a thread
    double part                     # fraction of the clumps
    double busy                     # working time with these shares [s]

cdef bint rebalance(Share *shares, int n) noexcept nogil
