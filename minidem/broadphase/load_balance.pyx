"""Load balance: each thread owns as many clumps as it processes in the same time.

A clump in a dense bed costs more than one in free flight, and other programs may use one of the processors: threads
with equal parts would wait for each other. Results do not depend on the owner of a clump (contact/reduce.pyx).
"""
from libc.stdlib cimport calloc, free

cdef extern from *:
    """
    #define MINIDEM_LEAST_TIME 0.0005
    #define MINIDEM_LEAST_CHANGE 0.01
    #define MINIDEM_LEAST_PART 0.25
    """
    const double LEAST_TIME "MINIDEM_LEAST_TIME"        # working time for a measurement of the speeds [s]
    const double LEAST_CHANGE "MINIDEM_LEAST_CHANGE"    # change of a part worth a rebalance, relative to an equal part
    const double LEAST_PART "MINIDEM_LEAST_PART"        # smallest part, relative to an equal part


cdef inline double wanted(Share share, double speed, int n) noexcept nogil:
    """Half way to the part that would have taken the same time as those of the other threads; speed is that of all.

    Half way, because much of a difference is noise.
    """
    return max(0.5 * (share.part + share.part / share.busy / speed), LEAST_PART / n)


cdef bint rebalance(Share *shares, int n) noexcept nogil:
    """New parts for n threads, unless they would change little. False: too little working time for a measurement."""
    cdef double longest = 0.0, speed = 0.0, total = 0.0, change = 0.0
    cdef int t
    for t in range(n):
        if not shares[t].busy > 0.0:
            return False
        longest = max(longest, shares[t].busy)
        speed += shares[t].part / shares[t].busy
    if longest < LEAST_TIME:
        return False
    for t in range(n):
        total += wanted(shares[t], speed, n)
    for t in range(n):
        change = max(change, abs(wanted(shares[t], speed, n) / total - shares[t].part))
    for t in range(n if change * n > LEAST_CHANGE else 0):
        shares[t].part = wanted(shares[t], speed, n) / total
    return True


def rebalanced_parts(parts, busy):
    """The result of `rebalance` for parts (n,) and working times (n,) [s]; for tests."""
    cdef int t, n = len(parts)
    cdef Share *shares = <Share *> calloc(n, sizeof(Share))
    try:
        for t in range(n):
            shares[t].part, shares[t].busy = parts[t], busy[t]
        rebalance(shares, n)
        return [shares[t].part for t in range(n)]
    finally:
        free(shares)
