"""What part of the clumps each thread owns: as many as it gets done in the same time.

A clump in a dense bed costs more than one that flies, and a processor that others use as well does less, now the one
and now the other: threads that own equal parts wait for each other. The results do not depend on who owns a clump,
since sums are ordered by the user's numbers (contact/gather.pyx).
"""
from libc.stdlib cimport calloc, free

cdef extern from *:
    """
    #define MINIDEM_TELLING_TIME 0.0005
    #define MINIDEM_LEAST_CHANGE 0.01
    #define MINIDEM_LEAST_PART 0.25
    """
    const double TELLING_TIME "MINIDEM_TELLING_TIME"    # of work from which the threads' speeds can be told [s]
    const double LEAST_CHANGE "MINIDEM_LEAST_CHANGE"    # of a part, relative to an equal one, that is worth it
    const double LEAST_PART "MINIDEM_LEAST_PART"        # of an equal one


cdef inline double wanted(Share share, double speed, int n) noexcept nogil:
    """Half way to the part that would have taken a thread as long as all others, which have this speed together.

    Much of what differs once does not differ twice.
    """
    return max(0.5 * (share.part + share.part / share.busy / speed), LEAST_PART / n)


cdef bint rebalance(Share *shares, int n) noexcept nogil:
    """New parts for n threads, unless little would change. False: they have not worked long enough to tell."""
    cdef double longest = 0.0, speed = 0.0, total = 0.0, change = 0.0
    cdef int t
    for t in range(n):
        if not shares[t].busy > 0.0:
            return False
        longest = max(longest, shares[t].busy)
        speed += shares[t].part / shares[t].busy
    if longest < TELLING_TIME:
        return False
    for t in range(n):
        total += wanted(shares[t], speed, n)
    for t in range(n):
        change = max(change, abs(wanted(shares[t], speed, n) / total - shares[t].part))
    for t in range(n if change * n > LEAST_CHANGE else 0):
        shares[t].part = wanted(shares[t], speed, n) / total
    return True


def rebalanced_parts(parts, busy):
    """The parts that `rebalance` makes of these, where each thread was busy for so long [s]."""
    cdef int t, n = len(parts)
    cdef Share *shares = <Share *> calloc(n, sizeof(Share))
    try:
        for t in range(n):
            shares[t].part, shares[t].busy = parts[t], busy[t]
        rebalance(shares, n)
        return [shares[t].part for t in range(n)]
    finally:
        free(shares)
