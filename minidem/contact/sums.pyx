"""Sums of the forces on spheres, and their reduction to the wrenches of clumps.

Forces and moments are added as integers, so that the order does not matter (fixed_point.pxd). Forces on a sphere of
another thread have a sum of their own behind the others, which its owner adds (`take_foreign`).

Reduction: the force and torque on each clump (the wrench). The spheres of a clump are added in the order of its
template, so that the wrench depends neither on the threads nor on the order in which pairs were found or stored. Each
force acts at the centre of its sphere, with its moment about it, which a central force has not. The torque is offset x
force in the principal body frame, so a rod of spheres on one axis has an axial torque of exactly zero.
"""
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memset

from minidem.contact.contacts cimport SPHERES
from minidem.contact.fixed_point cimport read_sums, take_sums
from minidem.core.eight cimport Eight3, add3, cross3, load_eight3, store_eight3
from minidem.core.lanes cimport LANES, row_of
from minidem.core.prefetch cimport prefetch
from minidem.core.vectors cimport aligned_memory, reserve
from minidem.state.pose cimport load_matrices, to_body3
from minidem.state.state cimport clumps_of, member

cdef enum:
    FEW_ROWS = 16                   # member rows of a block that are looked at one by one
    ROWS_AHEAD = 12                 # member rows whose sums are prefetched
    SLOTS_IN_CACHE = 32768          # with more, the sums of a thread are a megabyte and more


cdef void reset_sums(Contacts *contacts, bint packed, Py_ssize_t n_foreign) noexcept nogil:
    """Sums of zero for the own spheres and n_foreign others, which are then ready.

    packed : few of many spheres touch, and the contacts are found slab by slab.
    """
    cdef Py_ssize_t n = contacts.n_slots, numbers = 0, free_sum = n, sums, size
    contacts.packed = packed
    if packed:
        numbers, free_sum = (n + 1) * <Py_ssize_t> sizeof(int), 2 * n + 2
    sums = (free_sum + 1 + n_foreign) * contacts.width * <Py_ssize_t> sizeof(int64_t)
    size = sums + numbers + n // LANES + 1
    if size > contacts.capacity:
        free(contacts.sums)
        contacts.sums = <int64_t *> aligned_memory(size)
        contacts.capacity = size if contacts.sums != NULL else 0
    if contacts.sums == NULL or not reserve(&contacts.foreign, n_foreign):
        return
    contacts.sum_of = <int *> (contacts.sums + sums // <Py_ssize_t> sizeof(int64_t))
    contacts.touched = <unsigned char *> contacts.sum_of + numbers
    contacts.free_sum, contacts.n_sums, contacts.foreign.size = <int> free_sum, 1, 0
    if packed:                                          # own sums are set to zero as they are given to spheres
        memset(contacts.sums, 0, 4 * sizeof(int64_t))
        memset(contacts.sums + 4 * free_sum, 0, size - 4 * free_sum * sizeof(int64_t))
        contacts.sum_of[n] = contacts.free_sum
    else:
        memset(contacts.sums, 0, size)
    contacts.ready = True


cdef void add_central(Contacts *contacts, const ContactBlock *block, const double *force, const SideBlock *sides,
                      bint walls, int n) noexcept nogil:
    """Add central forces (3, LANES) on the first bodies of the first n contacts of a block to its spheres."""
    cdef uint64_t keys[2][LANES]
    cdef int side
    load_keys(contacts.law, block.materials, keys)
    for side in range(1 if walls else 2):
        add_to_side(False, side, contacts, block, force, NULL, NULL, sides, keys, contacts.groups[SPHERES].free_slot,
                    walls, n)


cdef void clear_foreign(Contacts *contacts) noexcept nogil:
    """Discard the sums on spheres of other threads, which these have taken."""
    if contacts.foreign.size > 0:
        memset(contacts.sums + contacts.width * <Py_ssize_t> (contacts.free_sum + 1), 0,
               contacts.foreign.size * contacts.width * sizeof(int64_t))
    contacts.foreign.size = 0


cdef void take_foreign(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil:
    """Add the forces on own spheres that other threads have evaluated."""
    cdef Contacts *contacts = all + thread
    cdef const Contacts *other
    cdef Py_ssize_t k
    cdef int t, m, own
    for t in range(n_threads if n_threads > 1 else 0):
        other = all + t
        for k in range(other.foreign.size):
            own = other.foreign.data[k] - contacts.first_slot
            if 0 <= own < contacts.n_slots:
                contacts.touched[row_of(own)] = 1
                if contacts.packed:
                    number_sums(contacts, 1, &own)
                for m in range(contacts.width):
                    contacts.sums[contacts.width * <Py_ssize_t> own + m] += other.sums[
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
