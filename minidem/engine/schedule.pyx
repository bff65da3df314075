# distutils: extra_compile_args = -O1
"""The schedule of walls and periodic box: where they are at each half step.

Motions that are known in advance are tabulated for many steps, and time loops take one entry after the other. What
forces move, walls with a `Servo` or `Driven` and axes of the box under a `Pressure`, is steered in the loop: at the
beginning of a step all threads sum these forces, and one writes the poses of the next two half steps.

Within a step lengths and tilt of the box change linearly. So the velocity of an image half a step before a pose is its
displacement in the step, divided by the step; and leapfrog with the affine kick moves a clump and its images alike.
"""
import numpy as np

from libc.math cimport exp, expm1, fabs, fmax, fmin, rint, sqrt
from libc.string cimport memcpy, memset

from minidem.core.checks import LARGEST
from minidem.state.state import aligned
from minidem.walls.motion import Driven, beside, driven_apart
from minidem.walls.periodic_box import Box

from minidem.broadphase.broadphase cimport FAILED, wait
from minidem.contact.contacts cimport WALL_POWER
from minidem.contact.fixed_point cimport Wide
from minidem.core.quaternion cimport Matrix, exponential, matrix
from minidem.core.vec3 cimport scale
from minidem.engine.ledger cimport (
    N_SUMS, RESISTANCE_UNIT, add_steering_forces, moving_work, set_box_power, virial_of,
)
from minidem.loop.loop cimport BoxSpec, BoxState, ServoState, ServoWall, place, reduce
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport pointer_to
from minidem.walls.surface cimport WallPose, vector

TABLE_STEPS = 1000                  # at most, in one table
PIECES_PER_TABLE = 16               # at most: pieces of a run are often equally long
MOST_POSES = 2 ** 17                # of walls in one table, 25 MB
MOST_RADII = 0.1                    # of the smallest sphere, by which a servo moves a wall in a step
LEAST_TIME = 10                     # steps in the time of a Pressure

cdef double MOST_STRAIN = 0.1       # in a step
cdef double FARTHEST = LARGEST      # length [m]

cdef struct BoxInstant:
    double length[3]                # at a whole step [m]
    double middle[3]                # half a step before
    double velocity[3]              # in the step before [m/s]
    double offset, middle_offset    # displacement of the image across: at a whole step, half a step before [m]
    double slip                     # its rate [m/s]


cdef BoxInstant instant_of(const BoxSpec *spec, const BoxState *state) noexcept nogil:
    cdef BoxInstant now
    cdef double ratio, step
    cdef int axis
    for axis in range(3):
        step = spec.dt * state.rate[axis]
        now.length[axis] = spec.start[axis] * exp(state.strain[axis])
        now.middle[axis] = now.length[axis] * (0.5 + 0.5 * exp(-step))
        now.velocity[axis] = -now.length[axis] * expm1(-step) / spec.dt
    ratio = spec.dt * state.shear_rate * now.middle[spec.across] / now.middle[spec.flow]
    now.slip = state.shear_rate * now.middle[spec.across] + (state.shift - 0.5 * ratio) * now.velocity[spec.flow]
    now.offset = state.shift * now.length[spec.flow]
    now.middle_offset = now.offset - 0.5 * spec.dt * now.slip
    return now


cdef void write_gradient(const BoxSpec *spec, const double *length, double offset, const double *velocity,
                         double slip, double *gradient) noexcept nogil:
    """Matrix (3, 3) of dv_i / dx_j in a box with these lengths and rates of them."""
    cdef int axis, f = spec.flow, g = spec.across
    memset(gradient, 0, 9 * sizeof(double))
    for axis in range(3):
        gradient[4 * axis] = velocity[axis] / length[axis]
    gradient[3 * f + g] = (slip - offset * gradient[4 * f]) / length[g]


cdef void write_rates(const BoxSpec *spec, double turns, const BoxInstant *step, double *lengths,
                      double *lattice) noexcept nogil:
    """Rates of the lengths and of the displacement of the image across, in a step."""
    cdef int f = spec.flow, g = spec.across
    memcpy(lengths, step.velocity, sizeof(step.velocity))
    if spec.periodic[g]:
        lattice[g], lattice[f] = step.velocity[g], step.slip - turns * step.velocity[f]


cdef void write_geometry(const BoxSpec *spec, const double *length, double offset, const BoxInstant *step,
                         BoxPose *pose) noexcept nogil:
    """All of a pose that depends on one instant, and the rates of the step that leads there."""
    cdef int axis, f = spec.flow, g = spec.across
    cdef double turns = rint(offset / length[f])        # the displacement is at most half a length
    pose.moves, pose.affine, pose.flow_axis, pose.gradient_axis = spec.moves, spec.affine, f, g
    for axis in range(3):
        pose.length[axis] = length[axis] if spec.periodic[axis] else 0.0
        pose.inverse[axis] = 1.0 / length[axis] if spec.periodic[axis] else 0.0
        pose.low[axis] = spec.low[axis]
        if spec.stretches[axis]:
            pose.low[axis] += 0.5 * (spec.start[axis] - length[axis])
            pose.stretches = True
        pose.deformation[4 * axis] = length[axis] / spec.start[axis]
        pose.inverse_deformation[4 * axis] = spec.start[axis] / length[axis]
    pose.deformation[3 * f + g] = offset / spec.start[g]
    pose.inverse_deformation[3 * f + g] = -offset * spec.start[f] / (length[f] * length[g])
    if spec.periodic[g]:
        pose.across[g], pose.lattice[g] = 1.0 / length[g], length[g]
        pose.lattice[f] = offset - turns * length[f]
    write_rates(spec, turns, step, pose.behind, pose.lattice_behind)
    write_rates(spec, turns, step, pose.ahead, pose.lattice_ahead)


cdef void begin_box(const BoxSpec *spec, const BoxState *state, BoxPose *pose) noexcept nogil:
    """Write the pose at a whole step. Entries that look ahead one step keep the values of the previous step."""
    cdef BoxInstant now = instant_of(spec, state)
    memset(pose, 0, sizeof(BoxPose))
    write_geometry(spec, now.length, now.offset, &now, pose)
    write_gradient(spec, now.middle, now.middle_offset, now.velocity, now.slip, pose.flow)
    pose.path = state.path


cdef bint is_sound(const BoxSpec *spec, const BoxState *state) noexcept nogil:
    """Whether the step before this state resolves the strain, and the box is long enough for the clumps."""
    cdef bint fine = fabs(state.shear_rate) * spec.dt <= MOST_STRAIN
    cdef double length
    cdef int axis
    for axis in range(3):
        length = spec.start[axis] * exp(state.strain[axis])
        fine &= fabs(state.rate[axis]) * spec.dt <= MOST_STRAIN and 1.0 / FARTHEST <= length <= FARTHEST \
            and not (spec.stretches[axis] and length <= spec.least[axis])
    return fine


cdef bint advance_box(const BoxSpec *spec, const double *rates, BoxState *states, BoxPose *poses,
                      long long step) noexcept nogil:
    """Write states[1] a step after states[0], poses[1] and poses[2] half a step and a step after poses[0].

    rates : (4,) of the three axes and of the shear in this step, which poses[0] has from now on as well.
    step : number of the step; before the first one, velocities beside a box that is not affine are those in the flow.
    False: the box is not sound, see is_sound.

    States follow from each other by one addition for each step, so that a divided run has the same bits.
    """
    cdef const BoxState *old = states
    cdef BoxState *new = states + 1
    cdef BoxInstant before = instant_of(spec, old), now
    cdef double middle[3], change[3]
    cdef double shear = rates[3], squares = shear * shear
    cdef int axis
    for axis in range(3):
        new.strain[axis], new.rate[axis] = old.strain[axis] + spec.dt * rates[axis], rates[axis]
        middle[axis] = spec.start[axis] * exp(new.strain[axis]) * (0.5 + 0.5 * exp(-spec.dt * rates[axis]))
        squares += rates[axis] * rates[axis]
    new.shift = old.shift + spec.dt * shear * middle[spec.across] / middle[spec.flow]
    new.shear, new.shear_rate = old.shear + spec.dt * shear, shear
    new.path = old.path + spec.dt * sqrt(squares)
    now = instant_of(spec, new)
    for axis in range(3):
        change[axis] = now.velocity[axis] - before.velocity[axis]
    write_rates(spec, rint(before.offset / before.length[spec.flow]), &now, poses[0].ahead, poses[0].lattice_ahead)
    begin_box(spec, new, poses + 2)
    if spec.affine or step > 0:
        write_gradient(spec, before.length, before.offset, change, now.slip - before.slip, poses[2].kick)
    poses[1] = poses[2]
    write_geometry(spec, now.middle, now.middle_offset, &now, poses + 1)
    poses[1].path = 0.5 * (old.path + new.path)
    return is_sound(spec, new)


cdef void expect_kick(const BoxSpec *spec, const double *rates, const BoxState *before, const BoxState *now,
                      BoxPose *next_pose, long long step) noexcept nogil:
    """Extrapolate the change of the velocity gradient between two steps, where forces are still to find it.

    rates : (4,) in the coming step; rates of axes under a Pressure are not read
    """
    cdef BoxState states[2]
    cdef BoxPose poses[3]
    cdef double expected[4]
    cdef int axis
    memset(poses, 0, sizeof(poses))
    memcpy(expected, rates, sizeof(expected))
    for axis in range(3):
        if spec.pressure[axis] > 0.0:
            expected[axis] = 2.0 * now.rate[axis] - before.rate[axis]
    states[0] = now[0]
    advance_box(spec, expected, states, poses, step)
    memcpy(next_pose.kick, poses[2].kick, sizeof(next_pose.kick))


cdef void accelerate_box(const BoxSpec *spec, const BoxState *state, const double *virial, bint begins,
                         double *rates) noexcept nogil:
    """Advance the strain rates (3,) of the axes under a Pressure from half a step before this instant to half a step
    after it [1/s].

    virial : (6,) stresses along the axes, and resistances to their strain rates (Pressure), times the volume [J].
    begins : the Pressures begin, and the rates belong to this instant, not to half a step before it.
    """
    cdef double volume = exp(state.strain[0] + state.strain[1] + state.strain[2]), stress, square, drag, rate
    cdef double span = 0.5 * spec.dt if begins else spec.dt
    cdef int axis
    for axis in range(3):
        volume *= spec.start[axis]
    for axis in range(3):
        if spec.pressure[axis] > 0.0:
            rate = spec.begins[axis] if begins else state.rate[axis]
            stress = virial[axis] / volume
            square = spec.time[axis] * spec.time[axis] + 2.0 * (spec.dt * spec.dt) * (
                virial[3 + axis] / volume) / spec.pressure[axis]
            drag = span * spec.damping[axis] / sqrt(square)
            rates[axis] = ((1.0 - drag) * rate + span * (
                stress / spec.pressure[axis] - 1.0) / square) / (1.0 + drag)


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


cdef double area_of(const Course *course, long long n, int m) noexcept nogil:
    """Area on which the load of a wall acts at step n of the course, which follows from other walls [m2]; else 1."""
    cdef const ServoWall *servo = course.servos + m
    cdef const WallPose *poses = course.wall_poses + 2 * n * course.walls
    cdef double area = 1.0
    cdef int k
    for k in range(2):
        area *= fmax(0.0, servo.distances[k] + (poses[servo.beside[k][1]].position[servo.axes[k]]
                                                - poses[servo.beside[k][0]].position[servo.axes[k]]))
    return area


cdef double accelerated(const Loop *loop, int m, double speed, double load, double span) noexcept nogil:
    """Speed or rate of a wall after `span`, a step or half of one, under the forces in the sums [m/s or rad/s].

    m, load : number of the servo, and force or moment without the forces of the clumps [N or N m]
    """
    cdef const ServoWall *servo = loop.course.servos + m
    cdef const Wide *sums = loop.course.sums + 4 * m
    cdef double unit = loop.law.energy_unit if servo.turns else loop.law.force_unit, dt = loop.step.dt
    cdef double resistance = sums[3] * (RESISTANCE_UNIT * loop.law.energy_unit)         # bound of c / dt + k / 4
    cdef double mass = servo.mass if servo.driven else fmax(
        servo.mass, fmax(2.0 * dt * dt * resistance, 0.5 * dt * servo.damping))
    cdef double drag = 0.5 * span * servo.damping / mass
    cdef double force = load - (sums[0] * unit * servo.direction[0] + sums[1] * unit * servo.direction[1]
                                + sums[2] * unit * servo.direction[2])
    speed = ((1.0 - drag) * speed + span / mass * force) / (1.0 + drag)
    return speed if servo.driven else fmax(-loop.course.top_speed, fmin(speed, loop.course.top_speed))


cdef void join_sums(Loop *loop) noexcept nogil:
    """Add the sums of all threads to the sums of the first one."""
    cdef Wide *sums = loop.course.sums
    cdef int k, m
    for k in range(loop.course.n_sums):
        for m in range(1, loop.n_threads):
            sums[k] += sums[m * loop.course.n_sums + k]


cdef bint advance_course(Loop *loop, long long n) noexcept nogil:
    """New speeds of what forces move, and its poses in step n of the course. False: the box will not be sound."""
    cdef Course *course = loop.course
    cdef const ServoWall *servo
    cdef ServoState *old
    cdef ServoState *new
    cdef double dt = loop.step.dt, virial[6], fastest = 0.0
    cdef const Wide *of_box = course.sums + 4 * course.n_servos
    cdef int k, m
    cdef bint fine
    join_sums(loop)
    for m in range(course.n_servos):
        servo = course.servos + m
        old = course.servo_states + n * loop.walls.count + servo.wall
        new = old + loop.walls.count
        new.velocity = accelerated(loop, m, old.velocity, course.loads[n * course.n_servos + m] * area_of(course, n, m),
                                   0.5 * dt if course.first + n == servo.first else dt)
        new.displacement = old.displacement + new.velocity * dt
        fastest = max(fastest, servo.reach * new.velocity, -servo.reach * new.velocity)
        for k in range(3):
            place_servo(servo, (2 * (course.first + n) + k) * (0.5 * dt), old.displacement + k * (
                new.velocity * (0.5 * dt)), new.velocity, course.wall_poses + (2 * n + k) * course.walls + servo.wall)
    course.servo_path += fastest * dt
    if not course.presses:
        return True
    virial_of(loop, of_box, virial)
    accelerate_box(course.box, course.box_states + n, virial, course.first + n == course.box.first,
                   course.rates + 4 * n)
    fine = advance_box(course.box, course.rates + 4 * n, course.box_states + n, course.box_poses + 2 * n,
                       course.first + n)
    expect_kick(course.box, course.rates + 4 * (n + 1), course.box_states + n, course.box_states + n + 1,
                course.box_poses + 2 * n + 4, course.first + n + 1)
    set_box_power(loop, of_box, course.box_poses + 2 * n)
    return fine


cdef bint steer(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: let the forces at the last whole step move walls and box in this one. False: the box will not be sound."""
    cdef bint fine = True
    if now.stage > 0:
        return True
    add_steering_forces(loop, thread, loop.course.sums + thread * loop.course.n_sums)
    wait(&loop.broad, thread, 0)
    if thread == 0:
        fine = advance_course(loop, now.step - 1 - loop.course.first)
    if wait(&loop.broad, thread, 0 if fine else <int> FAILED):
        if not now.wrench_stored:
            reduce(loop, thread, now, NULL)
        return False
    loop.contacts[thread].ledger.energies[<int> WALL_POWER] = moving_work(loop, thread) \
        + loop.contacts[thread].box_work[1]
    return True


cdef class Schedule:
    """Poses of walls and box of one time loop.

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
        At which the loop begins.
    """

    def __cinit__(self, settings, snapshot):
        cdef Course *course = &self.course
        cdef ServoWall *servo
        walls = [] if snapshot.walls is None else snapshot.walls.walls
        self.walls, self.guard, self.known, course.first = snapshot.walls, settings.guard, -1, snapshot.step
        self.box, self.clumps = snapshot.state.box, snapshot.state
        self.servo_states = np.array([(0.0, driven_apart(wall)[2]) for wall in walls] if snapshot.servo_states is None
                                     else snapshot.servo_states, dtype=float).reshape(1, len(walls), 2)
        self.box_states = np.array(np.zeros(10) if snapshot.box_state is None else snapshot.box_state, float)[None]
        if snapshot.box_state is None and self.box is not None and self.box.tilt:
            self.box_states[0, 3] = self.box.tilt / self.box.start.length[self.box.shear[0]]
        length = np.zeros(3) if self.box is None else self.box.at_rest[0]
        numbers = self.walls.servos if walls else ()
        servos = aligned((len(numbers), sizeof(ServoWall)), np.uint8)
        course.servos = servo = <ServoWall *> pointer_to(servos)
        for k in numbers:
            wall, motion, driven = walls[k], walls[k].motion, isinstance(walls[k].motion, Driven)
            (along, across), pairs, distances = beside(walls, k, length)
            servo[0] = ServoWall(
                wall=k, since=wall.since, center=wall.center, velocity=driven_apart(wall)[0],
                direction=motion.direction, mass=motion.inertia if motion.turns else motion.mass,
                damping=motion.damping, reach=wall.limits().extent if motion.turns else 1.0, driven=driven,
                turns=motion.turns, first=round(wall.since / settings.dt), axes=(along, across),
                beside=np.broadcast_to(pairs, (2, 2)), distances=np.broadcast_to(distances, 2))
            servo += 1
        course.n_servos, course.walls = len(numbers), len(walls) + 1 if any(wall.moves for wall in walls) else 0
        self.spec.dt = settings.dt
        if self.box is not None:
            self.specify_box()
            course.box, course.boxes, course.presses = &self.spec, self.spec.moves, bool(self.box.servos)
        course.steered, course.n_sums = course.n_servos > 0 or course.presses, 4 * course.n_servos + N_SUMS
        radii = self.clumps.scale * self.clumps.bodies.smallest.take(self.clumps.template_index)
        course.top_speed = MOST_RADII * radii.min(initial=np.inf) / settings.dt
        sums = aligned((settings.threads, course.n_sums * sizeof(Wide) // sizeof(double)))
        course.sums, self.arrays = <Wide *> pointer_to(sums), (servos, sums)

    cdef long long prepare(self, Loop *loop, long long steps) except -1:
        """Place walls and box at the present step. Returns for how many of the next steps their poses are known.

        FloatingPointError or ValueError for a box that will not be sound after the next step.
        """
        cdef Course *course = &self.course
        cdef long long step = loop.first_step + loop.steps_done, least, most
        cdef int t
        most = min(TABLE_STEPS, max(1, MOST_POSES // (2 * course.walls + 1)))
        least = min(steps, most)
        if course.steered or not 0 <= step - course.first <= self.known - least:
            most = least if course.steered else min(PIECES_PER_TABLE * least, most)
            try:
                self.tabulate(loop, step, least, most)
            except Exception:                           # a function may end with the run
                if most == least:
                    raise
                self.tabulate(loop, step, least, least)
        for t in range(loop.n_threads if loop.has_contacts else 0):
            place(loop, t, 2 * (step - course.first))
            loop.walls.now, loop.law.box = loop.contacts[t].walls.now, loop.contacts[t].own_law.box
        if steps > 0 and step - course.first == self.known:
            self.refuse(step)
        return min(steps, course.first + self.known - step)

    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps):
        """Compute poses from a step on, for `steps` steps, or for as many as are at hand, if these are `least`."""
        cdef Course *course = &self.course
        cdef long long k
        cdef int m
        table = moved = None
        rates = np.zeros((1, 4))
        try:
            self.guard.during_step = True
            if self.walls is not None:
                table, moved = self.walls.tabulate(step, least, steps if course.walls else 0, 0.5 * self.spec.dt)
                steps = len(table) // 2 if course.walls else steps
                moved = moved - moved[0] + loop.contacts[0].walls.path
            loads = np.column_stack([np.zeros((steps, 0))] + [
                self.walls.walls[course.servos[m].wall].motion.loads((step + np.arange(steps)) * self.spec.dt)
                for m in range(course.n_servos)])
            if course.boxes:                            # one step more, for the rates with which it begins
                rates = self.box.rates_at((step + np.arange(steps + 1) + 0.5) * self.spec.dt)
        finally:
            self.guard.during_step = False
        states, servo_states = (
            np.concatenate([old, np.zeros((size, *old.shape[1:]))]) for old, size in (
                (self.box_state(step)[None], steps + 1 if course.boxes else 0),
                (self.servo_state(step)[None], steps if course.n_servos else 0)))
        boxes = np.zeros((2 * len(states) + 1) * sizeof(BoxPose), np.uint8)
        # Nothing fails from here on.
        if self.box is not None:
            course.box_poses = <BoxPose *> pointer_to(boxes)
            begin_box(&self.spec, <BoxState *> pointer_to(states), course.box_poses)
        if self.walls is not None:
            course.wall_poses, course.path = <WallPose *> pointer_to(table), <const double *> pointer_to(moved)
        course.loads = <const double *> pointer_to(loads)
        course.first, course.servo_path, course.rates = step, 0.0, <double *> pointer_to(rates)
        course.box_states = <BoxState *> pointer_to(states)
        course.servo_states = <ServoState *> pointer_to(servo_states)
        self.known = steps if course.walls or course.boxes else 2 ** 62
        for k in range(steps + 1 if course.boxes and not course.presses else 0):
            if not advance_box(&self.spec, course.rates + 4 * k, course.box_states + k, course.box_poses + 2 * k,
                               step + k):
                self.known = min(k, steps)
                break
        if course.presses:
            expect_kick(&self.spec, course.rates, course.box_states, course.box_states, course.box_poses + 2, step)
        for m in range(course.n_servos):
            place_servo(course.servos + m, 2 * step * (0.5 * self.spec.dt),
                        course.servo_states[course.servos[m].wall].displacement,
                        course.servo_states[course.servos[m].wall].velocity, course.wall_poses + course.servos[m].wall)
        self.box_states, self.servo_states = states, servo_states
        self.arrays = *self.arrays[:2], boxes, rates, table, moved, loads

    cdef object speeds(self, Loop *loop):
        """What forces move at the present whole step: speeds or rates (walls,), and strain rates (3,) of the box.

        Each is the mean of those half a step before and after. The contacts of the loop must be known.
        """
        cdef Course *course = &self.course
        cdef double virial[6], dt = self.spec.dt, ahead[4]
        cdef long long step = loop.first_step + loop.steps_done
        cdef int m, t
        self.prepare(loop, 0)
        times, speeds = np.array([step * dt]), self.servo_state(step)[:, 1].copy()
        for t in range(loop.n_threads if course.steered else 0):
            add_steering_forces(loop, t, course.sums + t * course.n_sums)
        join_sums(loop)
        for m in range(course.n_servos):
            wall = course.servos[m].wall
            if step > course.servos[m].first:
                load, = self.walls.walls[wall].motion.loads(times)
                speeds[wall] = 0.5 * (speeds[wall] + accelerated(
                    loop, m, speeds[wall], load * area_of(course, 0, m), dt))
        if not course.boxes or step == self.spec.first:
            return speeds, np.array(self.spec.begins)
        rates = self.box.rates_at(times)[0, :3]
        if course.presses:
            virial_of(loop, course.sums + 4 * course.n_servos, virial)
            accelerate_box(&self.spec, course.box_states, virial, False, ahead)
            for m in self.box.servos:
                rates[m] = 0.5 * (course.box_states.rate[m] + ahead[m])
        return speeds, rates

    def servo_state(self, long long step):
        """(walls, 2) displacements [m] and velocities [m/s] of walls that a force moves, at a step."""
        return self.servo_states[step - self.course.first if self.course.n_servos else 0]

    def box_state(self, long long step):
        """(10,) see BoxState, at a step."""
        return self.box_states[step - self.course.first if self.course.boxes else 0]

    def flow_change(self, long long step, position):
        """(n, 3) changes of the velocities of clumps with the flow of the box in the coming step [m/s].

        step : the present one, at which walls and box are placed.  position : (n, 3)
        """
        if not self.course.boxes:
            return np.zeros_like(position)
        box = self.box_at(step)
        kick = np.array(self.course.box_poses[2 * (step - self.course.first) + 2].kick).reshape(3, 3)
        return (position - box.center if self.box.affine else box.displacement(box.image(position))) @ kick.T

    def begin(self, long long step, servo_state, box_state):
        """Go back to an earlier step, of which these are the states."""
        self.servo_states, self.box_states = servo_state[None], box_state[None]
        self.course.first, self.known = step, -1

    def box_at(self, long long step):
        """The Box at a step, or None."""
        cdef const BoxSpec *spec = &self.spec
        cdef double[::1] gradient = np.zeros(9)
        cdef const BoxState *state
        cdef BoxPose pose
        cdef BoxInstant now
        if not spec.moves:
            return self.box and self.box.start
        state = <const BoxState *> pointer_to(self.box_state(step))
        now = instant_of(spec, state)
        begin_box(spec, state, &pose)
        write_gradient(spec, now.length, now.offset, now.velocity, now.slip, &gradient[0])
        low, tilt, start = np.array(pose.low), np.zeros((3, 3)), self.box.start
        if self.box.shear is not None:
            tilt[spec.across, spec.flow] = pose.lattice[spec.flow]
        return Box(low, np.where(self.box.stretched, low + np.array(pose.length), start.high), start.axes, tilt,
                   np.asarray(gradient).reshape(3, 3), np.append(state.strain, state.shear),
                   self.box.shear and spec.across)

    cdef object specify_box(self):
        """Fill the specification of the box, which must be long enough for the clumps."""
        cdef BoxSpec *spec = &self.spec
        cdef int axis
        box, start = self.box, self.box.start
        flow, across = (box.shear or (0, 1))[:2]
        spec[0] = BoxSpec(
            dt=spec.dt, start=start.high - start.low, low=start.low, least=start.least_length(self.clumps),
            moves=box.moves, periodic=start.axes, stretches=box.stretched, flow=flow, across=across,
            affine=box.affine, pressure=np.zeros(3), time=np.zeros(3), damping=np.zeros(3),
            first=round(box.since / spec.dt), begins=box.begins)
        for axis in box.servos:
            rate = box.rates[axis]
            if rate.time < LEAST_TIME * spec.dt:
                raise ValueError(f"periodic: time = {rate.time} of md.Pressure is below {LEAST_TIME} steps of dt = "
                                 f"{spec.dt}; give {LEAST_TIME * spec.dt:g} or more, or lower dt")
            spec.pressure[axis], spec.time[axis], spec.damping[axis] = rate.pressure, rate.time, rate.damping

    def refuse(self, long long step):
        """FloatingPointError or ValueError for a box that is not sound after this step."""
        cdef double dt = self.spec.dt
        step += 1
        state = self.box_state(step)
        rates = state[6:]
        axis = int(np.argmax(np.where(np.isfinite(rates), np.abs(rates), np.inf)))
        with np.errstate(over="ignore"):
            lengths = np.array(self.spec.start) * np.exp(state[:3])
        if not (abs(rates[axis]) * dt <= MOST_STRAIN and 1.0 / FARTHEST <= lengths.min() <= lengths.max() <= FARTHEST):
            name = f"length along {'xyz'[axis]}" if axis < 3 else "shear"
            held = " or give md.Pressure a longer time," if axis in self.box.servos else ""
            raise FloatingPointError(
                f"step {step}: the {name} of the periodic box changes at a rate of {rates[axis]:.3g} 1/s, by "
                f"{rates[axis] * dt:.3g} in a step, and its lengths are {lengths.tolist()} m; a step resolves "
                f"{MOST_STRAIN:g}. Lower the rate,{held} or lower dt")
        try:
            for k, template in enumerate(self.clumps.templates):
                self.box_at(step).refuse_large(template, self.clumps.scale[self.clumps.template_index == k])
        except ValueError as error:
            raise ValueError(f"the periodic box shrinks too far until step {step}: {error}, lower its rate, or end the "
                             "run earlier") from None
