"""Displacement of the clumps since the last outer rebuild: does the outer list still hold all candidates?"""
from libc.math cimport sqrt

from minidem.broadphase.broadphase cimport REFERENCE_ROWS, Broadphase, Report
from minidem.broadphase.neighbours cimport Neighbours
from minidem.core.clock cimport clock
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.state.rows cimport ORIENTATION, PATH, POSITION, TURN_BOUND
from minidem.state.state cimport StateView, fixed_rows
from minidem.state.turn_bound cimport turn_squared
from minidem.walls.surface cimport Walls


cdef inline int measure_block(double *block, const double *reference, const double *turn_bound, double limit,
                              double *longest) noexcept nogil:
    """Bits of lanes: 1 << lane if a sphere moved by more than `limit`, 256 << lane if the pose is not finite.

    reference : pose (REFERENCE_ROWS, LANES) at the last outer rebuild.
    longest : the largest PATH so far; the row PATH is set to zero.
    """
    cdef double x, y, z, total
    cdef int lane, exceeded[LANES], not_finite[LANES], bits = 0
    for lane in range(LANES):
        x = block[POSITION * LANES + lane] - reference[lane]
        y = block[(POSITION + 1) * LANES + lane] - reference[LANES + lane]
        z = block[(POSITION + 2) * LANES + lane] - reference[2 * LANES + lane]
        exceeded[lane] = not sqrt(x * x + y * y + z * z) + sqrt(turn_squared(
            reference + 3 * LANES + lane, block + ORIENTATION * LANES + lane, turn_bound + lane)) <= limit
        total = block[POSITION * LANES + lane] + block[(POSITION + 1) * LANES + lane] \
            + block[(POSITION + 2) * LANES + lane] + block[ORIENTATION * LANES + lane] \
            + block[(ORIENTATION + 1) * LANES + lane] + block[(ORIENTATION + 2) * LANES + lane] \
            + block[(ORIENTATION + 3) * LANES + lane]
        not_finite[lane] = total - total != 0.0
    for lane in range(LANES):
        bits |= (exceeded[lane] << lane) | (not_finite[lane] << (lane + LANES))
        longest[0] = max(longest[0], block[PATH * LANES + lane])
        block[PATH * LANES + lane] = 0.0
    return bits


cdef void measure_displacement(Broadphase *broad, int thread, StateView *state, const Walls *walls) noexcept nogil:
    """Displacements of own clumps and walls since the last outer rebuild, into the report of this thread."""
    cdef Report *report = broad.reports + thread
    cdef Neighbours *mine = broad.threads + thread
    cdef double limit = 0.5 * (broad.outer_skin - broad.inner_skin), longest = 0.0
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef double *block
    cdef Py_ssize_t b
    cdef int lane, bits, all_bits = 0
    for b in range(mine.first_block, mine.last_block):
        block = state.blocks + b * state.n_rows * LANES
        if large:
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, ORIENTATION, 4)
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, POSITION, 3)
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, PATH, 1)
        bits = measure_block(block, broad.reference_poses + b * REFERENCE_ROWS * LANES,
                             fixed_rows(state, b) + TURN_BOUND * LANES, limit, &longest)
        all_bits |= bits
        for lane in range(LANES):
            if bits >> (lane + LANES) & 1:
                report.lost = 1 + state.clump_number[b * LANES + lane]
    report.outer_skin_exceeded = all_bits & ((1 << LANES) - 1) != 0 \
        or walls.travelled - mine.outer_travelled > limit
    report.path = longest * 0.5 * broad.inner_skin
    broad.shares[thread].busy = mine.worked + clock() - mine.began - mine.waited


cdef void store_reference_poses(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Copy the poses of own clumps."""
    cdef Py_ssize_t b, k
    cdef const double *block
    cdef double *reference
    for b in range(broad.threads[thread].first_block, broad.threads[thread].last_block):
        block = state.blocks + b * state.n_rows * LANES
        reference = broad.reference_poses + b * REFERENCE_ROWS * LANES
        for k in range(3 * LANES):
            reference[k] = block[POSITION * LANES + k]
        for k in range(4 * LANES):
            reference[3 * LANES + k] = block[ORIENTATION * LANES + k]
