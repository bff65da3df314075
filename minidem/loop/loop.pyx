"""The time loop: all steps of a run in one parallel region, without Python. Read `run_steps` first.

A step is a list of phases, functions that all threads call together; phases.pyx says which a simulation has. Those of
every simulation are here. `move` advances the blocks of a thread to the next pose: kick, rotation, drift, pose
(ARCHITECTURE.md, "One step"); the others find the forces at this pose, between barriers. Large states: slab by slab,
with the contacts of each slab.

Between steps the state is x_n, v_(n-1/2), the stored values of the scheme, and F_n, M_n. The wrench of step n is
reduced in step n + 1 and not stored, unless a simulation has the phase `reduce`, or the run ends with the step.
"""
from cython.parallel import parallel, threadid

from minidem.core.quaternions import NORM_ERROR

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport (
    ENDS_RUN, FAILED, FORCE_AFTER_END, SKIN_EXCEEDED, SMALL_TEAM, chooses_skins, rebuild, wait,
)
from minidem.broadphase.neighbours cimport Neighbours, block_after_slab
from minidem.contact.contacts cimport (
    WALL_WORK, begin_contacts, clear_contacts, collect_stored, own_slots, take_collected,
)
from minidem.contact.evaluate cimport evaluate_contacts, find_contacts
from minidem.contact.sums cimport reduce_block, reset_sums, take_foreign
from minidem.core.clock cimport clock
from minidem.core.instant cimport BETWEEN, LAST_STEP, STAGE, STEP, Instant, ends_step
from minidem.core.lanes cimport LANES, LOG_LANES
from minidem.core.openmp cimport require_full_team, restore_team_setting, team_size
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.core.quaternion cimport Quat, norm_squared, scale_quat
from minidem.core.vec3 cimport Vec3
from minidem.core.vectors cimport memory_refused
from minidem.loop.leapfrog cimport MOST_STRAIN, drift, kick, kick_with_box, path_of_flow
from minidem.rotation.scheme cimport FINISH, MOVE, call_scheme, set_stage
from minidem.state.periodic_box cimport box_moves, gradient_norm
from minidem.state.pose cimport pose_members, spins_as_stored, spins_of_turn, write_motions
from minidem.state.rows cimport ClumpBlock, ConstantBlock, load, load_quat, scratch_of, store_quat
from minidem.state.state cimport clumps_of, constants_of, wrench_of

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
            wrench = restrained(loop, b, wrench, &held)
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
            if loop.follow != NULL:
                loop.follow(&loop.state, b, old[b & 1], ahead * dt, contacts.walls.now, loop.course.walls)
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


cdef bint reduce(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: reduce the forces on spheres to the wrenches of own clumps, which are stored."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef const WrenchBlock *wrench
    cdef WrenchBlock *stored
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        stored = wrench_of(&loop.state, b)
        wrench = reduce_block(contacts, &loop.state, b, loop.body_force + loop.state.block_type[b], stored)
        if wrench != stored:
            stored[0] = wrench[0]
    return True


cdef bint finish(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: call the rotation scheme, once the torques at a whole step are known, for each own block."""
    cdef WrenchBlock held
    cdef Py_ssize_t b
    if now.purpose == STAGE:
        return True
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        call_scheme(loop.scheme, loop.roles, FINISH, clumps_of(&loop.state, b),
                    restrained(loop, b, wrench_of(&loop.state, b), &held), constants_of(&loop.state, b),
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
