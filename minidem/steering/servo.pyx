"""Walls that forces move, with a Servo or a Driven: their loads by clumps, and their poses in a step."""
from libc.math cimport fmax, fmin

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock, block_at
from minidem.contact.contact cimport SideBlock, Contact
from minidem.contact.contacts cimport GROUPS, SPHERES, WALLS, Contacts
from minidem.contact.fixed_point cimport rounded_wide
from minidem.contact.gather cimport couple_of, gather_contacts
from minidem.core.eight cimport Eight, load_eight, load_eight3, store_eight
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Matrix, exponential, matrix, rotate
from minidem.core.vec3 cimport Vec3, add, cross, scale, sub
from minidem.state.mobility cimport carrier_of
from minidem.state.rows cimport CARRIED, ClumpBlock, HoldBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport clumps_of, free_slot_of, hold_of, wrench_of
from minidem.steering.arm cimport arm_of
from minidem.steering.resistance cimport RESISTANCE_UNIT, find_resistances
from minidem.walls.surface cimport vector


cdef inline void add_load(const Loop *loop, const ServoWall *servo, Vec3 arm, Vec3 force, Vec3 couple,
                          Wide *sums) noexcept nogil:
    """Add minus a force on the wall of a servo, or minus the moment about its centre where it turns."""
    cdef double unit = loop.law.force_unit
    if servo.turns:
        force, unit = add(cross(arm, force), couple), loop.law.energy_unit
    sums[0] += rounded_wide(-force.x / unit)
    sums[1] += rounded_wide(-force.y / unit)
    sums[2] += rounded_wide(-force.z / unit)


cdef void add_contacts(const Loop *loop, const Contacts *contacts, const Servos *servos, bint walls,
                       const ContactBlock *block, Wide *sums) noexcept nogil:
    """Add eight contacts to the sums of the walls that a force moves.

    Contacts with a wall give a load and a resistance, contacts with clumps that it carries a resistance only.
    """
    cdef Contact contact
    cdef SideBlock sides[2]
    cdef Eight along, across
    cdef double resistance[2 * LANES]
    cdef int lane, m, side, body, wall
    gather_contacts(False, contacts.law, &loop.state, block.first, block.second, walls, LANES, &contact, sides, NULL)
    find_resistances(contacts.law, block, load_eight3(block.force[0]), load_eight(contact.overlap), &along, &across)
    store_eight(resistance, along)
    store_eight(resistance + LANES, across)
    for lane in range(LANES):
        for side in range(2 if block.first[lane] != free_slot_of(&loop.state) else 0):
            body = block.second[lane] if side else block.first[lane]
            wall = contacts.law.walls.wall_of[-1 - body] if body < 0 else carrier_of(&loop.state, body)
            for m in range(servos.n if wall >= 0 else 0):
                if servos.walls[m].wall != wall:
                    continue
                if body < 0:
                    add_load(loop, servos.walls + m, arm_of(contacts.law.walls, -1 - body, &contact, sides, lane),
                             scale(-1.0, load(block.force[0] + lane)),
                             scale(-1.0, couple_of(contacts.law, block, lane)), sums + 4 * m)
                sums[4 * m + 3] += rounded_wide(fmax(resistance[lane], resistance[LANES + lane])
                                                * (contacts.law.per_energy / RESISTANCE_UNIT))


cdef void add_carried(const Loop *loop, const Contacts *contacts, const Servos *servos, Py_ssize_t b,
                      Wide *sums) noexcept nogil:
    """Add the loads by the clumps of a block that walls carry: all forces on them, which are in the stored wrenches."""
    cdef const HoldBlock *hold = hold_of(&loop.state, b)
    cdef const ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef const WrenchBlock *wrench = wrench_of(&loop.state, b)
    cdef Vec3 arm
    cdef int lane, m
    for lane in range(LANES):
        for m in range(servos.n if hold.kind[lane] == CARRIED else 0):
            if servos.walls[m].wall == <int> hold.wall[lane]:
                arm = sub(load(clumps.position + lane), vector(
                    contacts.law.walls.now[<int> hold.wall[lane]].position))
                add_load(loop, servos.walls + m, arm, load(wrench.force + lane), rotate(
                    load_quat(clumps.orientation + lane), load(wrench.torque + lane)), sums + 4 * m)


cdef void add_loads(const Loop *loop, int thread, const Servos *servos, Wide *sums) noexcept nogil:
    """Add loads of walls by own contacts and clumps, and resistances of own contacts.

    sums : (n, 4) minus forces, or moments where a wall turns; resistances
    """
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef bint holds = loop.state.holds != NULL
    cdef Py_ssize_t k
    cdef int group
    for group in range(<int> SPHERES if holds else <int> WALLS, <int> GROUPS):
        for k in range(contacts.groups[group].n_blocks):
            add_contacts(loop, contacts, servos, group == <int> WALLS, block_at(&contacts.groups[group], k), sums)
    for k in range(mine.first_block, mine.last_block if holds else mine.first_block):
        add_carried(loop, contacts, servos, k, sums)


cdef void place_servo(const ServoWall *servo, double time, double along, double speed, WallPose *pose) noexcept nogil:
    """A wall that a force has moved by `along` [m] or turned by it [rad], with a speed [m/s] or rate [rad/s]."""
    cdef double moved = 0.0 if servo.turns else along, moves = 0.0 if servo.turns else speed
    cdef int axis
    for axis in range(3):
        pose.position[axis] = (servo.center[axis] + (time - servo.since) * servo.velocity[axis]
                               + moved * servo.direction[axis])
        pose.velocity[axis] = pose.velocity_now[axis] = servo.velocity[axis] + moves * servo.direction[axis]
        if servo.turns:
            pose.turning[axis] = pose.turning_now[axis] = speed * servo.direction[axis]
    if servo.turns:
        (<Matrix *> pose.matrix)[0] = matrix(exponential(scale(0.5 * along, vector(servo.direction))))


cdef double area_of(const Course *course, const Servos *servos, long long n, int m) noexcept nogil:
    """Area on which the load of a wall acts at step n of the course, which follows from other walls [m2]; else 1."""
    cdef const ServoWall *servo = servos.walls + m
    cdef const WallPose *poses = course.wall_poses + 2 * n * course.walls
    cdef double area = 1.0
    cdef int k
    for k in range(2):
        area *= fmax(0.0, servo.distances[k] + (poses[servo.beside[k][1]].position[servo.axes[k]]
                                                - poses[servo.beside[k][0]].position[servo.axes[k]]))
    return area


cdef double accelerated(const Loop *loop, const Servos *servos, int m, const Wide *sums, double speed, double force,
                        double span) noexcept nogil:
    """Speed or rate of a wall after `span`, a step or half of one, under the forces in the sums [m/s or rad/s].

    m, sums : number of the servo, and its sums (4,), see add_loads.  force : force or moment besides [N or N m].
    """
    cdef const ServoWall *servo = servos.walls + m
    cdef double unit = loop.law.energy_unit if servo.turns else loop.law.force_unit, dt = loop.step.dt
    cdef double resistance = sums[3] * (RESISTANCE_UNIT * loop.law.energy_unit)         # bound of c / dt + k / 4
    cdef double mass = servo.mass if servo.driven else fmax(
        servo.mass, fmax(2.0 * dt * dt * resistance, 0.5 * dt * servo.damping))
    cdef double drag = 0.5 * span * servo.damping / mass
    force -= (sums[0] * unit * servo.direction[0] + sums[1] * unit * servo.direction[1]
              + sums[2] * unit * servo.direction[2])
    speed = ((1.0 - drag) * speed + span / mass * force) / (1.0 + drag)
    return speed if servo.driven else fmax(-servos.top_speed, fmin(speed, servos.top_speed))


cdef void advance_servos(Loop *loop, Servos *servos, const Wide *sums, long long n) noexcept nogil:
    """New speeds under the forces in the sums, and poses in step n of the course."""
    cdef Course *course = loop.course
    cdef const ServoWall *servo
    cdef ServoState *old
    cdef ServoState *new
    cdef double dt = loop.step.dt, fastest = 0.0
    cdef int k, m
    for m in range(servos.n):
        servo = servos.walls + m
        old = servos.states + n * loop.walls.count + servo.wall
        new = old + loop.walls.count
        new.velocity = accelerated(
            loop, servos, m, sums + 4 * m, old.velocity, servos.loads[n * servos.n + m] * area_of(course, servos, n, m),
            0.5 * dt if course.first + n == servo.first else dt)
        new.displacement = old.displacement + new.velocity * dt
        fastest = max(fastest, servo.reach * new.velocity, -servo.reach * new.velocity)
        for k in range(3):
            place_servo(servo, (2 * (course.first + n) + k) * (0.5 * dt), old.displacement + k * (
                new.velocity * (0.5 * dt)), new.velocity, course.wall_poses + (2 * n + k) * course.walls + servo.wall)
    servos.path += fastest * dt
    for k in range(1, 3):
        course.path[2 * n + k] += servos.path
