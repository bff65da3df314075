"""Fields of clumps in time: their rates, and values that follow from them.

The rate of a field at the pose of a whole step is the sum of those of contacts and forces, divided by its capacity. The
value goes on by the two-step Adams-Bashforth formula, of second order as the leapfrog is; in the first step of a clump
by that of Euler.

    f_(n+1) = f_n + dt (3 r_n - r_(n-1)) / 2 + a_(n+1)

The amounts a_(n+1) that contacts transfer at the pose of step n + 1, divided by the capacity as well, are added there,
after all contacts have been evaluated. Evaluations between two steps transfer nothing.
"""
from libc.string cimport memset

from minidem.contact.exact_sum cimport SUM_PARTS, exact_total
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FIELD_ROWS, HAS_LAST, LAST_RATE, PER_CAPACITY, RATE, VALUE


cdef inline double *rows_of(const Loop *loop, Py_ssize_t b, int component) noexcept nogil:
    """(FIELD_ROWS, LANES)"""
    return loop.state.blocks + (b * loop.state.n_rows + loop.law.fields.first_row
                                + component * <Py_ssize_t> FIELD_ROWS) * LANES


cdef void advance_fields(Loop *loop, int thread, double ahead) noexcept nogil:
    """Values of the fields of own clumps, `ahead` [s] later. No other thread may read them meanwhile.

    The run ends with this step if one is not finite.
    """
    cdef Py_ssize_t b
    cdef double *rows
    cdef double change, zeros[LANES]
    cdef int c, lane
    memset(zeros, 0, sizeof(zeros))
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        for c in range(loop.law.fields.n):
            rows = rows_of(loop, b, c)
            for lane in range(LANES):
                change = rows[HAS_LAST * LANES + lane] * (rows[RATE * LANES + lane] - rows[LAST_RATE * LANES + lane])
                rows[VALUE * LANES + lane] += ahead * (rows[RATE * LANES + lane] + 0.5 * change)
                zeros[lane] += 0.0 * rows[VALUE * LANES + lane]
    for lane in range(LANES):
        if zeros[lane] != 0.0:                          # not a number
            loop.broad.threads[thread].ends_run = True


cdef void take_amounts(Loop *loop, Py_ssize_t b) noexcept nogil:
    """Add the amounts that contacts transfer at this pose to the values of a block. No other thread may read them."""
    cdef int n = loop.law.fields.n, c, lane
    cdef double *rows
    for c in range(n if loop.law.fields.transfers[b] else 0):
        rows = rows_of(loop, b, c)
        for lane in range(LANES):
            rows[VALUE * LANES + lane] += rows[PER_CAPACITY * LANES + lane] * exact_total(
                loop.law.fields.amounts + ((b * LANES + lane) * n + c) * SUM_PARTS)


cdef void reduce_rates(Loop *loop, Py_ssize_t b, const double *sources, bint ends_step) noexcept nogil:
    """Rates of the fields of a block. sources : (components, LANES), of forces.  ends_step : a step has led here."""
    cdef int n = loop.law.fields.n, c, lane
    cdef double *rows
    cdef double rate
    for c in range(n):
        rows = rows_of(loop, b, c)
        for lane in range(LANES):
            rate = sources[c * LANES + lane]
            if loop.law.fields.sums != NULL:
                rate += exact_total(loop.law.fields.sums + ((b * LANES + lane) * n + c) * SUM_PARTS)
            if ends_step:
                rows[LAST_RATE * LANES + lane], rows[HAS_LAST * LANES + lane] = rows[RATE * LANES + lane], 1.0
            rows[RATE * LANES + lane] = rate * rows[PER_CAPACITY * LANES + lane]
