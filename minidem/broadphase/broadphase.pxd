"""The broad phase: all that the threads share about the neighbor pairs."""
from minidem.broadphase.cell_grid cimport Levels
from minidem.broadphase.neighbours cimport Exclusions, Neighbours
from minidem.core.clock cimport clock
from minidem.core.openmp cimport Barrier, barrier_wait
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef enum:
    REFERENCE_ROWS = 7                  # of a pose: position, and orientation where a rotation moves spheres
    STEPS_OF_FIRST_SKINS = 100

cdef enum Failure:
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    IN_CALLBACK = 2
    SMALL_TEAM = 3
    FORCE_AFTER_END = 4

cdef enum Report:                       # bits: what a thread tells all others at a barrier
    SKIN_EXCEEDED = 1                   # a sphere may have left the inner skin
    OUTER_SKIN_EXCEEDED = 2             # during a rebuild: the outer skin
    LOST = 4                            # during a rebuild: a clump has a non-finite pose
    FAILED = 8                          # Neighbours.failure
    ENDS_RUN = 16                       # see Neighbours

cdef struct Share:                  # of a thread
    double fraction                 # of the blocks of clumps
    double busy                     # working time with these shares [s]

cdef struct Broadphase:
    int n_threads
    Barrier barrier                     # of all threads, here and in the time loop
    Neighbours *threads                 # (n_threads,)
    Share *shares                       # (n_threads,)
    bint fixed_shares                   # no load balance
    bint rebalanced                     # the last outer rebuild changed the shares
    Levels levels
    Exclusions exclusions
    unsigned char *marks                # (n_members, 2): see mark_rows of neighbours.pyx
    double *reference_poses             # (n_blocks, reference_rows, LANES): at the last outer rebuild
    int reference_rows                  # REFERENCE_ROWS, or 3
    BoxPose reference_box               # that moves, at the last outer rebuild
    double largest_sphere               # diameter [m]
    double largest_clump                # diameter of the largest bounding sphere [m]
    double outer_skin, inner_skin       # [m]
    double reach                        # largest gap of a contact: lists hold gaps below this and a skin [m]
    double density                      # pairs in the outer lists / (mean diameter + skin)^3, see set_skins
    double mean_diameter                # of the spheres [m]
    double triangle_density             # triangles in the outer lists / (their mean diameter + skin)^2, see set_skins
    double triangle_diameter            # mean diameter of the spheres near triangles, by their number [m]
    bint clumps_first                   # the grids hold bounding spheres of clumps, else all spheres
    double *bounds                      # (n_blocks * LANES, 4): bounding spheres of the clumps; NULL: not clumps_first
    Py_ssize_t n_items                  # in the grids
    Py_ssize_t n_spheres
    long long n_outer, n_inner          # rebuilds so far
    bint valid                          # the lists belong to these clumps; False: rebuild them before use

cdef void measure_spheres(Broadphase *broad, const StateView *state) noexcept nogil
cdef void prepare_broadphase(Broadphase *broad, const StateView *state) noexcept nogil
cdef void assign_blocks(Broadphase *broad, int thread, const StateView *state) noexcept nogil
cdef void drop_lists(Broadphase *broad) noexcept nogil
cdef void take_over(Broadphase *broad, const Broadphase *old) noexcept nogil


cdef inline const double *searched_spheres(const Broadphase *broad, const StateView *state) noexcept nogil:
    """Centres and radii (slots, 4) of what the grids hold."""
    return broad.bounds if broad.clumps_first else state.spheres


cdef inline int wait(Broadphase *broad, int thread, int bits) noexcept nogil:
    """Wait for all threads, and exchange reports: `bits`, and whether a thread has failed, or memory was refused to it.

    The waiting time enters the load balance.
    """
    cdef Neighbours *mine = broad.threads + thread
    cdef double began
    if mine.refused[0]:
        mine.refused[0], mine.failure = False, OUT_OF_MEMORY
    if mine.failure != NO_FAILURE:
        bits |= <int> FAILED
    if broad.n_threads > 1:
        began = clock()
        bits = barrier_wait(&broad.barrier, broad.n_threads, bits)
        mine.waited += clock() - began
    return bits


cdef inline bint chooses_skins(const Broadphase *broad, int own) noexcept nogil:
    """Whether it is time to replace the first skins, which were chosen without knowing the speed of the clumps.

    Where clumps are at rest, no sphere leaves its skin, and the lists would keep pairs that never touch.
    """
    return broad.n_outer == 1 and broad.threads[own].steps == STEPS_OF_FIRST_SKINS


cdef dict list_statistics(const Broadphase *broad)
cdef Py_ssize_t list_memory(const Broadphase *broad)
cdef bint rebuild(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                  const BoxPose *box) noexcept nogil
