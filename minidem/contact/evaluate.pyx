"""Forces of contacts, eight at a time.

    load        geometry of the two bodies, and their motion if the law has a history (gather.pyx); coefficients
    law         force, energies, history of this step
    add         force and moment to both spheres, as integers, so that the order does not matter (fixed_point.pxd);
                forces on a sphere of another thread to a separate sum, which its owner adds (take_foreign)
    end         contacts of a law with history that do not go on: their pairs return to the neighbor list

Contacts of a law with history are evaluated in the blocks in which they stay. Those of a law without are found anew at
each pose, among the pairs of the inner list, and packed into blocks of eight as they are found; a block is added after
the next has been evaluated.

Reduction: the force and torque on each clump (the wrench). The spheres of a clump are added in the order of its
template, so that the wrench depends neither on the threads nor on the order in which pairs were found or stored. Each
force acts at the centre of its sphere, with its moment about it, which a central force has not. The torque is offset x
force in the principal body frame, so a rod of spheres on one axis has an axial torque of exactly zero.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr, memcpy, memmove, memset

from minidem.broadphase.neighbours cimport select_near
from minidem.contact.blocks cimport Blocks, block_at, history_of, reserve_blocks
from minidem.contact.contact cimport MAX_RECORDS, Energies, Row
from minidem.contact.contacts cimport (
    BLOCKS_PER_FOLD, PAIRS_AT_ONCE, SPHERES, SUMMED, WALLS, Room, clear_observers, end_contact,
)
from minidem.contact.fixed_point cimport add_energies, add_side, fold, read_sums, rounded_wide, take_sums
from minidem.contact.gather cimport (
    call_central, load_known_results, load_block, load_only_pair,
)
from minidem.contact.law cimport Law, pair_of
from minidem.contact.wall_pairs cimport find_wall_pairs
from minidem.core.eight cimport (
    Eight, Eight3, add3, bits_below, cross3, eight_of, eight_where, load_eight, load_eight3, scale3, store_eight,
    store_eight3,
)
from minidem.core.instant cimport BETWEEN, LAST_STEP, Instant
from minidem.core.lanes cimport LANES, row_of
from minidem.core.prefetch cimport prefetch
from minidem.core.vec3 cimport dot
from minidem.core.vectors cimport reserve
from minidem.state.pose cimport load_matrices, to_body3
from minidem.state.rows cimport load
from minidem.state.state cimport clumps_of, free_slot_of, member

cdef enum:
    CONTACTS_AHEAD = 2              # blocks whose spheres are prefetched
    FEW_ROWS = 16                   # member rows of a block that are looked at one by one
    ROWS_AHEAD = 12                 # member rows whose sums are prefetched
    SLOTS_IN_CACHE = 32768          # with more, the sums of a thread are a megabyte and more
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
        prefetch(contacts.sums + contacts.width * <Py_ssize_t> (own if own < <unsigned int> contacts.n_slots else 0))


cdef inline void load_keys(const Law *law, const int *pairs, uint64_t[2][LANES] keys) noexcept nogil:
    """pairs : of materials."""
    cdef int lane
    for lane in range(LANES):
        keys[0][lane] = law.unit_keys[pairs[lane] >> law.log_materials]
        keys[1][lane] = law.unit_keys[pairs[lane] & ((1 << law.log_materials) - 1)]


cdef void number_sums(Contacts *contacts, int n_spheres, int *index) noexcept nogil:
    """Replace own spheres by the numbers of their packed sums; one that has none yet is given the next, of zero."""
    cdef int64_t *sums = contacts.sums
    cdef int *sum_of = contacts.sum_of
    cdef int lane, own, n_sums = contacts.n_sums
    cdef bint is_new
    for lane in range(n_spheres):
        own = index[lane]
        memset(sums + 4 * <Py_ssize_t> n_sums, 0, 4 * sizeof(int64_t))
        is_new = sum_of[own] == 0                       # no branch: it is unpredictable
        index[lane] = sum_of[own] + is_new * n_sums
        sum_of[own] = index[lane]
        n_sums += is_new
    contacts.n_sums = n_sums


cdef inline void index_sums(Contacts *contacts, const int *spheres, int n_spheres, int free_slot,
                            int *index) noexcept nogil:
    """Numbers of the sums of some spheres, which are touched."""
    cdef unsigned int own, n = contacts.n_slots
    cdef unsigned char *touched = contacts.touched
    cdef int lane, any_foreign = 0, first_slot = contacts.first_slot
    for lane in range(n_spheres):
        own = <unsigned int> (spheres[lane] - first_slot)
        index[lane] = <int> (own if own < n else n)
        any_foreign |= (own >= n) & (spheres[lane] < free_slot)
    for lane in range(n_spheres):
        touched[row_of(index[lane])] = 1
    if contacts.packed:
        number_sums(contacts, n_spheres, index)
    for lane in range(n_spheres if any_foreign else 0):
        if index[lane] == contacts.free_sum and spheres[lane] < free_slot:
            contacts.foreign.data[contacts.foreign.size] = spheres[lane]
            contacts.foreign.size += 1
            index[lane] = contacts.free_sum + <int> contacts.foreign.size


cdef inline void add_to_side(bint moments, int side, Contacts *contacts, const ContactBlock *block, const double *force,
                             const double *couple, const Contact *contact, const SideBlock *sides,
                             const uint64_t[2][LANES] keys, int free_slot, bint walls, int n) noexcept nogil:
    """Add the forces (3, LANES) to the first spheres of a block, or subtract them from the second ones.

    moments, side : constants, whether there are moments about the centres, and 0 or 1.  n : of the first n contacts.
    couple : (3, LANES), NULL if there are none.
    """
    cdef double moment[3 * LANES]
    cdef int index[LANES]
    cdef double sign = -1.0 if side else 1.0
    cdef Eight arm
    cdef Eight3 turning
    index_sums(contacts, &block.second[0] if side else &block.first[0], n, free_slot, index)
    if moments:
        arm = load_eight(sides[side].sphere + 3 * LANES) - (1.0 if walls else 0.5) * load_eight(contact.overlap)
        turning = scale3(-arm, cross3(load_eight3(contact.normal[0]), load_eight3(force)))
        if couple != NULL:
            turning = add3(turning, scale3(eight_of(sign), load_eight3(couple)))
        store_eight3(moment, turning)
    add_side(force, sign, moment if moments else NULL, keys[side], contacts.law.unit_shift,
             sides[side].sphere + 3 * LANES, n, index, contacts.sums)


cdef void add_central(Contacts *contacts, const ContactBlock *block, const double *force, const SideBlock *sides,
                      bint walls, int n) noexcept nogil:
    """Add central forces (3, LANES) on the first bodies of the first n contacts of a block to its spheres."""
    cdef uint64_t keys[2][LANES]
    cdef int side
    load_keys(contacts.law, block.materials, keys)
    for side in range(1 if walls else 2):
        add_to_side(False, side, contacts, block, force, NULL, NULL, sides, keys, contacts.groups[SPHERES].free_slot,
                    walls, n)


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


cdef void dissipate_held(Contacts *contacts, const ContactBlock *block, int ended) noexcept nogil:
    """Count what the springs of a user-defined law hold as dissipated, in contacts that have a bit in `ended`.

    These are the energies that it describes, of the history that it leaves, without an overlap. A law that has
    dissipated as much in this step has done so itself.
    """
    cdef const Law *law = contacts.law
    cdef Contact *contact = &contacts.rooms[0].contact
    cdef const Row *done = contacts.rooms[0].result.dissipated
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
    add_energies(held[0], law.per_energy, contacts.ledger.sums, contacts.ledger.energies, contacts.ledger.lost)


cdef void end_contacts(Contacts *contacts, Neighbours *mine, const StateView *state, int group, Py_ssize_t b,
                       int ended) noexcept nogil:
    """End the contacts of a block that have a bit in `ended`."""
    cdef const ContactBlock *block = block_at(&contacts.groups[group], b)
    cdef int lane
    for lane in range(LANES):
        if block.first[lane] == free_slot_of(state):
            ended &= ~(1 << lane)
    if ended and contacts.law.parameters.parts[0].forces == NULL:       # a law of the user's
        dissipate_held(contacts, block, ended)
    for lane in range(LANES):
        if ended >> lane & 1:
            check_ended(contacts, block, &contacts.rooms[0].result, contacts.law.has_couples, lane)
            end_contact(contacts, mine, state, group, b * LANES + lane)


cdef inline void call_law(Contacts *contacts, const Law *law, ContactBlock *block, Contact *contact, Result *result,
                          bint stores) noexcept nogil:
    """Evaluate the law; its history, and with `stores` force and couple, into the block."""
    law.history(contact, history_of(block), result, &law.parameters)
    if stores:
        memcpy(block.force, result.force, sizeof(block.force))
    if stores and law.has_couples:
        memcpy(block.couple, result.couple, sizeof(block.couple))
    add_energies(result.dissipated[0], law.per_energy, contacts.ledger.sums, contacts.ledger.energies,
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


cdef void add_image_work(Contacts *contacts, const int *first, int free_slot, const double *force,
                         const double *images) noexcept nogil:
    """Work of the box, in the half steps that end and begin at this pose, by contacts with images.

    first : (LANES,) first bodies.  force : (3, LANES) on them [N].
    images : (6, LANES), see gather_contacts.
    """
    cdef double power
    cdef int lane, half
    for lane in range(LANES):
        if first[lane] != free_slot:
            for half in range(2):
                power = dot(load(force + lane), load(images + 3 * LANES * half + lane))
                contacts.box_work[half] += rounded_wide(0.5 * contacts.law.dt * power * contacts.law.per_energy)


cdef inline bint stores_block(const Contacts *contacts, bint walls, const Instant *now) noexcept nogil:
    """Whether something reads the forces in blocks before the next evaluation, without history the contacts, too."""
    return now.purpose in (LAST_STEP, BETWEEN) or contacts.stores_forces \
        or walls and contacts.walls.any_moves


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
        if stores_block(contacts, walls, now):
            memcpy(block.force, result.force, sizeof(block.force))
    elif room.known:
        load_known_results(block, result)
    else:
        preset(contacts, law, b, walls, contact, result)
        call_law(contacts, law, block, contact, result, stores_block(contacts, walls, now))
        # No contact persists beyond the range for which pairs are listed.
        store_eight(result.goes_on, eight_where(load_eight(contact.overlap) + eight_of(law.reach),
                                                load_eight(result.goes_on)))
        ended = bits_below(result.goes_on, 0.5)
    if room.crosses:
        add_image_work(contacts, block.first, free_slot_of(state), result.force[0], room.images[0])
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
    cdef bint walls = group == <int> WALLS, stores = stores_block(contacts, walls, now)
    cdef Py_ssize_t b = blocks.n_blocks if stores else room - contacts.rooms
    cdef ContactBlock *block
    cdef int lane
    room.n = 0
    if not reserve_blocks(blocks, b + 2):
        return
    room.n = n
    block = block_at(blocks, b)
    if stores:
        memset(block.couple, 0, sizeof(block.couple))
        blocks.n_blocks += 1
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
    """Evaluate n ints of contacts of a law without history, two by two.

    A block is added while the next is evaluated, since what is added waits for two roots and a division.
    """
    cdef Py_ssize_t k, n_blocks = (n + 2 * LANES - 1) // (2 * LANES)
    cdef Room *room
    for k in range(n_blocks + 1 if n > 0 else 0):
        if k < n_blocks:
            evaluate_few(contacts, state, group, pairs + 2 * LANES * k,
                         <int> min(<Py_ssize_t> LANES, n // 2 - LANES * k), contacts.rooms + k % 2, now)
        if k > 0:
            room = contacts.rooms + (k - 1) % 2
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
        evaluate_pairs(contacts, state, SPHERES, pairs, whole, now)
        contacts.n_found -= <int> whole
        memmove(pairs, pairs + whole, contacts.n_found * sizeof(int))


cdef void evaluate_found(Contacts *contacts, Neighbours *mine, const StateView *state,
                         const Instant *now) noexcept nogil:
    """Forces of the contacts of a law without history that have not been found yet."""
    find_contacts(contacts, mine, state, mine.pairs.size, now)
    evaluate_pairs(contacts, state, SPHERES, contacts.found_pairs.data, contacts.n_found, now)
    if mine.wall_pairs.size > 0 and reserve(&contacts.found_pairs, mine.wall_pairs.size + 2 * LANES):
        evaluate_pairs(contacts, state, WALLS, contacts.found_pairs.data,
                       2 * find_wall_pairs(contacts, mine, state, contacts.found_pairs.data, NULL, 0.0), now)


cdef void evaluate_group(Contacts *contacts, Neighbours *mine, const StateView *state, int group,
                         const Instant *now) noexcept nogil:
    """Evaluate the blocks of a law with history; of the first n_kept ones, add the forces that are known.

    New contacts are in blocks behind the known ones, or in free lanes of these.
    """
    cdef const Blocks *blocks = &contacts.groups[group]
    cdef Py_ssize_t b, n_blocks = blocks.n_blocks
    cdef ContactBlock *block
    cdef int ended
    for b in range(n_blocks):
        block = block_at(blocks, b)
        prefetch_block(block_at(blocks, b + 2 * <int> CONTACTS_AHEAD), contacts.law)
        if group == <int> SPHERES and contacts.n_slots > SPHERES_IN_CACHE and b + <int> CONTACTS_AHEAD < n_blocks:
            prefetch_bodies(contacts, state, block_at(blocks, b + CONTACTS_AHEAD).first)
        ended = evaluate_block(True, contacts, state, group, block, b, LANES, contacts.rooms, now)
        add_forces(True, contacts, state, group, contacts.rooms, LANES)
        if ended:
            end_contacts(contacts, mine, state, group, b, ended)
        if (b + 1) % BLOCKS_PER_FOLD == 0:
            fold(contacts.ledger.sums, SUMMED, contacts.ledger.energies)
    fold(contacts.ledger.sums, SUMMED, contacts.ledger.energies)


cdef void clear_foreign(Contacts *contacts) noexcept nogil:
    """Discard the sums on spheres of other threads, which these have taken."""
    if contacts.foreign.size > 0:
        memset(contacts.sums + contacts.width * <Py_ssize_t> (contacts.free_sum + 1), 0,
               contacts.foreign.size * contacts.width * sizeof(int64_t))
    contacts.foreign.size = 0


cdef void evaluate_contacts(Contacts *contacts, Neighbours *mine, const StateView *state,
                            const Instant *now) noexcept nogil:
    """Forces of all own contacts, added to the sums."""
    clear_foreign(contacts)
    if contacts.law.history == NULL:
        evaluate_found(contacts, mine, state, now)
    else:
        contacts.box_work[0] = contacts.box_work[1] = 0
        clear_observers(contacts)
        evaluate_group(contacts, mine, state, SPHERES, now)
        evaluate_group(contacts, mine, state, WALLS, now)


cdef void take_foreign(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil:
    """Add the forces on own spheres that other threads have evaluated."""
    cdef Contacts *contacts = all + thread
    cdef const Contacts *other
    cdef Py_ssize_t k
    cdef unsigned int own
    cdef int t, m, number
    for t in range(n_threads if n_threads > 1 else 0):
        other = all + t
        for k in range(other.foreign.size):
            own = <unsigned int> (other.foreign.data[k] - contacts.first_slot)
            if own < <unsigned int> contacts.n_slots:
                index_sums(contacts, other.foreign.data + k, 1, free_slot_of(state), &number)
                for m in range(contacts.width):
                    contacts.sums[contacts.width * <Py_ssize_t> number + m] += other.sums[
                        contacts.width * (other.free_sum + 1 + k) + m]


cdef inline Py_ssize_t next_row(const unsigned char *touched, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """The first member row from `row` on, but before `last`, with a force; `last` if there is none."""
    cdef const unsigned char *found
    if last - row > FEW_ROWS:
        found = <const unsigned char *> memchr(touched + row, 1, last - row)
        return found - touched if found != NULL else last
    while row < last and not touched[row]:
        row += 1
    return row


cdef inline void reduce_in(bint moments, Contacts *contacts, const StateView *state, Py_ssize_t b, Py_ssize_t row,
                           const WrenchBlock *base, WrenchBlock *wrench) noexcept nogil:
    """See reduce_block. moments : a constant, whether the law has moments about the centres of spheres.

    row : the first member row with a force; rows count from the row of the first own sphere here.
    """
    cdef double matrices[9 * LANES], on_spheres[3 * LANES], moment[3 * LANES]
    cdef uint64_t of_lanes[LANES]
    cdef const uint64_t *keys = contacts.rooms[0].keys[0]      # of one material
    cdef Py_ssize_t first_row = row_of(contacts.first_slot), last = state.first_member[b + 1] - first_row
    cdef const double *spheres
    cdef Eight3 force, torque
    cdef int lane
    force, torque = load_eight3(base.force), load_eight3(base.torque)
    load_matrices(matrices, clumps_of(state, b).orientation)
    if contacts.law.log_materials > 0:
        for lane in range(LANES):
            of_lanes[lane] = contacts.law.unit_keys[contacts.law.materials[b * LANES + lane]]
        keys = of_lanes
    while row < last:
        spheres = member(state, first_row + row)
        if contacts.packed and not moments:
            read_sums(contacts.sums, contacts.sum_of + row * LANES, keys, contacts.law.unit_shift, spheres + 3 * LANES,
                      on_spheres, NULL)
            memset(contacts.sum_of + row * LANES, 0, LANES * sizeof(int))
        else:
            take_sums(contacts.sums + row * LANES * (8 if moments else 4), keys, contacts.law.unit_shift,
                      spheres + 3 * LANES, on_spheres, moment if moments else NULL)
        force = add3(force, load_eight3(on_spheres))
        torque = add3(torque, cross3(load_eight3(spheres), to_body3(matrices, load_eight3(on_spheres))))
        if moments:
            torque = add3(torque, to_body3(matrices, load_eight3(moment)))
        contacts.touched[row] = 0
        row = next_row(contacts.touched, row + 1, last)
    store_eight3(wrench.force, force)
    store_eight3(wrench.torque, torque)


cdef void prefetch_sums(const Contacts *contacts, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """Of the spheres of the own member rows from `row` on, but before `last`."""
    cdef Py_ssize_t k
    for row in range(row, last):
        for k in range(row * LANES, (row + 1) * LANES if contacts.touched[row] else 0):
            prefetch(contacts.sums + contacts.width * (contacts.sum_of[k] if contacts.packed else k))


cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const WrenchBlock *base,
                                     WrenchBlock *wrench) noexcept nogil:
    """Add the forces on the spheres of block b to the wrenches `base` of its clumps. The sums are then zero.

    wrench : room for the result, may be `base`. Returns it, or `base` of a block without contacts.
    """
    cdef Py_ssize_t first_row, row, last
    if not contacts.ready:                              # free bodies
        return base
    first_row = row_of(contacts.first_slot)
    row, last = state.first_member[b] - first_row, state.first_member[b + 1] - first_row
    if contacts.n_slots > SLOTS_IN_CACHE and last + ROWS_AHEAD < row_of(contacts.n_slots):
        prefetch_sums(contacts, row + ROWS_AHEAD, last + ROWS_AHEAD)
    row = next_row(contacts.touched, row, last)
    if row == last:
        return base
    if contacts.law.history != NULL:
        reduce_in(True, contacts, state, b, row, base, wrench)
    else:
        reduce_in(False, contacts, state, b, row, base, wrench)
    return wrench
