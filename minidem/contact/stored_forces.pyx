"""Forces of contacts of laws with records: eight contacts are evaluated in place, and their forces added at once.

    load        geometry and motion of the two bodies (contact_motion.pyx), what is known of the contacts
    law         force, energies, records of this step
    add         force and moment to both spheres, as integers, so that the order does not matter (fixed_point.pxd);
                those on a sphere of another thread are written down, and its owner adds them (take_sent)
    end         contacts that do not go on: their pairs are candidates again

The wrench of a clump is the sum over its spheres in the order of its template.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.contact.blocks cimport Blocks, ContactBlock, block_at, history_of
from minidem.contact.contact cimport Contact, MAX_RECORDS, Result
from minidem.contact.contact_motion cimport Side, gather_contacts
from minidem.contact.fixed_point cimport (
    BOUND, COARSE, LARGEST, LINE, add_energies, add_line, add_side, fold, rounded_wide, take_lines,
)
from minidem.contact.fluxes cimport add_rates, clear_sums, describe_bodies, take_rates
from minidem.contact.stored cimport BLOCKS_PER_FOLD, GROUPS, SUMMED, WALLS, Fracture, end_contact
from minidem.core.eight cimport (
    Eight, Eight3, add3, bits_below, cross3, eight_of, eight_where, inverse_power, load_eight, load_eight3, scale3,
    store_eight, store_eight3,
)
from minidem.core.lanes cimport LANES, LOG_LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.transpose cimport rows_from_records
from minidem.core.vectors cimport reserve
from minidem.core.vec3 cimport dot
from minidem.state.pose cimport load_matrices, to_body3
from minidem.state.rows cimport load
from minidem.state.state cimport clumps_of, hole_of, member

cdef enum:
    AHEAD = 2                       # blocks whose spheres are prefetched

cdef extern from *:
    """
    #define MINIDEM_FAR_GAP 1e100
    """
    const double FAR "MINIDEM_FAR_GAP"  # a gap [m]
    const double LEAST_FRACTURE "5e-324"   # [J]


cdef inline void prefetch_block(const ContactBlock *block, const Law *law, const ContactBlock *current) noexcept nogil:
    """Prefetch what the next evaluation reads of a block.

    Neighbouring blocks behave alike, so the first contact of `current` predicts whether the first records are used.
    """
    cdef int k, first = 0 if history_of(current)[3 * LANES] != 0.0 else law.touch_records
    prefetch(block)
    prefetch(block.mass)
    if first > 0:
        prefetch(history_of(block) + 3 * LANES)
    for k in range(4 * first, 4 * (law.n_records - law.rare_records)):
        prefetch(history_of(block) + k * LANES)


cdef inline void prefetch_bodies(const Stored *stored, const StateView *state, const int *bodies) noexcept nogil:
    """bodies : (2 LANES,) of a block of two spheres each."""
    cdef unsigned int own
    cdef int k
    for k in range(2 * LANES):
        own = <unsigned int> (bodies[k] - stored.first_slot)
        prefetch(state.spheres + 4 * <Py_ssize_t> bodies[k])
        prefetch(state.motions + 8 * <Py_ssize_t> bodies[k])
        prefetch(stored.lines.fine + <int> LINE * <Py_ssize_t> (own if own < <unsigned int> stored.n_slots else 0))


cdef inline void load_coefficients(const Law *law, const int *pairs, Contact *contact) noexcept nogil:
    """Coefficients of pairs of materials (LANES,)."""
    cdef int records[LANES]
    cdef int lane, k
    for k in range(law.n_coefficients // 4):
        for lane in range(LANES):
            records[lane] = pairs[lane] * (law.n_coefficients // 4) + k
        rows_from_records(law.coefficients, records, contact.coefficients[4 * k])


cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil:
    """Coefficients where there is one material, for all blocks."""
    cdef int lane, k
    for k in range(law.n_coefficients if law.n_materials == 1 else 0):
        for lane in range(LANES):
            contact.coefficients[k][lane] = law.coefficients[k]


cdef bint load_block(const Law *law, const StateView *state, const Blocks *blocks, Py_ssize_t b, bint walls,
                     Contact *contact, Side *sides, double *points, double *images) noexcept nogil:
    """Contacts of a block; the other arguments and the result as for gather_contacts. Where there is one material, the
    coefficients are loaded before."""
    cdef const ContactBlock *block = block_at(blocks, b)
    cdef bint crosses = gather_contacts(law, state, block.first, block.second, walls, contact, sides, points, images)
    memcpy(contact.mass, block.mass, sizeof(block.mass))
    if law.has_couples:
        memcpy(contact.rolling_inertia, block.rolling_inertia, sizeof(block.rolling_inertia))
    if law.n_materials > 1:
        load_coefficients(law, block.materials, contact)
    if law.fields.ids != NULL:
        describe_bodies(law, state, block.first, block.second, walls, contact)
    return crosses


cdef inline void index_lines(Stored *stored, const int *spheres, int hole, int *index) noexcept nogil:
    """Lines of eight spheres: of own ones, behind these of holes, then a new one for each sphere of another thread."""
    cdef unsigned int own, n = stored.n_slots
    cdef int lane, foreign = 0
    for lane in range(LANES):
        own = <unsigned int> (spheres[lane] - stored.first_slot)
        index[lane] = <int> (own if own < n else n)
        foreign |= (own >= n) & (spheres[lane] < hole)
    for lane in range(LANES if foreign else 0):
        if index[lane] == stored.n_slots and spheres[lane] < hole:
            stored.sent.data[stored.sent.size] = spheres[lane]
            stored.sent.size += 1
            index[lane] = stored.n_slots + <int> stored.sent.size


cdef inline bint add_forces(Stored *stored, const Law *law, const ContactBlock *block, const double *force,
                            const double *couple, const Contact *contact, const Side *sides,
                            int hole, bint walls) noexcept nogil:
    """Add the forces of a block. couple : NULL if the law has none.  False: memory exhausted."""
    cdef double turned[3 * LANES]
    cdef int index[LANES]
    store_eight3(turned, cross3(load_eight3(contact.normal[0]), load_eight3(force)))
    index_lines(stored, block.first, hole, index)
    if not add_side(force, turned, couple, <const double *> &sides[0], 1.0, index, &stored.lines):
        return False
    if walls:
        return True
    index_lines(stored, block.second, hole, index)
    return add_side(force, turned, couple, <const double *> &sides[1], -1.0, index, &stored.lines)


cdef inline void check_ended(Stored *stored, const ContactBlock *block, const Result *result, bint couples,
                             int lane) noexcept nogil:
    """Note a contact that ended in this step with a force or a couple."""
    cdef int k
    cdef bint acts = False
    for k in range(3):
        acts |= (result.force[k][lane] != 0.0) | (couples and result.couple[k][lane] != 0.0)
    if acts:
        stored.has_force_after_end = True
        stored.pair_after_end[0], stored.pair_after_end[1] = block.first[lane], block.second[lane]
        for k in range(3):
            stored.force_after_end[k] = result.force[k][lane]


cdef bint note_fractures(Stored *stored, const Law *law, const StateView *state, const ContactBlock *block,
                         double *energies) noexcept nogil:
    """Note what broke in a block, by the energies (LANES,), which are then zero. False: memory exhausted."""
    cdef Fracture *noted
    cdef Py_ssize_t n
    cdef double energy
    cdef int lane, i, j
    for lane in range(LANES):
        i, j, energy, energies[lane] = block.first[lane], block.second[lane], energies[lane], 0.0
        if energy <= 0.0 or i == hole_of(state):
            continue
        if energy * law.per_energy < LARGEST:
            stored.ledger.dissipated[<int> SUMMED] += rounded_wide(energy * law.per_energy)
        else:
            stored.ledger.lost[<int> SUMMED] += energy
        n = stored.ledger.n_fractures
        if not reserve(&stored.fractures, (n + 1) * <Py_ssize_t> (sizeof(Fracture) // sizeof(int))):
            return False
        stored.ledger.n_fractures, noted = n + 1, <Fracture *> stored.fractures.data + n
        i, j = state.sphere_number[i], state.sphere_number[j] if j >= 0 else j
        noted.step, noted.energy = stored.step, energy
        noted.first, noted.second = i, j
    return True


cdef inline bint call_law(Stored *stored, const Law *law, const StateView *state, ContactBlock *block, Contact *contact,
                          Result *result, bint stores) noexcept nogil:
    """Evaluate the law; records, and with `stores` force and couple, into the block. False: memory exhausted."""
    law.history(contact, history_of(block), result, &law.parameters)
    if stores:
        memcpy(block.force, result.force, sizeof(block.force))
    if stores and law.has_couples:
        memcpy(block.couple, result.couple, sizeof(block.couple))
    add_energies(result.dissipated[0], law.per_energy, stored.ledger.sums, stored.ledger.lost)
    return bits_below(result.fracture, LEAST_FRACTURE) == (1 << LANES) - 1 \
        or note_fractures(stored, law, state, block, result.fracture)


cdef bint call_between_steps(Stored *stored, const Law *law, const StateView *state, ContactBlock *block,
                             Contact *contact, Result *result, bint stores) noexcept nogil:
    """As call_law, where no step has led to the pose, and no amounts of fields are transferred.

    A contact for which the law writes one keeps the records that it had, so that the next step finds it as it was.
    """
    cdef double records[MAX_RECORDS * 4 * LANES]
    cdef int n = law.fields.n, lane, k
    cdef bint transfers
    memcpy(records, history_of(block), law.n_records * 4 * LANES * sizeof(double))
    if not call_law(stored, law, state, block, contact, result, stores):
        return False
    for lane in range(LANES):
        transfers = False
        for k in range(2 * n, 4 * n):
            transfers |= result.rates[k][lane] != 0.0
        for k in range(4 * law.n_records if transfers else 0):
            history_of(block)[k * LANES + lane] = records[k * LANES + lane]
    return True


cdef inline int ended_lanes(const Stored *stored, const Blocks *blocks, const ContactBlock *block,
                            const Result *result) noexcept nogil:
    """Bits 1 << lane of the contacts that do not go on."""
    cdef int lane, bits = bits_below(result.goes_on, 0.5)
    if bits:
        for lane in range(LANES):
            bits &= ~((block.first[lane] == blocks.hole) << lane)
    return bits


cdef inline void preset(const Stored *stored, const Law *law, Py_ssize_t b, bint walls, Contact *contact,
                        Result *result) noexcept nogil:
    """goes_on before the law. A triangle may end although it overlaps, because another one has replaced it; a law that
    acts across a gap then has a gap of FAR."""
    cdef double *overlap = &contact.overlap[0]
    cdef int lane
    for lane in range(LANES if walls else 0):
        if not stored.seen.data[b * LANES + lane]:
            overlap[lane] = -FAR if overlap[lane] > -law.reach and law.reach > 0.0 else min(overlap[lane], 0.0)
    store_eight(result.goes_on, eight_where(load_eight(overlap), eight_of(1.0)))


cdef inline void limit_range(const Stored *stored, const Law *law, Py_ssize_t b, bint walls, const Contact *contact,
                             Result *result) noexcept nogil:
    """No contact goes on beyond the range for which candidates are listed."""
    cdef double *goes_on = &result.goes_on[0]
    cdef int lane
    store_eight(goes_on, eight_where(load_eight(contact.overlap) + eight_of(law.reach), load_eight(goes_on)))
    for lane in range(LANES if walls else 0):
        if not stored.seen.data[b * LANES + lane]:
            goes_on[lane] = 0.0


cdef void add_box_work(Stored *stored, const Law *law, const int *first, int hole, const double *force,
                       const double *images) noexcept nogil:
    """Work of the box, in the half steps that end and begin at this pose, by contacts with images.

    first : (LANES,) first bodies.  force : (3, LANES) on them [N].
    images : (6, LANES), see gather_contacts.
    """
    cdef double power
    cdef int lane, part
    for lane in range(LANES):
        if first[lane] != hole:
            for part in range(2):
                power = dot(load(force + lane), load(images + 3 * LANES * part + lane))
                stored.box_work[part] += rounded_wide(0.5 * law.dt * power * law.per_energy)


cdef void describe_kept(const Law *law, const ContactBlock *block, const Contact *contact,
                        Result *result) noexcept nogil:
    """Results of contacts whose forces are known, for fluxes; rates of the law, which changes a copy of its records."""
    cdef double records[MAX_RECORDS * 4 * LANES]
    if law.fields.law_writes:
        memcpy(records, history_of(block), law.n_records * 4 * LANES * sizeof(double))
        law.history(contact, records, result, &law.parameters)
    memset(result, 0, <size_t> (<char *> result.rates - <char *> result))
    memcpy(result.force, block.force, sizeof(block.force))
    memcpy(result.couple, block.couple, sizeof(block.couple))
    store_eight(result.goes_on, eight_of(1.0))


cdef bint evaluate_group(Stored *stored, const Law *law, Neighbours *mine, const StateView *state, int group,
                         bint walls) noexcept nogil:
    """Evaluate the blocks of a group; of the first n_kept ones, add the forces that are known. False: memory exhausted.
    """
    cdef Blocks *blocks = &stored.groups[group]
    cdef Result result
    cdef Side sides[2]
    cdef Contact contact
    cdef ContactBlock *block
    cdef const double *force
    cdef const double *couple
    cdef Py_ssize_t b, n_blocks = blocks.n_blocks
    cdef int ended, lane
    cdef double images[6 * LANES]
    cdef bint crosses, fine, between = state.half_step == 0.0
    memset(&result, 0, sizeof(result))
    memset(&contact, 0, sizeof(contact))
    load_only_pair(law, &contact)
    for b in range(n_blocks):
        block = block_at(blocks, b)
        prefetch_block(block_at(blocks, b + 2 * <int> AHEAD), law, block)
        if not walls and b + <int> AHEAD < n_blocks:
            prefetch_bodies(stored, state, block_at(blocks, b + AHEAD).first)
        crosses = load_block(law, state, blocks, b, walls, &contact, sides, NULL, images)
        ended = 0
        force, couple = block.force[0], block.couple[0]
        if b >= stored.n_kept[group]:
            force, couple = &result.force[0][0], &result.couple[0][0]
            preset(stored, law, b, walls, &contact, &result)
            if between and law.fields.law_writes:
                fine = call_between_steps(stored, law, state, block, &contact, &result, True)
            else:
                fine = call_law(stored, law, state, block, &contact, &result, walls or stored.stores_forces)
            if not fine:
                return False
            if law.reach > 0.0:
                limit_range(stored, law, b, walls, &contact, &result)
            ended = ended_lanes(stored, blocks, block, &result)
        elif law.fields.sums != NULL:
            describe_kept(law, block, &contact, &result)
        if law.fields.sums != NULL and not add_rates(stored, law, state, block.first, block.second, &contact, &result) \
                or not add_forces(stored, law, block, force, couple if law.has_couples else NULL, &contact, sides,
                                  blocks.hole, walls):
            return False
        if crosses:
            add_box_work(stored, law, block.first, blocks.hole, force, images)
        if (b + 1) % BLOCKS_PER_FOLD == 0:
            fold(stored.ledger.sums, SUMMED, stored.ledger.dissipated)
        for lane in range(LANES if ended else 0):
            if ended >> lane & 1:
                check_ended(stored, block, &result, law.has_couples, lane)
                end_contact(stored, mine, state, group, b * LANES + lane)
    fold(stored.ledger.sums, SUMMED, stored.ledger.dissipated)
    return True


cdef bint evaluate_stored(Stored *stored, const Law *law, Neighbours *mine, const StateView *state) noexcept nogil:
    """Forces of all own contacts, added to the lines. False: memory exhausted."""
    cdef Py_ssize_t behind = LINE * <Py_ssize_t> (stored.n_slots + 1)
    cdef int group
    stored.box_work[0] = stored.box_work[1] = 0
    memset(stored.lines.fine + behind, 0, stored.sent.size * <int> LINE * sizeof(int64_t))
    if stored.sent_large:
        memset(stored.lines.coarse + behind, 0, stored.sent.size * <int> LINE * sizeof(int64_t))
    stored.lines.has_large = stored.sent_large = False  # all sums of the last step are taken
    stored.sent.size = stored.sent_rates.size = 0
    if law.fields.sums != NULL:
        clear_sums(law, mine.first_block, mine.last_block)
    for group in range(<int> GROUPS):
        if not evaluate_group(stored, law, mine, state, group, group == <int> WALLS):
            return False
    stored.sent_large = stored.lines.has_large
    return True


cdef bint take_sent(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil:
    """Add the forces on own spheres that other threads have written down; likewise rates. False: memory exhausted."""
    cdef Stored *stored = &all[thread].stored
    cdef const Stored *other
    cdef Py_ssize_t k
    cdef unsigned int own
    cdef int t
    for t in range(n_threads if stored.ready else 0):
        other = &all[t].stored
        for k in range(other.sent.size):
            own = <unsigned int> (other.sent.data[k] - stored.first_slot)
            if own < <unsigned int> stored.n_slots \
                    and not add_line(&stored.lines, own, &other.lines, other.n_slots + 1 + k, other.sent_large):
                return False
        take_rates(all[thread].law, &other.sent_rates, stored, state)
    return True


cdef inline void take_row(Stored *stored, const double *units, Py_ssize_t row, Eight3 *force,
                          Eight3 *moment) noexcept nogil:
    """Forces and moments on the spheres of an own member row, which are then zero.

    units : (2, LANES) of the spheres, see StateView.
    """
    cdef Eight rows[LINE]
    cdef Eight large[LINE]
    cdef double bounds[LANES]
    cdef double x[LANES]
    cdef int k, lane
    take_lines(stored.lines.fine + row * LINE * LANES, rows)
    if stored.lines.has_large:
        take_lines(stored.lines.coarse + row * LINE * LANES, large)
        for k in range(<int> LINE):
            rows[k] = rows[k] + eight_of(<double> BOUND if k == 3 else COARSE) * large[k]
    force.x, force.y, force.z = rows[0], rows[1], rows[2]
    moment.x, moment.y, moment.z = rows[4], rows[5], rows[6]
    store_eight(bounds, rows[3])
    if bits_below(bounds, <double> BOUND) != (1 << LANES) - 1:      # a sum may have overflowed
        store_eight(x, force.x)
        for lane in range(LANES):
            x[lane] = x[lane] if bounds[lane] < <double> BOUND else NAN
        force.x = load_eight(x)
    force[0] = scale3(inverse_power(load_eight(units)), force[0])
    moment[0] = scale3(inverse_power(load_eight(units + LANES)), moment[0])


cdef const WrenchBlock *reduce_stored(Stored *stored, const StateView *state, Py_ssize_t b,
                                      const WrenchBlock *body_force, WrenchBlock *wrench) noexcept nogil:
    """As reduce_block of reduce.pyx: wrenches of the clumps of block b."""
    cdef double matrices[9 * LANES]
    cdef const int *n_contacts = stored.row_contacts.data - (stored.first_slot >> LOG_LANES)
    cdef Eight3 force, torque, on_sphere, moment
    cdef Py_ssize_t row = state.first_member[b], last = state.first_member[b + 1]
    body_force += state.block_type[b]
    while stored.ready and row < last and n_contacts[row] == 0:
        row += 1
    if row == last or not stored.ready:                 # without memory for the lists: the step fails
        return body_force
    force = load_eight3(body_force.force)
    torque.x = torque.y = torque.z = eight_of(0.0)
    load_matrices(matrices, clumps_of(state, b).orientation)
    while row < last:
        if n_contacts[row] != 0:
            take_row(stored, state.units + row * 2 * LANES, row - (stored.first_slot >> LOG_LANES), &on_sphere, &moment)
            force = add3(force, on_sphere)
            torque = add3(torque, add3(cross3(load_eight3(member(state, row)), to_body3(matrices, on_sphere)),
                                       to_body3(matrices, moment)))
        row += 1
    store_eight3(wrench.force, force)
    store_eight3(wrench.torque, torque)
    return wrench
