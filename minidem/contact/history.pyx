# distutils: extra_compile_args = -O1
"""Contacts of a law with history as arrays in the user's numbers, read from the blocks of a loop or written to them.

These arrays are what checkpoints hold, and what another time loop takes over: after clumps were added or sorted, after
a restart, with another number of threads.
"""
import numpy as np

from minidem.state.state import rows_of

from minidem.contact.blocks cimport (
    Blocks, ContactBlock, block_of, copy_numbers, reserve_blocks, set_bodies, take_lane,
)
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS
from minidem.contact.law cimport Law, pair_of
from minidem.core.lanes cimport LANES, lane_of
from minidem.core.vectors cimport require_memory
from minidem.state.rows cimport number_rows

cdef ContactBlock a_block
number_rows(&a_block, sizeof(a_block))
ROWS = rows_of({name: numbers for name, numbers in dict(a_block).items() if not isinstance(numbers[0], int)})
FIRST = ROWS["mass"][0]             # before it are numbers of spheres
HISTORY = sum(width for _, width in ROWS.values())          # from `mass` on, the first row of the history


cdef list rows_of_arrays(const Law *law, dict arrays):
    """(first row from `mass` on, (n, width) array) of all that the blocks hold, of the arrays of a history."""
    couple = HISTORY + 4 * law.n_records
    return [(first - FIRST, arrays[name].reshape(-1, width)) for name, (first, width) in ROWS.items()] + [
        (HISTORY + 4 * k, record) for k, record in enumerate(arrays["records"])] + [
        (couple, arrays["couple"])] * law.has_couples


cdef object read_history(State state, const Contacts *contacts, int n_threads):
    """Contacts of the last step, by ascending user's numbers of their spheres; None: the law has no history.

    A dict: spheres (n, 2) int32, the second one larger, or -1 - primitive of a wall; records (n_records, n, 4), force
    [N] and couple [N m] of the last step (n, 3), of the first sphere; mass [kg] and rolling_inertia [kg m2] (n,),
    effective (contacts.pyx). No number is -0.0, which depends on the other contacts of a block.
    """
    cdef const Blocks *blocks
    cdef const ContactBlock *block
    cdef const int *number = state.view.sphere_number
    cdef const double *source
    cdef int[:, ::1] pairs
    cdef size_t[::1] places
    cdef double[:, ::1] numbers
    cdef Py_ssize_t n = 0, lane, k
    cdef int t, group, at, row, first
    if contacts.law.history == NULL:
        return None
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            n += LANES * contacts[t].groups[group].n_blocks
    spheres, addresses = np.empty((n, 2), dtype=np.int32), np.empty(n, dtype=np.uintp)
    pairs, places, n = spheres, addresses, 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            blocks = &contacts[t].groups[group]
            for lane in range(LANES * blocks.n_blocks):
                block, at = block_of(blocks, lane), lane_of(lane)
                if block.first[at] != blocks.free_slot:
                    pairs[n, 0] = number[block.first[at]]
                    pairs[n, 1] = number[block.second[at]] if group == <int> SPHERES else block.second[at]
                    places[n] = <size_t> (block.mass + at)
                    n += 1
    order = np.lexsort((spheres[:n, 1], spheres[:n, 0]))
    found, places = {"spheres": spheres[:n].take(order, axis=0)}, addresses.take(order)
    del spheres, addresses, order, pairs
    found |= {"mass": np.empty(n), "rolling_inertia": np.empty(n), "force": np.empty((n, 3)),
              "couple": np.zeros((n, 3)), "records": np.empty((contacts.law.n_records, n, 4))}
    for first, numbers in rows_of_arrays(contacts.law, found):
        for k in range(n):
            source = <const double *> places[k]
            for row in range(numbers.shape[1]):
                numbers[k, row] = source[(first + row) * LANES] + 0.0
    return found


cdef object write_history(history, State state, Contacts *contacts):
    """The inverse: new contacts, all of one thread. The first rebuild of the lists gives them to their owners."""
    cdef Py_ssize_t n = len(history["spheres"]), k
    cdef Blocks *blocks
    cdef const int[:] first, second
    cdef const double[:, :] numbers
    cdef int[::1] lanes = np.empty(n, dtype=np.int32)
    cdef double *to
    cdef int row, start
    # `take`: indexing with other than intp crashes in NumPy where there is no memory
    (i_spheres, j_spheres), slot = history["spheres"].T, np.append(state.sphere_slot, np.int32(0))
    first = slot.take(i_spheres)
    second = np.where(j_spheres < 0, j_spheres, slot.take(np.maximum(j_spheres, 0)))
    reserve_blocks(&contacts.groups[SPHERES], n // LANES + 1)       # growth would take twice
    for k in range(n):
        blocks = &contacts.groups[<int> WALLS if second[k] < 0 else <int> SPHERES]
        lanes[k] = <int> take_lane(blocks)
        require_memory("the contacts of the time loop")
        set_bodies(blocks, lanes[k], first[k], second[k], pair_of(contacts.law, &state.view, first[k], second[k]))
    for start, numbers in rows_of_arrays(contacts.law, history):
        for k in range(n):
            blocks = &contacts.groups[<int> WALLS if second[k] < 0 else <int> SPHERES]
            to = block_of(blocks, lanes[k]).mass + lane_of(lanes[k])
            for row in range(numbers.shape[1]):
                to[(start + row) * LANES] = numbers[k, row]


cdef object copy_contacts(State state, Contacts *contacts, State old_state, const Contacts *old, int n_threads):
    """The contacts of all threads of another loop of the same clumps, in another order in memory, as of write_history.

    Arrays of a history would take as much memory again.
    """
    cdef const int[::1] slot = state.sphere_slot
    cdef const int *number = old_state.view.sphere_number
    cdef const Blocks *source
    cdef Blocks *to
    cdef const ContactBlock *block
    cdef Py_ssize_t n_blocks, k, lane
    cdef int group, t, at, second
    for group in range(<int> GROUPS):
        to, n_blocks = &contacts.groups[group], 0
        for t in range(n_threads):
            n_blocks += old[t].groups[group].n_blocks
        reserve_blocks(to, n_blocks)
        for t in range(n_threads):
            source = &old[t].groups[group]
            for k in range(LANES * source.n_blocks):
                block, at = block_of(source, k), lane_of(k)
                if block.first[at] == source.free_slot:
                    continue
                lane, second = take_lane(to), block.second[at]
                require_memory("the contacts of the time loop")
                set_bodies(to, lane, slot[number[block.first[at]]],
                           slot[number[second]] if group == <int> SPHERES else second, block.materials[at])
                copy_numbers(source, k, to, lane)
