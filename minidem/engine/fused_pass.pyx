"""The fused pass: each block of eight clumps is processed in one go while it is in cache.

    reduce      forces on the spheres of the block -> force and torque on its clumps (the wrench)
    kick        v_(n+1/2) = v_(n-1/2) + dt F_n / m, in the first stage of a step
    move        rotation scheme: orientation at the instant of the stage
    drift       centre of mass, and the bound of the displacement that the lists depend on (row PATH)
    pose        lab positions of those spheres that occur in the inner lists; velocities, if the contact law needs them

The wrench is not stored: the wrench of step n is reduced here, inside step n + 1, from the forces on the spheres that
the narrow phase of step n has summed. Only where something needs it before (the last step of a run, external forces, a
scheme with `finish`) the time loop reduces it on its own (time_loop.pyx, reduce_all).
"""
from libc.math cimport fabs
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.reduce cimport reduce_block
from minidem.contact.stored_forces cimport reduce_stored
from minidem.core.lanes cimport LANES, LOG_LANES
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3
from minidem.engine.leapfrog cimport Flow, drift, flow_of, kick, kick_with_box
from minidem.rotation.scheme cimport MOVE, Step, call_scheme, set_stage
from minidem.state.motions cimport spins_of_turn, write_motions
from minidem.state.periodic_box cimport BoxPose, box_moves, gradient_norm
from minidem.state.pose cimport pose_members
from minidem.state.rows cimport (
    ANGULAR_VELOCITY, FORCE, ORIENTATION, PREDICTED, TORQUE, TURN_BOUND, WRENCH_ROWS, load, load_quat,
)
from minidem.state.state cimport fixed_rows, wrench_of


cdef enum:
    ROWS_AT_ONCE = 32

cdef extern from *:
    """
    #define MINIDEM_NORM_ERROR 0.05
    """
    const double NORM_ERROR "MINIDEM_NORM_ERROR"        # as in field_table.py


cdef void renormalise(double *rows) noexcept nogil:
    """Divide eight quaternions (4, LANES) by their norm, to first order, where it is off by rounding only.

    The rounding errors of a body in steady rotation have one sign: after 1e8 steps the norm was off by 4.5e-9 with
    SPIRAL and by 1.2e-8 with Omelyan's scheme. Every 32768 steps, counted by the number of the step, this keeps it
    within 1e-11. Norms that are off by more than rounding belong to the scheme and stay.
    """
    cdef double excess, factor
    cdef int lane
    for lane in range(LANES):
        excess = rows[lane] * rows[lane] + rows[LANES + lane] * rows[LANES + lane] \
            + rows[2 * LANES + lane] * rows[2 * LANES + lane] + rows[3 * LANES + lane] * rows[3 * LANES + lane] - 1.0
        factor = 1.0 - 0.5 * excess if -1e-6 < excess < 1e-6 else 1.0
        rows[lane] *= factor
        rows[LANES + lane] *= factor
        rows[2 * LANES + lane] *= factor
        rows[3 * LANES + lane] *= factor


cdef inline void renormalise_block(Loop *loop, double *block) noexcept nogil:
    renormalise(block + ORIENTATION * LANES)
    if loop.stored_orientation != ORIENTATION:
        renormalise(block + loop.stored_orientation * LANES)


cdef inline const double *wrench_of_block(Loop *loop, Contacts *contacts, Py_ssize_t b, bint wrench_known,
                                          bint stored, double *room) noexcept nogil:
    """Wrenches (WRENCH_ROWS, LANES) of a block: the stored ones, or reduced from the forces on its spheres."""
    if wrench_known:
        return wrench_of(&loop.state, b)
    if stored:
        return reduce_stored(&contacts.stored, &loop.state, b, loop.body_force, room)
    return reduce_block(contacts, &loop.state, b, contacts.previous_force, loop.body_force, room, False)


cdef inline void write_touching_motions(Loop *loop, const Contacts *contacts, Py_ssize_t b) noexcept nogil:
    """Motions of those member rows of a block that have contacts, or that other threads read."""
    cdef Py_ssize_t own_row, first = contacts.stored.first_slot >> LOG_LANES, n = 0
    cdef int rows[ROWS_AT_ONCE]
    for own_row in range(loop.state.first_member[b] - first, loop.state.first_member[b + 1] - first):
        if contacts.stored.row_contacts.data[own_row] or contacts.stored.row_ghosts.data[own_row]:
            rows[n] = <int> (first + own_row)
            n += 1
            if n == ROWS_AT_ONCE:
                write_motions(&loop.state, b, rows, n)
                n = 0
    if n > 0:
        write_motions(&loop.state, b, rows, n)


cdef inline bint turns_soundly(const Loop *loop, Py_ssize_t b) noexcept nogil:
    """Whether all angular velocities of a block are finite, and the squares of the norms of all quaternions near 1."""
    cdef const double *block = loop.state.blocks + b * loop.state.n_rows * LANES
    cdef Vec3 w
    cdef Quat q
    cdef double norm
    cdef int lane
    for lane in range(LANES):
        w, q = load(block + ANGULAR_VELOCITY * LANES + lane), load_quat(block + ORIENTATION * LANES + lane)
        norm = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z
        if loop.state.clump_number[b * LANES + lane] >= 0 \
                and not (w.x + w.y + w.z - (w.x + w.y + w.z) == 0.0 and fabs(norm - 1.0) <= NORM_ERROR):
            return False
    return True


cdef inline bint any_of(const int *flags) noexcept nogil:
    cdef int lane, found = 0
    for lane in range(LANES):
        found |= flags[lane]
    return found != 0


cdef Py_ssize_t advance_blocks(Loop *loop, int thread, int stage, bint norms, bint wrench_known, Py_ssize_t first,
                               Py_ssize_t last, Py_ssize_t active) noexcept nogil:
    """Advance the blocks first <= b < last to the pose of a stage.

    The operations on one block depend on each other, those on different blocks do not. So three blocks are in progress:
    one is moved while the wrench of the next is reduced and the spheres of the last are posed.

    wrench_known : the wrenches are stored, else they are reduced here.
    norms : correct the norms of the quaternions.
    active : index into the active member rows near which those of the first block begin; returns that after the last.
    """
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef double old[2][4 * LANES]                       # orientations of this block and the last
    cdef double room[2][WRENCH_ROWS * LANES]            # of this block and the next
    cdef const double *wrench = NULL
    cdef double dt = loop.step.dt
    cdef double ahead = loop.fraction[stage] - (loop.fraction[stage - 1] if stage > 0 else 0.0)
    cdef Step step = loop.step
    cdef Py_ssize_t b
    cdef bint moving = loop.state.motions != NULL       # the contact law has a history
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef double *block
    cdef const double *fixed
    cdef int exceeded[LANES]
    cdef const BoxPose *box = contacts.law.box if loop.has_contacts and box_moves(contacts.law.box) else NULL
    cdef double per_square = 4.0 / (loop.broad.inner_skin * loop.broad.inner_skin)
    cdef Flow flow
    cdef bint kicks = box != NULL and gradient_norm(box.kick) > 0.0
    set_stage(&step, stage)
    if box != NULL:
        flow = flow_of(box, ahead * dt, loop.broad.largest_clump + loop.broad.reach, loop.broad.inner_skin)
    memset(exceeded, 0, sizeof(exceeded))
    if first < last:
        wrench = wrench_of_block(loop, contacts, first, wrench_known, moving, room[first & 1])
    for b in range(first, last + 1):
        if b < last:
            block = loop.state.blocks + b * loop.state.n_rows * LANES
            fixed = fixed_rows(&loop.state, b)
            if large:
                prefetch_rows(block + BLOCKS_AHEAD * loop.state.n_rows * LANES, 0, PREDICTED)
            if loop.has_contacts:                       # free bodies do not translate
                if stage == 0:
                    kick(block, wrench + FORCE * LANES, fixed, dt)
                    if kicks:
                        kick_with_box(block, wrench + FORCE * LANES, fixed, box, dt, loop.law.per_energy,
                                      &contacts.stored.ledger.wall_work)
                memcpy(old[b & 1], block + ORIENTATION * LANES, 4 * LANES * sizeof(double))
            call_scheme(loop.scheme, loop.roles, MOVE, block, wrench + TORQUE * LANES, fixed, &step)
            if loop.has_contacts and loop.checks_rotation and stage == loop.n_stages - 1 and not turns_soundly(loop, b):
                loop.broad.threads[thread].ends_run = True
        if b + 1 < last:
            wrench = wrench_of_block(loop, contacts, b + 1, wrench_known, moving, room[(b + 1) & 1])
        if b > first:
            block = loop.state.blocks + (b - 1) * loop.state.n_rows * LANES
            if norms:
                renormalise_block(loop, block)
            if loop.has_contacts:
                fixed = fixed_rows(&loop.state, b - 1) + TURN_BOUND * LANES
                if box == NULL:
                    drift(block, ahead * dt, old[(b - 1) & 1], fixed, per_square, NULL, exceeded)
                else:
                    drift(block, ahead * dt, old[(b - 1) & 1], fixed, per_square, &flow, exceeded)
                active = pose_members(&loop.state, b - 1, mine.active.data, active, mine.active.size)
                if moving:
                    spins_of_turn(&loop.state, b - 1, old[(b - 1) & 1], dt)
                    if contacts.stored.ready:           # else the rebuild writes those of all spheres
                        write_touching_motions(loop, contacts, b - 1)
    if any_of(exceeded):                                # no store otherwise: other threads read this cache line
        loop.broad.threads[thread].skin_exceeded = True
    return active
