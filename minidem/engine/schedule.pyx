# distutils: extra_compile_args = -O1
"""The schedule of walls and periodic box: where they are at each half step.

Motions that are known in advance are tabulated for many steps, and time loops take one entry after the other. What
forces move, walls with a `Servo` or `Driven` and axes of the box under a `Pressure`, is steered in the loop: at the
beginning of a step all threads sum these forces, and one writes the poses of the next two half steps.
"""
import numpy as np

from libc.math cimport fmax, fmin

from minidem.state.layout import aligned
from minidem.walls.motion import Driven, beside, driven_apart

from minidem.broadphase.broadphase cimport FAILED, wait
from minidem.contact.contacts cimport WALL_POWER
from minidem.contact.fixed_point cimport Wide
from minidem.core.quaternion cimport Matrix, exponential, matrix
from minidem.core.vec3 cimport scale
from minidem.engine.ledger cimport (
    N_SUMS, RESISTANCE_UNIT, add_steering_forces, held_work, set_box_power, virial_of, walls_work,
)
from minidem.engine.loop cimport ServoState, ServoWall, place
from minidem.state.box_motion cimport (
    BoxState, accelerate_box, advance_box, begin_box, box_in, refuse_box, specify_box,
)
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport pointer_to
from minidem.walls.surface cimport WallPose, vector

MOST_STEPS, AHEAD = 1000, 16        # in one table; its length / that of a piece of a run
MOST_POSES = 2 ** 17                # of walls in one table, 25 MB
SERVO = np.dtype([("wall", np.int64), ("since", float), ("center", float, 3), ("velocity", float, 3),
                  ("direction", float, 3), ("mass", float), ("damping", float), ("reach", float), ("driven", np.int64),
                  ("turns", np.int64), ("first", np.int64), ("axes", np.int64, 2),
                  ("beside", np.int64, (2, 2)), ("distances", float, 2)])       # ServoWall
MOST_RADII = 0.1                    # of the smallest sphere, by which a servo moves a wall in a step


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


cdef double accelerated(const ServoWall *servo, double speed, double load, const double *of_clumps, double resistance,
                        double dt) noexcept nogil:
    """The speed or rate after a step, or after half of one at the start [m/s or rad/s].

    load, of_clumps, resistance : force or moment, that of the clumps (3,) [N or N m], bound of c / dt + k / 4 [N/m]
    """
    cdef double mass = servo.mass if servo.driven else fmax(
        servo.mass, fmax(2.0 * dt * dt * resistance, 0.5 * dt * servo.damping))
    cdef double drag = 0.5 * dt * servo.damping / mass
    cdef double force = load + (of_clumps[0] * servo.direction[0] + of_clumps[1] * servo.direction[1]
                                + of_clumps[2] * servo.direction[2])
    return ((1.0 - drag) * speed + dt / mass * force) / (1.0 + drag)


cdef double load_of(const Course *course, long long n, int m) noexcept nogil:
    """Force or moment on a wall at step n of the course [N or N m], without that of the clumps."""
    cdef const ServoWall *servo = course.servos + m
    cdef const WallPose *poses = course.wall_poses + 2 * n * course.walls
    cdef double load = course.loads[n * course.n_servos + m]
    cdef int k
    for k in range(2):
        load *= fmax(0.0, servo.distances[k] + (poses[servo.beside[k][1]].position[servo.axes[k]]
                                                - poses[servo.beside[k][0]].position[servo.axes[k]]))
    return load


cdef bint advance_course(Loop *loop, long long n) noexcept nogil:
    """New speeds of what forces move, and its poses in step n of the course. False: the box will not be sound."""
    cdef Course *course = loop.course
    cdef const ServoWall *servo
    cdef ServoState *old
    cdef ServoState *new
    cdef double dt = loop.step.dt, unit, of_clumps[3], virial[6], fastest = 0.0
    cdef Wide *sums = course.sums
    cdef int k, m
    cdef bint fine
    for k in range(course.n_sums):
        for m in range(1, loop.n_threads):
            sums[k] += sums[m * course.n_sums + k]
    for m in range(course.n_servos):
        servo = course.servos + m
        old = course.servo_states + n * loop.walls.count + servo.wall
        new = old + loop.walls.count
        unit = loop.law.energy_unit if servo.turns else loop.law.force_unit
        for k in range(3):
            of_clumps[k] = -(sums[4 * m + k] * unit)
        new.velocity = accelerated(servo, old.velocity, load_of(course, n, m), of_clumps,
                                   sums[4 * m + 3] * (RESISTANCE_UNIT * loop.law.energy_unit),
                                   0.5 * dt if course.first + n == servo.first else dt)
        if not servo.driven:
            new.velocity = fmax(-course.top_speed, fmin(new.velocity, course.top_speed))
        new.displacement = old.displacement + new.velocity * dt
        fastest = max(fastest, servo.reach * new.velocity, -servo.reach * new.velocity)
        for k in range(3):
            place_servo(servo, (2 * (course.first + n) + k) * (0.5 * dt), old.displacement + k * (
                new.velocity * (0.5 * dt)), new.velocity, course.wall_poses + (2 * n + k) * course.walls + servo.wall)
    course.servo_travel += fastest * dt
    if not course.presses:
        return True
    virial_of(loop, sums + 4 * course.n_servos, virial)
    accelerate_box(course.box, course.box_states + n, virial, course.rates + 4 * n)
    fine = advance_box(course.box, course.rates + 4 * n, course.box_states + n, course.box_poses + 2 * n)
    set_box_power(loop, sums + 4 * course.n_servos, course.box_poses + 2 * n)
    return fine


cdef bint steer(Loop *loop, int thread, long long n) noexcept nogil:
    """Let the forces at a whole step move walls and box in the next one, number n of the course.

    Called by all threads together, when contacts and their forces are known. False: the box will not be sound.
    """
    cdef bint fine = True
    add_steering_forces(loop, thread, loop.course.sums + thread * loop.course.n_sums)
    wait(&loop.broad, thread, 0)
    if thread == 0:
        fine = advance_course(loop, n)
    if wait(&loop.broad, thread, 0 if fine else <int> FAILED):
        return False
    loop.contacts[thread].ledger.energies[<int> WALL_POWER] = walls_work(loop, thread) + held_work(loop, thread) \
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
        walls = [] if snapshot.walls is None else snapshot.walls.walls
        self.walls, self.guard, self.known, course.first = snapshot.walls, settings.guard, -1, snapshot.step
        self.box, self.clumps = snapshot.state.box, snapshot.state
        self.servo_states = np.array([(0.0, driven_apart(wall)[2]) for wall in walls] if snapshot.servo_states is None
                                     else snapshot.servo_states, dtype=float).reshape(1, len(walls), 2)
        self.box_states = np.array(np.zeros(10) if snapshot.box_state is None else snapshot.box_state, float)[None]
        if snapshot.box_state is None and self.box is not None and self.box.tilt:
            self.box_states[0, 3] = self.box.tilt / self.box.start.length[self.box.shear[0]]
        length = np.zeros(3) if self.box is None else self.box.at_rest[0]
        servos = [(k, walls[k], walls[k].motion) for k in (self.walls.servos if walls else ())]
        servos = np.array([(
            k, wall.since, wall.center, driven_apart(wall)[0], motion.direction,
            motion.inertia if motion.turns else motion.mass, motion.damping,
            wall.limits().extent if motion.turns else 1.0, isinstance(motion, Driven), motion.turns,
            round(wall.since / settings.dt) if isinstance(motion, Driven) else -1, *beside(walls, k, length))
            for k, wall, motion in servos] + [0], SERVO)[:-1]
        course.n_servos, course.walls = len(servos), len(walls) + 1 if any(wall.moves for wall in walls) else 0
        course.servos = <const ServoWall *> pointer_to(servos)
        self.spec.dt = settings.dt
        if self.box is not None:
            specify_box(&self.spec, self.box, self.clumps)
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
        most = min(MOST_STEPS, max(1, MOST_POSES // (2 * course.walls + 1)))
        least = min(steps, most)
        if course.steered or not 0 <= step - course.first <= self.known - least:
            most = least if course.steered else min(AHEAD * least, most)
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
                moved = moved - moved[0] + loop.contacts[0].walls.travelled
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
            course.wall_poses, course.travel = <WallPose *> pointer_to(table), <const double *> pointer_to(moved)
        course.loads = <const double *> pointer_to(loads)
        course.first, course.servo_travel, course.rates = step, 0.0, <double *> pointer_to(rates)
        course.box_states = <BoxState *> pointer_to(states)
        course.servo_states = <ServoState *> pointer_to(servo_states)
        self.known = steps if course.walls or course.boxes else 2 ** 62
        for k in range(steps + 1 if course.boxes and not course.presses else 0):
            if not advance_box(&self.spec, course.rates + 4 * k, course.box_states + k, course.box_poses + 2 * k):
                self.known = min(k, steps)
                break
        for m in range(course.n_servos):
            place_servo(course.servos + m, 2 * step * (0.5 * self.spec.dt),
                        course.servo_states[course.servos[m].wall].displacement,
                        course.servo_states[course.servos[m].wall].velocity, course.wall_poses + course.servos[m].wall)
        self.box_states, self.servo_states = states, servo_states
        self.arrays = *self.arrays[:2], boxes, rates, table, moved, loads

    def servo_state(self, long long step):
        """(walls, 2) displacements [m] and velocities [m/s] of walls that a force moves, at a step."""
        return self.servo_states[step - self.course.first if self.course.n_servos else 0]

    def box_state(self, long long step):
        """(10,) see BoxState, at a step."""
        return self.box_states[step - self.course.first if self.course.boxes else 0]

    def state(self, long long step):
        """What `begin` needs to continue from a step."""
        return self.servo_state(step).copy(), self.box_state(step).copy()

    def begin(self, long long step, state):
        """Go back to an earlier step."""
        servo_state, box_state = state
        self.servo_states, self.box_states = servo_state[None], box_state[None]
        self.course.first, self.known = step, -1

    def box_at(self, long long step):
        """The Box at a step, or None."""
        return self.box and box_in(&self.spec, <BoxState *> pointer_to(self.box_state(step)), self.box)

    def refuse(self, long long step):
        """Raise the error of a box that is not sound after this step."""
        refuse_box(&self.spec, <BoxState *> pointer_to(self.box_state(step + 1)), self.box, self.clumps, step + 1)
