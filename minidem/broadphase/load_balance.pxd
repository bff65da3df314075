"""What part of the clumps each thread owns."""

cdef struct Share:                  # of a thread
    double part                     # of the clumps; those of all threads together are 1
    double busy                     # time that it worked since the clumps were shared out [s]

cdef bint rebalance(Share *shares, int n) noexcept nogil
