"""Forces of contacts, eight at a time.

    load        geometry of the two bodies, and their motion if the law has a history (gather.pyx); coefficients
    law         force, energies, history of this step
    add         force and moment to both spheres, as integers, so that the order does not matter (fixed_point.pxd);
                forces on a sphere of another thread to a separate sum, which its owner adds (take_foreign)
    end         contacts of a law with history that do not go on: their pairs return to the neighbor list

Contacts of a law with history are evaluated in the blocks in which they stay. Contacts of a law without history are
found anew at each pose, among the pairs of the inner list, and packed into blocks of eight as they are found. In both,
a block is added after the next has been evaluated, since what is added waits for roots and divisions.
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memmove, memset

from minidem.broadphase.neighbours cimport select_near
from minidem.contact.blocks cimport Blocks, block_at, history_of, reserve_blocks
from minidem.contact.contact cimport MAX_RECORDS, Energies, Row
from minidem.contact.contacts cimport (
    BLOCKS_PER_FOLD, PAIRS_AT_ONCE, SPHERES, SUMMED, WALLS, Room, clear_observers, end_contact,
)
from minidem.contact.fixed_point cimport add_energies, fold
from minidem.contact.gather cimport call_central, couples_of, load_block, load_known_results, load_only_pair
from minidem.contact.law cimport Law, pair_of
from minidem.contact.sums cimport add_to_side, clear_foreign, load_keys
from minidem.contact.wall_pairs cimport find_wall_pairs
from minidem.core.eight cimport bits_below, eight_of, eight_where, load_eight, store_eight
from minidem.core.instant cimport BETWEEN, LAST_STEP, Instant
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.vectors cimport reserve
from minidem.state.state cimport free_slot_of

cdef enum:
    CONTACTS_AHEAD = 2              # blocks whose spheres are prefetched
    SPHERES_IN_CACHE = 8192         # with more, centres, motions and sums of spheres are a megabyte and more

cdef extern from *:
    """
    #define MINIDEM_FAR_GAP 1e100
    """
    const double FAR "MINIDEM_FAR_GAP"  # a gap [m]


cdef inline void prefetch_block(const ContactBlock *block, const Law *law) noexcept nogil:
    """Prefetch what the next evaluation reads of a block."""
    cdef int k
    prefetch(block)
    prefetch(block.mass)
    for k in range(4 * (law.n_records - law.rare_records)):
        prefetch(history_of(block) + k * LANES)


cdef inline void prefetch_bodies(const Contacts *contacts, const StateView *state, const int *bodies) noexcept nogil:
    """bodies : (2 LANES,) of a block of two spheres each."""
    cdef unsigned int own
    cdef int k
    for k in range(2 * LANES):
        own = <unsigned int> (bodies[k] - contacts.first_slot)
        prefetch(state.spheres + 4 * <Py_ssize_t> bodies[k])
        prefetch(state.motions + 8 * <Py_ssize_t> bodies[k])
        # The width of sums with moments: a product with `contacts.width` would take as long as the prefetch gains.
        prefetch(contacts.sums + 8 * <Py_ssize_t> min(own, <unsigned int> contacts.n_slots))


cdef inline void check_ended(Contacts *contacts, const ContactBlock *block, const Result *result, bint couples,
                             int lane) noexcept nogil:
    """Note a contact that ended in this step with a force or a couple."""
    cdef int k
    cdef bint acts = False
    for k in range(3):
        acts |= (result.force[k][lane] != 0.0) | (couples and result.couple[k][lane] != 0.0)
    if acts:
        contacts.has_force_after_end = True
        contacts.pair_after_end[0], contacts.pair_after_end[1] = block.first[lane], block.second[lane]
        for k in range(3):
            contacts.force_after_end[k] = result.force[k][lane]


cdef void dissipate_held(Contacts *contacts, const ContactBlock *block, Room *room, int ended) noexcept nogil:
    """Count what the springs of a user-defined law hold as dissipated, in contacts that have a bit in `ended`.

    These are the energies that it describes, of the history that it leaves, without an overlap. A law that has
    dissipated as much in this step has done so itself.
    """
    cdef const Law *law = contacts.law
    cdef Contact *contact = &room.contact
    cdef const Row *done = room.result.dissipated
    cdef double history[MAX_RECORDS * 4 * LANES]
    cdef Row held[SUMMED]
    cdef Energies energies
    cdef double by_law, all_held
    cdef int lane, k
    memcpy(history, history_of(block), law.n_records * 4 * LANES * sizeof(double))
    for lane in range(LANES):
        if ended >> lane & 1 and law.reach == 0.0:
            contact.overlap[lane] = 0.0
    law.describe(contact, history, &energies, &law.parameters)
    memcpy(held[0], energies.normal_energy, sizeof(Row))
    memset(held[1], 0, sizeof(Row))                     # tangential damping: springs count as sliding
    memcpy(held[2], energies.tangential_energy, sizeof(Row))
    memcpy(held[3], energies.rolling_energy, sizeof(Row))
    for lane in range(LANES):
        by_law, all_held = 0.0, held[0][lane] + held[2][lane] + held[3][lane]
        for k in range(<int> SUMMED):
            by_law += done[k][lane]
        # Not a number: without an overlap a formula may divide by zero.
        if not (ended >> lane & 1 and contact.step[lane] > 0.0 and fabs(by_law) < fabs(all_held) < FAR):
            held[0][lane] = held[2][lane] = held[3][lane] = 0.0
    add_energies(held[0], SUMMED, law.per_energy, contacts.ledger.sums, contacts.ledger.energies, contacts.ledger.lost)


cdef void end_contacts(Contacts *contacts, Neighbours *mine, const StateView *state, Room *room,
                       int ended) noexcept nogil:
    """End the contacts of a block that have a bit in `ended`."""
    cdef const ContactBlock *block = block_at(&contacts.groups[room.group], room.block)
    cdef int lane
    for lane in range(LANES):
        if block.first[lane] == free_slot_of(state):
            ended &= ~(1 << lane)
    if ended and contacts.law.parameters.parts[0].forces == NULL:       # a law of the user's
        dissipate_held(contacts, block, room, ended)
    for lane in range(LANES):
        if ended >> lane & 1:
            check_ended(contacts, block, &room.result, contacts.law.has_couples, lane)
            end_contact(contacts, mine, state, room.group, room.block * LANES + lane)


cdef inline void call_law(Contacts *contacts, const Law *law, ContactBlock *block, Contact *contact, Result *result,
                          bint stores) noexcept nogil:
    """Evaluate the law; its history, and with `stores` force and couple, into the block."""
    law.history(contact, history_of(block), result, &law.parameters)
    if stores:
        memcpy(block.force, result.force, sizeof(block.force))
    if stores and law.has_couples:
        memcpy(couples_of(law, block), result.couple, sizeof(result.couple))
    add_energies(result.dissipated[0], SUMMED, law.per_energy, contacts.ledger.sums, contacts.ledger.energies,
                 contacts.ledger.lost)


cdef inline void preset(const Contacts *contacts, const Law *law, Py_ssize_t b, bint walls, Contact *contact,
                        Result *result) noexcept nogil:
    """goes_on before the law. A triangle may end although it overlaps, because another one has replaced it; a law that
    acts across a gap then has a gap of FAR."""
    cdef double *overlap = &contact.overlap[0]
    cdef int lane
    for lane in range(LANES if walls else 0):
        if not contacts.seen.data[b * LANES + lane]:
            overlap[lane] = -FAR if overlap[lane] > -law.reach and law.reach > 0.0 else min(overlap[lane], 0.0)
    store_eight(result.goes_on, eight_where(load_eight(overlap), eight_of(1.0)))


cdef inline bint stores_block(const Contacts *contacts, const Instant *now) noexcept nogil:
    """Whether something reads the forces in blocks before the next evaluation, without history the contacts, too."""
    return now.purpose in (LAST_STEP, BETWEEN) or contacts.stores_forces


cdef inline int evaluate_block(bint history, Contacts *contacts, const StateView *state, int group, ContactBlock *block,
                               Py_ssize_t b, int n, Room *room, const Instant *now) noexcept nogil:
    """Evaluate eight contacts: see above. Their forces are in the room, to be added; returns bits of those that end.

    history : a constant, whether the law has one.  b : number of the block in its group.  n : lanes; others are free.
    """
    cdef const Law *law = contacts.law
    cdef Contact *contact = &room.contact
    cdef Result *result = &room.result
    cdef double magnitude[LANES]
    cdef bint walls = group == <int> WALLS
    cdef int ended = 0, k
    room.group, room.block, room.known = group, b, history and b < contacts.n_kept[group]
    if law.log_materials > 0:
        load_keys(law, block.materials, room.keys)      # long before they are read as a vector
    room.crosses = load_block(law, state, block, walls, n, contact, room.sides, room.images[0])
    if not history:
        call_central(law, contact, magnitude, result.force[0])
        if stores_block(contacts, now):
            memcpy(block.force, result.force, sizeof(block.force))
    elif room.known:
        load_known_results(law, block, result)
    else:
        preset(contacts, law, b, walls, contact, result)
        call_law(contacts, law, block, contact, result, stores_block(contacts, now))
        # No contact persists beyond the range for which pairs are listed.
        store_eight(result.goes_on, eight_where(load_eight(contact.overlap) + eight_of(law.reach),
                                                load_eight(result.goes_on)))
        ended = bits_below(result.goes_on, 0.5)
    for k in range(contacts.n_observers):
        contacts.observers[k].see(contacts, state, block, room, now, contacts.observers[k].own)
    return ended


cdef inline void add_forces(bint moments, Contacts *contacts, const StateView *state, int group, const Room *room,
                            int n) noexcept nogil:
    """Add the forces of the first n contacts of a block that has been evaluated to its spheres; a wall gets none.

    moments : a constant, whether there are moments about the centres.
    """
    cdef const ContactBlock *block = block_at(&contacts.groups[group], room.block)
    cdef const double *couple = room.result.couple[0] if contacts.law.has_couples else NULL
    cdef bint walls = group == <int> WALLS
    add_to_side(moments, 0, contacts, block, room.result.force[0], couple, &room.contact, room.sides, room.keys,
                free_slot_of(state), walls, n)
    if not walls:
        add_to_side(moments, 1, contacts, block, room.result.force[0], couple, &room.contact, room.sides, room.keys,
                    free_slot_of(state), walls, n)


cdef void prepare_room(Contacts *contacts) noexcept nogil:
    """Load what is the same for all blocks, where there is one material."""
    cdef int no_materials[LANES]
    cdef int k
    memset(no_materials, 0, sizeof(no_materials))
    for k in range(2):
        load_only_pair(contacts.law, &contacts.rooms[k].contact)
        load_keys(contacts.law, no_materials, contacts.rooms[k].keys)


cdef inline void evaluate_few(Contacts *contacts, const StateView *state, int group, const int *pairs, int n,
                              Room *room, const Instant *now) noexcept nogil:
    """Pack n <= LANES contacts (n, 2) of a law without history into a block, and evaluate it."""
    cdef Blocks *blocks = &contacts.groups[group]
    cdef const Law *law = contacts.law
    cdef bint stores = stores_block(contacts, now)
    cdef Py_ssize_t b = blocks.n_blocks if stores else room - contacts.rooms
    cdef ContactBlock *block
    cdef int lane
    room.n = 0
    if not reserve_blocks(blocks, b + 2):
        return
    room.n = n
    block = block_at(blocks, b)
    blocks.n_blocks += stores
    for lane in range(LANES):
        block.first[lane] = pairs[2 * lane] if lane < n else blocks.free_slot
        block.second[lane] = pairs[2 * lane + 1] if lane < n else blocks.free_second
    if n < LANES or stores:
        memset(block.materials, 0, sizeof(block.materials))
    for lane in range(n if law.log_materials > 0 else 0):
        block.materials[lane] = pair_of(law, state, block.first[lane], block.second[lane])
    evaluate_block(False, contacts, state, group, block, b, n, room, now)


cdef void evaluate_pairs(Contacts *contacts, const StateView *state, int group, const int *pairs, Py_ssize_t n,
                         const Instant *now) noexcept nogil:
    """Evaluate n > 0 ints of contacts of a law without history, two by two."""
    cdef Py_ssize_t k, n_blocks = (n + 2 * LANES - 1) // (2 * LANES)
    cdef Room *room
    for k in range(n_blocks + 1):
        if k < n_blocks:
            evaluate_few(contacts, state, group, pairs + 2 * LANES * k,
                         <int> min(<Py_ssize_t> LANES, n // 2 - LANES * k), contacts.rooms + k % 2, now)
        room = contacts.rooms + (k - 1) % 2
        if k > 0 and room.n > 0:                        # else memory for the block was refused
            add_forces(False, contacts, state, group, room, room.n)


cdef void find_contacts(Contacts *contacts, Neighbours *mine, const StateView *state, Py_ssize_t end,
                        const Instant *now) noexcept nogil:
    """Search the inner list from the cursor to `end` for contacts of a law without history, and evaluate them.

    In portions, whose spheres stay in cache, and in eights: the last few contacts may be left for the next call.
    """
    cdef Py_ssize_t k, n, whole
    cdef int *pairs
    if not reserve(&contacts.found_pairs, PAIRS_AT_ONCE + 4 * LANES):
        return
    pairs = contacts.found_pairs.data
    while contacts.list_cursor < end:
        n = min(<Py_ssize_t> PAIRS_AT_ONCE, end - contacts.list_cursor)
        n = select_near(state.spheres, contacts.law.box, mine.pairs.data + contacts.list_cursor, n, 0.0,
                        pairs + contacts.n_found)
        contacts.list_cursor = min(contacts.list_cursor + PAIRS_AT_ONCE, end)
        for k in range(contacts.n_found, contacts.n_found + n if contacts.packed else 0):
            prefetch(contacts.sum_of + min(<unsigned int> (pairs[k] - contacts.first_slot),
                                           <unsigned int> contacts.n_slots))
        contacts.n_found += <int> n
        whole = contacts.n_found // (2 * LANES) * (2 * LANES)
        if whole > 0:
            evaluate_pairs(contacts, state, SPHERES, pairs, whole, now)
            contacts.n_found -= <int> whole
            memmove(pairs, pairs + whole, contacts.n_found * sizeof(int))


cdef void evaluate_found(Contacts *contacts, Neighbours *mine, const StateView *state,
                         const Instant *now) noexcept nogil:
    """Forces of the contacts of a law without history that have not been found yet."""
    cdef Py_ssize_t n
    find_contacts(contacts, mine, state, mine.pairs.size, now)
    if contacts.n_found > 0:
        evaluate_pairs(contacts, state, SPHERES, contacts.found_pairs.data, contacts.n_found, now)
    if mine.wall_pairs.size > 0 and reserve(&contacts.found_pairs, mine.wall_pairs.size + 2 * LANES):
        n = 2 * find_wall_pairs(contacts, mine, state, contacts.found_pairs.data, NULL, 0.0)
        if n > 0:
            evaluate_pairs(contacts, state, WALLS, contacts.found_pairs.data, n, now)


cdef void evaluate_group(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                         const Instant *now) noexcept nogil:
    """Evaluate the blocks of a law with history; of the first n_kept ones, add the forces that are known.

    New contacts are in blocks behind the known ones, or in free lanes of these.
    """
    cdef const Blocks *blocks = &contacts.groups[group]
    cdef Py_ssize_t b, n_blocks = blocks.n_blocks
    cdef Room *room
    cdef int ended[2]                                   # of this block and the last
    for b in range(n_blocks + 1 if n_blocks > 0 else 0):
        if b < n_blocks:
            prefetch_block(block_at(blocks, b + 2 * <int> CONTACTS_AHEAD), contacts.law)
            if group == <int> SPHERES and contacts.n_slots > SPHERES_IN_CACHE and b + <int> CONTACTS_AHEAD < n_blocks:
                prefetch_bodies(contacts, state, block_at(blocks, b + CONTACTS_AHEAD).first)
            ended[b % 2] = evaluate_block(True, contacts, state, group, block_at(blocks, b), b, LANES,
                                          contacts.rooms + b % 2, now)
        if b > 0:
            room = contacts.rooms + (b - 1) % 2
            add_forces(True, contacts, state, group, room, LANES)
            if ended[(b - 1) % 2]:
                end_contacts(contacts, mine, state, room, ended[(b - 1) % 2])
        if (b + 1) % BLOCKS_PER_FOLD == 0:
            fold(contacts.ledger.sums, SUMMED, contacts.ledger.energies)
    fold(contacts.ledger.sums, SUMMED, contacts.ledger.energies)


cdef void evaluate_contacts(Contacts *contacts, Neighbours *mine, const StateView *state,
                            const Instant *now) noexcept nogil:
    """Forces of all own contacts, added to the sums."""
    clear_foreign(contacts)
    if contacts.law.history == NULL:
        evaluate_found(contacts, mine, state, now)
    else:
        clear_observers(contacts)
        evaluate_group(contacts, mine, state, SPHERES, now)
        evaluate_group(contacts, mine, state, WALLS, now)
