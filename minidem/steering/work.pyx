"""The work of walls and a box that move, and of held clumps, in the ledger of each thread.

Work is the integral of the power by the trapezoidal rule over each step.
"""
from minidem.broadphase.broadphase cimport NO_FAILURE, wait
from minidem.contact.blocks cimport Blocks, ContactBlock, block_at
from minidem.contact.contact cimport SideBlock, Contact, load3
from minidem.contact.contacts cimport WALL_POWER, WALL_WORK, WALLS, Contacts, Ledger
from minidem.contact.fixed_point cimport rounded_wide
from minidem.contact.gather cimport couple_of, gather_contacts
from minidem.core.instant cimport BETWEEN, STAGE
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport rotate_back
from minidem.core.vec3 cimport Vec3, add, cross, dot, sub, times, vec3
from minidem.state.rows cimport CARRIED, FREE, HELD, ClumpBlock, HoldBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport clumps_of, hold_of, wrench_of
from minidem.steering.arm cimport arm_of
from minidem.steering.box_sums cimport WORK_AHEAD, WORK_BEHIND, BoxSums, fold_sums, sum_again
from minidem.walls.surface cimport Sliding, WallPose, Walls, sliding_at, vector, velocity_with


cdef inline Wide walls_work(const Loop *loop, int thread) noexcept nogil:
    """Work of the walls that move on own clumps in half a step, by the forces that the blocks of contacts hold."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Blocks *blocks = &contacts.groups[WALLS]
    cdef const Walls *walls = contacts.law.walls
    cdef const WallPose *pose
    cdef const ContactBlock *block
    cdef Contact contact
    cdef SideBlock sides[2]
    cdef Sliding sliding
    cdef Vec3 force, couple, arm
    cdef double power
    cdef Wide work = 0
    cdef Py_ssize_t b
    cdef int lane, wall
    for b in range(blocks.n_blocks if walls.any_moves else 0):
        block = block_at(blocks, b)
        gather_contacts(False, contacts.law, &loop.state, block.first, block.second, True, LANES, &contact, sides, NULL)
        for lane in range(LANES):
            wall = walls.wall_of[-1 - block.second[lane]]
            if block.first[lane] == blocks.free_slot or not walls.moves[wall]:
                continue
            pose, force, couple = walls.now + wall, load(block.force[0] + lane), couple_of(contacts.law, block, lane)
            arm = arm_of(walls, -1 - block.second[lane], &contact, sides, lane)
            power = dot(force, vector(pose.velocity_now)) \
                + dot(vector(pose.turning_now), add(cross(arm, force), couple))
            if walls.any_slides:
                sliding = sliding_at(walls, wall, arm, load3(contact.normal, lane), 0.0)
                power += dot(force, sliding.velocity) + dot(couple, sliding.turning)
            work += rounded_wide(0.5 * loop.step.dt * power * loop.law.per_energy)
    return work


cdef inline Wide held_work(const Loop *loop, int thread) noexcept nogil:
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


cdef Wide moving_work(const Loop *loop, int thread) noexcept nogil:
    """Work of walls and of held clumps in half a step, by the present forces."""
    return walls_work(loop, thread) + held_work(loop, thread)


cdef void add_wall_work(Loop *loop, int thread, const Moving *own, bint between) noexcept nogil:
    """At a whole step, when the contacts of own clumps are known. between : no step has led to this pose."""
    cdef Ledger *ledger = &loop.contacts[thread].ledger
    cdef BoxSums *of_box = own.box_sums + thread
    cdef Wide behind = moving_work(loop, thread), ahead = behind
    if own.box_sums != NULL:
        if own.corrected:
            sum_again(loop.contacts + thread, &loop.state, of_box)
        fold_sums(of_box)
        behind += of_box.totals[<int> WORK_BEHIND]
        ahead += of_box.totals[<int> WORK_AHEAD]
    if not between:
        ledger.energies[<int> WALL_WORK] += ledger.energies[<int> WALL_POWER] + behind
    ledger.energies[<int> WALL_POWER] = ahead


cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, at whole steps: the work of walls and box."""
    cdef const Moving *moving = <const Moving *> own
    if now.purpose != STAGE:
        if loop.broad.threads[thread].failure == NO_FAILURE:
            add_wall_work(loop, thread, moving, now.purpose == BETWEEN)
        if moving.box_sums != NULL and moving.corrected:
            wait(&loop.broad, thread, 0)                # spheres of other threads are read until here
    return True
