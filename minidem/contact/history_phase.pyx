"""The narrow phase for laws with history: which candidates touch, what is known of them, and their forces.

Contacts are found in the order of the lists, so that those of this step and of the last one are merged as two sorted
sequences. A contact of the last step that does not touch any more is evaluated once again, see history.pxd.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours, height, select_near
from minidem.contact.contact_motion cimport gather_contacts
from minidem.contact.history cimport (
    RESULT, History, Touching, couple_of, doubles, record_of, reserve_contacts, reserve_doubles, result_of,
)
from minidem.contact.law cimport PAIRS_AT_ONCE, Law
from minidem.contact.rows cimport (
    CONTACT_ROWS, COUPLE, DISSIPATED, FORCE, MAX_RECORDS, OVERLAP, RESULT_ROWS,
)
from minidem.core.int_vector cimport release, reserve
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport prefetch
from minidem.core.transpose cimport records_from_rows, rows_from_records
from minidem.state.state cimport StateView


cdef enum:
    AHEAD = 64                      # contacts: their history is prefetched


cdef bint begin_step(History *history, const Neighbours *mine, bint replay) noexcept nogil:
    """Prepare for a new pose; replay : forces of known contacts do not change. False: memory exhausted."""
    cdef Py_ssize_t positions = (mine.pairs.size + mine.walls.size) // 2
    cdef int r
    history.now.n = history.last_cursor = history.list_cursor = history.n_evaluated = 0
    history.replay = replay
    if not (replay or history.undone):                  # write to memory that is in cache
        history.now.results, history.last.results = history.last.results, history.now.results
        history.now.couples, history.last.couples = history.last.couples, history.now.couples
    if not (reserve(&history.contact_at, positions + 1) and reserve_contacts(&history.now, history.n_records, 0)
            and reserve_contacts(&history.last, history.n_records, history.last.n)):
        return False
    memset(history.contact_at.data, 0, positions * sizeof(int))
    for r in range(history.n_records):
        memset(history.last.records[r].data, 0, 4 * sizeof(double))
        memset(history.now.records[r].data, 0, 4 * sizeof(double))
    memset(history.now.results.data, 0, RESULT * sizeof(double))
    memset(history.now.couples.data, 0, 4 * sizeof(double))
    return True


cdef inline void append(History *history, const int *pair, int position, int source) noexcept nogil:
    """A contact of `now`; there is room."""
    cdef Py_ssize_t n = history.now.n
    memcpy(history.now.pairs.data + 2 * n, pair, 2 * sizeof(int))
    history.now.positions.data[n] = position
    history.sources.data[n] = source
    history.contact_at.data[position] = 2 * (<int> n + 1)
    history.now.n = n + 1


cdef inline void append_ended(History *history, int position) noexcept nogil:
    """Contacts of `last` at positions below this one, which do not touch any more."""
    cdef const Touching *last = &history.last
    cdef Py_ssize_t k = history.last_cursor
    while k < last.n and (last.positions.data[k] if last.positions.data[k] >= 0
                          else -1 - last.positions.data[k]) < position:
        if last.positions.data[k] >= 0 and not history.replay:
            append(history, last.pairs.data + 2 * k, last.positions.data[k], <int> k + 1)
        k += 1
    history.last_cursor = k


cdef bint merge(History *history, const int *pairs, const int64_t *numbers, Py_ssize_t n, Py_ssize_t first,
                Py_ssize_t end) noexcept nogil:
    """Append n contacts, found at positions first + numbers, and those that ended at positions up to `end`.

    False: memory exhausted.
    """
    cdef const Touching *last = &history.last
    cdef Py_ssize_t k, m, room = history.now.n + n + (last.n - history.last_cursor)
    cdef int position
    if not (reserve_contacts(&history.now, history.n_records, room) and reserve(&history.sources, room + LANES)):
        return False
    for k in range(n):
        position = <int> (first + numbers[k])
        append_ended(history, position)
        m = history.last_cursor
        if m < last.n and last.positions.data[m] == position:
            append(history, pairs + 2 * k, position, <int> m + 1)
            history.last_cursor = m + 1
        else:
            append(history, pairs + 2 * k, position, 0)
    append_ended(history, <int> end)
    return True


cdef inline void store_results(History *history, const Law *law, Py_ssize_t first, int count, bint walls,
                               const double *contact, const double *result, double *points) noexcept nogil:
    """Forces, points, couples and energies of the contacts from number `first` on."""
    cdef double rows[2][4 * LANES]
    cdef double records[2][4 * LANES]
    cdef double *to = result_of(&history.now, first)
    cdef float energies[4 * LANES]
    cdef double share = 1.0 if walls else 0.5
    cdef int lane
    memcpy(rows[0], result + FORCE * LANES, 3 * LANES * sizeof(double))
    memcpy(rows[0] + 3 * LANES, points, LANES * sizeof(double))
    memcpy(rows[1], points + LANES, 2 * LANES * sizeof(double))
    for lane in range(LANES):
        energies[2 * lane] = <float> (share * result[DISSIPATED * LANES + lane])
        energies[2 * lane + 1] = <float> (share * result[(DISSIPATED + 1) * LANES + lane])
        energies[2 * LANES + 2 * lane] = <float> (share * result[(DISSIPATED + 2) * LANES + lane])
        energies[2 * LANES + 2 * lane + 1] = <float> (share * result[(DISSIPATED + 3) * LANES + lane])
    memcpy(rows[1] + 2 * LANES, energies, sizeof(energies))
    records_from_rows(rows[0], records[0])
    records_from_rows(rows[1], records[1])
    for lane in range(LANES):
        memcpy(to + RESULT * lane, records[0] + 4 * lane, 4 * sizeof(double))
        memcpy(to + RESULT * lane + 4, records[1] + 4 * lane, 4 * sizeof(double))
    if law.has_couples:
        memcpy(rows[0], result + COUPLE * LANES, 3 * LANES * sizeof(double))
        memset(rows[0] + 3 * LANES, 0, LANES * sizeof(double))
        records_from_rows(rows[0], couple_of(&history.now, first))
    for lane in range(count):
        if not contact[OVERLAP * LANES + lane] > 0.0:
            history.now.positions.data[first + lane] = -1 - history.now.positions.data[first + lane]


cdef inline void evaluate_eight(History *history, const Law *law, const StateView *state, Py_ssize_t first, int count,
                                bint walls) noexcept nogil:
    """Evaluate count <= LANES contacts of `now` from number `first` on."""
    cdef double contact[CONTACT_ROWS * LANES]
    cdef double rows[MAX_RECORDS * 4 * LANES]
    cdef double result[RESULT_ROWS * LANES]
    cdef double points[3 * LANES]
    cdef int sources[LANES]
    cdef int lane, r
    for r in range(history.n_records):
        for lane in range(4):
            prefetch(record_of(&history.now, r, first + AHEAD + 2 * lane))
            prefetch(record_of(&history.last, r, first + AHEAD + 2 * lane))
    for lane in range(LANES):
        prefetch(result_of(&history.now, first + AHEAD + lane))
        sources[lane] = history.sources.data[first + (lane if lane < count else 0)]
    gather_contacts(law, state, history.now.pairs.data + 2 * first, count, walls, contact, points)
    for r in range(history.n_records):
        rows_from_records(doubles(&history.last.records[r]), sources, rows + 4 * LANES * r)
    law.history(contact, rows, result, law.parameters)
    for r in range(history.n_records):
        records_from_rows(rows + 4 * LANES * r, record_of(&history.now, r, first))
    store_results(history, law, first, count, walls, contact, result, points)


cdef void copy_known(History *history, Py_ssize_t k, Py_ssize_t source) noexcept nogil:
    """Contact k of `now` as number `source` of `last`."""
    cdef int r
    for r in range(history.n_records):
        memcpy(record_of(&history.now, r, k), record_of(&history.last, r, source), 4 * sizeof(double))
    memcpy(result_of(&history.now, k), result_of(&history.last, source), 6 * sizeof(double))
    memset(result_of(&history.now, k) + 6, 0, 2 * sizeof(double))
    memcpy(couple_of(&history.now, k), couple_of(&history.last, source), 4 * sizeof(double))


cdef void evaluate_found(History *history, const Law *law, const StateView *state, bint walls,
                         bint all_of_them) noexcept nogil:
    """Evaluate the contacts that were found since the last call; whole eights only, or all of them."""
    cdef Py_ssize_t k
    cdef int count
    while history.now.n - history.n_evaluated >= (1 if all_of_them else <int> LANES):
        count = <int> min(<Py_ssize_t> LANES, history.now.n - history.n_evaluated)
        evaluate_eight(history, law, state, history.n_evaluated, count, walls)
        for k in range(history.n_evaluated, history.n_evaluated + count if history.replay else 0):
            if history.sources.data[k]:
                copy_known(history, k, history.sources.data[k] - 1)
        history.n_evaluated += count


cdef bint find_among(History *history, const Law *law, const Neighbours *mine, const StateView *state, Py_ssize_t end,
                     Py_ssize_t shift) noexcept nogil:
    """Search the inner list from the cursor to `end`; positions are shifted. False: memory exhausted."""
    cdef Py_ssize_t n, count, k
    if not (reserve(&history.found_pairs, PAIRS_AT_ONCE + 16) and reserve_doubles(&history.found_numbers,
                                                                                  PAIRS_AT_ONCE)):
        return False
    while history.list_cursor < end:
        count = min(<Py_ssize_t> PAIRS_AT_ONCE, end - history.list_cursor)
        n = select_near(state.spheres, mine.pairs.data + history.list_cursor, count, 0.0, history.found_pairs.data,
                        <int64_t *> history.found_numbers.data)
        if not merge(history, history.found_pairs.data, <int64_t *> history.found_numbers.data, n // 2,
                     history.list_cursor // 2 + shift, (history.list_cursor + count) // 2 + shift):
            return False
        history.list_cursor += count
        for k in range(n):                              # evaluated a few eights later
            prefetch(state.motions + 8 * <Py_ssize_t> history.found_pairs.data[k])
        evaluate_found(history, law, state, False, False)
    return True


cdef bint find_touching(History *history, const Law *law, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil:
    """Contacts of own spheres with each other, up to `end` of the inner list; the last few may be left for later."""
    return find_among(history, law, mine, state, end, 0)


cdef bint find_walls(History *history, const Law *law, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Contacts of own spheres with walls. False: memory exhausted."""
    cdef const int *near = mine.walls.data
    cdef const double *sphere
    cdef int *pairs
    cdef int64_t *numbers
    cdef Py_ssize_t k, n = 0, count = mine.walls.size // 2
    if not (reserve(&history.found_pairs, 2 * count + 2) and reserve_doubles(&history.found_numbers, count + 1)):
        return False
    pairs, numbers = history.found_pairs.data, <int64_t *> history.found_numbers.data
    for k in range(count):
        sphere = state.spheres + 4 * <Py_ssize_t> near[2 * k]
        pairs[2 * n], pairs[2 * n + 1] = near[2 * k], -1 - near[2 * k + 1]
        numbers[n] = k
        n += height(law.planes, near[2 * k + 1], sphere) < sphere[3]    # branchless: the branch is unpredictable
    if not merge(history, pairs, numbers, n, mine.n_own // 2, mine.n_own // 2 + count):
        return False
    evaluate_found(history, law, state, True, True)
    return True


cdef bint find_remaining_touching(History *history, const Law *law, const Neighbours *mine,
                                  const StateView *state) noexcept nogil:
    """The rest of the contacts: own, with walls, with ghosts. False: memory exhausted."""
    cdef bint fine = find_among(history, law, mine, state, mine.n_own, 0)
    if fine:
        evaluate_found(history, law, state, False, True)
        fine = find_walls(history, law, mine, state) \
            and find_among(history, law, mine, state, mine.pairs.size, mine.walls.size // 2)
    if fine:
        evaluate_found(history, law, state, False, True)
    return fine


cdef void commit(History *history) noexcept nogil:
    """A step is complete: its contacts become those of the last step."""
    history.last, history.now = history.now, history.last


cdef void release_touching(Touching *touching) noexcept nogil:
    cdef int r
    touching.n = 0
    release(&touching.pairs)
    release(&touching.positions)
    release(&touching.results)
    release(&touching.couples)
    for r in range(MAX_RECORDS):
        release(&touching.records[r])


cdef void release_history(History *history) noexcept nogil:
    """Free all memory; the number of records stays."""
    release_touching(&history.last)
    release_touching(&history.now)
    release_touching(&history.carried)
    release(&history.sources)
    release(&history.contact_at)
    release(&history.first_entry)
    release(&history.entries)
    release(&history.found_pairs)
    release(&history.found_numbers)
    release(&history.slot_rows)
    release(&history.table.room)
