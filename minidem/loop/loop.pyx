"""The time loop: all steps of a run in one parallel region, without Python. Read `run_steps` first.

A step is a list of phases, functions that all threads call together; phases.pyx says which a simulation has. Those of
every simulation are here. `move` advances the blocks of a thread to the next pose: kick, rotation, drift, pose
(ARCHITECTURE.md, "One step"); the others find the forces at this pose, between barriers. Large states: slab by slab,
with the contacts of each slab.

Between steps the state is x_n, v_(n-1/2), the stored values of the scheme, and F_n, M_n. The wrench of step n is
reduced in step n + 1 and not stored, unless a simulation has the phase `reduce`, or the run ends with the step.

Fields: the rate of a field at the pose of a whole step is the sum of the rates by contacts and forces, divided by its
capacity. Values advance by the two-step Adams-Bashforth formula, of second order as the leapfrog is, and by Euler's
formula in the first step of a clump. The amounts a_(n+1) that contacts transfer at the pose of step n + 1 are added
after all contacts have been evaluated. Evaluations between two steps transfer nothing.

    f_(n+1) = f_n + dt (3 r_n - r_(n-1)) / 2 + a_(n+1)
"""
from cython.parallel import parallel, threadid

from minidem.core.quaternions import NORM_ERROR

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport (
    ENDS_RUN, FAILED, FORCE_AFTER_END, NO_FAILURE, SKIN_EXCEEDED, SMALL_TEAM, chooses_skins, rebuild, wait,
)
from minidem.broadphase.neighbours cimport Neighbours, block_after_slab
from minidem.contact.contacts cimport (
    WALL_WORK, begin_contacts, clear_contacts, collect_stored, own_slots, reset_sums, take_collected,
)
from minidem.contact.fixed_point cimport SUM_PARTS, exact_total
from minidem.contact.evaluate cimport evaluate_contacts, find_contacts, reduce_block, take_foreign
from minidem.core.clock cimport clock
from minidem.core.eight cimport Eight3, add_scaled3, eight_of, store_eight3
from minidem.core.instant cimport BETWEEN, LAST_STEP, STAGE, STEP, Instant, ends_step
from minidem.core.lanes cimport LOG_LANES
from minidem.core.openmp cimport barrier_wait, require_full_team, restore_team_setting, team_size
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.core.quaternion cimport Quat, norm_squared, scale_quat
from minidem.core.vec3 cimport Vec3, add_scaled, dot, sub, times
from minidem.core.vectors cimport memory_refused
from minidem.engine.user_forces cimport add_compiled_forces
from minidem.loop.leapfrog cimport MOST_STRAIN, drift, flow_change, kick, kick_with_box, kicked, path_of_flow
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, call_scheme, set_stage
from minidem.state.hold cimport follow, follow_rates, held_wrench
from minidem.state.periodic_box cimport box_moves, gradient_norm
from minidem.state.pose cimport pose_members, spins_as_stored, spins_of_turn, write_motions
from minidem.state.rows cimport ClumpBlock, ConstantBlock, FieldBlock, load, load_quat, scratch_of, store_quat
from minidem.state.state cimport clumps_of, constants_of, field_of, hold_of, wrench_of

cdef enum:
    ROWS_OF_STEP = 14               # of a ClumpBlock, up to `path`, which each step reads
    STEPS_PER_NORMALISATION = 32768

cdef double MOST_NORM_ERROR = NORM_ERROR


cdef void renormalise(double *rows) noexcept nogil:
    """Divide eight quaternions (4, LANES) by their norm, to first order, where it is off by rounding only.

    The rounding errors of a body in steady rotation have one sign: after 1e8 steps the norm was off by 4.5e-9 with
    SPIRAL and by 1.2e-8 with Omelyan's scheme. Every 32768 steps, counted by the number of the step, this keeps it
    within 1e-11. Norms that are off by more than rounding belong to the scheme and stay.
    """
    cdef double excess
    cdef Quat q
    cdef int lane
    for lane in range(LANES):
        q = load_quat(rows + lane)
        excess = norm_squared(q) - 1.0
        store_quat(rows + lane, scale_quat(1.0 - 0.5 * excess if -1e-6 < excess < 1e-6 else 1.0, q))


cdef inline const WrenchBlock *wrench_of_block(Loop *loop, Contacts *contacts, Py_ssize_t b, bint stored,
                                               WrenchBlock *room) noexcept nogil:
    """Wrenches of a block: the stored ones, or reduced from the forces on its spheres."""
    if stored:
        return wrench_of(&loop.state, b)
    return reduce_block(contacts, &loop.state, b, loop.body_force + loop.state.block_type[b], room)


cdef inline bint turns_soundly(const Loop *loop, Py_ssize_t b) noexcept nogil:
    """Whether all angular velocities of a block are finite, and the squares of the norms of all quaternions near 1."""
    cdef const ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef Vec3 w
    cdef double norm
    cdef int lane
    for lane in range(LANES):
        w, norm = load(clumps.angular_velocity + lane), norm_squared(load_quat(clumps.orientation + lane))
        if loop.state.clump_number[b * LANES + lane] >= 0 \
                and not (w.x + w.y + w.z - (w.x + w.y + w.z) == 0.0 and fabs(norm - 1.0) <= MOST_NORM_ERROR):
            return False
    return True


cdef inline double since_last_pose(const Loop *loop, const Instant *now) noexcept nogil:
    """Fraction of the step."""
    return now.fraction - (loop.fraction[now.stage - 1] if now.stage > 0 else 0.0)


cdef inline bint any_of(const int *flags) noexcept nogil:
    cdef int lane, found = 0
    for lane in range(LANES):
        found |= flags[lane]
    return found != 0


cdef Py_ssize_t advance_blocks(Loop *loop, int thread, const Instant *now, bint norms, Py_ssize_t first,
                               Py_ssize_t last, Py_ssize_t active) noexcept nogil:
    """Advance the blocks first <= b < last to the pose of an instant.

    Operations on one block depend on each other, on different blocks they do not. So three blocks are in progress: one
    is moved while the wrench of the next is reduced and the spheres of the last are posed.

    norms : correct the norms of the quaternions.
    active : index into the active member rows, near the first block; returns the index after the last block.
    """
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef double old[2][4 * LANES]                       # orientations of this block and the last
    cdef WrenchBlock room[2]                            # of this block and the next
    cdef WrenchBlock held                               # of this block
    cdef const WrenchBlock *wrench = NULL
    cdef double dt = loop.step.dt
    cdef double ahead = since_last_pose(loop, now)
    cdef Step step = loop.step
    cdef Py_ssize_t b, row
    cdef bint moving = loop.state.motions != NULL       # the contact law has a history
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef ClumpBlock *clumps
    cdef const ConstantBlock *constants
    cdef int exceeded[LANES]
    cdef const BoxPose *box = contacts.law.box if loop.has_contacts and box_moves(contacts.law.box) else NULL
    cdef double per_square = 4.0 / (loop.broad.inner_skin * loop.broad.inner_skin)
    cdef double path_of_box = 0.0
    cdef bint kicks = box != NULL and gradient_norm(box.kick) > 0.0
    set_stage(&step, now.stage)
    if box != NULL:
        path_of_box = path_of_flow(box, ahead * dt, loop.broad.largest_clump + loop.broad.reach, loop.broad.inner_skin)
    memset(exceeded, 0, sizeof(exceeded))
    if first < last:
        wrench = wrench_of_block(loop, contacts, first, now.wrench_stored, &room[first & 1])
    for b in range(first, last + 1):
        if b < last:
            clumps, constants = clumps_of(&loop.state, b), constants_of(&loop.state, b)
            if loop.state.holds != NULL:
                wrench = held_wrench(&loop.state, b, wrench, &held)
            if large:
                prefetch_rows(<const double *> clumps_of(&loop.state, b + BLOCKS_AHEAD), ROWS_OF_STEP)
            if loop.has_contacts:                       # free bodies do not translate
                if now.stage == 0:
                    kick(clumps, wrench.force, constants, dt)
                    if kicks:
                        kick_with_box(clumps, wrench.force, constants, box, dt, loop.law.per_energy,
                                      contacts.ledger.energies + <int> WALL_WORK)
                memcpy(old[b & 1], clumps.orientation, sizeof(clumps.orientation))
            call_scheme(loop.scheme, loop.roles, MOVE, clumps, wrench, constants, &step)
            if loop.state.holds != NULL:
                follow(&loop.state, b, old[b & 1], ahead * dt, contacts.walls.now, loop.course.walls)
            if loop.has_contacts and loop.checks_rotation and ends_step(now) and not turns_soundly(loop, b):
                loop.broad.threads[thread].ends_run = True
        if b + 1 < last:
            wrench = wrench_of_block(loop, contacts, b + 1, now.wrench_stored, &room[(b + 1) & 1])
        if b > first:
            clumps = clumps_of(&loop.state, b - 1)
            if norms:
                renormalise(clumps.orientation)
                if loop.stored_orientation >= 0:
                    renormalise(scratch_of(clumps) + loop.stored_orientation * LANES)
            if loop.has_contacts:
                constants = constants_of(&loop.state, b - 1)
                if box == NULL:
                    drift(clumps, ahead * dt, old[(b - 1) & 1], constants, per_square, NULL, 0.0, exceeded)
                else:
                    drift(clumps, ahead * dt, old[(b - 1) & 1], constants, per_square, box, path_of_box, exceeded)
                active = pose_members(&loop.state, b - 1, mine.active.data, active, mine.active.size)
                if moving:
                    spins_of_turn(&loop.state, b - 1, old[(b - 1) & 1], dt)
                    if contacts.ready:           # else the rebuild writes the motions of all spheres
                        row = loop.state.first_member[b - 1]
                        write_motions(&loop.state, b - 1, row, loop.state.first_member[b],
                                      contacts.row_contacts.data + row - (contacts.first_slot >> LOG_LANES))
    if any_of(exceeded):                                # no store otherwise: other threads read this cache line
        loop.broad.threads[thread].skin_exceeded = True
    return active


cdef void advance_fields(Loop *loop, int thread, double ahead) noexcept nogil:
    """Values of the fields of own clumps, `ahead` [s] later.

    The run ends with this step if one is not finite.
    """
    cdef Py_ssize_t b
    cdef FieldBlock *field
    cdef double change, zeros[LANES]
    cdef int c, lane
    memset(zeros, 0, sizeof(zeros))
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        for c in range(loop.law.fields.n):
            field = field_of(&loop.state, b, c, loop.law.fields.n)
            for lane in range(LANES):
                change = field.has_last[lane] * (field.rate[lane] - field.last_rate[lane])
                field.value[lane] += ahead * (field.rate[lane] + 0.5 * change)
                zeros[lane] += 0.0 * field.value[lane]
    for lane in range(LANES):
        if zeros[lane] != 0.0:                          # not a number
            loop.broad.threads[thread].ends_run = True


cdef void take_amounts(Loop *loop, Py_ssize_t b) noexcept nogil:
    """Add the amounts that contacts transfer at this pose to the values of a block."""
    cdef int n = loop.law.fields.n, c, lane
    cdef FieldBlock *field
    for c in range(n if loop.law.fields.transfers[b] else 0):
        field = field_of(&loop.state, b, c, loop.law.fields.n)
        for lane in range(LANES):
            field.value[lane] += field.per_capacity[lane] * exact_total(
                loop.law.fields.amounts + ((b * LANES + lane) * n + c) * SUM_PARTS)


cdef void reduce_rates(Loop *loop, Py_ssize_t b, const double *sources, bint after_step) noexcept nogil:
    """Rates of the fields of a block. sources : (components, LANES), of forces.  after_step : a step has led here."""
    cdef int n = loop.law.fields.n, c, lane
    cdef FieldBlock *field
    cdef double rate
    for c in range(n):
        field = field_of(&loop.state, b, c, loop.law.fields.n)
        for lane in range(LANES):
            rate = sources[c * LANES + lane]
            if loop.law.fields.sums != NULL:
                rate += exact_total(loop.law.fields.sums + ((b * LANES + lane) * n + c) * SUM_PARTS)
            if after_step:
                field.last_rate[lane], field.has_last[lane] = field.rate[lane], 1.0
            field.rate[lane] = rate * field.per_capacity[lane]


cdef inline bint has_user_forces(const Loop *loop) noexcept nogil:
    return loop.n_forces > 0 or loop.external_forces != NULL


cdef bint move(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: advance own clumps to the next pose, with the forces at the last one.

    Where the inner list is sorted by slabs, the contacts of a slab are found as soon as its spheres are posed. The
    lists may turn out to be out of date, here or in another thread; the rebuild then discards these contacts. Where a
    rebuild is expected, because the lists are as old as their predecessors became, they are not searched here.
    """
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef Py_ssize_t slab, next_block, block = mine.first_block, active = 0
    cdef bint by_slab = loop.has_contacts and loop.law.history == NULL and loop.broad.valid \
        and mine.steps < mine.previous_lifetime
    cdef bint norms = loop.keeps_norm and now.step % STEPS_PER_NORMALISATION == 0
    if loop.has_contacts:
        place(loop, thread, 2 * (now.step - 1 - loop.course.first) + <int> (2.0 * now.fraction))
        if loop.law.history == NULL:
            clear_contacts(contacts)
        mine.skin_exceeded = contacts.walls.path - mine.walls_path > 0.5 * loop.broad.inner_skin
        if box_moves(contacts.law.box):
            mine.skin_exceeded |= contacts.law.box.path - mine.box_path > MOST_STRAIN
    for slab in range(mine.slab_ends.size if by_slab else 0):
        next_block = block_after_slab(mine, &loop.state, slab, block)
        active = advance_blocks(loop, thread, now, norms, block, next_block, active)
        block = next_block
        if mine.skin_exceeded:
            break
        find_contacts(contacts, mine, &loop.state, mine.slab_ends.data[slab], now)
    advance_blocks(loop, thread, now, norms, block, mine.last_block, active)
    if loop.law.fields.n > 0:
        advance_fields(loop, thread, loop.step.dt * since_last_pose(loop, now))
    return True


cdef bint stay(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, between steps instead of `move`: prepare an evaluation of the forces at the present pose."""
    if loop.state.motions != NULL:
        spins_as_stored(&loop.state, loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block)
    if loop.law.history == NULL:
        clear_contacts(loop.contacts + thread)
    return True


cdef bint join(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: wait for all threads, and let what one has found hold for all."""
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef int reports = wait(&loop.broad, thread, (<int> SKIN_EXCEEDED if mine.skin_exceeded else 0)
                            | (<int> ENDS_RUN if mine.ends_run else 0))
    mine.skin_exceeded, mine.ends_run = reports & <int> SKIN_EXCEEDED != 0, reports & <int> ENDS_RUN != 0
    if mine.ends_run and now.purpose == STEP:
        now.purpose = LAST_STEP
    return not reports & <int> FAILED


cdef bint rebuild_lists(Loop *loop, int thread) noexcept nogil:
    """Rebuild the lists; stored contacts persist. False: a pose is not finite, or memory was refused."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef bint complete = rebuild(&loop.broad, thread, &loop.state, contacts.law.walls, contacts.law.box)
    own_slots(contacts, mine, &loop.state)
    if not complete:
        return False
    if loop.law.history == NULL:
        clear_contacts(contacts)                        # of the first slabs
        reset_sums(contacts, mine.log_slab > 0, mine.n_foreign)
        return True
    collect_stored(loop.contacts, thread, loop.n_threads, mine)
    if wait(&loop.broad, thread, 0) & <int> FAILED:     # all have read the contacts of all
        return False
    take_collected(contacts, mine)
    return True


cdef bint search(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: rebuild the lists if a skin is exceeded."""
    if loop.broad.threads[thread].skin_exceeded or not loop.broad.valid or chooses_skins(&loop.broad, thread):
        return rebuild_lists(loop, thread)
    return True


cdef bint begin(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, of laws with a history: begin own contacts."""
    cdef Neighbours *mine = loop.broad.threads + thread
    if not mine.refused[0]:                             # else the run ends at the next barrier
        begin_contacts(loop.contacts + thread, mine, &loop.state, now)
    return True


cdef bint find_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: evaluate the own contacts, and add their forces to the sums on spheres."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    if mine.refused[0]:
        return True
    evaluate_contacts(contacts, mine, &loop.state, now)
    if contacts.has_force_after_end:
        mine.failure = FORCE_AFTER_END
    return True


cdef bint exchange(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: add the forces on own spheres that other threads have found."""
    take_foreign(loop.contacts, thread, loop.n_threads, &loop.state)
    return True


cdef inline void predict(Loop *loop, const Contacts *contacts, Py_ssize_t b, const Instant *now) noexcept nogil:
    """Predict velocities of a block at the instant of the pose, from the last wrench and the coming change of the flow.

    Forces that depend on velocities would be of first order otherwise.
    """
    cdef const BoxPose *box = contacts.law.box
    cdef Eight3 v
    cdef ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef WrenchBlock held
    cdef const WrenchBlock *wrench = held_wrench(&loop.state, b, wrench_of(&loop.state, b), &held)
    cdef const ConstantBlock *constants = constants_of(&loop.state, b)
    if loop.force_blocks != NULL:
        loop.force_blocks[b].last = wrench[0]
    call_scheme(loop.scheme, loop.roles, PREDICT, clumps, wrench, constants, &loop.step)
    v = kicked(clumps, wrench.force, constants, (now.fraction - 0.5) * loop.step.dt)
    if box_moves(box) and now.purpose != STAGE:         # half of the change is before the pose, half after it
        v = add_scaled3(v, eight_of(0.5), flow_change(box, box[2].kick, clumps))
    store_eight3(clumps.predicted_velocity, v)
    follow_rates(hold_of(&loop.state, b), clumps, contacts.walls.now, clumps.predicted_velocity)


cdef void reduce_wrenches(Loop *loop, int thread, const Instant *now, bint first, bint last) noexcept nogil:
    """Reduce and store the wrenches of own blocks, compiled user forces included.

    first, last : call of the user forces at this pose; the velocities of later calls follow from the forces before
    """
    cdef Contacts *contacts = loop.contacts + thread
    cdef const WrenchBlock *wrench
    cdef WrenchBlock *stored
    cdef double sources[MAX_COMPONENTS * LANES]
    cdef Py_ssize_t b
    memset(sources, 0, sizeof(sources))
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        stored = wrench_of(&loop.state, b)
        if has_user_forces(loop) and now.purpose != BETWEEN:
            predict(loop, contacts, b, now)
        if not first:
            stored[0] = loop.force_blocks[b].others
        elif loop.has_contacts:                         # free bodies have forces of the user alone
            wrench = reduce_block(contacts, &loop.state, b, loop.body_force + loop.state.block_type[b], stored)
            if wrench != stored:
                stored[0] = wrench[0]
            if loop.force_blocks != NULL:
                loop.force_blocks[b].others = stored[0]
        if loop.law.fields.sums != NULL and first and ends_step(now):
            take_amounts(loop, b)
        if loop.n_forces > 0:
            add_compiled_forces(loop, b, loop.first_step + steps_since_start(loop, now), sources)
        if loop.law.fields.n > 0 and last and now.purpose != STAGE:
            reduce_rates(loop, b, sources, ends_step(now))


cdef void add_work(Loop *loop, int thread) noexcept nogil:
    """Work of the user forces on own clumps, at the velocities that follow from all forces of this instant.

    So the work of noise counts, and the sum over steps is the change of the kinetic energy of half steps.
    """
    cdef const ClumpBlock *clumps
    cdef const ConstantBlock *constants
    cdef const WrenchBlock *stored
    cdef const WrenchBlock *moves
    cdef WrenchBlock held
    cdef ForceBlock *rows
    cdef Vec3 v, w
    cdef double half = loop.state.half_step, power
    cdef Py_ssize_t b
    cdef int lane
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        clumps, constants, rows = clumps_of(&loop.state, b), constants_of(&loop.state, b), loop.force_blocks + b
        stored = wrench_of(&loop.state, b)
        moves = held_wrench(&loop.state, b, stored, &held)
        for lane in range(LANES):
            v = sub(load(moves.force + lane), load(rows.last.force + lane))
            v = add_scaled(load(clumps.predicted_velocity + lane), half * constants.inverse_mass[lane], v)
            w = sub(load(moves.torque + lane), load(rows.last.torque + lane))
            w = add_scaled(load(clumps.predicted + lane), half, times(load(constants.inverse_inertia + lane), w))
            power = dot(v, sub(load(stored.force + lane), load(rows.others.force + lane))) \
                + dot(w, sub(load(stored.torque + lane), load(rows.others.torque + lane))) + 0.0    # no -0.0, at rest
            rows.work[lane] += half * (rows.power[lane] + power)
            rows.power[lane] = power


cdef bint call_python(Loop *loop, int thread, const Instant *now, bint last) noexcept nogil:
    """Call the external_forces in one thread. False, for all threads: an error."""
    cdef bint failed = False
    barrier_wait(&loop.broad.barrier, loop.n_threads, 0)
    if thread == 0 and not (loop.scheme_failed[0] or loop.law_failed[0]):
        loop.last_call = last and now.purpose != STAGE
        loop.external_forces(loop, steps_since_start(loop, now))
        failed = loop.broad.threads[0].failure != NO_FAILURE
    return not barrier_wait(&loop.broad.barrier, loop.n_threads, failed)


cdef bint reduce(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: store the wrenches of own blocks, user forces included.

    User forces see velocities predicted at the instant of the pose. The Driver knows them between two steps.
    """
    cdef int k, calls = 1 if now.purpose == BETWEEN else 1 + loop.corrections
    for k in range(calls):
        reduce_wrenches(loop, thread, now, k == 0, k == calls - 1)
        if loop.external_forces != NULL and not call_python(loop, thread, now, k == calls - 1):
            return False
    if loop.force_blocks != NULL and has_user_forces(loop) and now.purpose != STAGE:
        add_work(loop, thread)
    return True


cdef bint finish(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: call the rotation scheme, once the torques at a whole step are known, for each own block."""
    cdef WrenchBlock held
    cdef Py_ssize_t b
    if now.purpose == STAGE:
        return True
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        call_scheme(loop.scheme, loop.roles, FINISH, clumps_of(&loop.state, b),
                    held_wrench(&loop.state, b, wrench_of(&loop.state, b), &held), constants_of(&loop.state, b),
                    &loop.step)
    return True


cdef bint run_phases(Loop *loop, int thread, Instant *now) noexcept nogil:
    """To the pose of an instant, and the forces there. False, for all threads: they are incomplete."""
    cdef int k
    for k in range(loop.n_phases):
        if not loop.phases[k].run(loop, thread, now, loop.phases[k].own):
            return False
    if now.purpose in (LAST_STEP, BETWEEN) and not loop.stores_wrenches:
        reduce(loop, thread, now, NULL)
    return True


cdef void run_steps(Loop *loop, int thread, long long begun, long long steps) noexcept nogil:
    """Advance the part of one thread by `steps`, from the step with the number `begun`."""
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef long long n
    cdef Instant now
    now.wrench_stored = True
    for n in range(steps):
        mine.steps += 1
        now.step = begun + n + 1
        for now.stage in range(loop.n_stages):
            now.fraction = loop.fraction[now.stage]
            now.purpose = STAGE if now.stage < loop.n_stages - 1 else STEP if n < steps - 1 else LAST_STEP
            if not run_phases(loop, thread, &now):
                return
            now.wrench_stored = loop.stores_wrenches
        if thread == 0:
            loop.steps_done += 1
        if mine.ends_run:                               # for all threads in the same step
            return


cdef inline void run_thread(Loop *loop, int thread, long long begun, long long steps, bint between) noexcept nogil:
    """The part of one thread of run_loop. begun : number of the present step."""
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef Instant now
    mine.began, mine.ends_run, mine.refused = clock(), False, memory_refused()
    if between:
        now = Instant(BETWEEN, begun, loop.n_stages - 1, 1.0, True)
        run_phases(loop, thread, &now)
    else:
        run_steps(loop, thread, begun, steps)
    wait(&loop.broad, thread, 0)                        # for a last failure
    mine.worked += clock() - mine.began


cdef int full_team(int n_threads) noexcept nogil:
    """n_threads, or 1 where OpenMP gives fewer, as within another parallel region."""
    cdef int before = require_full_team()
    cdef int team[1]
    team[0] = 1
    if n_threads > 1:
        with parallel(num_threads=n_threads):
            if threadid() == 0:
                team[0] = team_size()
    restore_team_setting(before)
    return n_threads if team[0] == n_threads else 1


cdef void run_loop(Loop *loop, long long steps, bint between) noexcept nogil:
    """Advance by `steps` steps with all threads; between : compute the wrenches at the present pose only."""
    cdef int thread = 0, before
    cdef long long begun = loop.first_step + loop.steps_done
    loop.state.half_step = 0.0 if between else 0.5 * loop.step.dt
    if loop.n_threads == 1:
        run_thread(loop, 0, begun, steps, between)
    else:
        before = require_full_team()
        with parallel(num_threads=loop.n_threads):
            thread = threadid()
            if team_size() == loop.n_threads:
                run_thread(loop, thread, begun, steps, between)
            elif thread == 0:
                loop.broad.threads[0].failure = SMALL_TEAM
        restore_team_setting(before)
