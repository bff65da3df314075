"""Verlet lists: neighbor pairs, one set of lists for each thread."""
from minidem.broadphase.cell_grid cimport Levels
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR, IntVector
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef struct Exclusions:         # materials that never touch each other; clumps that are fixed have their own ones
    const unsigned char *pairs  # of materials, whether they never touch; NULL: all may
    const int *materials        # (n_blocks * LANES,) of the clumps by slot
    int log_materials           # the pair of materials a and b has the number (a << log_materials) + b

cdef struct Neighbours:         # of one thread: its blocks and the lists for them
    Py_ssize_t first_block, last_block
    IntVector *found            # (threads,): outer pairs that this thread found, by their owners
    IntVector hits              # pairs of clumps whose bounding spheres are near
    IntVector near[2]           # slots of two clumps whose spheres are near the bounding sphere of the other
    IntVector outer_wall_pairs  # (slot, primitive of a wall), within the outer skin: first the simple primitives
    Py_ssize_t n_outer_simple   # ints of it with a simple primitive (walls/surface.pxd); triangles follow, by slot
    double triangle_diameters   # sum of the diameters of the spheres, over the triangles in it [m]
    IntVector triangles         # of one sphere
    double outer_walls_path     # of the walls, at the last outer rebuild [m]; see Walls
    double walls_path           # at the last rebuild [m]
    double box_path             # strain of a box that moves, at the last rebuild
    int log_slab                # a slab is 2^log_slab slots of own spheres; 0: no slabs, the state fits into the caches
    IntVector pairs             # inner list: (sphere, sphere); with slabs first pairs of own spheres, slab by slab
    IntVector spare             # second array for sorting it
    Py_ssize_t n_foreign        # spheres of other threads in it
    IntVector slab_ends         # ends of the pairs of own spheres whose later sphere is in slab 0, 1, ... of these
    IntVector wall_pairs   # inner list: (slot, primitive)
    Py_ssize_t n_simple         # ints of it with a simple primitive
    IntVector active            # own member rows with a sphere in the inner lists of any thread, ascending
    IntVector border            # own member rows with a sphere in the inner list of another thread
    bint skin_exceeded          # an own sphere may have left the inner skin
    int failure                 # since the Driver has last read it
    bint *refused               # whether memory was refused to it, see `memory_refused`
    int lost                    # 1 + the user's number of a clump with a non-finite pose, found in a rebuild
    double path                 # longest PATH of an own clump before the last rebuild [m]
    bint ends_run               # this step is the last: a field or rotation of an own clump, later of any, is not sound
    long long steps             # since the last rebuild
    long long previous_lifetime  # steps between the two rebuilds before
    double began                # of this run, or of the present shares [s]
    double worked               # in earlier runs with the present shares [s]
    double waited               # for other threads, with the present shares [s]
    char padding[LINE_PAIR]

cdef inline Py_ssize_t block_after_slab(const Neighbours *mine, const StateView *state, Py_ssize_t slab,
                                        Py_ssize_t block) noexcept nogil:
    """The first block from `block` on whose spheres are all behind a slab."""
    cdef Py_ssize_t end = state.first_member[mine.first_block] + ((slab + 1 << mine.log_slab) // LANES)
    while block < mine.last_block and state.first_member[block] < end:
        block += 1
    return block


cdef extern from "broadphase/near_pairs.h" nogil:
    enum:
        PADDING "MINIDEM_PADDING"
    Py_ssize_t select_near "minidem_select_near"(const double *spheres, const BoxPose *box, const int *pairs,
                                                 Py_ssize_t n, double skin, int *near)


cdef void search_walls(Neighbours *mine, const Walls *walls, const StateView *state, double skin) noexcept nogil
cdef void prune(Neighbours *all, int thread, int n_threads, const Walls *walls, const BoxPose *box,
                const StateView *state, const Exclusions *exclusions, unsigned char *marks, double skin) noexcept nogil
cdef void collect_active(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil
cdef void search_pairs(Neighbours *all, int thread, int n_threads, const Levels *levels, const StateView *state,
                       const BoxPose *box, const double *items, double skin, bint clumps_first) noexcept nogil
