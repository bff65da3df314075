"""The narrow phase: which candidates are in contact, and the force on each sphere.

A contact belongs to one thread, which adds its force to the sums of its own spheres. Forces on spheres of other threads
are written down; their owners add them when all threads have evaluated their contacts (take_forces).

Contacts are evaluated by the contact law (law.pxd), eight at a time; square roots and divisions have the same bits so.
The order in which they are found differs between runs. The sums of their forces have none (force_sums.pxd).
"""
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours, select_near
from minidem.contact.central cimport PAIRS_AT_ONCE, evaluate_central, record_of
from minidem.contact.force_sums cimport add_record
from minidem.contact.stored cimport release_stored
from minidem.contact.wall_contacts cimport find_wall_pairs
from minidem.core.vectors cimport APART, release, reserve
from minidem.core.lanes cimport LANES, row_of
from minidem.core.prefetch cimport FORCE_BLOCKS_AHEAD, prefetch
from minidem.state.state cimport StateView


cdef enum:
    CACHE_LINE = 64             # bytes; an accumulator across two lines takes twice as long
    SENT_INTS = sizeof(SentForce) // sizeof(int)


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
    contacts.memory = calloc(2 * forces + indices + rows + blocks + 2 * APART, 1)
    if contacts.memory == NULL:
        return False
    start = <char *> contacts.memory + APART - <uintptr_t> contacts.memory % CACHE_LINE
    contacts.sphere_force = <int64_t *> start
    contacts.spare_force = <int64_t *> (start + forces)
    contacts.accumulator_of_slot = <int *> (start + 2 * forces)
    contacts.row_has_force = <unsigned char *> (start + 2 * forces + indices)
    contacts.block_has_force = contacts.row_has_force + rows
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


cdef inline void add_force(Contacts *contacts, int accumulator, int sphere, const int64_t *record) noexcept nogil:
    """Add a force on a sphere, or write it down if the sphere belongs to another thread; a wall gets none."""
    cdef SentForce *sent
    if accumulator:
        add_record(record, contacts.sphere_force + 4 * <Py_ssize_t> accumulator)
    elif sphere >= 0:
        sent = <SentForce *> (contacts.sent.data + contacts.sent.size)
        memcpy(sent.record, record, sizeof(sent.record))
        sent.slot = sphere
        contacts.sent.size += SENT_INTS


cdef void take_forces(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil:
    """Add the forces on own spheres that other threads have written down."""
    cdef Contacts *contacts = all + thread
    cdef const SentForce *sent
    cdef Py_ssize_t k
    cdef int t, slot, accumulator
    for t in range(n_threads):
        sent = <const SentForce *> all[t].sent.data
        for k in range(all[t].sent.size // <int> SENT_INTS):
            slot = <int> sent[k].slot
            if <unsigned int> (slot - contacts.first_slot) < <unsigned int> contacts.n_slots:
                assign_accumulators(contacts, state, &slot, 1, &accumulator)
                add_record(sent[k].record, contacts.sphere_force + 4 * <Py_ssize_t> accumulator)


cdef bint evaluate_pairs(Contacts *contacts, const StateView *state, Py_ssize_t n, bint walls) noexcept nogil:
    """Evaluate the next n ints of contacts, two by two, and add their forces. False: memory exhausted.

    walls : some of them are contacts with a wall.
    """
    cdef int accumulators[PAIRS_AT_ONCE + 2 * LANES]
    cdef int64_t forces[4 * (PAIRS_AT_ONCE + 2 * LANES)]
    cdef const int *pairs = contacts.pairs.data + contacts.n_evaluated
    cdef int64_t *on_i
    cdef Py_ssize_t k
    cdef bint fine = reserve(&contacts.sent, contacts.sent.size + n * <int> SENT_INTS)
    assign_accumulators(contacts, state, pairs, n, accumulators)
    # All are evaluated before any is added: roots and divisions of one eight do not wait for the sums of another.
    fine = evaluate_central(contacts.law, state, pairs, contacts.n_evaluated, n, walls, forces, &contacts.ends) and fine
    for k in range(0, n if fine else 0, 2):
        on_i = record_of(forces, k)
        add_force(contacts, accumulators[k], pairs[k], on_i)
        add_force(contacts, accumulators[k + 1], pairs[k + 1], on_i + 4 * LANES)
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
    cdef Py_ssize_t n = find_wall_pairs(contacts.law.walls, mine, state, &contacts.facets,
                                        contacts.pairs.data + contacts.pairs.size, NULL, NULL, 0.0)
    if n < 0:
        return False
    contacts.pairs.size += 2 * n
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
    if not reserve(&contacts.pairs, mine.pairs.size + mine.wall_candidates.size + 2):
        return False
    pairs = contacts.pairs.data
    # In portions: their spheres stay in cache, and their accumulators are fetched while the last portion is evaluated.
    while contacts.list_cursor < end:
        n = contacts.pairs.size
        contacts.pairs.size += select_near(state.spheres, contacts.law.box, mine.pairs.data + contacts.list_cursor,
                                           min(<Py_ssize_t> PAIRS_AT_ONCE, end - contacts.list_cursor), 0.0, pairs + n,
                                           NULL)
        contacts.list_cursor = min(contacts.list_cursor + PAIRS_AT_ONCE, end)
        for k in range(n, contacts.pairs.size):
            own = pairs[k] - contacts.first_slot        # of another thread: larger than n_slots
            prefetch(contacts.accumulator_of_slot + (own if own < n_slots else 0))
        whole_eights = (n - contacts.n_evaluated) // (2 * LANES) * (2 * LANES)
        if whole_eights:
            fine &= evaluate_pairs(contacts, state, whole_eights, False)
    return fine


cdef bint find_remaining_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Search the rest of the inner list, and the walls. False: memory exhausted."""
    contacts.sent.size = 0
    return find_contacts(contacts, mine, state, mine.pairs.size) and evaluate_remaining(contacts, state, False) \
        and find_wall_contacts(contacts, mine, state)


cdef void release_contacts(Contacts *contacts) noexcept nogil:
    """Discard all contacts and free the memory of their lists."""
    clear_contacts(contacts)
    release(&contacts.pairs)
    release(&contacts.sent)
    release(&contacts.ends)
    release(&contacts.crossing)
    release(&contacts.onset)
    release(&contacts.noted)
    release(&contacts.additions)
    release(&contacts.own_additions)
    release(&contacts.facets)
    release_stored(&contacts.stored)


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.memory)
    release_contacts(contacts)
    memset(contacts, 0, sizeof(Contacts))
