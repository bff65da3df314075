"""Verlet lists: candidates for contact, one set of lists for each thread."""
from minidem.core.int_vector cimport APART, IntVector, reserve
from minidem.core.lanes cimport LANES
from minidem.state.state cimport StateView

cdef struct Planes:
    Py_ssize_t count
    const double *point         # (count, 3)
    const double *normal        # (count, 3), unit, to the side where clumps live
    const double *modulus       # (count,): effective modulus against the clumps' material [Pa]

cdef struct Neighbours:         # what one thread owns: its blocks of clumps and the lists for them
    Py_ssize_t first_block
    Py_ssize_t last_block
    IntVector *found                 # (threads,): pairs that this thread's search found, by the owner of both spheres
    IntVector *cross_thread                # (threads,): those of two owners, in the lists of both, one a ghost in each
    IntVector hits                   # pairs of clumps of which one is searched for
    IntVector near[2]                # member rows of two clumps that lie near the other, while they are compared
    IntVector outer_walls            # (sphere slot, wall), within the outer skin
    int log_slab                # a slab is 2^log_slab slots of own spheres; 0: no slabs, the caches hold all
    IntVector pairs                  # inner list: (sphere, sphere), first those of own spheres, slab by slab
    IntVector spare                  # room for it while it is sorted
    Py_ssize_t n_own            # ints of it that are pairs of own spheres; the others are across
    IntVector slab_ends              # where the pairs end whose later sphere is in slab 0, 1, ... of the thread's own
    IntVector walls                  # inner list: (slot, wall)
    IntVector active                 # member rows that hold a sphere of the inner lists, ascending
    IntVector ghost_lines                 # lines of own spheres in inner pairs across: see ghosts.pyx
    IntVector outer_ghost_lines           # of those in outer pairs across
    bint skin_exceeded                 # an own sphere may have left the inner skin
    int failure                 # that the other threads do not know of yet
    long long steps             # since the inner lists were made
    long long previous_lifetime            # steps that those before them were good for
    double began                # when this run did, or the clumps were last shared out in it [s]
    double worked               # time within runs before it since they were [s]
    double waited               # for other threads, since they were [s]
    char apart[APART]

cdef inline bint owns(const Neighbours *mine, const StateView *state, int sphere) noexcept nogil:
    """Whether a slot is that of an own sphere; a ghost is none."""
    return state.first_member[mine.first_block] <= sphere >> 3 < state.first_member[mine.last_block]


cdef inline Py_ssize_t block_after_slab(const Neighbours *mine, const StateView *state, Py_ssize_t slab,
                                        Py_ssize_t block) noexcept nogil:
    """The first block all of whose spheres come after a slab, sought from `block` on."""
    cdef Py_ssize_t end = state.first_member[mine.first_block] + ((slab + 1 << mine.log_slab) // LANES)
    while block < mine.last_block and state.first_member[block] < end:
        block += 1
    return block


cdef inline double height(const Planes *planes, Py_ssize_t wall, const double *sphere) noexcept nogil:
    """Distance of a sphere's centre from a plane, positive on the side of the normal."""
    cdef const double *point = planes.point + 3 * wall
    cdef const double *normal = planes.normal + 3 * wall
    return (sphere[0] - point[0]) * normal[0] + (sphere[1] - point[1]) * normal[1] + (sphere[2] - point[2]) * normal[2]


cdef extern from "broadphase/near_pairs.h" nogil:
    enum:
        PADDING "MINIDEM_PADDING"
    Py_ssize_t select_near "minidem_select_near"(const double *spheres, const int *pairs, Py_ssize_t n, double skin,
                                                 int *near)


cdef inline bint push_pair(IntVector *list, int a, int b) noexcept nogil:
    """Append a pair. False: memory exhausted."""
    if not reserve(list, list.size + 2):
        return False
    list.data[list.size] = a
    list.data[list.size + 1] = b
    list.size += 2
    return True


cdef bint search_walls(Neighbours *mine, const Planes *planes, const StateView *state, double skin) noexcept nogil
cdef bint find_ghost_lines(Neighbours *all, int thread, int n_threads, const StateView *state,
                        unsigned char *marks) noexcept nogil
cdef bint prune(Neighbours *all, int thread, int n_threads, const Planes *planes, const StateView *state,
                unsigned char *marks, double skin) noexcept nogil
