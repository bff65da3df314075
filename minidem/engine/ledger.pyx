"""The ledger of a time loop: energies dissipated in contacts, and work of walls and a box that move; what broke; forces
of walls, and the stress that moves a box.

Each thread sums over its own contacts. The sums have no order (contact/fixed_point.pxd). Work is the integral of the
power by the trapezoidal rule over each step. That of user forces is of single clumps (user_forces.pyx).
"""
import numpy as np

from libc.math cimport fmax, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport NO_FAILURE, wait
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks, ContactBlock, block_at, history_of
from minidem.contact.contact cimport SideBlock, Contact, load3
from minidem.contact.evaluate cimport add_image_work
from minidem.contact.fixed_point cimport add_energies, fold, join_wide, rounded_wide, split_wide
from minidem.contact.gather cimport gather_contacts
from minidem.contact.law cimport Law
from minidem.contact.part cimport (
    DAMPING, FRICTION, FrictionHistory, STIFFNESS, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS,
)
from minidem.contact.contacts cimport (
    BLOCKS_PER_FOLD, ENERGIES, GROUPS, SPHERES, WALL_POWER, WALL_WORK, WALLS, Contacts, Ledger,
)
from minidem.core.eight cimport (
    Eight, Eight3, add3, dot3, eight_of, eight_where, load_eight, load_eight3, scale3, store_eight, store_eight3,
    sub3,
)
from minidem.core.instant cimport BETWEEN, STAGE
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.prefetch cimport BLOCKS_AHEAD, prefetch_rows
from minidem.core.quaternion cimport rotate, rotate_back
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub, times, vec3
from minidem.state.mobility cimport carrier_of
from minidem.state.periodic_box cimport times_gradient, from_center, nearest_differences
from minidem.state.rows cimport CARRIED, FREE, HELD, ClumpBlock, HoldBlock, WrenchBlock, load, load_quat, store
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, free_slot_of, hold_of, wrench_of
from minidem.walls.surface cimport Sliding, WallPose, Walls, arm_at, sliding_at, vector, velocity_with

cdef extern from "core/eight.h" nogil:
    Eight magnitude "MINIDEM_MAGNITUDE"(Eight x)

cdef enum:                          # sums for a pressure, of three axes, times the volume
    STRESS                          # by contacts
    RESISTANCE                      # to strain rates, see md.Pressure
    IMAGES                          # part of the stress by displacements of images; behind it the one of the shear
    KINETIC                         # stress by velocities
    N_TOTALS

cdef enum:
    STRESS_UNIT = 1 << 14           # unit of the sums of stresses / unit of energies
    ROWS_OF_VIRIAL = 14             # of a ContactBlock, up to the contact radius

cdef double LEAST_LENGTH = 1e-150   # [m]

cdef struct Totals:                 # of four quantities, see add_energies
    int64_t sums[4 * LANES]         # of the last few blocks
    Wide totals[4]
    double lost[4]
    int n                           # blocks


cdef inline Vec3 arm_of(const Walls *walls, int primitive, const Contact *contact, const SideBlock *a,
                        int lane) noexcept nogil:
    """From the centre of a wall that moves to a contact point, lab."""
    return arm_at(walls, primitive, add_scaled(load(a.sphere + lane), contact.overlap[lane]
                                               - a.sphere[3 * LANES + lane], load3(contact.normal, lane)))


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
            pose, force, couple = walls.now + wall, load(block.force[0] + lane), load(block.couple[0] + lane)
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


cdef void sum_image_work(Loop *loop, int thread) noexcept nogil:
    """Sum the work of a box that moves again, with forces that contain onset corrections.

    Only contacts with images contribute: force times velocity of the image.
    """
    cdef Contacts *contacts = loop.contacts + thread
    cdef const Blocks *blocks = &contacts.groups[SPHERES]
    cdef const ContactBlock *block
    cdef Contact contact
    cdef SideBlock sides[2]
    cdef double images[6 * LANES]
    cdef Py_ssize_t b
    contacts.box_work[0] = contacts.box_work[1] = 0
    for b in range(blocks.n_blocks):
        block = block_at(blocks, b)
        if gather_contacts(False, contacts.law, &loop.state, block.first, block.second, False, LANES, &contact,
                           sides, images):
            add_image_work(contacts, block.first, blocks.free_slot, block.force[0], images)


cdef inline Eight3 by_axis(Eight3 a, Eight3 b) noexcept nogil:
    a.x, a.y, a.z = a.x * b.x, a.y * b.y, a.z * b.z
    return a


cdef inline void add_rows(Eight present, Eight3 rows, Eight last, double per_unit, Totals *totals) noexcept nogil:
    """Add four rows, where `present` is 1 and not 0."""
    cdef double room[4 * LANES]
    rows.x, rows.y, rows.z = eight_where(present, rows.x), eight_where(present, rows.y), eight_where(present, rows.z)
    store_eight3(room, rows)
    store_eight(room + 3 * LANES, eight_where(present, last))
    add_energies(room, per_unit, totals.sums, totals.totals, totals.lost)
    totals.n += 1
    if totals.n % BLOCKS_PER_FOLD == 0:
        fold(totals.sums, 4, totals.totals)


cdef inline Eight root(Eight x) noexcept nogil:
    cdef double row[LANES]
    cdef int lane
    store_eight(row, x)
    for lane in range(LANES):
        row[lane] = sqrt(row[lane])
    return load_eight(row)


cdef inline Eight coefficients(const Law *law, const ContactBlock *block, int k) noexcept nogil:
    cdef double row[LANES]
    cdef int lane
    if law.log_materials == 0:
        return eight_of(law.coefficients[k])
    for lane in range(LANES):
        row[lane] = law.coefficients[block.materials[lane] * law.n_coefficients + k]
    return load_eight(row)


cdef inline void find_resistances(const Law *law, const ContactBlock *block, Eight overlap, Eight *along,
                                  Eight *across) noexcept nogil:
    """Resistances of contacts to displacements along and across their normals, see `md.Pressure` [N/m].

    They are c / dt + k / 4, with the dashpot c and the spring k: by the coefficients of a law with friction, and by the
    force of a law without history. Those of bonds and laws of the user are unknown: take the stiffest spring and the
    strongest dashpot which the step resolves.
    """
    cdef Eight3 force = load_eight3(block.force[0])
    cdef Eight mass = load_eight(block.mass), radius, dashpot, dt = eight_of(law.dt)
    if law.history == NULL:
        along[0] = eight_of(0.25 * law.power) * root(dot3(force, force)) / (overlap + eight_of(LEAST_LENGTH))
        across[0] = eight_of(0.0)
    elif law.parameters.parts[0].forces == NULL or law.rare_records > 0:
        along[0] = across[0] = eight_of(1.25) * mass / (dt * dt)
    else:
        radius = magnitude(load_eight((<const FrictionHistory *> history_of(block)).radius))
        dashpot = coefficients(law, block, DAMPING) * root(mass * radius) / dt
        along[0] = dashpot + eight_of(0.25 * law.power) * coefficients(law, block, STIFFNESS) * radius
        across[0] = eight_where(
            coefficients(law, block, FRICTION), dashpot * coefficients(law, block, TANGENTIAL_DAMPING)
            + eight_of(0.25) * coefficients(law, block, TANGENTIAL_STIFFNESS) * radius)


cdef inline Eight3 centres_of(const StateView *state, const int *spheres, const double *bodies) noexcept nogil:
    """Centres of mass of the clumps of eight spheres. bodies : (4, LANES) the spheres."""
    cdef double centres[3 * LANES]
    cdef int lane, clump
    if state.n_members == state.n_blocks:               # one sphere each
        return load_eight3(bodies)
    for lane in range(LANES):
        clump = clump_of(state, spheres[lane]) if spheres[lane] < free_slot_of(state) else 0
        store(centres + lane, load(clumps_of(state, row_of(clump)).position + lane_of(clump)))
    return load_eight3(centres)


cdef inline void add_virial(const Loop *loop, const Law *law, const ContactBlock *block,
                            Totals *totals) noexcept nogil:
    """Add the parts of eight contacts between spheres to STRESS, RESISTANCE and IMAGES."""
    cdef const BoxPose *box = law.box
    cdef double a[4 * LANES], b[4 * LANES], room[3 * LANES], present[LANES]
    cdef Eight distance, straight, along, across
    cdef Eight3 nearest, n, image, branch, moved, force = load_eight3(block.force[0]), by_strain
    cdef int lane
    rows_from_records(loop.state.spheres, block.first, a)
    rows_from_records(loop.state.spheres, block.second, b)
    nearest_differences(box, a, b, room)
    for lane in range(LANES):
        present[lane] = 1.0 if block.first[lane] != free_slot_of(&loop.state) else 0.0
    nearest = load_eight3(room)
    distance = root(dot3(nearest, nearest))
    find_resistances(law, block, load_eight(a + 3 * LANES) + load_eight(b + 3 * LANES) - distance, &along, &across)
    n = scale3(eight_of(1.0) / (distance + eight_of(LEAST_LENGTH)), nearest)
    image = sub3(nearest, sub3(load_eight3(a), load_eight3(b)))
    branch = add3(sub3(centres_of(&loop.state, block.first, a), centres_of(&loop.state, block.second, b)), image)
    moved = branch if box.affine else image             # displacement of i beside j per strain
    straight = magnitude(along - across) * (
        magnitude(n.x * moved.x) + magnitude(n.y * moved.y) + magnitude(n.z * moved.z))
    by_strain.x = magnitude((straight * magnitude(n.x) + across * magnitude(moved.x)) * branch.x)
    by_strain.y = magnitude((straight * magnitude(n.y) + across * magnitude(moved.y)) * branch.y)
    by_strain.z = magnitude((straight * magnitude(n.z) + across * magnitude(moved.z)) * branch.z)
    add_rows(load_eight(present), by_axis(force, branch), eight_of(0.0), law.per_energy / STRESS_UNIT, totals + STRESS)
    add_rows(load_eight(present), by_strain, eight_of(0.0), law.per_energy / RESISTANCE_UNIT, totals + RESISTANCE)
    store_eight3(room, image)
    add_rows(load_eight(present), by_axis(force, image), load_eight(block.force[box.flow_axis]) * load_eight(
        room + LANES * box.gradient_axis), law.per_energy / STRESS_UNIT, totals + IMAGES)


cdef inline void add_kinetic(const Loop *loop, const BoxPose *box, Py_ssize_t b, Totals *totals) noexcept nogil:
    """Stress by velocities of the clumps of a block beside the flow; half a step behind, as the flow is."""
    cdef const ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef double mass[LANES]
    cdef Eight3 u = load_eight3(clumps.velocity)
    cdef int lane
    for lane in range(LANES):
        mass[lane] = constants_of(&loop.state, b).mass[lane] if loop.state.clump_number[b * LANES + lane] >= 0 else 0.0
    u = sub3(u, times_gradient(box.flow, from_center(box, load_eight3(clumps.position))))
    add_rows(load_eight(mass), scale3(load_eight(mass), by_axis(u, u)), eight_of(0.0),
             loop.law.per_energy / STRESS_UNIT, totals)


cdef inline void add_load(const Loop *loop, int m, Vec3 arm, Vec3 force, Vec3 couple, Wide *sums) noexcept nogil:
    """Add minus a force on the wall of a servo, or minus the moment about its centre where it turns."""
    cdef double unit = loop.law.force_unit
    if loop.course.servos[m].turns:
        force, unit = add(cross(arm, force), couple), loop.law.energy_unit
    sums[4 * m] += rounded_wide(-force.x / unit)
    sums[4 * m + 1] += rounded_wide(-force.y / unit)
    sums[4 * m + 2] += rounded_wide(-force.z / unit)


cdef void add_servo_sums(const Loop *loop, const Contacts *contacts, bint walls, const ContactBlock *block,
                         Wide *sums) noexcept nogil:
    """Add eight contacts to the sums of the walls that a force moves: loads of contacts with walls; resistances, also
    of contacts with the clumps that a wall carries."""
    cdef Contact contact
    cdef SideBlock sides[2]
    cdef Eight along, across
    cdef double resistance[2 * LANES]
    cdef int lane, m, side, body, wall
    gather_contacts(False, contacts.law, &loop.state, block.first, block.second, walls, LANES, &contact, sides, NULL)
    find_resistances(contacts.law, block, load_eight(contact.overlap), &along, &across)
    store_eight(resistance, along)
    store_eight(resistance + LANES, across)
    for lane in range(LANES):
        for side in range(2 if block.first[lane] != free_slot_of(&loop.state) else 0):
            body = block.second[lane] if side else block.first[lane]
            wall = contacts.law.walls.wall_of[-1 - body] if body < 0 else carrier_of(&loop.state, body)
            for m in range(loop.course.n_servos if wall >= 0 else 0):
                if loop.course.servos[m].wall != wall:
                    continue
                if body < 0:
                    add_load(loop, m, arm_of(contacts.law.walls, -1 - body, &contact, sides, lane), scale(
                        -1.0, load(block.force[0] + lane)), scale(-1.0, load(block.couple[0] + lane)), sums)
                sums[4 * m + 3] += rounded_wide(fmax(resistance[lane], resistance[LANES + lane])
                                                * (contacts.law.per_energy / RESISTANCE_UNIT))


cdef void add_carried(const Loop *loop, const Contacts *contacts, Py_ssize_t b, Wide *sums) noexcept nogil:
    """Add the loads by the clumps of a block that walls carry: all forces on them, which are in the stored wrenches."""
    cdef const HoldBlock *hold = hold_of(&loop.state, b)
    cdef const ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef const WrenchBlock *wrench = wrench_of(&loop.state, b)
    cdef Vec3 arm
    cdef int lane, m
    for lane in range(LANES):
        for m in range(loop.course.n_servos if hold.kind[lane] == CARRIED else 0):
            if loop.course.servos[m].wall == <int> hold.wall[lane]:
                arm = sub(load(clumps.position + lane), vector(
                    contacts.law.walls.now[<int> hold.wall[lane]].position))
                add_load(loop, m, arm, load(wrench.force + lane), rotate(
                    load_quat(clumps.orientation + lane), load(wrench.torque + lane)), sums)


cdef void add_steering_forces(const Loop *loop, int thread, Wide *sums) noexcept nogil:
    """Sum over own contacts and clumps what moves walls and axes of the box.

    sums : (servos, 4) forces or moments and resistances of walls; then, if an axis is under a pressure, (N_TOTALS, 4)
    """
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Totals totals[N_TOTALS]
    cdef Py_ssize_t k
    cdef int m, group
    memset(sums, 0, loop.course.n_sums * sizeof(Wide))
    for group in range(<int> WALLS if loop.state.holds == NULL else <int> SPHERES, <int> GROUPS):
        for k in range(contacts.groups[group].n_blocks if loop.course.n_servos > 0 else 0):
            add_servo_sums(loop, contacts, group == <int> WALLS, block_at(&contacts.groups[group], k), sums)
    if loop.state.holds != NULL and loop.course.n_servos > 0:
        for k in range(mine.first_block, mine.last_block):
            add_carried(loop, contacts, k, sums)
    if loop.course.presses:
        memset(totals, 0, sizeof(totals))
        for k in range(contacts.groups[SPHERES].n_blocks):
            prefetch_rows(<const double *> block_at(&contacts.groups[SPHERES], k + BLOCKS_AHEAD), ROWS_OF_VIRIAL)
            add_virial(loop, contacts.law, block_at(&contacts.groups[SPHERES], k), totals)
        for k in range(mine.first_block, mine.last_block):
            add_kinetic(loop, contacts.law.box, k, totals + KINETIC)
        for m in range(N_TOTALS):
            fold(totals[m].sums, 4, totals[m].totals)
            memcpy(sums + 4 * loop.course.n_servos + 4 * m, totals[m].totals, 4 * sizeof(Wide))


cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil:
    """Stress (3,) and resistance (3,), see above, times the volume [J]. sums : (N_TOTALS, 4)"""
    cdef double unit = loop.law.energy_unit * STRESS_UNIT, kinetic
    cdef int axis
    for axis in range(3):                               # strains of all axes change it by less than five times itself
        kinetic = sums[4 * <int> KINETIC + axis] * unit
        virial[axis] = sums[4 * <int> STRESS + axis] * unit + kinetic
        virial[3 + axis] = sums[4 * <int> RESISTANCE + axis] * (RESISTANCE_UNIT * loop.law.energy_unit) + 1.25 * kinetic


cdef void set_box_power(Loop *loop, const Wide *sums, const BoxPose *box) noexcept nogil:
    """Set the work of the half step that begins, in which the box has new rates: force times velocity of the images.

    sums : see virial_of; the sums of IMAGES use -1 times the image displacement.
    """
    cdef int axis, t, f = box.flow_axis, g = box.gradient_axis
    cdef double power = sums[4 * <int> IMAGES + 3] * (
        box.lattice_ahead[f] - box.ahead[f] * box.inverse[f] * box.lattice[f]) * box.across[g]
    for axis in range(3):
        power += sums[4 * <int> IMAGES + axis] * (box.ahead[axis] * box.inverse[axis])
    for t in range(loop.n_threads):
        loop.contacts[t].box_work[1] = rounded_wide(-0.5 * loop.step.dt * STRESS_UNIT * power) if t == 0 else 0


cdef void add_wall_work(Loop *loop, int thread, bint between, bint corrected) noexcept nogil:
    """At a whole step, when the contacts of own clumps are known.

    between : no step has led to this pose.  corrected : forces have changed since the evaluation, by onset corrections.
    """
    cdef const Contacts *contacts = loop.contacts + thread
    cdef Ledger *ledger = &loop.contacts[thread].ledger
    cdef Wide work = moving_work(loop, thread)
    if corrected and loop.course.boxes:
        sum_image_work(loop, thread)
    if not between:
        ledger.energies[<int> WALL_WORK] += ledger.energies[<int> WALL_POWER] + work + contacts.box_work[0]
    ledger.energies[<int> WALL_POWER] = work + contacts.box_work[1]


cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase, at whole steps: the work of walls and box. own : not NULL if there are onset corrections."""
    if now.purpose != STAGE:
        if loop.broad.threads[thread].failure == NO_FAILURE:
            add_wall_work(loop, thread, now.purpose == BETWEEN, own != NULL)
        if loop.course.boxes and own != NULL:
            wait(&loop.broad, thread, 0)                # spheres of other threads are read until here
    return True


cdef object read_ledger(const Loop *loop):
    """(ENERGIES, 2) energies of all threads, each the sum of two numbers [J]."""
    cdef double[:, ::1] entries = np.zeros((ENERGIES, 2))
    cdef Wide total
    cdef int t, k
    for k in range(<int> ENERGIES):
        total = 0
        for t in range(loop.n_threads):
            total += loop.contacts[t].ledger.energies[k]
        split_wide(total, loop.law.energy_unit, &entries[k, 0])
        for t in range(loop.n_threads):
            entries[k, 0] += loop.contacts[t].ledger.lost[k]
    return np.asarray(entries)


cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil:
    """Replace the energies: the reverse of read_ledger."""
    cdef int t, k
    for t in range(loop.n_threads):
        memset(&loop.contacts[t].ledger, 0, sizeof(Ledger))
    for k in range(<int> ENERGIES):
        loop.contacts[0].ledger.energies[k] = join_wide(&entries[k, 0], loop.law.energy_unit)
