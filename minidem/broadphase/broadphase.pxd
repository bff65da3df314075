"""Candidates for contact, kept up to date while clumps move."""
from minidem.core.int_vector cimport APART
from minidem.broadphase.ghosts cimport post
from minidem.broadphase.levels cimport Levels
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.broadphase.load_balance cimport Share
from minidem.core.clock cimport clock
from minidem.core.openmp cimport Barrier, Count, await_count, count_on, has_come, meet
from minidem.state.state cimport StateView

cdef enum Failure:
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    IN_CALLBACK = 2
    SMALL_TEAM = 3

cdef struct Report:                 # what a thread tells the others
    Count posted                    # evaluations for which it has posted ghosts and told what follows
    int beyond                      # a sphere may have left the inner skin
    int failure                     # since it told them last
    int far                         # told amid a renewal of lists: a sphere has left the outer skin
    int incomplete                  # ... the outer lists are, for want of memory
    int lost                        # ... 1 + the user's number of a clump whose pose is not finite
    double path                     # ... longest PATH of an own clump since the last renewal [m]
    char apart[APART]
    Count read                      # evaluations for which it has read what the others told and posted
    char behind[APART]

cdef struct Broadphase:
    int n_threads
    Barrier barrier                 # of the threads, here and in the time loop
    Neighbours *threads             # (n_threads,)
    Report *reports                 # (n_threads,)
    Share *shares                   # (n_threads,)
    bint keep_shares                # whatever the threads get done
    bint told                       # whether the last lists were shared out by what they got done
    Levels levels
    unsigned char *marks            # (n_members,), for prune
    double *kept                    # (n_blocks, KEPT, LANES): the poses when the outer lists were made
    double outer_skin               # [m]
    double inner_skin               # [m]
    double density                  # pairs in the outer lists / (mean diameter + skin)^3, see set_skins
    double mean_diameter            # of the spheres [m]
    bint clumps_first               # search bounding spheres of clumps, then their members; else all spheres
    double *bounds                  # (n_blocks * LANES, 4): bounding spheres of the clumps, if so
    Py_ssize_t n_items              # of what the grids hold
    Py_ssize_t n_spheres
    long long n_outer               # how often the outer lists were made
    long long n_inner
    bint valid                      # False: no lists yet

cdef bint create_broadphase(Broadphase *broad, const StateView *state, int n_threads, int log_slab) noexcept nogil
cdef void drop_lists(Broadphase *broad) noexcept nogil
cdef void free_broadphase(Broadphase *broad) noexcept nogil
cdef void keep_experience(Broadphase *broad, const Broadphase *old) noexcept nogil
cdef void renew(Broadphase *broad, int thread, StateView *state, const Planes *planes) noexcept nogil


cdef inline void wait(Broadphase *broad, int thread) noexcept nogil:
    """Until all threads are here; those that wait for long get more of the clumps (sharing.pyx)."""
    cdef double began
    if broad.n_threads > 1:
        began = clock()
        meet(&broad.barrier, broad.n_threads)
        broad.threads[thread].waited += clock() - began


cdef inline void wait_for(Neighbours *mine, Count *other, Count *own) noexcept nogil:
    cdef double began
    if not has_come(other, own):
        began = clock()
        await_count(other, own)
        mine.waited += clock() - began


cdef inline void publish(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Tell the others that own spheres are posed, and where, as soon as they have read it of the last evaluation."""
    cdef Neighbours *mine = broad.threads + thread
    cdef Report *own = broad.reports + thread
    cdef int other
    for other in range(broad.n_threads if broad.n_threads > 1 else 0):
        wait_for(mine, &broad.reports[other].read, &own.posted)
    if broad.valid:
        post(&mine.posted, state)
    own.beyond, own.failure = mine.beyond, mine.failure
    count_on(&own.posted)


cdef inline void await_others(Broadphase *broad, int thread) noexcept nogil:
    """Until all have published for this evaluation."""
    cdef int other
    for other in range(broad.n_threads if broad.n_threads > 1 else 0):
        wait_for(broad.threads + thread, &broad.reports[other].posted, &broad.reports[thread].posted)


cdef inline bint renewal_due(const Broadphase *broad) noexcept nogil:
    cdef int thread
    if not broad.valid:
        return True
    for thread in range(broad.n_threads):
        if broad.reports[thread].beyond:
            return True
    return False


cdef inline bint any_failure(const Broadphase *broad) noexcept nogil:
    cdef int thread
    for thread in range(broad.n_threads):
        if broad.reports[thread].failure != NO_FAILURE:
            return True
    return False


cdef inline bint any_lost(const Broadphase *broad) noexcept nogil:
    cdef int thread
    for thread in range(broad.n_threads):
        if broad.reports[thread].lost:
            return True
    return False
