"""The narrow phase of one thread: contacts among the candidates, and the forces on their spheres."""
from libc.stdint cimport int64_t

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.law cimport Law
from minidem.contact.stored cimport Stored
from minidem.core.vectors cimport APART, DoubleVector, IntVector
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls

cdef struct SentForce:              # on a sphere of another thread
    int64_t record[4]               # see force_sums.pxd
    int64_t slot

cdef struct Contacts:               # of one thread
    Py_ssize_t first_block          # the first own block
    Py_ssize_t first_row            # its first member row
    int first_slot                  # and the first slot of its spheres
    int n_slots                     # own slots
    void *memory                    # of the arrays below
    Py_ssize_t list_cursor          # ints of the inner list that have been tested
    IntVector pairs                 # contacts: (sphere, sphere or -1 - element of a wall)
    IntVector sent                  # SentForce structs: forces that their owners add
    Py_ssize_t n_evaluated          # ints of `pairs` whose forces are summed
    Law own_law                     # with the walls at the pose of this thread
    Walls walls
    const Law *law                  # the address of own_law
    IntVector facets                # room for the triangles near one sphere
    IntVector ends                  # if the law needs velocities: first indices of contacts that may begin or end
    IntVector crossing              # see Law
    DoubleVector onset              # (ends,): their onset corrections [N]
    IntVector noted                 # Onset structs (onset_pass.pxd): those at the beginning of a step; room for all
    IntVector additions             # Addition structs (onset_pass.pyx): corrections on spheres of any thread
    IntVector own_additions         # likewise, of all threads on own spheres
    bint some_onset                 # a contact of any thread may begin or end
    int64_t *sphere_force           # (1 + n_accumulators, 4): sums, lab (force_sums.pxd); the first is zero
    int64_t *previous_force         # the same at the last pose, until the fused pass has reduced it
    int64_t *spare_force            # second array, where contacts are found before the last pose is reduced
    int n_accumulators
    int *accumulator_of_slot        # (n_slots,): index into sphere_force; 0: no contact
    unsigned char *row_has_force    # (own member rows,)
    unsigned char *block_has_force  # (own blocks + FORCE_BLOCKS_AHEAD,)
    bint out_of_cache               # sphere_force is larger than the caches: prefetch it
    Stored stored                   # contacts of a law with records, instead of the lists and sums above; the ledger
    char apart[APART]

cdef bint create_contacts(Contacts *contacts, const StateView *state) noexcept nogil
cdef void set_owned_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil
cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil
cdef bint find_remaining_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil
cdef void reset_contacts(Contacts *contacts, const StateView *state) noexcept nogil
cdef void take_forces(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil
cdef void release_contacts(Contacts *contacts) noexcept nogil
cdef void free_contacts(Contacts *contacts) noexcept nogil


cdef inline void clear_contacts(Contacts *contacts) noexcept nogil:
    """Empty the list of contacts. Accumulators in use stay so."""
    contacts.pairs.size = contacts.n_accumulators = contacts.ends.size = contacts.crossing.size = 0
    contacts.list_cursor = contacts.n_evaluated = 0


cdef inline void begin_contacts(Contacts *contacts, const Neighbours *mine) noexcept nogil:
    """Prepare for a new pose. The forces of the last pose become `previous_force`: they are not reduced yet."""
    clear_contacts(contacts)
    contacts.previous_force = contacts.sphere_force
    contacts.out_of_cache = mine.slab_ends.size > 0
    if contacts.out_of_cache:       # contacts of the first slabs are found before all of previous_force is reduced
        contacts.sphere_force, contacts.spare_force = contacts.spare_force, contacts.sphere_force


cdef inline double correction_of(const Contacts *contacts, Py_ssize_t k, Py_ssize_t *end) noexcept nogil:
    """Onset correction of the contact whose first index is k [N]; called for ascending k. end : 0 before the first."""
    while end[0] < contacts.ends.size and contacts.ends.data[end[0]] < k:
        end[0] += 1
    if end[0] < contacts.ends.size and contacts.ends.data[end[0]] == k:
        return contacts.onset.data[end[0]]
    return 0.0
