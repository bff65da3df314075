"""Contacts of a law with records: what one thread keeps of them from step to step."""
from libc.stdint cimport int64_t

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks
from minidem.contact.fixed_point cimport Lines, Wide
from minidem.contact.law cimport Law
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport DoubleVector, IntVector
from minidem.state.state cimport StateView

cdef enum:                          # groups of contacts, evaluated in this order
    SPHERES = 0                     # of two spheres
    WALLS = 1                       # of a sphere and an element of a wall
    GROUPS = 2

cdef enum:
    KINDS = 5                       # of dissipated energy: by damping, tangential damping, sliding, rolling, fracture
    SUMMED = 4                      # of which each block has some
    BLOCKS_PER_FOLD = 32            # at most 64: see fold

cdef struct Ledger:                 # energies of the own contacts, without an order, in units (fixed_point.pxd)
    int64_t sums[2 * SUMMED * LANES]    # of both parts, of the last few blocks
    Wide dissipated[KINDS]          # since the start
    double lost[KINDS]              # what was not finite [J]
    Wide wall_work                  # of moving walls on own clumps since the start, with any law
    Wide wall_power                 # likewise in half a step, at the last whole one; of a periodic box that moves, too
    Py_ssize_t n_fractures          # noted by this thread and not yet taken by the Driver

cdef struct Fracture:               # of an own contact
    int64_t step                    # number of the step at whose end it broke
    double energy                   # [J]
    int first, second               # spheres in the user's numbers, the first one smaller; or -1 - element of a wall

cdef struct Stored:                 # of one thread
    int n_records                   # of the law; 0: nothing here is used
    Blocks groups[GROUPS]
    Blocks spare[GROUPS]            # the contacts while they are brought into the order of new lists
    Blocks saved[GROUPS]            # where a step may be undone: the contacts before it ...
    bint has_saved
    bint stores_forces              # at the end of a step: the blocks get the last forces
    bint ready                      # what follows belongs to the lists
    Wide box_work[2]                # of a periodic box at this pose in the half steps that end and begin here
    Ledger ledger
    Ledger saved_ledger             # ... and their energies
    int64_t step                    # number of the step that leads to this pose
    IntVector fractures             # Fracture structs
    int first_slot                  # of the own spheres
    int n_slots
    Py_ssize_t n_cross              # contacts with spheres of other threads, at the last rebuild
    Lines lines                     # forces on own spheres (n_slots,); on holes (1,); on spheres of other threads
    IntVector sent                  # slots of the last ones, one for each contact, whose owners add the forces
    bint sent_large                 # some of these are beyond one part (fixed_point.pxd)
    DoubleVector sent_rates         # likewise what contacts do to fields of clumps of other threads (fluxes.pyx)
    IntVector row_contacts          # (own member rows,): contacts of its spheres; 1 more where other threads read it
    IntVector start                 # (own slots + 1,): index of the first entry of each slot, in ...
    IntVector entries               # (contacts, 2): the other body; lane, of walls
    IntVector order                 # room: (contacts, 3)
    IntVector contact_at            # (candidates of walls,): 1 + lane; 0: no contact
    IntVector seen                  # (lanes of walls,): whether the contact was found at this pose
    IntVector found_pairs           # room
    IntVector found_numbers
    IntVector facets                # room, for the triangles near one sphere
    Py_ssize_t n_kept[GROUPS]       # blocks whose forces are kept: those of contacts known before an evaluation
    double force_after_end[3]       # on the first body of a contact that has ended, where it must be zero [N] ...
    int pair_after_end[2]           # ... its pair ...
    bint has_force_after_end        # ... if there is one


cdef bint save_stored(Stored *stored) noexcept nogil
cdef void restore_stored(Stored *stored) noexcept nogil
cdef bint reserve_lines(Stored *stored, Py_ssize_t n_sent) noexcept nogil
cdef void release_stored(Stored *stored) noexcept nogil


cdef void drop_known(const Stored *stored, Neighbours *mine) noexcept nogil
cdef bint find_new(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil
cdef void end_contact(Stored *stored, Neighbours *mine, const StateView *state, int group,
                      Py_ssize_t lane) noexcept nogil
cdef int find_known(const Stored *stored, int i, int j) noexcept nogil
