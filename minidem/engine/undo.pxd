"""Steps that call Python: user forces, schemes and laws written in Python. A step that fails is undone."""
from libc.string cimport memcpy

from minidem.broadphase.broadphase cimport NO_FAILURE
from minidem.broadphase.neighbours cimport Neighbours
from minidem.core.lanes cimport LANES
from minidem.core.openmp cimport barrier_wait
from minidem.engine.time_loop cimport Loop
from minidem.state.rows cimport WRENCH_ROWS


cdef inline bint python_failed(const Loop *loop) noexcept nogil:
    """Whether a rotation scheme or contact law written in Python has raised."""
    return loop.scheme_failed[0] or loop.law_failed[0]


cdef inline void save_own(Loop *loop, int thread) noexcept nogil:
    """Copy own blocks and wrenches; they are restored if the step fails."""
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Py_ssize_t size = loop.state.n_rows * LANES, count = mine.last_block - mine.first_block
    memcpy(loop.saved_blocks + mine.first_block * size, loop.state.blocks + mine.first_block * size,
           count * size * sizeof(double))
    size = WRENCH_ROWS * LANES
    memcpy(loop.saved_wrench + mine.first_block * size, loop.state.wrench + mine.first_block * size,
           count * size * sizeof(double))
    if loop.dissipated != NULL:
        memcpy(loop.saved_dissipated + mine.first_block * 4 * LANES, loop.dissipated + mine.first_block * 4 * LANES,
               count * 4 * LANES * sizeof(double))


cdef inline bint step_succeeded(Loop *loop) noexcept nogil:
    """Whether a step that calls Python is complete. Called by all threads together."""
    cdef bint fine
    cdef int t
    barrier_wait(&loop.broad.barrier, loop.n_threads)
    fine = not python_failed(loop)
    for t in range(loop.n_threads):
        fine &= loop.broad.threads[t].failure == NO_FAILURE
    barrier_wait(&loop.broad.barrier, loop.n_threads)   # no thread begins the next step before all have read this
    return fine
