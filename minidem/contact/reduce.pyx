"""Reduction: the force and torque on each clump (the wrench), in an order that does not depend on the run.

The forces on each sphere are summed without an order (fixed_point.pxd), then the spheres of a clump in the order of its
template. So the wrench depends neither on the threads nor on the order in which candidates were found or stored.

Each force acts at the centre of its sphere, with its moment about it, which a central force has not. The torque is
offset x force in the principal body frame, so a rod of spheres on one axis has an axial torque of exactly zero.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memchr

from minidem.contact.fixed_point cimport take_sums
from minidem.contact.law cimport material_of
from minidem.core.eight cimport Eight3, add3, cross3, load_eight3, store_eight3
from minidem.core.lanes cimport LANES, row_of
from minidem.core.prefetch cimport prefetch
from minidem.state.pose cimport load_matrices, to_body3
from minidem.state.state cimport clumps_of, member


cdef enum:
    ROWS_AHEAD = 12                 # member rows whose sums are prefetched
    SLOTS_IN_CACHE = 32768          # with more, the sums of a thread are a megabyte and more


cdef inline Py_ssize_t next_row(const unsigned char *touched, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """The first member row from `row` on, but before `last`, with a force; `last` if there is none."""
    cdef const unsigned char *found = <const unsigned char *> memchr(touched + row, 1, last - row)
    return found - touched if found != NULL else last


cdef inline const WrenchBlock *reduce_in(bint moments, Contacts *contacts, const StateView *state, Py_ssize_t b,
                                         const WrenchBlock *base, WrenchBlock *wrench, bint keeps) noexcept nogil:
    """See reduce_block. moments : a constant, whether the law has moments about the centres of spheres."""
    cdef double matrices[9 * LANES], on_spheres[3 * LANES], moment[3 * LANES]
    cdef uint64_t of_lanes[LANES]
    cdef const uint64_t *keys = contacts.room.keys[0]   # of one material
    cdef Py_ssize_t first_row = row_of(contacts.first_slot), last = state.first_member[b + 1], row
    cdef unsigned char *touched = contacts.touched - first_row
    cdef Eight3 force, torque
    cdef int lane
    if contacts.n_slots > SLOTS_IN_CACHE and last - first_row < contacts.n_slots // LANES - ROWS_AHEAD:
        for row in range(last + ROWS_AHEAD // 2, last + ROWS_AHEAD):
            for lane in range(LANES if touched[row] else 0):
                prefetch(contacts.sums + ((row - first_row) * LANES + lane) * (8 if moments else 4))
    row = next_row(touched, state.first_member[b], last)
    if row == last:
        return base
    force, torque = load_eight3(base.force), load_eight3(base.torque)
    load_matrices(matrices, clumps_of(state, b).orientation)
    if contacts.law.only_material < 0:
        for lane in range(LANES):
            of_lanes[lane] = contacts.law.unit_keys[material_of(contacts.law, state, b * LANES + lane)]
        keys = of_lanes
    while row < last:
        take_sums(contacts.sums + (row - first_row) * LANES * (8 if moments else 4), keeps, keys,
                  contacts.law.unit_shift, member(state, row) + 3 * LANES, on_spheres, moment if moments else NULL)
        force = add3(force, load_eight3(on_spheres))
        torque = add3(torque, cross3(load_eight3(member(state, row)), to_body3(matrices, load_eight3(on_spheres))))
        if moments:
            torque = add3(torque, to_body3(matrices, load_eight3(moment)))
        touched[row] = keeps
        row = next_row(touched, row + 1, last)
    store_eight3(wrench.force, force)
    store_eight3(wrench.torque, torque)
    return wrench


cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const WrenchBlock *base,
                                     WrenchBlock *wrench, bint keeps) noexcept nogil:
    """Add the forces on the spheres of block b to the wrenches `base` of its clumps.

    keeps : the same will be reduced again; else the sums are then zero.
    wrench : room for the result, may be `base`. Returns it, or `base` of a block without contacts.
    """
    if not contacts.ready:                              # without memory for the lists: the step fails
        return base
    if contacts.law.history != NULL:
        return reduce_in(True, contacts, state, b, base, wrench, keeps)
    return reduce_in(False, contacts, state, b, base, wrench, keeps)
