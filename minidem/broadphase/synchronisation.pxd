"""What the threads exchange: ghosts and reports, and the epochs that say which of them are complete.

Once per evaluation a thread publishes its ghosts and its report, as soon as its own spheres are posed, and waits for
those of the others. Before it publishes again, all threads must have read what it published last; since that was one
evaluation ago, this wait is rarely long. A thread that is late now and then does not delay the others.
"""
from minidem.broadphase.broadphase cimport NO_FAILURE, Broadphase, Report
from minidem.broadphase.ghosts cimport copy_ghosts
from minidem.broadphase.neighbours cimport Neighbours
from minidem.core.clock cimport clock
from minidem.core.openmp cimport Epoch, advance_epoch, await_epoch, barrier_wait, reached
from minidem.state.state cimport StateView


cdef enum:
    STEPS_OF_FIRST_SKINS = 100


cdef inline void wait(Broadphase *broad, int thread) noexcept nogil:
    """Barrier of all threads; the waiting time enters the load balance."""
    cdef double began
    if broad.n_threads > 1:
        began = clock()
        barrier_wait(&broad.barrier, broad.n_threads)
        broad.threads[thread].waited += clock() - began


cdef inline void wait_for(Broadphase *broad, int thread, Epoch *other, Epoch *own) noexcept nogil:
    """Wait until the epoch of another thread reaches that of this one."""
    cdef double began
    if not reached(other, own):
        began = clock()
        await_epoch(other, own, &broad.barrier)
        broad.threads[thread].waited += clock() - began


cdef inline void await_readers(Broadphase *broad, int thread) noexcept nogil:
    """Wait until all threads have read what this one published last."""
    cdef int other
    for other in range(broad.n_threads if broad.n_threads > 1 else 0):
        wait_for(broad, thread, &broad.reports[other].consumed, &broad.reports[thread].published)


cdef inline void publish(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Publish ghosts and report of this thread, whose spheres are posed."""
    cdef Neighbours *mine = broad.threads + thread
    cdef Report *own = broad.reports + thread
    await_readers(broad, thread)
    if broad.valid:
        copy_ghosts(&mine.ghost_lines, state)
    own.skin_exceeded, own.failure, own.ends_run = mine.skin_exceeded, mine.failure, mine.ends_run
    advance_epoch(&own.published)


cdef inline void await_ghosts(Broadphase *broad, int thread) noexcept nogil:
    """Wait until all threads have published for this evaluation."""
    cdef int other
    for other in range(broad.n_threads if broad.n_threads > 1 else 0):
        wait_for(broad, thread, &broad.reports[other].published, &broad.reports[thread].published)


cdef inline bint chooses_skins(const Broadphase *broad, int own) noexcept nogil:
    """Whether it is time to replace the first skins, which were chosen without knowing the speed of the clumps.

    Where clumps are at rest, no sphere leaves its skin, and the lists would keep candidates that never touch.
    """
    return broad.n_outer == 1 and broad.threads[own].steps == STEPS_OF_FIRST_SKINS


cdef inline bint needs_rebuild(const Broadphase *broad, int own) noexcept nogil:
    """Whether the lists may miss a contact, by the reports of all threads; own : the calling thread."""
    cdef int thread
    if not broad.valid or chooses_skins(broad, own):
        return True
    for thread in range(broad.n_threads):
        if broad.reports[thread].skin_exceeded:
            return True
    return False


cdef inline bint any_failure(const Broadphase *broad) noexcept nogil:
    cdef int thread
    for thread in range(broad.n_threads):
        if broad.reports[thread].failure != NO_FAILURE:
            return True
    return False


cdef inline bint any_ends_run(const Broadphase *broad) noexcept nogil:
    cdef int thread
    for thread in range(broad.n_threads):
        if broad.reports[thread].ends_run:
            return True
    return False


cdef inline bint any_lost(const Broadphase *broad) noexcept nogil:
    """Whether a clump has a non-finite pose."""
    cdef int thread
    for thread in range(broad.n_threads):
        if broad.reports[thread].lost:
            return True
    return False
