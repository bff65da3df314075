"""Reduction: the force and torque on each clump (the wrench), in an order that does not depend on the run.

The forces on each sphere are summed without an order (force_sums.pxd), then the spheres of a clump in the order of its
template. So the wrench depends neither on the threads nor on the order in which candidates were found or stored.

Each contact force acts at the centre of its sphere: the moment of a central force is the same anywhere on its line. The
torque is offset x force in the principal body frame, so a rod of spheres on one axis has an axial torque of exactly
zero.
"""
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from minidem.contact.force_sums cimport forces_of_sums
from minidem.contact.law cimport unit_key
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport FORCE_BLOCKS_AHEAD, prefetch
from minidem.core.transpose cimport clear_indices
from minidem.core.vec3 cimport Vec3, add, cross, vec3
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport WrenchBlock, load, store
from minidem.state.state cimport StateView, clumps_of, member


cdef inline void add_row(double *force, double *torque, const double *matrices, const double *offsets,
                         const int64_t *sphere_force, const uint64_t *keys, int shift,
                         int *accumulators, bint again) noexcept nogil:
    """Add the forces on the spheres of a member row to the wrenches of their clumps.

    force, torque (3, LANES), rotation matrices (9, LANES), offsets and radii (4, LANES), keys (LANES,): of the block.
    accumulators : (LANES,) indices into sphere_force, zero after it unless they are used again. Lanes without a force
        add zeros, which change no bit.
    """
    cdef double rows[3][LANES]
    cdef Vec3 f
    cdef int lane
    forces_of_sums(sphere_force, accumulators, keys, shift, offsets + 3 * LANES, rows[0])
    if not again:
        clear_indices(accumulators)
    for lane in range(LANES):
        f = vec3(rows[0][lane], rows[1][lane], rows[2][lane])
        store(force + lane, add(load(force + lane), f))
        f = cross(load(offsets + lane), to_body(matrices + lane, f))
        store(torque + lane, add(load(torque + lane), f))


cdef inline void prefetch_forces(const Contacts *contacts, const StateView *state, Py_ssize_t b,
                                 const int64_t *sphere_force) noexcept nogil:
    """Prefetch what reduce_block will read for block b: accumulators are in the order of the contacts."""
    cdef Py_ssize_t row
    cdef int lane
    if contacts.block_has_force[b - contacts.first_block]:
        for row in range(state.first_member[b] - contacts.first_row, state.first_member[b + 1] - contacts.first_row):
            for lane in range(LANES):
                prefetch(sphere_force + 4 * <Py_ssize_t> contacts.accumulator_of_slot[row * LANES + lane])


cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b,
                                     const int64_t *sphere_force, const WrenchBlock *body_force, WrenchBlock *wrench,
                                     bint again) noexcept nogil:
    """Wrenches of the clumps of block b; the forces on its spheres are cleared.

    sphere_force : accumulators, of this pose or the last.
    body_force : (block types,), wrenches without any contact.
    again : the same will be reduced again.
    wrench : room for the result. Returns it, or that of body_force of a block without contacts.
    """
    cdef double force[3 * LANES], torque[3 * LANES], matrices[9 * LANES]      # local: known not to alias anything
    cdef uint64_t keys[LANES]
    cdef int lane
    cdef unsigned char *has_force = contacts.block_has_force + (b - contacts.first_block)
    cdef unsigned char *rows = contacts.row_has_force - contacts.first_row
    cdef Py_ssize_t row, last = state.first_member[b + 1]
    body_force += state.block_type[b]
    if contacts.out_of_cache:
        prefetch_forces(contacts, state, b + FORCE_BLOCKS_AHEAD, sphere_force)
    if not has_force[0]:
        return body_force
    memcpy(force, body_force.force, sizeof(force))
    memset(torque, 0, sizeof(torque))
    load_matrices(matrices, clumps_of(state, b).orientation)
    for lane in range(LANES):
        keys[lane] = unit_key(contacts.law, state, b * LANES + lane)
    row = next_row(rows, state.first_member[b], last)
    while True:             # at least one row has a force; with a loop that may be empty the sums are kept in memory
        add_row(force, torque, matrices, member(state, row), sphere_force, keys, contacts.law.unit_shift,
                contacts.accumulator_of_slot + (row - contacts.first_row) * LANES, again)
        if not again:
            rows[row] = False
        row = next_row(rows, row + 1, last)
        if row == last:
            break
    has_force[0] = again
    memcpy(wrench.force, force, sizeof(force))
    memcpy(wrench.torque, torque, sizeof(torque))
    return wrench
