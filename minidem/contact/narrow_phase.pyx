"""The narrow phase: which candidates are in contact, and the force on each sphere.

Contacts are evaluated eight at a time; square roots and divisions have the same bits so. The order in which they are
found differs between runs. The force on a clump does not depend on it: see reduce.pyx.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from minidem.broadphase.neighbours cimport Neighbours, Planes, height, select_near
from minidem.contact.evaluate cimport Contact, Law, evaluate_contact, sphere_contact
from minidem.core.int_vector cimport APART, push, release, reserve
from minidem.core.lanes cimport LANES, row_of
from minidem.core.prefetch cimport FORCE_BLOCKS_AHEAD, prefetch
from minidem.core.transpose cimport records_from_rows, rows_from_records
from minidem.core.vec3 cimport vec3
from minidem.state.state cimport StateView


cdef enum:
    # Ints of the inner list that are tested before their contacts are evaluated. evaluate_pairs has 37 kB of forces for
    # them on its stack, which OMP_STACKSIZE may limit to 64 kB.
    PAIRS_AT_ONCE = 1024
    CACHE_LINE = 64             # bytes; an accumulator across two lines takes twice as long


cdef inline Py_ssize_t whole_lines(Py_ssize_t bytes) noexcept nogil:
    return (bytes + CACHE_LINE - 1) // CACHE_LINE * CACHE_LINE


cdef bint create_contacts(Contacts *contacts, const StateView *state) noexcept nogil:
    """Allocate for any range of blocks that the thread may come to own. False: memory exhausted.

    One allocation, aligned to cache lines that no other thread uses. Pages that are never touched take no memory.
    """
    cdef Py_ssize_t forces = whole_lines((1 + state.n_members * LANES) * 4 * sizeof(double))
    cdef Py_ssize_t indices = whole_lines(state.n_members * LANES * sizeof(int)), rows = whole_lines(state.n_members)
    cdef Py_ssize_t blocks = whole_lines(state.n_blocks + FORCE_BLOCKS_AHEAD)
    cdef char *start
    contacts.memory = calloc(2 * forces + indices + 2 * rows + blocks + 2 * APART, 1)
    if contacts.memory == NULL:
        return False
    start = <char *> contacts.memory + APART - <uintptr_t> contacts.memory % CACHE_LINE
    contacts.sphere_force = <double *> start
    contacts.spare_force = <double *> (start + forces)
    contacts.accumulator_of_slot = <int *> (start + 2 * forces)
    contacts.row_has_force = <unsigned char *> (start + 2 * forces + indices)
    contacts.multi_contact_bits = contacts.row_has_force + rows
    contacts.block_has_force = contacts.multi_contact_bits + rows
    return True


cdef void set_owned_slots(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Set the range of slots that this thread owns; no contacts yet."""
    contacts.first_block = mine.first_block
    contacts.first_row = state.first_member[mine.first_block]
    contacts.first_slot = <int> contacts.first_row * LANES
    contacts.n_slots = <int> (state.first_member[mine.last_block] - contacts.first_row) * LANES


cdef void assign_accumulators(Contacts *contacts, const StateView *state, const int *slots, Py_ssize_t n,
                              int *accumulators) noexcept nogil:
    """The accumulator of each of n spheres, a new one set to zero if it has none; 0 for spheres of other threads."""
    cdef int *accumulator_of_slot = contacts.accumulator_of_slot
    cdef unsigned char *rows = contacts.row_has_force
    cdef unsigned char *blocks = contacts.block_has_force - contacts.first_block
    cdef const int *block_of_member = state.block_of_member + contacts.first_row
    cdef unsigned int own, n_slots = contacts.n_slots
    cdef int first_slot = contacts.first_slot, n_accumulators = contacts.n_accumulators, known
    cdef Py_ssize_t k, most = min(n, <Py_ssize_t> contacts.n_slots - n_accumulators)      # that can be new
    memset(contacts.sphere_force + 4 * <Py_ssize_t> (n_accumulators + 1), 0, most * 4 * sizeof(double))
    for k in range(n):
        own = slots[k] - first_slot                     # negative values become larger than n_slots
        accumulators[k] = 0
        if own < n_slots:
            known = accumulator_of_slot[own]
            n_accumulators += known == 0                # branchless: the branch is unpredictable
            known = known if known else n_accumulators
            accumulator_of_slot[own] = accumulators[k] = known
            rows[row_of(own)] = True
            blocks[block_of_member[row_of(own)]] = True
    contacts.n_accumulators = n_accumulators


cdef inline bint add_force(Contacts *contacts, int slot, int accumulator, const double *force) noexcept nogil:
    """Add a force, and 1 to the number of contacts, of a sphere if it is an own one. False: memory exhausted."""
    cdef double *total = contacts.sphere_force + 4 * <Py_ssize_t> accumulator
    cdef int k
    if not accumulator:
        return True
    for k in range(4):
        total[k] += force[k]
    return total[3] < 3.0 or total[3] > 3.0 or push(&contacts.multi_contact, slot)


cdef inline void set_forces(double *on_i, double *on_j, Py_ssize_t stride, const Contact *contact) noexcept nogil:
    """Force on both spheres of a contact, and 1 for the number of contacts; components are `stride` doubles apart."""
    on_i[0] = contact.force * contact.normal.x
    on_i[stride] = contact.force * contact.normal.y
    on_i[2 * stride] = contact.force * contact.normal.z
    on_j[0] = -on_i[0]
    on_j[stride] = -on_i[stride]
    on_j[2 * stride] = -on_i[2 * stride]
    on_i[3 * stride] = on_j[3 * stride] = 1.0


cdef void evaluate_eight(const double *spheres, const int *pairs, const Law *law,
                         double *on_i, double *on_j) noexcept nogil:
    """Evaluate eight contacts of two spheres each, into records (LANES, 4) for add_force."""
    cdef double a[4][LANES]
    cdef double b[4][LANES]
    cdef double rows_i[4][LANES]
    cdef double rows_j[4][LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef double modulus = law.modulus
    cdef Contact contact
    cdef int lane
    for lane in range(LANES):
        i[lane] = pairs[2 * lane]
        j[lane] = pairs[2 * lane + 1]
    rows_from_records(spheres, i, a[0])
    rows_from_records(spheres, j, b[0])
    for lane in range(LANES):
        contact = sphere_contact(vec3(a[0][lane] - b[0][lane], a[1][lane] - b[1][lane], a[2][lane] - b[2][lane]),
                                 a[3][lane], b[3][lane], modulus)
        set_forces(rows_i[0] + lane, rows_j[0] + lane, LANES, &contact)
    records_from_rows(rows_i[0], on_i)
    records_from_rows(rows_j[0], on_j)


cdef inline double *force_record(double *forces, Py_ssize_t k) noexcept nogil:
    """The record of the force on the first sphere of pair k / 2; that on the second is LANES records behind it.

    forces : records of eight pairs on their first spheres, on their second spheres, of the next eight pairs, ...
    """
    return forces + 2 * (k + k // (2 * LANES) * (2 * LANES))


cdef bint evaluate_pairs(Contacts *contacts, const StateView *state, Py_ssize_t n, bint walls) noexcept nogil:
    """Evaluate the next n ints of contacts, two by two, and add their forces. False: memory exhausted.

    walls : some of them are contacts with a wall.
    """
    cdef int accumulators[PAIRS_AT_ONCE + 2 * LANES]
    cdef double forces[4 * (PAIRS_AT_ONCE + 2 * LANES)]
    cdef const int *pairs = contacts.pairs.data + contacts.n_evaluated
    cdef double *on_i
    cdef Contact contact
    cdef Py_ssize_t k, eight, eights = 0 if walls else n // (2 * LANES)
    cdef bint fine = True
    assign_accumulators(contacts, state, pairs, n, accumulators)
    # All are evaluated before any is added: roots and divisions of one eight do not wait for the sums of another.
    for eight in range(eights):
        k = 2 * LANES * eight
        evaluate_eight(state.spheres, pairs + k, &contacts.law, force_record(forces, k),
                       force_record(forces, k) + 4 * LANES)
    for k in range(2 * LANES * eights, n, 2):
        contact = evaluate_contact(state.spheres, pairs[k], pairs[k + 1], &contacts.law)
        on_i = force_record(forces, k)
        set_forces(on_i, on_i + 4 * LANES, 1, &contact)
    for k in range(0, n, 2):
        on_i = force_record(forces, k)
        fine &= add_force(contacts, pairs[k], accumulators[k], on_i)
        fine &= add_force(contacts, pairs[k + 1], accumulators[k + 1], on_i + 4 * LANES)
    contacts.n_evaluated += n
    return fine


cdef bint evaluate_remaining(Contacts *contacts, const StateView *state, bint walls) noexcept nogil:
    """Evaluate all contacts found so far; see evaluate_pairs. False: memory exhausted."""
    cdef bint fine = True
    while contacts.n_evaluated < contacts.pairs.size:
        fine &= evaluate_pairs(contacts, state,
                               min(<Py_ssize_t> PAIRS_AT_ONCE, contacts.pairs.size - contacts.n_evaluated), walls)
    return fine


cdef bint find_wall_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts of own spheres with walls, and their forces. False: memory exhausted."""
    cdef const int *near = mine.walls.data
    cdef const double *sphere
    cdef Planes planes = contacts.law.planes[0]
    cdef int *pairs = contacts.pairs.data
    cdef Py_ssize_t k, n = contacts.pairs.size
    for k in range(0, mine.walls.size, 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[k]
        pairs[n] = near[k]
        pairs[n + 1] = -1 - near[k + 1]
        n += 2 * (height(&planes, near[k + 1], sphere) < sphere[3])     # branchless: the branch is unpredictable
    contacts.pairs.size = n
    return evaluate_remaining(contacts, state, True)


cdef void reset_contacts(Contacts *contacts, const StateView *state) noexcept nogil:
    """Discard the contacts found so far at this pose, and their accumulators."""
    cdef Py_ssize_t k
    cdef unsigned int own
    for k in range(contacts.n_evaluated):
        own = contacts.pairs.data[k] - contacts.first_slot
        if own < <unsigned int> contacts.n_slots:
            contacts.accumulator_of_slot[own] = 0
            contacts.row_has_force[row_of(own)] = False
            contacts.block_has_force[state.block_of_member[contacts.first_row + row_of(own)]
                                     - contacts.first_block] = False
    clear_contacts(contacts)


cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil:
    """Search the inner list from the cursor to `end` for contacts, and evaluate them in eights.

    The last few contacts may be left for the next call. False: memory exhausted.
    """
    cdef Py_ssize_t k, n, whole_eights
    cdef unsigned int own, n_slots = contacts.n_slots
    cdef int *pairs
    cdef bint fine = True
    if not reserve(&contacts.pairs, mine.pairs.size + mine.walls.size + 2):
        return False
    pairs = contacts.pairs.data
    # In portions: their spheres stay in cache, and their accumulators are fetched while the last portion is evaluated.
    while contacts.list_cursor < end:
        n = contacts.pairs.size
        contacts.pairs.size += select_near(state.spheres, mine.pairs.data + contacts.list_cursor,
                                           min(<Py_ssize_t> PAIRS_AT_ONCE, end - contacts.list_cursor), 0.0, pairs + n)
        contacts.list_cursor = min(contacts.list_cursor + PAIRS_AT_ONCE, end)
        for k in range(n, contacts.pairs.size):
            own = pairs[k] - contacts.first_slot        # of a ghost: larger than n_slots
            prefetch(contacts.accumulator_of_slot + (own if own < n_slots else 0))
        whole_eights = (n - contacts.n_evaluated) // (2 * LANES) * (2 * LANES)
        if whole_eights:
            fine &= evaluate_pairs(contacts, state, whole_eights, False)
    return fine


cdef bint find_remaining_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Search the rest of the inner list, ghosts included, and the walls. False: memory exhausted."""
    cdef Py_ssize_t k
    for k in range(mine.n_own, mine.pairs.size):        # prefetch ghosts while own and wall contacts are processed
        prefetch(state.spheres + 4 * <Py_ssize_t> mine.pairs.data[k])
    return find_contacts(contacts, mine, state, mine.n_own) and evaluate_remaining(contacts, state, False) \
        and find_wall_contacts(contacts, mine, state) \
        and find_contacts(contacts, mine, state, mine.pairs.size) and evaluate_remaining(contacts, state, False)


cdef void release_contacts(Contacts *contacts) noexcept nogil:
    """Discard all contacts and free the memory of their lists."""
    clear_contacts(contacts)
    release(&contacts.pairs)
    release(&contacts.multi_contact)
    release(&contacts.head)
    release(&contacts.next)
    release(&contacts.half_contacts)
    release(&contacts.entries)


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.memory)
    release_contacts(contacts)
    memset(contacts, 0, sizeof(Contacts))
