"""The time loop: poses, candidates, contacts, sums, kick, drift and rotation, without Python in between.

    kick            v_(n+1/2) = v_(n-1/2) + dt F_n / m
    for each stage of the rotation scheme, at the fraction c of the step:
        move        pose at t_n + c dt                     (rotation scheme, then leapfrog drift)
        candidates  made anew if a sphere may have left its skin
        contacts    F, M at that pose; those of own spheres before those with ghosts
        ask         forces from elsewhere, which see predicted velocities
    finish          of the rotation scheme, if it has one; F, M are those of t_(n+1)

Between steps the state is whole: x_n, v_(n-1/2), what the scheme stores, and F_n, M_n. Threads own
ranges of blocks, and a block is gathered, kicked, turned, moved and posed in one go while it is near
the processor; what a clump bears is forgotten there, unless it is needed after the step. One parallel region lasts
for all steps of a call. In it a thread publishes ghosts of its spheres as soon as these are posed, and waits for those
of the others when it has found all contacts of its own; what it waits for before it publishes the next, that all have
read the last, was long ago. Threads that are late now and then do not keep the others waiting each time.
"""
from cython.parallel import parallel, threadid
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport (
    NO_FAILURE, OUT_OF_MEMORY, SMALL_TEAM, any_failure, any_lost, await_others, publish, renew, renewal_due,
)
from minidem.broadphase.neighbours cimport Neighbours, block_after_slab
from minidem.core.clock cimport clock
from minidem.contact.narrow_phase cimport (
    Contacts, begin_contacts, cover_own, drop_contacts, find_contacts, find_other_contacts,
)
from minidem.contact.reduce cimport add_in_order, gather
from minidem.core.openmp cimport allow_fewer, count_on, forbid_fewer, meet, team_size
from minidem.state.pose cimport pose_members
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.rotation.scheme cimport BlockFunction, Step
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FORCE, LOAD_ROWS, ORIENTATION, PREDICTED, REACH, TORQUE
from minidem.state.state cimport fixed_rows, loads_of
from minidem.engine.leapfrog cimport drift, kick, predict_velocity


cdef enum:
    STEPS_BETWEEN_NORMS = 32768


cdef void lap(Loop *loop, Phase phase) noexcept nogil:
    """Add the time since the last lap to a phase."""
    cdef double seconds = clock()
    loop.seconds[<int> phase] += seconds - loop.lap_began
    loop.lap_began = seconds


cdef inline void finished(Loop *loop, int thread, Phase phase) noexcept nogil:
    """Tells the clock, if there is one: outside measurements a branch that is never taken."""
    if thread == 0 and loop.timed:
        lap(loop, phase)


cdef void restore_norm(double *rows) noexcept nogil:
    """Divide the eight quaternions (4, LANES) by their norm, to first order, where only rounding has changed it.

    A body that turns steadily repeats the same rounding: after 1e8 steps the norm of a SPIRAL
    quaternion was off by 4.5e-9, of Omelyan's by 1.2e-8. Done every 32768 steps by the step's number,
    this keeps it within 1e-11. A scheme that loses its norm in earnest is left as it is.
    """
    cdef double excess, factor
    cdef int l
    for l in range(LANES):
        excess = rows[l] * rows[l] + rows[LANES + l] * rows[LANES + l] + rows[2 * LANES + l] * rows[2 * LANES + l] \
            + rows[3 * LANES + l] * rows[3 * LANES + l] - 1.0
        factor = 1.0 - 0.5 * excess if -1e-6 < excess < 1e-6 else 1.0
        rows[l] *= factor
        rows[LANES + l] *= factor
        rows[2 * LANES + l] *= factor
        rows[3 * LANES + l] *= factor


cdef inline const double *known_loads(Loop *loop, Contacts *contacts, Py_ssize_t b, bint gathered,
                                      double *room) noexcept nogil:
    """Loads (LOAD_ROWS, LANES) of a block: as they stand, or from the forces on its spheres, if need be in `room`."""
    if gathered:
        return loads_of(&loop.state, b)
    return gather(contacts, &loop.state, b, contacts.sums_before, loop.weights, room)


cdef inline void keep_norms(Loop *loop, double *block) noexcept nogil:
    """Remove what rounding did to the norms of the clumps of a block."""
    restore_norm(block + ORIENTATION * LANES)
    if loop.stored_orientation != ORIENTATION:
        restore_norm(block + loop.stored_orientation * LANES)


cdef inline Py_ssize_t block_in_turn(Py_ssize_t first, Py_ssize_t last, Py_ssize_t upward, Py_ssize_t k) noexcept nogil:
    """The k-th of the blocks first <= b < last: so many from the first on, then the others from the last back."""
    return first + k if k < upward else last - 1 - (k - upward)


cdef Py_ssize_t advance_blocks(Loop *loop, int thread, int stage, bint norms, bint gathered, Py_ssize_t first,
                               Py_ssize_t last, Py_ssize_t active) noexcept nogil:
    """Blocks first <= b < last to the pose of this stage, each in one go while it is near the processor.

    Each operation of a block waits for the one before, so three blocks are at work: one is turned while the loads of
    the next are gathered and the spheres of the last are posed. They are taken from both ends to the middle if they fit
    into the caches, since a processor that sees blocks follow each other asks for the next dozen: those of another
    thread, which then has to take them back.

    gathered : whether the loads of the clumps are known; else only the forces on their spheres are, and the loads
        are forgotten as soon as they are used.
    norms : remove what rounding did to the norms.
    active : about where their member rows begin among the active ones; returns about where those after them do.
    """
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef double old[2][4 * LANES]                       # orientations of this block and the last
    cdef double sums[2][LOAD_ROWS * LANES]              # of this block and the next
    cdef const double *loads = NULL
    cdef double dt = loop.step.dt
    cdef double limit = 0.5 * loop.broad.inner_skin, per_square = 1.0 / (limit * limit)
    cdef double ahead = loop.fraction[stage] - (loop.fraction[stage - 1] if stage > 0 else 0.0)
    cdef Step step = loop.step
    cdef Py_ssize_t k, b
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef Py_ssize_t upward = last - first if large else (last - first + 1) // 2
    cdef double *block
    cdef const double *fixed
    cdef int beyond[LANES]
    cdef int lane, any_beyond = 0
    step.stage = stage
    memset(beyond, 0, sizeof(beyond))
    if first < last:
        loads = known_loads(loop, contacts, first, gathered, sums[0])
    for k in range(last - first + 1):
        if k < last - first:
            b = block_in_turn(first, last, upward, k)
            block = loop.state.blocks + b * loop.state.n_rows * LANES
            fixed = fixed_rows(&loop.state, b)
            if large:
                prefetch_rows(block + BLOCKS_AHEAD * loop.state.n_rows * LANES, 0, PREDICTED)
            if loop.contacts_matter:                    # free bodies stay where they are
                if stage == 0:
                    kick(block, loads + FORCE * LANES, fixed, dt)
                memcpy(old[k & 1], block + ORIENTATION * LANES, 4 * LANES * sizeof(double))
            loop.move(block, loads + TORQUE * LANES, fixed, &step)
        if k + 1 < last - first:
            b = block_in_turn(first, last, upward, k + 1)
            loads = known_loads(loop, contacts, b, gathered, sums[(k + 1) & 1])
        if k > 0:
            b = block_in_turn(first, last, upward, k - 1)
            block = loop.state.blocks + b * loop.state.n_rows * LANES
            if norms:
                keep_norms(loop, block)
            if loop.contacts_matter:
                drift(block, ahead * dt, old[(k - 1) & 1], fixed_rows(&loop.state, b) + REACH * LANES, per_square,
                      beyond)
                active = pose_members(&loop.state, b, mine.active.data, active, mine.active.size)
    for lane in range(LANES):
        any_beyond |= beyond[lane]
    if any_beyond:                                      # else the others need not look at it again
        loop.broad.threads[thread].beyond = True
    return active


cdef bint advance(Loop *loop, int thread, int stage, bint norms, bint gathered) noexcept nogil:
    """Own blocks to the pose of this stage, and contacts of own spheres: slab by slab where lists are sorted so.

    Those found before a sphere turns out to have left its skin, here or with another thread, are dropped when
    lists are made anew; where that is expected they are not looked for. False: memory exhausted.
    """
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef Py_ssize_t slab, next_block, block = mine.first_block, active = 0
    cdef bint early = (loop.n_threads > 1 or mine.slab_ends.size > 0) and loop.contacts_matter \
        and loop.broad.valid and mine.steps < mine.lasted
    cdef bint fine = True
    if loop.contacts_matter:
        begin_contacts(contacts, mine, &loop.planes, loop.modulus, loop.step.dt)
        mine.beyond = False
    for slab in range(mine.slab_ends.size if early else 0):
        next_block = block_after_slab(mine, &loop.state, slab, block)
        active = advance_blocks(loop, thread, stage, norms, gathered, block, next_block, active)
        block = next_block
        if mine.beyond:
            break
        finished(loop, thread, BLOCKS)
        fine &= find_contacts(contacts, mine, &loop.state, mine.slab_ends.data[slab])
        finished(loop, thread, CONTACTS)
    advance_blocks(loop, thread, stage, norms, gathered, block, mine.last_block, active)
    if loop.contacts_matter:
        publish(&loop.broad, thread, &loop.state)
    if early and not mine.beyond:
        finished(loop, thread, BLOCKS)
        fine &= find_contacts(contacts, mine, &loop.state, mine.n_own)
        finished(loop, thread, CONTACTS)
    return fine


cdef void gather_all(Loop *loop, int thread) noexcept nogil:
    cdef Contacts *contacts = loop.contacts + thread
    cdef const double *loads
    cdef double *kept
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        kept = loads_of(&loop.state, b)
        loads = gather(contacts, &loop.state, b, contacts.sums, loop.weights, kept)
        if loads != kept:
            memcpy(kept, loads, LOAD_ROWS * LANES * sizeof(double))


cdef void over_blocks(Loop *loop, int thread, BlockFunction function) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        function(loop.state.blocks + b * loop.state.n_rows * LANES, loads_of(&loop.state, b) + TORQUE * LANES,
                 fixed_rows(&loop.state, b), &loop.step)


cdef bint forces(Loop *loop, int thread) noexcept nogil:
    """Forces on own spheres at the pose, which is published. Called by all threads together.

    False: a clump is lost, or memory was exhausted at the evaluation before; all threads say so.
    """
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef Contacts *contacts = loop.contacts + thread
    cdef bint fine
    await_others(&loop.broad, thread)
    finished(loop, thread, WAITING)
    fine = not any_failure(&loop.broad)
    if fine and renewal_due(&loop.broad):
        drop_contacts(contacts, &loop.state)
        renew(&loop.broad, thread, &loop.state, &loop.planes)
        cover_own(contacts, mine, &loop.state)
        fine = not any_lost(&loop.broad)
        finished(loop, thread, LISTS)
    if fine and (mine.failure != NO_FAILURE                # its lists are incomplete
                 or not (find_other_contacts(contacts, mine, &loop.state) and add_in_order(contacts, &loop.state))):
        mine.failure = OUT_OF_MEMORY
    count_on(&loop.broad.reports[thread].read)
    finished(loop, thread, CONTACTS)
    return fine


cdef void predict(Loop *loop, int thread, int stage) noexcept nogil:
    """Velocities at the instant of the pose, for forces that depend on them: second order needs them there."""
    cdef Py_ssize_t b
    cdef double ahead = (loop.fraction[stage] - 0.5) * loop.step.dt
    over_blocks(loop, thread, loop.predict)
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        predict_velocity(loop.state.blocks + b * loop.state.n_rows * LANES,
                         loads_of(&loop.state, b) + FORCE * LANES, fixed_rows(&loop.state, b), ahead)


cdef bint ask(Loop *loop, int thread, double ahead) noexcept nogil:
    """Forces from elsewhere, `ahead` steps from here, once all threads have gathered theirs. False: an error."""
    meet(&loop.broad.barrier, loop.n_threads)
    if thread == 0 and not loop.scheme_failed[0]:
        loop.ask(loop, loop.steps_done + ahead)
    meet(&loop.broad.barrier, loop.n_threads)
    return loop.broad.reports[0].failure == NO_FAILURE


cdef void keep_own(Loop *loop, int thread) noexcept nogil:
    """Copy own clumps and the loads on them, for a step that fails."""
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Py_ssize_t size = loop.state.n_rows * LANES, count = mine.last_block - mine.first_block
    memcpy(loop.kept_blocks + mine.first_block * size, loop.state.blocks + mine.first_block * size,
           count * size * sizeof(double))
    size = LOAD_ROWS * LANES
    memcpy(loop.kept_loads + mine.first_block * size, loop.state.loads + mine.first_block * size,
           count * size * sizeof(double))


cdef bint succeeded(Loop *loop) noexcept nogil:
    """Whether a step that calls Python is whole. Called by all threads together."""
    cdef bint fine
    cdef int t
    meet(&loop.broad.barrier, loop.n_threads)
    fine = not loop.scheme_failed[0]
    for t in range(loop.n_threads):
        fine &= loop.broad.threads[t].failure == NO_FAILURE
    meet(&loop.broad.barrier, loop.n_threads)           # nobody begins another step before all have looked
    return fine


cdef void work(Loop *loop, int thread, long long steps) noexcept nogil:
    """One thread's part of so many steps."""
    cdef long long n, first = loop.first_step + loop.steps_done
    cdef int stage
    cdef bint norms, fine = True, gathered = True, calls_python = loop.kept_blocks != NULL
    finished(loop, thread, OUTSIDE)
    for n in range(steps):
        if calls_python:
            keep_own(loop, thread)
        norms = loop.keeps_norm and (first + n + 1) % STEPS_BETWEEN_NORMS == 0
        loop.broad.threads[thread].steps += 1
        for stage in range(loop.n_stages):
            if not advance(loop, thread, stage, norms, gathered):
                loop.broad.threads[thread].failure = OUT_OF_MEMORY
            if loop.ask != NULL:
                predict(loop, thread, stage)
            finished(loop, thread, BLOCKS)
            if loop.contacts_matter:
                fine = forces(loop, thread)
                # The next `advance` gathers on its way, unless the sums are needed before.
                gathered = calls_python or loop.finish != NULL or n == steps - 1 or not fine
                if gathered:
                    gather_all(loop, thread)
                    finished(loop, thread, BLOCKS)
            if fine and loop.ask != NULL:
                fine = ask(loop, thread, loop.fraction[stage])
                finished(loop, thread, OUTSIDE)
            if not fine:
                return
        if loop.finish != NULL:
            over_blocks(loop, thread, loop.finish)
        if calls_python and not succeeded(loop):
            return
        if thread == 0:
            loop.steps_done += 1


cdef inline void task(Loop *loop, int thread, long long steps) noexcept nogil:
    cdef Neighbours *mine = loop.broad.threads + thread
    mine.began = clock()
    if steps < 0:
        begin_contacts(loop.contacts + thread, mine, &loop.planes, loop.modulus, loop.step.dt)
        publish(&loop.broad, thread, &loop.state)
        forces(loop, thread)
        gather_all(loop, thread)
        if loop.ask != NULL:
            ask(loop, thread, 0.0)
    else:
        work(loop, thread, steps)
    mine.worked += clock() - mine.began


cdef void run_loop(Loop *loop, long long steps) noexcept nogil:
    """`steps` steps by all threads; steps < 0: only the forces at the present pose."""
    cdef int thread = 0, before
    if loop.n_threads == 1:
        task(loop, 0, steps)
    else:
        before = forbid_fewer()
        with parallel(num_threads=loop.n_threads):
            thread = threadid()
            if team_size() == loop.n_threads:
                task(loop, thread, steps)
            elif thread == 0:
                loop.broad.reports[0].failure = SMALL_TEAM
        allow_fewer(before)
