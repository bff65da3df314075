"""The broad phase: all that the threads share about the candidates for contact."""
from minidem.broadphase.cell_grid cimport Levels
from minidem.broadphase.neighbours cimport Neighbours
from minidem.core.openmp cimport Barrier, Epoch
from minidem.core.vectors cimport APART
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef enum:
    REFERENCE_ROWS = 7                  # of a pose: position and orientation

cdef enum Failure:
    NO_FAILURE = 0
    OUT_OF_MEMORY = 1
    IN_CALLBACK = 2
    SMALL_TEAM = 3
    FORCE_AFTER_END = 4

cdef struct Report:                     # of one thread, read by the others
    Epoch published                     # evaluations for which the ghosts and the report are complete
    int skin_exceeded                   # a sphere may have left the inner skin
    int failure                         # since the last report
    int ends_run                        # see Neighbours
    int outer_skin_exceeded             # during a rebuild: a sphere has left the outer skin
    int incomplete                      # ... memory was exhausted while the outer lists were built
    int lost                            # ... 1 + the user's number of a clump with a non-finite pose
    double path                         # ... longest PATH of an own clump since the last rebuild [m]
    char apart[APART]
    Epoch moved                         # evaluations for which the motions of its clumps are complete (onset_pass.pyx)
    Epoch consumed                      # evaluations for which this thread has read reports and ghosts of the others
    char behind[APART]

cdef struct Share:                  # of a thread
    double part                     # fraction of the clumps
    double busy                     # working time with these shares [s]

cdef struct Broadphase:
    int n_threads
    Barrier barrier                     # of all threads, here and in the time loop
    Neighbours *threads                 # (n_threads,)
    Report *reports                     # (n_threads,)
    Share *shares                       # (n_threads,)
    bint fixed_shares                   # no load balance
    bint rebalanced                     # the last outer rebuild changed the shares
    Levels levels
    unsigned char *marks                # (n_members,), all zero between two functions
    double *reference_poses             # (n_blocks, REFERENCE_ROWS, LANES): at the last outer rebuild
    BoxPose reference_box               # that moves, at the last outer rebuild
    double largest_sphere               # diameter [m]
    double largest_clump                # diameter of the largest bounding sphere [m]
    double outer_skin                   # [m]
    double inner_skin                   # [m]
    double reach                        # largest gap of a contact: lists hold gaps below this and a skin [m]
    double density                      # pairs in the outer lists / (mean diameter + skin)^3, see set_skins
    double mean_diameter                # of the spheres [m]
    double triangle_density             # triangles in the outer lists / (their mean diameter + skin)^2, likewise
    double triangle_diameter            # mean diameter of the spheres near triangles, by their number [m]
    bint clumps_first                   # the grids hold bounding spheres of clumps, else all spheres
    double *bounds                      # (n_blocks * LANES, 4): bounding spheres of the clumps, where clumps_first
    Py_ssize_t n_items                  # in the grids
    Py_ssize_t n_spheres
    long long n_outer                   # outer rebuilds so far
    long long n_inner                   # inner rebuilds so far
    bint valid                          # the lists belong to these clumps; False: rebuild them before use

cdef bint create_broadphase(Broadphase *broad, const StateView *state, int n_threads, int log_slab) noexcept nogil
cdef void assign_blocks(Broadphase *broad, int thread, const StateView *state) noexcept nogil
cdef void drop_lists(Broadphase *broad) noexcept nogil
cdef void free_broadphase(Broadphase *broad) noexcept nogil
cdef void carry_over_skins(Broadphase *broad, const Broadphase *old) noexcept nogil


cdef inline const double *searched_spheres(const Broadphase *broad, const StateView *state) noexcept nogil:
    """Centres and radii (slots, 4) of what the grids hold."""
    return broad.bounds if broad.clumps_first else state.spheres


cdef void rebuild(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                  const BoxPose *box) noexcept nogil
