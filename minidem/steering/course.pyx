# distutils: extra_compile_args = -O1
"""The course of walls and periodic box: where they are at each half step.

Motions that are known in advance are tabulated for many steps, and time loops take one entry after the other. What
forces move, walls with a `Servo` or `Driven` and axes of the box under a `Pressure`, is steered in the time loop
(steer.pyx).
"""
import numpy as np

from minidem.core.checks import LARGEST
from minidem.state.state import aligned
from minidem.walls.motion import Driven, beside, driven_apart
from minidem.walls.periodic_box import Box

from minidem.contact.contacts cimport add_observer
from minidem.contact.fixed_point cimport Wide
from minidem.loop.loop cimport place
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport pointer_to
from minidem.steering.box cimport (
    MOST_STRAIN, BoxInstant, BoxSpec, BoxState, MovingBox, advance_box, begin_box, expect_kick, instant_of,
    write_gradient,
)
from minidem.steering.box_sums cimport BoxSums, box_observer
from minidem.steering.pressure cimport STEERING_SUMS, accelerate_box, virial_of
from minidem.steering.servo cimport SERVO_SUMS, Servos, ServoState, ServoWall, accelerated, area_of, place_servo
from minidem.steering.steer cimport join_sums, sum_forces
from minidem.steering.wall_sums cimport WallSums, wall_observer
from minidem.walls.surface cimport WallPose

TABLE_STEPS = 1000                  # at most, in one table
PIECES_PER_TABLE = 16               # at most: pieces of a run are often equally long
MOST_POSES = 2 ** 17                # of walls in one table, 25 MB
MOST_RADII = 0.1                    # of the smallest sphere, by which a servo moves a wall in a step
LEAST_TIME = 10                     # steps in the time of a Pressure


cdef class Steering:
    """Where walls and box of one time loop are, and what moves them.

    Parameters
    ----------
    settings : Settings
    snapshot : Snapshot
        At which the loop begins.
    """

    def __cinit__(self, settings, snapshot):
        cdef Course *course = &self.course
        cdef Servos *servos = &self.own.servos
        cdef ServoWall *servo
        walls = [] if snapshot.walls is None else snapshot.walls.walls
        self.walls, self.guard, self.n_known, course.first = snapshot.walls, settings.guard, -1, snapshot.step
        self.box, self.clumps = snapshot.state.box, snapshot.state
        self.servo_states = np.array([(0.0, driven_apart(wall)[2]) for wall in walls] if snapshot.servo_states is None
                                     else snapshot.servo_states, dtype=float).reshape(1, len(walls), 2)
        self.box_states = np.array(np.zeros(10) if snapshot.box_state is None else snapshot.box_state, float)[None]
        if snapshot.box_state is None and self.box is not None and self.box.tilt:
            self.box_states[0, 3] = self.box.tilt / self.box.start.length[self.box.shear[0]]
        length = np.zeros(3) if self.box is None else self.box.at_rest[0]
        numbers = self.walls.servos if walls else ()
        servo_walls = aligned((len(numbers), sizeof(ServoWall)), np.uint8)
        servos.walls = servo = <ServoWall *> pointer_to(servo_walls)
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
        servos.n, course.walls = len(numbers), len(walls) + 1 if any(wall.moves for wall in walls) else 0
        self.dt = self.own.box.spec.dt = settings.dt
        if self.box is not None:
            self.specify_box()
            course.boxes, self.own.box.presses = self.own.box.spec.moves, bool(self.box.servos)
        radii = self.clumps.scale * self.clumps.bodies.smallest.take(self.clumps.template_index)
        servos.top_speed = MOST_RADII * radii.min(initial=np.inf) / settings.dt
        self.own.n_sums = <int> SERVO_SUMS * servos.n + (<int> STEERING_SUMS if self.own.box.presses else 0)
        self.steered, self.arrays = self.own.n_sums > 0, [servo_walls]

    cdef object attach(self, Loop *loop):
        """Take part in a loop."""
        cdef Py_ssize_t n_loads = <int> SERVO_SUMS * self.own.servos.n
        cdef Wide *of_servos
        cdef int t
        sums, loads, box_sums, wall_sums = (aligned((loop.n_threads * size,), np.uint8) for size in (
            self.own.n_sums * sizeof(Wide), n_loads * sizeof(Wide), sizeof(BoxSums), sizeof(WallSums)))
        self.own.sums, of_servos = <Wide *> pointer_to(sums), <Wide *> pointer_to(loads)
        self.own.box_sums = <BoxSums *> pointer_to(box_sums) if self.course.boxes else NULL
        self.own.wall_sums = <WallSums *> pointer_to(wall_sums) if self.course.walls else NULL
        self.arrays = [*self.arrays, sums, loads, box_sums, wall_sums]
        self.own.corrected = self.steered and loop.law.shares_mass              # resistances depend on masses
        for t in range(loop.n_threads):
            loop.contacts[t].stores_forces = self.own.corrected
            if self.course.boxes:
                self.own.box_sums[t].presses = self.own.box.presses
                add_observer(loop.contacts + t, box_observer(self.own.box_sums + t))
            if self.course.walls:
                self.own.wall_sums[t].servos, self.own.wall_sums[t].loads = &self.own.servos, of_servos + t * n_loads
                add_observer(loop.contacts + t, wall_observer(self.own.wall_sums + t))
        loop.course = &self.course
        self.prepare(loop, 0)

    cdef long long prepare(self, Loop *loop, long long steps) except -1:
        """Place walls and box at the present step. Returns for how many of the next steps their poses are known.

        FloatingPointError or ValueError for a box that will not be sound after the next step.
        """
        cdef Course *course = &self.course
        cdef long long step = loop.first_step + loop.steps_done, least, most
        cdef int t
        most = min(TABLE_STEPS, max(1, MOST_POSES // (2 * course.walls + 1)))
        least = min(steps, most)
        if self.steered or not 0 <= step - course.first <= self.n_known - least:
            most = least if self.steered else min(PIECES_PER_TABLE * least, most)
            try:
                self.tabulate(loop, step, least, most)
            except Exception:                           # a function may end with the run
                if most == least:
                    raise
                self.tabulate(loop, step, least, least)
        for t in range(loop.n_threads if loop.has_contacts else 0):
            place(loop, t, 2 * (step - course.first))
            loop.walls.now, loop.law.box = loop.contacts[t].walls.now, loop.contacts[t].own_law.box
        if steps > 0 and step - course.first == self.n_known:
            self.refuse(step)
        return min(steps, course.first + self.n_known - step)

    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps):
        """Compute poses from a step on, for `steps` steps, or for as many as are at hand, if these are `least`."""
        cdef Course *course = &self.course
        cdef Servos *servos = &self.own.servos
        cdef MovingBox *moving = &self.own.box
        cdef const BoxSpec *spec = &moving.spec
        cdef long long k
        cdef int m
        table = moved = None
        rates = np.zeros((1, 4))
        try:
            self.guard.during_step = True
            if self.walls is not None:
                table, moved = self.walls.tabulate(step, least, steps if course.walls else 0, 0.5 * self.dt)
                steps = len(table) // 2 if course.walls else steps
                moved = moved - moved[0] + loop.contacts[0].walls.path
            loads = np.column_stack([np.zeros((steps, 0))] + [
                self.walls.walls[servos.walls[m].wall].motion.loads((step + np.arange(steps)) * self.dt)
                for m in range(servos.n)])
            if course.boxes:                            # one step more, for the rates with which it begins
                rates = self.box.rates_at((step + np.arange(steps + 1) + 0.5) * self.dt)
        finally:
            self.guard.during_step = False
        states, servo_states = (
            np.concatenate([old, np.zeros((size, *old.shape[1:]))]) for old, size in (
                (self.box_state(step)[None], steps + 1 if course.boxes else 0),
                (self.servo_state(step)[None], steps if servos.n else 0)))
        boxes = np.zeros((2 * len(states) + 1) * sizeof(BoxPose), np.uint8)
        # Nothing fails from here on.
        moving.rates, moving.states = <double *> pointer_to(rates), <BoxState *> pointer_to(states)
        if self.box is not None:
            course.box_poses = <BoxPose *> pointer_to(boxes)
            begin_box(spec, moving.states, instant_of(spec, moving.states), course.box_poses)
        if self.walls is not None:
            course.wall_poses, course.path = <WallPose *> pointer_to(table), <double *> pointer_to(moved)
        course.first, servos.path = step, 0.0
        servos.loads, servos.states = <const double *> pointer_to(loads), <ServoState *> pointer_to(servo_states)
        self.n_known = steps if course.walls or course.boxes else 2 ** 62
        for k in range(steps + 1 if course.boxes and not moving.presses else 0):
            if not advance_box(spec, moving.rates + 4 * k, moving.states + k, course.box_poses + 2 * k, step + k):
                self.n_known = min(k, steps)
                break
        if moving.presses:
            expect_kick(spec, moving.rates, moving.states, moving.states, course.box_poses + 2, step)
        for m in range(servos.n):
            k = servos.walls[m].wall
            place_servo(servos.walls + m, 2 * step * (0.5 * self.dt), servos.states[k].displacement,
                        servos.states[k].velocity, course.wall_poses + k)
        self.box_states, self.servo_states = states, servo_states
        self.tables = boxes, rates, table, moved, loads

    cdef object speeds(self, Loop *loop):
        """What forces move at the present whole step: speeds or rates (walls,), and strain rates (3,) of the box.

        Each is the mean of those half a step before and after. The contacts of the loop must be known.
        """
        cdef Servos *servos = &self.own.servos
        cdef MovingBox *moving = &self.own.box
        cdef double virial[6], ahead[4]
        cdef long long step = loop.first_step + loop.steps_done
        cdef int m, t
        self.prepare(loop, 0)
        times, speeds = np.array([step * self.dt]), self.servo_state(step)[:, 1].copy()
        for t in range(loop.n_threads if self.steered else 0):
            sum_forces(loop, t, &self.own)
        join_sums(loop, &self.own)
        for m in range(servos.n):
            wall = servos.walls[m].wall
            if step > servos.walls[m].first:
                load = self.walls.walls[wall].motion.loads(times)[0] * area_of(&self.course, servos, 0, m)
                speeds[wall] = 0.5 * (speeds[wall] + accelerated(
                    loop, servos, m, self.own.sums, speeds[wall], load, self.dt))
        if not self.course.boxes or step == moving.spec.first:
            return speeds, np.array(moving.spec.begins)
        rates = self.box.rates_at(times)[0, :3]
        if moving.presses:
            virial_of(loop, self.own.sums + <int> SERVO_SUMS * servos.n, virial)
            accelerate_box(&moving.spec, moving.states, virial, False, ahead)
            for m in self.box.servos:
                rates[m] = 0.5 * (moving.states.rate[m] + ahead[m])
        return speeds, rates

    def servo_state(self, long long step):
        """(walls, 2) displacements [m] and velocities [m/s] of walls that a force moves, at a step."""
        return self.servo_states[step - self.course.first if self.own.servos.n else 0]

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

    def states(self, long long step):
        """What a `Snapshot` keeps, by name; None of what does not move."""
        return {"servo_states": self.servo_state(step).copy() if self.own.servos.n else None,
                "box_state": self.box_state(step).copy() if self.course.boxes else None}

    def go_back(self, long long step, states):
        """Go back to an earlier step, of which these are the `states`."""
        cdef bint servos = self.own.servos.n > 0
        self.servo_states = states["servo_states"][None] if servos else self.servo_states
        self.box_states = states["box_state"][None] if self.course.boxes else self.box_states
        self.course.first, self.n_known = step, -1

    def box_at(self, long long step):
        """The Box at a step, or None."""
        cdef const BoxSpec *spec = &self.own.box.spec
        cdef double[::1] gradient = np.zeros(9)
        cdef const BoxState *state
        cdef BoxPose pose
        cdef BoxInstant now
        if not spec.moves:
            return self.box and self.box.start
        state = <const BoxState *> pointer_to(self.box_state(step))
        now = instant_of(spec, state)
        begin_box(spec, state, now, &pose)
        write_gradient(spec, now.length, now.offset, now.velocity, now.slip, &gradient[0])
        low, tilt, start = np.array(pose.low), np.zeros((3, 3)), self.box.start
        if self.box.shear is not None:
            tilt[spec.across, spec.flow] = pose.lattice[spec.flow]
        return Box(low, np.where(self.box.stretched, low + np.array(pose.length), start.high), start.axes, tilt,
                   np.asarray(gradient).reshape(3, 3), np.append(state.strain, state.shear),
                   self.box.shear and spec.across)

    cdef object specify_box(self):
        """Fill the specification of the box, which must be long enough for the clumps."""
        cdef BoxSpec *spec = &self.own.box.spec
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
        step += 1
        state = self.box_state(step)
        rates = state[6:]
        axis = int(np.argmax(np.where(np.isfinite(rates), np.abs(rates), np.inf)))
        with np.errstate(over="ignore"):
            lengths = np.array(self.own.box.spec.start) * np.exp(state[:3])
        if not (abs(rates[axis]) * self.dt <= MOST_STRAIN
                and 1.0 / LARGEST <= lengths.min() <= lengths.max() <= LARGEST):
            name = f"length along {'xyz'[axis]}" if axis < 3 else "shear"
            held = " or give md.Pressure a longer time," if axis in self.box.servos else ""
            raise FloatingPointError(
                f"step {step}: the {name} of the periodic box changes at a rate of {rates[axis]:.3g} 1/s, by "
                f"{rates[axis] * self.dt:.3g} in a step, and its lengths are {lengths.tolist()} m; a step resolves "
                f"{MOST_STRAIN:g}. Lower the rate,{held} or lower dt")
        try:
            self.box_at(step).refuse_large_clumps(self.clumps)
        except ValueError as error:
            raise ValueError(f"the periodic box shrinks too far until step {step}: {error}, lower its rate, or end the "
                             "run earlier") from None
