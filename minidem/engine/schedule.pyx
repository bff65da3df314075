# distutils: extra_compile_args = -O1
"""The schedule of walls and periodic box: where they are at each half step.

Motions that are known in advance are tabulated for many steps, and time loops take one entry after the other. What
forces move, walls with a `Servo` and axes of the box under a `Pressure`, is steered in the loop: at the beginning of a
step all threads sum these forces, and one writes the poses of the next two half steps (`steer`).
"""
import numpy as np

from minidem.state.layout import aligned

from minidem.broadphase.broadphase cimport FAILED, wait
from minidem.contact.fixed_point cimport Wide
from minidem.engine.ledger cimport N_SUMS, add_steering_forces, set_box_power, virial_of, walls_work
from minidem.engine.loop cimport ServoState, ServoWall, place
from minidem.state.box_motion cimport BoxState, accelerate_box, advance_box, begin_box
from minidem.state.periodic_box cimport BoxPose
from minidem.walls.surface cimport WallPose

MOST_STEPS, AHEAD = 1000, 16        # in one table; its length / that of a piece of a run
MOST_POSES = 2 ** 17                # of walls in one table, 25 MB
STATE = sizeof(BoxState) // sizeof(double)


cdef void place_servo(const ServoWall *servo, double time, double along, double speed, WallPose *pose) noexcept nogil:
    """A wall that a force has moved by `along` [m], with a speed [m/s]."""
    cdef int axis
    for axis in range(3):
        pose.position[axis] = servo.center[axis] + time * servo.velocity[axis] + along * servo.direction[axis]
        pose.velocity[axis] = pose.velocity_now[axis] = servo.velocity[axis] + speed * servo.direction[axis]


cdef double accelerated(const ServoWall *servo, double speed, const double *of_clumps, double dt) noexcept nogil:
    """The speed half a step later, from that half a step earlier [m/s]; of_clumps : (3,) their force [N]."""
    cdef double drag = 0.5 * dt * servo.damping / servo.mass
    cdef double force = servo.force + (of_clumps[0] * servo.direction[0] + of_clumps[1] * servo.direction[1]
                                       + of_clumps[2] * servo.direction[2])
    return ((1.0 - drag) * speed + dt / servo.mass * force) / (1.0 + drag)


cdef bint advance_course(Loop *loop, long long n) noexcept nogil:
    """New speeds of what forces move, and its poses in step n of the run. False: the box will not be sound."""
    cdef Course *course = loop.course
    cdef const ServoWall *servo
    cdef ServoState *old
    cdef ServoState *new
    cdef double dt = loop.step.dt, of_clumps[3], virial[6], fastest = 0.0
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
        for k in range(3):
            of_clumps[k] = -(sums[3 * m + k] * loop.law.force_unit)
        new.velocity = accelerated(servo, old.velocity, of_clumps, dt)
        new.displacement = old.displacement + new.velocity * dt
        fastest = max(fastest, new.velocity, -new.velocity)
        for k in range(3):
            place_servo(servo, (2 * (loop.first_step + loop.steps_done) + k) * (0.5 * dt),
                        old.displacement + k * (new.velocity * (0.5 * dt)), new.velocity,
                        course.wall_poses + (2 * n + k) * course.walls + servo.wall)
    course.servo_travel += fastest * dt
    if not course.presses:
        return True
    virial_of(loop, sums + 3 * course.n_servos, virial)
    accelerate_box(course.box, course.box_states + n, virial, course.rates + 4 * n)
    fine = advance_box(course.box, course.rates + 4 * n, course.box_states + n, course.box_poses + 2 * n)
    set_box_power(loop, sums + 3 * course.n_servos, course.box_poses + 2 * n)
    return fine


cdef bint steer(Loop *loop, int thread, long long n) noexcept nogil:
    """Let the forces at a whole step move walls and box in the next one, number n of the run.

    Called by all threads together, when contacts and their forces are known. False: the box will not be sound.
    """
    cdef bint fine = True
    add_steering_forces(loop, thread, loop.course.sums + thread * loop.course.n_sums)
    wait(&loop.broad, thread, 0)
    if thread == 0:
        fine = advance_course(loop, n)
    if wait(&loop.broad, thread, 0 if fine else <int> FAILED):
        return False
    loop.contacts[thread].ledger.wall_power = walls_work(loop, thread) + loop.contacts[thread].box_work[1]
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
        cdef unsigned char[::1] servos
        cdef int m, axis, n_walls = 0
        self.walls, self.guard, self.dt, self.first, self.known = settings.walls, settings.guard, settings.dt, snapshot.step, -1
        if snapshot.state.box is not None:
            self.box = BoxMotion(snapshot.state.box, settings.dt, snapshot.state)
            course.box, course.boxes = &self.box.spec, self.box.spec.moves
            course.presses = bool(self.box.box.servos)
        if self.walls is not None:
            n_walls = self.walls.view.count
            course.walls, course.n_servos = n_walls + 1 if self.walls.view.any_moves else 0, len(self.walls.servos)
            self.servos = servos = np.zeros(course.n_servos * sizeof(ServoWall) + 1, np.uint8)
            course.servos = servo = <ServoWall *> &servos[0]
            for m in range(course.n_servos):
                wall = self.walls.walls[self.walls.servos[m]]
                servo.wall, servo.force = self.walls.servos[m], wall.motion.force
                servo.mass, servo.damping = wall.motion.mass, wall.motion.damping
                for axis in range(3):
                    servo.center[axis], servo.velocity[axis] = wall.center[axis], wall.velocity[axis] + 0.0
                    servo.direction[axis] = wall.motion.direction[axis]
                servo += 1
        course.steered = course.n_servos > 0 or course.presses
        course.n_sums = (3 * course.n_servos + 3 & ~3) + N_SUMS      # whole cache lines
        self.sums = aligned((settings.threads, course.n_sums * sizeof(Wide) // sizeof(double)))
        self.servo_states, self.box_states = np.zeros((1, n_walls, 2)), np.zeros((1, STATE))
        if snapshot.servo_states is not None:
            self.servo_states[0] = snapshot.servo_states
        if snapshot.box_state is not None:
            self.box_states[0] = snapshot.box_state

    @property
    def moves(self):
        """Whether a wall or the box moves."""
        return self.course.walls > 0 or self.course.boxes > 0

    cdef long long prepare(self, Loop *loop, long long steps) except -1:
        """Place walls and box at the present step, and make poses known for the next steps.

        Returns for how many of them they are known.

        Raises
        ------
        FloatingPointError, ValueError
            For a box that is not sound after the next step.
        """
        cdef long long step = loop.first_step + loop.steps_done, least, ahead
        cdef int t
        least = min(steps, MOST_STEPS, max(1, MOST_POSES // (2 * self.course.walls + 1)))
        if self.course.steered or not 0 <= step - self.first <= self.known - least:
            ahead = least if self.course.steered else max(least, min(AHEAD * least, MOST_STEPS))
            try:
                self.tabulate(loop, step, least, ahead)
            except Exception:                           # a function may end with the run
                if ahead == least:
                    raise
                self.tabulate(loop, step, least, least)
        self.point_to(loop, step)
        for t in range(loop.n_threads if loop.has_contacts else 0):
            place(loop, t, 0)
        if loop.has_contacts:
            loop.walls.now, loop.law.box = self.course.wall_poses, self.course.box_poses
        if steps > 0 and step - self.first == self.known:
            self.refuse(step)
        return min(steps, self.first + self.known - step)

    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps):
        """Compute poses from a step on, for `steps` steps, or for as many as are at hand, if these are `least`."""
        cdef double[:, ::1] states, rates
        cdef unsigned char[::1] box_poses
        cdef long long known = 0
        poses = travel = None
        states, rates, box_poses = np.zeros((1, STATE)), np.zeros((1, 4)), np.zeros(sizeof(BoxPose), np.uint8)
        try:
            self.guard.during_step = True
            if self.walls is not None:
                poses, travel = self.walls.tabulate(step, least, steps if self.course.walls else 0, 0.5 * self.dt)
                steps = len(poses) // 2 if self.course.walls else steps
            if self.course.boxes:                       # one step more, for the rates with which it begins
                rates, states = self.box.rates(step, steps + 1), np.zeros((steps + 2, STATE))
                box_poses = np.zeros((2 * steps + 3) * sizeof(BoxPose), np.uint8)
        finally:
            self.guard.during_step = False
        np.asarray(states)[0] = self.box_state(step)
        if self.box is not None:
            begin_box(&self.box.spec, <BoxState *> &states[0, 0], <BoxPose *> &box_poses[0])
        while known < steps + 1 and self.course.boxes and not self.course.presses and advance_box(
                &self.box.spec, &rates[known, 0], <BoxState *> &states[known, 0], <BoxPose *> &box_poses[0] + 2 * known):
            known += 1
        servo_states = np.zeros((steps + 1 if self.course.n_servos else 1, *self.servo_states.shape[1:]))
        servo_states[0] = self.servo_state(step)
        if poses is not None:
            self.poses, self.travel = poses, travel - travel[0] + loop.contacts[0].walls.travelled
        self.box_states, self.rates, self.box_poses = np.asarray(states), np.asarray(rates), np.asarray(box_poses)
        self.servo_states, self.course.servo_travel, self.first = servo_states, 0.0, step
        self.known = min(known, steps) if self.course.boxes and not self.course.presses else steps \
            if self.moves else 2 ** 62

    cdef object point_to(self, Loop *loop, long long step):
        """Let the course begin at a step, where walls that a force moves are placed."""
        cdef Course *course = &self.course
        cdef Py_ssize_t offset = step - self.first, m
        cdef double[:, ::1] poses, states = self.box_states, rates = self.rates, sums = self.sums
        cdef double[:, :, ::1] servo_states = self.servo_states
        cdef const double[::1] travel
        cdef unsigned char[::1] box_poses = self.box_poses
        if self.walls is not None:
            poses, travel = self.poses.view(np.float64), self.travel
            course.wall_poses = <WallPose *> &poses[2 * offset if course.walls else 0, 0]
            course.travel = &travel[2 * offset if course.walls else 0]
        if self.box is not None:
            course.box_poses = <BoxPose *> &box_poses[0] + 2 * offset * course.boxes
        course.box_states, course.rates = <BoxState *> &states[offset * course.boxes, 0], &rates[offset * course.boxes, 0]
        course.servo_states = <ServoState *> &servo_states[offset if course.n_servos else 0, 0, 0]
        course.sums = <Wide *> &sums[0, 0]
        for m in range(course.n_servos):
            place_servo(course.servos + m, 2 * step * (0.5 * self.dt), course.servo_states[course.servos[m].wall].displacement,
                        course.servo_states[course.servos[m].wall].velocity, course.wall_poses + course.servos[m].wall)

    def servo_state(self, long long step):
        """(walls, 2) displacements [m] and velocities [m/s] of walls that a force moves, at a step."""
        return self.servo_states[step - self.first if self.course.n_servos else 0]

    def box_state(self, long long step):
        """(10,) see BoxState, at a step."""
        return self.box_states[step - self.first if self.course.boxes else 0]

    def box_at(self, long long step):
        """The Box at a step, or None."""
        cdef double[::1] state = self.box_state(step)
        return None if self.box is None else self.box.box_at(<BoxState *> &state[0])

    def refuse(self, long long step):
        """Raise the error of a box that is not sound after this step."""
        cdef double[::1] state = self.box_state(step + 1)
        self.box.refuse(step + 1, <BoxState *> &state[0])
