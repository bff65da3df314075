"""Candidates for contact, kept up to date while clumps move."""
from minidem.broadphase.levels cimport Levels
from minidem.broadphase.neighbours cimport Neighbours, Planes
from minidem.broadphase.sharing cimport Share
from minidem.clock cimport clock
from minidem.openmp cimport Barrier, meet
from minidem.state cimport StateView

cdef enum Failure:
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    NOT_FINITE = 2
    IN_CALLBACK = 3
    SMALL_TEAM = 4

cdef struct Report:                 # what a thread tells the others; one cache line each
    int beyond                      # a sphere may have left the inner skin
    int far                         # a sphere has left the outer skin
    int failure
    int incomplete                  # the outer lists are, for want of memory
    int clump                       # user's number of the clump that failed
    double path                     # longest PATH of an own clump since the last renewal [m]
    double unused[4]

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
cdef void free_broadphase(Broadphase *broad) noexcept nogil
cdef void keep_experience(Broadphase *broad, const Broadphase *old) noexcept nogil
cdef void renew(Broadphase *broad, int thread, StateView *state, const Planes *planes) noexcept nogil


cdef inline void wait(Broadphase *broad, int thread) noexcept nogil:
    """For the other threads; those that wait for long get more of the clumps (sharing.pyx)."""
    cdef double began
    if broad.n_threads > 1:
        began = clock()
        meet(&broad.barrier, broad.n_threads)
        broad.threads[thread].waited += clock() - began


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
