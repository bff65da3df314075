"""Walls that forces move, with a Servo or a Driven: their loads by clumps, and their poses in a step."""
from libc.math cimport fmax, fmin

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.fixed_point cimport rounded_wide
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Matrix, exponential, matrix, rotate
from minidem.core.vec3 cimport Vec3, add, cross, dot, scale, sub, vec3
from minidem.state.rows cimport CARRIED, ClumpBlock, HoldBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport clumps_of, hold_of, wrench_of
from minidem.steering.resistance cimport RESISTANCE_UNIT
from minidem.walls.surface cimport vector


cdef void add_carried(const Loop *loop, int thread, const Servos *servos, Wide *sums) noexcept nogil:
    """Add the loads of walls by own clumps that they carry: all forces on them, which are in the stored wrenches.

    sums : (servos, SERVO_SUMS)
    """
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef const HoldBlock *hold
    cdef const ClumpBlock *clumps
    cdef const WrenchBlock *wrench
    cdef Vec3 arm, acts
    cdef double unit
    cdef Py_ssize_t b
    cdef int lane, m
    for b in range(mine.first_block, mine.last_block if loop.state.holds != NULL else mine.first_block):
        hold, clumps, wrench = hold_of(&loop.state, b), clumps_of(&loop.state, b), wrench_of(&loop.state, b)
        for lane in range(LANES):
            m = servo_of(servos, <int> hold.wall[lane]) if hold.kind[lane] == CARRIED else -1
            if m < 0:
                continue
            acts, unit = load(wrench.force + lane), loop.law.force_unit
            if servos.walls[m].turns:
                arm = sub(load(clumps.position + lane), vector(loop.walls.now[<int> hold.wall[lane]].position))
                acts, unit = add(cross(arm, acts), rotate(
                    load_quat(clumps.orientation + lane), load(wrench.torque + lane))), loop.law.energy_unit
            add_vector(acts, -unit, sums + m * <int> SERVO_SUMS + <int> CARRIED_LOAD)


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

    m : number of the servo.  sums : (servos, SERVO_SUMS).  force : force or moment besides [N or N m].
    """
    cdef const ServoWall *servo = servos.walls + m
    cdef const Wide *own = sums + m * <int> SERVO_SUMS
    cdef const Wide *loads = own + (<int> MOMENT if servo.turns else <int> FORCE)
    cdef double unit = loop.law.energy_unit if servo.turns else loop.law.force_unit, dt = loop.step.dt
    cdef double resistance = own[<int> RESISTS] * (RESISTANCE_UNIT * loop.law.energy_unit)  # bound of c / dt + k / 4
    cdef double mass = servo.mass if servo.driven else fmax(
        servo.mass, fmax(2.0 * dt * dt * resistance, 0.5 * dt * servo.damping))
    cdef double drag = 0.5 * span * servo.damping / mass
    own += <int> CARRIED_LOAD
    force -= ((loads[0] + own[0]) * unit * servo.direction[0] + (loads[1] + own[1]) * unit * servo.direction[1]
              + (loads[2] + own[2]) * unit * servo.direction[2])
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
            loop, servos, m, sums, old.velocity, servos.loads[n * servos.n + m] * area_of(course, servos, n, m),
            0.5 * dt if course.first + n == servo.first else dt)
        new.displacement = old.displacement + new.velocity * dt
        fastest = max(fastest, servo.reach * new.velocity, -servo.reach * new.velocity)
        for k in range(3):
            place_servo(servo, (2 * (course.first + n) + k) * (0.5 * dt), old.displacement + k * (
                new.velocity * (0.5 * dt)), new.velocity, course.wall_poses + (2 * n + k) * course.walls + servo.wall)
    servos.path += fastest * dt
    for k in range(1, 3):
        course.path[2 * n + k] += servos.path


cdef Wide work_of_servos(const Loop *loop, const Servos *servos, const Wide *sums, long long n) noexcept nogil:
    """Work on clumps in the half step that begins with step n of the course, in which the walls have new speeds."""
    cdef const Wide *own
    cdef const WallPose *pose
    cdef Vec3 force, moment
    cdef Wide work = 0
    cdef int m
    for m in range(servos.n):
        own = sums + m * <int> SERVO_SUMS
        pose = loop.course.wall_poses + 2 * n * loop.course.walls + servos.walls[m].wall
        force = scale(loop.law.force_unit, vec3(own[<int> FORCE], own[<int> FORCE + 1], own[<int> FORCE + 2]))
        moment = scale(loop.law.energy_unit, vec3(own[<int> MOMENT], own[<int> MOMENT + 1], own[<int> MOMENT + 2]))
        work += rounded_wide(0.5 * loop.step.dt * loop.law.per_energy * (
            dot(force, vector(pose.velocity_now)) + dot(moment, vector(pose.turning_now))))
    return work
