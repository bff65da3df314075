"""The work of walls and a box that move, and of held clumps, in the ledger of each thread.

Work is the integral of the power by the trapezoidal rule over each step.
"""
from minidem.broadphase.broadphase cimport NO_FAILURE, wait
from minidem.contact.blocks cimport ContactBlock, block_at
from minidem.contact.contacts cimport GROUPS, WALL_POWER, WALL_WORK, WALLS, Contacts, Observer, Room
from minidem.contact.fixed_point cimport rounded_wide
from minidem.contact.gather cimport gather_contacts, load_known_results
from minidem.core.instant cimport BETWEEN, STAGE
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport rotate_back
from minidem.core.vec3 cimport Vec3, add, cross, dot, sub, times, vec3
from minidem.state.rows cimport CARRIED, FREE, HELD, ClumpBlock, HoldBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport StateView, clumps_of, hold_of, wrench_of
from minidem.steering.box_sums cimport WORK_AHEAD, WORK_BEHIND, BoxSums, box_observer, fold_sums
from minidem.steering.wall_sums cimport WallSums, wall_observer
from minidem.walls.surface cimport WallPose, vector, velocity_with


cdef Wide held_work(const Loop *loop, int thread) noexcept nogil:
    """Work of own clumps that move as no force changes it, in half a step, by the forces in the stored wrenches."""
    cdef const HoldBlock *hold
    cdef const ClumpBlock *clumps
    cdef const WrenchBlock *wrench
    cdef const WallPose *pose
    cdef Vec3 force, moves, turning
    cdef double power
    cdef Wide work = 0
    cdef Py_ssize_t b
    cdef int lane
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        hold, clumps, wrench = hold_of(&loop.state, b), clumps_of(&loop.state, b), wrench_of(&loop.state, b)
        for lane in range(LANES if hold != NULL else 0):
            if hold.kind[lane] == FREE:
                continue
            power, moves, turning = 0.0, load(hold.axis + lane), load(clumps.angular_velocity + lane)
            force = sub(load(wrench.force + lane), load((loop.body_force + loop.state.block_type[b]).force + lane))
            if hold.kind[lane] == CARRIED:
                pose = loop.contacts[thread].walls.now + <int> hold.wall[lane]
                power = dot(velocity_with(pose, load(clumps.position + lane)), force)
                turning = rotate_back(load_quat(clumps.orientation + lane), vector(pose.turning_now))
            if hold.turns[lane] == 0.0 and dot(moves, moves) == 0.0:
                power += dot(turning, add(load(wrench.torque + lane), cross(
                    load(hold.arm + lane), rotate_back(load_quat(clumps.orientation + lane), force))))
            if hold.kind[lane] == HELD:
                moves = sub(vec3(1.0, 1.0, 1.0), load(hold.free + lane))
                power += dot(times(moves, load(clumps.velocity + lane)), force)
            work -= rounded_wide(0.5 * loop.step.dt * power * loop.law.per_energy)
    return work


cdef void sum_again(Contacts *contacts, const StateView *state, Observer observer) noexcept nogil:
    """Sum with what the blocks of contacts hold: onset corrections or shared masses have changed it."""
    cdef ContactBlock *block
    cdef Room room
    cdef Py_ssize_t b
    observer.clear(contacts, observer.own)
    for room.group in range(<int> GROUPS):
        for b in range(contacts.groups[room.group].n_blocks):
            block = block_at(&contacts.groups[room.group], b)
            room.crosses = gather_contacts(False, contacts.law, state, block.first, block.second,
                                           room.group == <int> WALLS, LANES, &room.contact, room.sides, room.images[0])
            load_known_results(contacts.law, block, &room.result)
            observer.see(contacts, state, block, &room, NULL, observer.own)


cdef void add_wall_work(Loop *loop, int thread, const Moving *own, bint between) noexcept nogil:
    """At a whole step, when the contacts of own clumps are known. between : no step has led to this pose."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef Wide *energies = contacts.ledger.energies
    cdef WallSums *walls = own.wall_sums + thread
    cdef BoxSums *box = own.box_sums + thread
    cdef Wide behind = held_work(loop, thread), ahead
    cdef bint again = own.corrected and (contacts.masses_changed or not loop.law.shares_mass)
    if own.wall_sums != NULL:
        if again:
            sum_again(contacts, &loop.state, wall_observer(walls))
        behind += walls.work
    ahead = behind
    if own.box_sums != NULL:
        if again:
            sum_again(contacts, &loop.state, box_observer(box))
        fold_sums(box)
        behind += box.totals[<int> WORK_BEHIND]
        ahead += box.totals[<int> WORK_AHEAD]
    if not between:
        energies[<int> WALL_WORK] += energies[<int> WALL_POWER] + behind
    energies[<int> WALL_POWER] = ahead


cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, at whole steps: the work of walls and box."""
    cdef const Moving *moving = <const Moving *> own
    if now.purpose != STAGE:
        if loop.broad.threads[thread].failure == NO_FAILURE:
            add_wall_work(loop, thread, moving, now.purpose == BETWEEN)
        if moving.corrected:
            wait(&loop.broad, thread, 0)                # spheres of other threads are read until here
    return True
