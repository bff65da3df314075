"""Contacts of one thread: which there are, what is kept of them from step to step, and the forces on spheres."""
from libc.stdint cimport int64_t, uint64_t

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks, ContactBlock
from minidem.contact.contact cimport SideBlock, Contact, Result
from minidem.contact.fixed_point cimport Wide
from minidem.contact.law cimport Law
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR, DoubleVector, IntVector
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Facet, Walls

cdef enum:                          # groups of contacts, evaluated in this order
    SPHERES = 0                     # of two spheres
    WALLS = 1                       # of a sphere and a primitive of a wall
    GROUPS = 2

cdef enum:
    SUMMED = 4                      # energies that each block dissipates: see Ledger
    BLOCKS_PER_FOLD = 64            # at most 64: see fold
    PAIRS_AT_ONCE = 1024            # ints of the inner list that are tested at once
    MAX_OBSERVERS = 8

cdef enum:                          # energies since the start
    FRACTURE = 4                    # dissipated; before it by damping, tangential damping, sliding, rolling
    WALL_WORK                       # of moving walls and a box that moves on own clumps, with any law
    WALL_POWER                      # their work in half a step, at the last whole one
    ENERGIES

cdef struct Ledger:                 # energies of the own contacts, without an order, in units (fixed_point.pxd)
    int64_t sums[SUMMED * LANES]    # of the last few blocks
    Wide energies[ENERGIES]
    double lost[ENERGIES]           # what was not finite [J]

cdef struct FacetVector:
    Facet *data
    Py_ssize_t size
    Py_ssize_t capacity

cdef extern from *:
    """
    typedef double minidem_aligned_row[MINIDEM_LANES] __attribute__((aligned(64)));
    """
    ctypedef double AlignedRow "minidem_aligned_row"[LANES]

cdef struct Room:                   # for eight contacts; begins at a cache line, since a store across two costs twice
    Contact contact
    Result result
    SideBlock sides[2]
    AlignedRow images[6]            # see gather_contacts ...
    bint crosses                    # ... whether they differ from zero
    uint64_t keys[2][LANES]         # of the units of the sums on both sides
    int group
    Py_ssize_t block                # its number in the group
    int n                           # of a law without history: number of contacts in the block
    bint known                      # forces are those of the block: an evaluation between steps does not change them

ctypedef Contacts *ContactsPointer

# Optional physics sees each block after the law, before its forces are added, and is told before all are evaluated.
ctypedef void (*ClearFunction)(ContactsPointer contacts, void *own) noexcept nogil
ctypedef void (*SeeFunction)(ContactsPointer contacts, const StateView *state, ContactBlock *block, Room *room,
                             const Instant *now, void *own) noexcept nogil

cdef struct Observer:
    ClearFunction clear
    SeeFunction see
    void *own                       # what belongs to it and this thread

cdef struct Contacts:
    Law own_law                     # with the walls at the pose of this thread
    Walls walls
    const Law *law                  # the address of own_law
    int first_slot                  # of the own spheres
    int n_slots
    bint ready                      # the sums belong to the lists
    # Contacts of a law with history stay in their blocks. Contacts of other laws are written where something reads them
    # before the next evaluation, else one block after the other in the same place.
    Blocks groups[GROUPS]
    Blocks spare[GROUPS]            # the contacts while they are brought into the order of new lists
    Blocks saved[GROUPS]            # a copy, or the contacts of before the last rebuild: see save_contacts ...
    bint keeps_old                  # the next rebuild makes these
    bint stores_forces              # in each step, not in the last one alone, the blocks get the forces
    Py_ssize_t list_cursor          # of a law without history: ints of the inner list that have been tested
    int n_found                     # ints of found_pairs that have not been evaluated
    Ledger ledger
    Ledger saved_ledger             # ... and their energies
    Py_ssize_t n_crossing           # contacts with spheres of other threads, at the last rebuild
    # Sums of forces: of own spheres in their order, of free lanes, of spheres of other threads. If they are packed: one
    # that stays zero, then own spheres in the order in which they are touched, alternately in one of two places, since
    # contacts of a pose are found before all sums of the last one are reduced; then free lanes and others as before.
    int64_t *sums
    bint packed
    int *sum_of                     # if packed, (n_slots + 1,): numbers of sums of own spheres, 0: none; of free lanes
    int n_sums                      # if packed: the next number
    int free_sum                    # number of the sum of free lanes
    int width                       # integers of a sum, see fixed_point.pxd
    Py_ssize_t capacity             # bytes of it and the next one
    unsigned char *touched          # (eights of own spheres,): whether one of them has a force
    IntVector foreign               # slots of spheres of other threads, which add the sums behind the own ones
    IntVector row_contacts          # (own member rows,): contacts of its spheres; 1 more where other threads read it
    IntVector start                 # (own slots + 1,): index of the first entry of each slot, in ...
    IntVector entries               # (contacts, 2): the other body, lane; both only in a rebuild
    IntVector order                 # room for triangles
    IntVector contact_at            # (neighbor pairs of walls,): 1 + lane; 0: no contact
    IntVector seen                  # (lanes of walls,): whether the contact was found at this pose
    IntVector found_pairs           # room
    IntVector found_wall_pairs
    FacetVector facets              # the triangles near one sphere
    IntVector changes               # (n, 3): bodies of contacts that begin or end at this pose; 1 + lane, 0 of an end
    IntVector chains                # with mass=shared, (own clumps,): links to contacts, see shared_mass.pyx
    IntVector links                 # ... (links,): to the next one
    bint masses_changed             # ... after the evaluation, at this pose
    IntVector sharing[GROUPS]       # ... (n, 2): bodies of contacts that share their mass with others, or have done so
    Room rooms[2]                   # of the block in evaluation, and of the last
    Py_ssize_t n_kept[GROUPS]       # blocks whose forces are kept: their contacts were known before the evaluation
    bint renews                     # an evaluation between two steps, after a change of materials, keeps none
    Observer observers[MAX_OBSERVERS]
    int n_observers
    double force_after_end[3]       # on the first body of a contact that has ended, where it must be zero [N] ...
    int pair_after_end[2]           # ... its pair ...
    bint has_force_after_end        # ... if there is one
    char padding[LINE_PAIR]


cdef void save_contacts(Contacts *contacts, bint history, bint rebuilds) noexcept nogil
cdef void restore_contacts(Contacts *contacts, bint history) noexcept nogil
cdef void release_copy(Contacts *contacts) noexcept nogil
cdef void release_room(Contacts *contacts) noexcept nogil
cdef void own_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil
cdef void clear_contacts(Contacts *contacts) noexcept nogil
cdef void clear_observers(Contacts *contacts) noexcept nogil
cdef void release_contacts(Contacts *contacts) noexcept nogil
cdef void begin_contacts(Contacts *contacts, Neighbours *mine, const StateView *state,
                         const Instant *now) noexcept nogil
cdef void end_contact(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil
cdef void collect_stored(Contacts *all, int thread, int n_threads, const Neighbours *mine) noexcept nogil
cdef void take_collected(Contacts *contacts, Neighbours *mine) noexcept nogil


cdef inline void add_observer(Contacts *contacts, Observer observer) noexcept nogil:
    contacts.observers[contacts.n_observers] = observer
    contacts.n_observers += 1
