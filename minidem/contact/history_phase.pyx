"""The narrow phase for laws with history: which candidates touch, what is known of them, and their forces."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours, select_near
from minidem.contact.contact_motion cimport gather_contacts
from minidem.contact.history cimport (
    LEVER, MOMENT, RESULT, History, Touching, couple_of, doubles, floats, list_again, record_of, reserve_contacts,
    reserve_doubles, result_of,
)
from minidem.contact.law cimport PAIRS_AT_ONCE, Law
from minidem.contact.rows cimport (
    CONTACT_ROWS, COUPLE, DISSIPATED, FORCE, MAX_RECORDS, NORMAL, OVERLAP, RESULT_ROWS,
)
from minidem.contact.wall_contacts cimport find_wall_pairs
from minidem.core.int_vector cimport IntVector, reserve
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.transpose cimport lines_from_rows, records_from_rows, rows_from_records
from minidem.core.vec3 cimport cross
from minidem.state.rows cimport load, store
from minidem.state.state cimport StateView


cdef enum:
    AHEAD = 64                      # contacts: their history is prefetched


cdef inline int append(History *history, const int *pair, int position) noexcept nogil:
    """A new contact, not evaluated yet; there is room. Returns its number."""
    cdef Touching *contacts = &history.contacts
    cdef int r, k = <int> contacts.n
    memcpy(contacts.pairs.data + 2 * k, pair, 2 * sizeof(int))
    contacts.positions.data[k] = position
    contacts.parities.data[k] = history.parity ^ 1
    for r in range(history.n_records):
        memset(record_of(contacts, r, k), 0, 4 * sizeof(double))
    history.contact_at.data[position] = k + 1
    list_again(history, pair)
    contacts.n += 1
    return k


cdef bint take_found(History *history, const int *pairs, const int64_t *numbers, Py_ssize_t n,
                     Py_ssize_t first) noexcept nogil:
    """Contacts at the positions first + numbers become pending, where a force is needed. False: memory exhausted."""
    cdef Py_ssize_t k, contact, position
    cdef bint known, evaluated
    if not (reserve_contacts(&history.contacts, history.n_records, history.has_couples, history.contacts.n + n)
            and reserve(&history.pending, history.pending.size + n)):
        return False
    for k in range(n):
        position = first + numbers[k]
        contact = history.contact_at.data[position] - 1
        known = contact >= 0
        if not known:
            contact = append(history, pairs + 2 * k, <int> position)
        history.pending.data[history.pending.size] = <int> contact
        evaluated = known and history.resumed and history.contacts.parities.data[contact] == history.parity
        if known and history.replay:                    # nothing is dissipated between two steps
            history.contacts.parities.data[contact] = history.parity
            memset(floats(&history.contacts.energies) + 4 * contact, 0, 4 * sizeof(float))
            evaluated = True
        history.pending.size += not evaluated
    return True


cdef inline void store_records(const double *rows, const int *numbers, double *records) noexcept nogil:
    """Rows (4, LANES) to the records of eight contacts."""
    cdef double room[4 * LANES]
    cdef int lane
    records_from_rows(rows, room)
    for lane in range(LANES):
        memcpy(records + 4 * <Py_ssize_t> numbers[lane], room + 4 * lane, 4 * sizeof(double))


cdef inline void store_results(History *history, const Law *law, const int *numbers, bint walls,
                               const double *contact, const double *law_result) noexcept nogil:
    """Forces, moments, couples and energies of eight contacts."""
    cdef double rows[RESULT * LANES]
    cdef double share = 1.0 if walls else 0.5
    cdef float *energies
    cdef int lane, m
    memcpy(rows, law_result + FORCE * LANES, 3 * LANES * sizeof(double))
    for lane in range(LANES):
        rows[LEVER * LANES + lane] = share * contact[OVERLAP * LANES + lane]
        store(rows + MOMENT * LANES + lane, cross(load(contact + NORMAL * LANES + lane),
                                                  load(law_result + FORCE * LANES + lane)))
        rows[7 * LANES + lane] = 0.0
    lines_from_rows(rows, numbers, doubles(&history.contacts.results))
    records_from_rows(law_result + DISSIPATED * LANES, rows)
    for lane in range(LANES):
        energies = floats(&history.contacts.energies) + 4 * <Py_ssize_t> numbers[lane]
        for m in range(4):
            energies[m] = <float> (share * rows[4 * lane + m])
    if law.has_couples:
        memcpy(rows, law_result + COUPLE * LANES, 3 * LANES * sizeof(double))
        memset(rows + 3 * LANES, 0, LANES * sizeof(double))
        store_records(rows, numbers, doubles(&history.contacts.couples))


cdef inline void evaluate_eight(History *history, const Law *law, const StateView *state, const int *numbers,
                                bint walls, bint ended) noexcept nogil:
    """Evaluate eight contacts, all with walls or all without. The same one may occur more than once.

    ended : in this step; triangles may do so although they still overlap, see wall_contacts.pyx.
    """
    cdef double contact[CONTACT_ROWS * LANES]
    cdef double rows[MAX_RECORDS * 4 * LANES]
    cdef double result[RESULT_ROWS * LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef int lane, r
    for lane in range(LANES):
        prefetch(result_of(&history.contacts, numbers[lane] + AHEAD))
        i[lane] = history.contacts.pairs.data[2 * <Py_ssize_t> numbers[lane]]
        j[lane] = history.contacts.pairs.data[2 * <Py_ssize_t> numbers[lane] + 1]
        history.contacts.parities.data[numbers[lane]] = history.parity
    gather_contacts(law, state, i, j, walls, contact, NULL)
    for lane in range(LANES if ended and walls else 0):
        contact[OVERLAP * LANES + lane] = min(contact[OVERLAP * LANES + lane], 0.0)
    for r in range(history.n_records):
        for lane in range(0, LANES, 2):
            prefetch(record_of(&history.contacts, r, numbers[lane] + AHEAD))
        rows_from_records(doubles(&history.contacts.records[r]), numbers, rows + 4 * LANES * r)
    law.history(contact, rows, result, law.parameters)
    for r in range(history.n_records):
        store_records(rows + 4 * LANES * r, numbers, doubles(&history.contacts.records[r]))
    store_results(history, law, numbers, walls, contact, result)


cdef void evaluate_pending(History *history, const Law *law, const StateView *state, bint walls, bint all_of_them,
                           bint ended=False) noexcept nogil:
    """Evaluate the pending contacts; whole eights only, or all of them. walls, ended : as for evaluate_eight."""
    cdef int *numbers = history.pending.data
    cdef Py_ssize_t k, first = 0, n = history.pending.size
    cdef int last[LANES]
    while first + <int> LANES <= n:
        evaluate_eight(history, law, state, numbers + first, walls, ended)
        first += LANES
    if all_of_them and first < n:
        for k in range(LANES):
            last[k] = numbers[min(first + k, n - 1)]
        evaluate_eight(history, law, state, last, walls, ended)
        first = n
    for k in range(n - first):
        numbers[k] = numbers[first + k]
    history.pending.size = n - first


cdef bint find_among(History *history, const Law *law, const Neighbours *mine, const StateView *state, Py_ssize_t end,
                     Py_ssize_t shift) noexcept nogil:
    """Search the inner list from the cursor to `end`; positions are shifted. False: memory exhausted."""
    cdef Py_ssize_t n, count, k
    if not (reserve(&history.found_pairs, PAIRS_AT_ONCE + 16) and reserve_doubles(&history.found_numbers,
                                                                                  PAIRS_AT_ONCE)):
        return False
    while history.list_cursor < end:
        count = min(<Py_ssize_t> PAIRS_AT_ONCE, end - history.list_cursor)
        n = select_near(state.spheres, state.box, mine.pairs.data + history.list_cursor, count, 0.0,
                        history.found_pairs.data, <int64_t *> history.found_numbers.data)
        if not take_found(history, history.found_pairs.data, <int64_t *> history.found_numbers.data, n // 2,
                          history.list_cursor // 2 + shift):
            return False
        history.list_cursor += count
        for k in range(n):                              # evaluated a few eights later
            prefetch(state.motions + 8 * <Py_ssize_t> history.found_pairs.data[k])
        evaluate_pending(history, law, state, False, False)
    return True


cdef bint find_touching(History *history, const Law *law, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil:
    """Contacts of own spheres with each other, up to `end` of the inner list; the last few may be left for later."""
    return find_among(history, law, mine, state, end, 0)


cdef bint find_walls(History *history, const Law *law, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts of own spheres with walls. False: memory exhausted."""
    cdef int *pairs
    cdef int64_t *numbers
    cdef Py_ssize_t n, count = mine.walls.size // 2
    if not (reserve(&history.found_pairs, 2 * count + 2) and reserve_doubles(&history.found_numbers, count + 1)):
        return False
    pairs, numbers = history.found_pairs.data, <int64_t *> history.found_numbers.data
    n = find_wall_pairs(law.walls, mine, state, &history.facets, pairs, numbers, history)
    if n < 0 or not take_found(history, pairs, numbers, n, mine.n_own // 2):
        return False
    evaluate_pending(history, law, state, True, True)
    return True


cdef void check_ended(History *history) noexcept nogil:
    """Note a contact that ended in this step with a force or a couple."""
    cdef const Touching *contacts = &history.contacts
    cdef const double *force
    cdef Py_ssize_t k, number
    cdef int m
    cdef bint acts
    for k in range(history.ended.size):
        number, acts = history.ended.data[k], False
        force = result_of(contacts, number)
        for m in range(3):
            acts |= force[m] != 0.0 or history.has_couples and couple_of(contacts, number)[m] != 0.0
        if acts:
            history.has_force_after_end = True
            memcpy(history.force_after_end, force, 3 * sizeof(double))
            memcpy(history.pair_after_end, contacts.pairs.data + 2 * number, 2 * sizeof(int))


cdef bint find_ended(History *history, const Law *law, const StateView *state) noexcept nogil:
    """Evaluate the contacts that ended in this step once more. False: memory exhausted."""
    cdef const Touching *contacts = &history.contacts
    cdef IntVector *ended = &history.ended
    cdef Py_ssize_t k
    cdef int walls
    if not reserve(ended, contacts.n + 1):
        return False
    for k in range(contacts.n):
        ended.data[ended.size] = <int> k
        ended.size += contacts.parities.data[k] != history.parity       # branchless: few do
    if not reserve(&history.pending, ended.size):
        return False
    for walls in range(0 if history.replay else 2):
        for k in range(ended.size):
            history.pending.data[history.pending.size] = ended.data[k]
            history.pending.size += (contacts.pairs.data[2 * <Py_ssize_t> ended.data[k] + 1] < 0) == walls
        evaluate_pending(history, law, state, walls, True, True)
    if not history.replay:
        check_ended(history)
    return True


cdef bint find_remaining_touching(History *history, const Law *law, const Neighbours *mine,
                                  const StateView *state) noexcept nogil:
    """The rest of the contacts: own, with walls, with ghosts, ended. False: memory exhausted."""
    cdef bint fine = find_among(history, law, mine, state, mine.n_own, 0)
    if fine:
        evaluate_pending(history, law, state, False, True)
        fine = find_walls(history, law, mine, state) \
            and find_among(history, law, mine, state, mine.pairs.size, mine.walls.size // 2)
    if fine:
        evaluate_pending(history, law, state, False, True)
        fine = find_ended(history, law, state)
    return fine
