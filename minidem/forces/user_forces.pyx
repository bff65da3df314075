"""User forces: forces and torques on clumps from functions in Python, and compiled ones (core/external.pyx).

`Simulation.forces.add` documents their signatures. The time loop calls `UserForces` for those in Python, and compiled
ones directly: each thread for its own blocks, after the reduction of the wrenches. A compiled function sees eight
clumps and nothing else, so results do not depend on the threads. Forces see velocities predicted at the instant of the
pose.
"""
import math

from libc.math cimport ceil
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from minidem.core import quaternions
from minidem.core.checks import LARGEST, finite_array, short_repr
from minidem.fields.field import add_sources, checked_rates, field_values
from minidem.state.bodies import template_frames
from minidem.state.state import WRENCH, WRENCH_ROWS, as_blocks

from minidem.broadphase.broadphase cimport IN_CALLBACK, NO_FAILURE
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport Contacts
from minidem.core.eight cimport Eight3, add_scaled3, eight_of, store_eight3
from minidem.core.instant cimport BETWEEN, STAGE
from minidem.core.lanes cimport LANES
from minidem.core.openmp cimport barrier_wait
from minidem.core.philox cimport random_numbers
from minidem.core.quaternion cimport Quat, multiply, rotate, rotate_back
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, sub, times
from minidem.holds.hold cimport follow_rates, held_wrench
from minidem.fields.rates cimport field_of
from minidem.loop.leapfrog cimport Restrict, flow_change, kicked
from minidem.loop.loop cimport steps_since_start
from minidem.rotation.scheme cimport PREDICT, call_scheme
from minidem.state.periodic_box cimport BoxPose, box_moves
from minidem.state.rows cimport ClumpBlock, ConstantBlock, load, load_quat, store, store_quat
from minidem.state.state cimport (
    clumps_of, constants_of, first_row, hold_of, pointer_to, rows_at, wrench_of,
)

cdef enum:
    BEYOND = 64                     # doubles behind the parameters: not a number, where a function must not read

MOST_RANDOM = <int> MAX_RANDOM
OTHERS = 6                          # first row of `others` in a ForceBlock


cdef void draw(const ForcePass *forces, int force, double steps, Clumps *clumps) noexcept nogil:
    """Random numbers of a force, behind the fields."""
    cdef const UserForce *drawing = forces.functions + force
    cdef int lane
    for lane in range(LANES if drawing.n_random else 0):
        random_numbers(drawing.seed, <uint64_t> clumps.id[lane], <uint64_t> ceil(steps),
                       drawing.n_random, clumps.values + forces.fields.n * LANES + lane, LANES)


cdef object numbers_of(seed, ids, step, int n):
    """(len(ids), n) random numbers of clumps in a step; see philox.h."""
    cdef double[:, ::1] numbers = np.empty((len(ids), n))
    cdef const long long[::1] of = np.ascontiguousarray(ids, dtype=np.int64)
    cdef Py_ssize_t k
    for k in range(numbers.shape[0] if n else 0):
        random_numbers(seed, of[k], step, n, &numbers[k, 0], 1)
    return np.asarray(numbers)


cdef void call_functions(const Loop *loop, const ForcePass *forces, Clumps *clumps, double steps,
                         Wrenches *total) noexcept nogil:
    """Sum of the forces, torques, and rates of the fields."""
    cdef Wrenches wrench
    cdef double time = steps * loop.step.dt
    cdef int k, m
    memset(total, 0, sizeof(Wrenches))
    draw(forces, 0, steps, clumps)
    forces.functions[0].function(&time, clumps, total, forces.functions[0].parameters)
    for k in range(1, forces.n_forces):
        memset(&wrench, 0, sizeof(wrench))
        draw(forces, k, steps, clumps)
        forces.functions[k].function(&time, clumps, &wrench, forces.functions[k].parameters)
        for m in range(<int> (sizeof(Wrenches) // sizeof(double))):
            (<double *> total)[m] += (<double *> &wrench)[m]


cdef inline void add_wrenches(Restrict q, const Wrenches *total, WrenchBlock *stored) noexcept nogil:
    """Add forces and torques to the stored wrenches; q : (4, LANES) orientations."""
    cdef int lane
    for lane in range(LANES):
        store(stored.force + lane, add(load(stored.force + lane), load(total.force + lane)))
        store(stored.torque + lane, add(load(stored.torque + lane), rotate_back(
            load_quat(q + lane), load(total.torque + lane))))


cdef inline int load_clumps(const Loop *loop, const ForcePass *forces, Py_ssize_t b, Clumps *clumps) noexcept nogil:
    """Rows that a function reads; returns the number of clumps. Empty lanes repeat the first clump."""
    cdef const ClumpBlock *block = clumps_of(&loop.state, b)
    cdef const ForceBlock *rows = forces.blocks + b
    cdef const int *numbers = loop.state.clump_number + b * LANES
    cdef Quat q
    cdef int lane, k, count = LANES
    while numbers[count - 1] < 0:
        count -= 1
    memcpy(clumps.position, block.position, sizeof(clumps.position))
    memcpy(clumps.velocity, block.predicted_velocity, sizeof(clumps.velocity))
    memcpy(clumps.mass, rows.mass, sizeof(clumps.mass))
    memcpy(clumps.id, rows.id, sizeof(clumps.id))
    for lane in range(LANES):
        q = load_quat(block.orientation + lane)
        store_quat(clumps.orientation + lane, multiply(q, load_quat(rows.template_frame + lane)))
        store(clumps.angular_velocity + lane, rotate(q, load(block.predicted + lane)))
    for k in range(forces.fields.n):
        memcpy(clumps.values + k * LANES, field_of(&forces.fields, &loop.state, b, k).value,
               LANES * sizeof(double))
    for k in range(3 if loop.law.box != NULL else 0):         # to unbounded space
        for lane in range(count):
            clumps.position[k * LANES + lane] += loop.law.box.length[k] \
                * forces.shifts[3 * <Py_ssize_t> numbers[lane] + k]
    for lane in range(count, LANES):
        for k in range(<int> ((clumps.values - <double *> clumps) // LANES)):
            (<double *> clumps)[k * LANES + lane] = (<double *> clumps)[k * LANES]
    return count


cdef void add_compiled_forces(Loop *loop, const ForcePass *forces, Py_ssize_t b, double steps) noexcept nogil:
    """Add the forces on a block, at the predicted velocities, to its stored wrenches; rates to the sources of fields.

    steps : of the pose, since the start
    """
    cdef Clumps clumps
    cdef Wrenches total
    cdef int k, count = load_clumps(loop, forces, b, &clumps)
    call_functions(loop, forces, &clumps, steps, &total)
    for k in range(<int> (sizeof(Wrenches) // (LANES * sizeof(double))) if count < LANES else 0):
        memset(<double *> &total + k * LANES + count, 0, (LANES - count) * sizeof(double))
    if forces.fields.n > 0:
        memcpy(forces.fields.sources + b * forces.fields.n * LANES, total.rates,
               forces.fields.n * LANES * sizeof(double))
    add_wrenches(clumps_of(&loop.state, b).orientation, &total, wrench_of(&loop.state, b))


cdef inline void predict(Loop *loop, const ForcePass *forces, int thread, Py_ssize_t b,
                         const Instant *now) noexcept nogil:
    """Predict velocities of a block at the instant of the pose, from the last wrench and the coming change of the flow.

    Forces that depend on velocities would be of first order otherwise.
    """
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const BoxPose *box = contacts.law.box
    cdef Eight3 v
    cdef ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef WrenchBlock held
    cdef const WrenchBlock *wrench = held_wrench(&loop.state, b, wrench_of(&loop.state, b), &held)
    cdef const ConstantBlock *constants = constants_of(&loop.state, b)
    if forces.blocks != NULL:
        forces.blocks[b].last = wrench[0]
    call_scheme(loop.scheme, loop.roles, PREDICT, clumps, wrench, constants, &loop.step)
    v = kicked(clumps, wrench.force, constants, (now.fraction - 0.5) * loop.step.dt)
    if box_moves(box) and now.purpose != STAGE:         # half of the change is before the pose, half after it
        v = add_scaled3(v, eight_of(0.5), flow_change(box, box[2].kick, clumps))
    store_eight3(clumps.predicted_velocity, v)
    follow_rates(hold_of(&loop.state, b), clumps, contacts.walls.now, clumps.predicted_velocity)


cdef bint predict_rates(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase of a step, before the reduction: predict velocities of own clumps."""
    cdef const ForcePass *forces = <const ForcePass *> own
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        predict(loop, forces, thread, b, now)
    return True


cdef void add_work(Loop *loop, const ForcePass *forces, int thread) noexcept nogil:
    """Work of the user forces on own clumps, at the velocities that follow from all forces of this instant.

    So the work of noise counts, and the sum over steps is the change of the kinetic energy of half steps.
    """
    cdef const ClumpBlock *clumps
    cdef const ConstantBlock *constants
    cdef const WrenchBlock *stored
    cdef const WrenchBlock *moves
    cdef WrenchBlock held
    cdef const ForceBlock *rows
    cdef double *work               # and behind it the power
    cdef Vec3 v, w
    cdef double half = loop.state.half_step, power
    cdef Py_ssize_t b, first = first_row(&loop.state, "force_work")
    cdef int lane
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        clumps, constants, rows = clumps_of(&loop.state, b), constants_of(&loop.state, b), forces.blocks + b
        stored, work = wrench_of(&loop.state, b), rows_at(&loop.state, b, first)
        moves = held_wrench(&loop.state, b, stored, &held)
        for lane in range(LANES):
            v = sub(load(moves.force + lane), load(rows.last.force + lane))
            v = add_scaled(load(clumps.predicted_velocity + lane), half * constants.inverse_mass[lane], v)
            w = sub(load(moves.torque + lane), load(rows.last.torque + lane))
            w = add_scaled(load(clumps.predicted + lane), half, times(load(constants.inverse_inertia + lane), w))
            power = dot(v, sub(load(stored.force + lane), load(rows.others.force + lane))) \
                + dot(w, sub(load(stored.torque + lane), load(rows.others.torque + lane))) + 0.0    # no -0.0, at rest
            work[lane] += half * (work[LANES + lane] + power)
            work[LANES + lane] = power


cdef void call_python(void *owner, double steps) noexcept with gil:
    """Call the function of a ForceCalls."""
    cdef ForceCalls calls = <ForceCalls> owner
    try:
        calls.function(<object> calls.driver, steps)
    except BaseException as error:
        calls.error = error
        calls.loop.broad.threads[0].failure = IN_CALLBACK


cdef bint call_in_one_thread(Loop *loop, ForcePass *forces, int thread, const Instant *now, bint last) noexcept nogil:
    """Call the function in Python. False, for all threads: an error."""
    cdef bint failed = False
    barrier_wait(&loop.broad.barrier, loop.n_threads, 0)
    if thread == 0 and not (loop.scheme_failed[0] or loop.law_failed[0]):
        forces.last_call = last and now.purpose != STAGE
        call_python(forces.owner, steps_since_start(loop, now))
        failed = loop.broad.threads[0].failure != NO_FAILURE
    return not barrier_wait(&loop.broad.barrier, loop.n_threads, failed)


cdef bint add_user_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: add user forces to the stored wrenches; velocities of later calls follow from the forces before."""
    cdef ForcePass *forces = <ForcePass *> own
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef int k, calls = 1 if now.purpose == BETWEEN else 1 + forces.corrections
    cdef Py_ssize_t b
    for k in range(calls):
        for b in range(mine.first_block, mine.last_block):
            if k > 0:
                predict(loop, forces, thread, b, now)
                wrench_of(&loop.state, b)[0] = forces.blocks[b].others
            elif forces.blocks != NULL:
                forces.blocks[b].others = wrench_of(&loop.state, b)[0]
            if forces.calls and forces.n_forces > 0:
                add_compiled_forces(loop, forces, b, loop.first_step + steps_since_start(loop, now))
        if forces.calls and forces.calls_python and not call_in_one_thread(loop, forces, thread, now, k == calls - 1):
            return False
    if forces.calls and forces.blocks != NULL and now.purpose != STAGE:
        add_work(loop, forces, thread)
    return True


cdef class ForceCalls:
    """The user forces of one time loop.

    Attributes
    ----------
    blocks : ForceBlocks, as rows; None: free bodies
    """

    cdef object attach(self, Loop *loop, function, driver):
        """Take part in a loop. function : called with the Driver and steps since it was made, or None."""
        self.loop, self.function, self.driver, self.arrays = loop, function, <void *> driver, []
        self.own.owner = <void *> self
        self.own.calls = self.own.calls_python = function is not None

    cdef object bind(self, State state, user_forces, ids, FieldRates fields, bint checks):
        """Prepare the forces of a simulation, of which the loop calls the compiled ones itself.

        user_forces : UserForces.  ids : (n_clumps,)
        checks : ValueError if a function reads behind its parameters: at the present poses the result depends on it
        """
        cdef UserForce *force
        compiled = user_forces.compiled
        rows = np.zeros((state.n_clumps + 1, sizeof(ForceBlock) // (LANES * sizeof(double))))       # the last one: none
        rows[:-1, :6] = np.column_stack([template_frames(state), state.column("mass"), ids])
        self.blocks = as_blocks(rows.take(state.clump_number, axis=0).reshape(-1, LANES, rows.shape[1]))
        functions = np.zeros(len(compiled) * sizeof(UserForce) + 1, np.uint8)
        parameters = [np.append(values, np.full(<int> BEYOND, np.nan)) for _, values, _, _ in compiled]
        self.arrays += [functions, parameters]
        force = <UserForce *> pointer_to(functions)
        self.own.n_forces, self.own.functions = <int> len(compiled), force
        self.own.corrections = user_forces.corrections
        self.own.blocks, self.own.shifts = <ForceBlock *> pointer_to(self.blocks), <const long long *> pointer_to(
            state.shift)
        if fields is not None:
            self.own.fields = fields.own
        for values, (address, _, n_random, seed) in zip(parameters, compiled):
            force.function, force.parameters = <ForceFunction> <size_t> address, <const double *> pointer_to(values)
            force.n_random, force.seed = n_random, seed
            force += 1
        self.own.calls |= self.own.n_forces > 0
        if checks:
            self.check(parameters)

    cdef object take_error(self):
        """What the function in Python has raised since the last call, or None."""
        error, self.error = self.error, None
        return error

    cdef object check(self, parameters):
        """ValueError if a compiled function reads behind its parameters."""
        cdef Clumps clumps
        cdef Wrenches wrench
        cdef const UserForce *force
        cdef double time = self.loop.first_step * self.loop.step.dt
        cdef int k
        load_clumps(self.loop, &self.own, 0, &clumps)
        for k in range(self.own.n_forces):
            force = self.own.functions + k
            draw(&self.own, k, self.loop.first_step, &clumps)
            values, found = parameters[k], []
            for behind in (0.0, np.nan):
                values[-<int> BEYOND:] = behind
                memset(&wrench, 0, sizeof(wrench))
                force.function(&time, &clumps, &wrench, force.parameters)
                found.append(np.array(<double[:sizeof(Wrenches) // sizeof(double)]> <double *> &wrench))
            if not np.array_equal(*found, equal_nan=True):
                raise ValueError(f"parameters = {values[:-<int> BEYOND].tolist()}: the compiled function "
                                 "reads more numbers than these; give all that it reads")

    @property
    def is_last_call(self):
        """Whether the present call of the function in Python is the last one in the step."""
        return self.own.last_call

    def last_wrenches(self, State state):
        """Last user forces, lab [N], and torques, principal frame [N m], (n_clumps, 3) each."""
        of_user = state.rows(state.wrench, 0, WRENCH_ROWS) - state.rows(self.blocks, OTHERS, WRENCH_ROWS)
        return tuple([of_user[:, first:first + 3] for first, _ in (WRENCH["force"], WRENCH["torque"])])

    def wrenches_at(self, State state, double steps, motion):
        """(n_clumps, 6) sums of compiled forces and torques, lab. motion : (n_clumps, 6) velocities, angular ones, lab.
        """
        cdef Clumps clumps
        cdef Wrenches total
        cdef Py_ssize_t b, three = sizeof(clumps.velocity)
        given = as_blocks(np.concatenate([motion, motion[:1]]).take(state.clump_number, axis=0).reshape(-1, LANES, 6))
        found = np.zeros_like(given)
        cdef const double[:, :, ::1] motions = given
        cdef double[:, :, ::1] results = found
        for b in range(motions.shape[0] if self.own.n_forces else 0):
            load_clumps(self.loop, &self.own, b, &clumps)
            memcpy(clumps.velocity, &motions[b, 0, 0], three)
            memcpy(clumps.angular_velocity, &motions[b, 3, 0], three)
            call_functions(self.loop, &self.own, &clumps, steps, &total)
            memcpy(&results[b, 0, 0], &total, 2 * three)
        return state.rows(found, 0, 6)


class UserForces:
    """The forces of a simulation. The time loop calls this object for forces in Python, and compiled forces directly.

    forces : tuple of Force (simulation/forces.py)
    expected : how many there are to be; a checkpoint says how many it had, and holds none.
    """

    def __init__(self, forces=(), expected=0):
        self.forces, self.expected = tuple(forces), max(expected, len(forces))
        self.compiled = [(force.address, force.parameters, force.random, force.seed) for force in self.forces
                         if force.address is not None and not force.is_flux]
        self.fluxes = [force for force in self.forces if force.is_flux]
        self._state, self._template_frames = None, None

    def __reduce__(self):
        return UserForces, (self.forces, self.expected)

    @property
    def in_python(self):
        """Whether the time loop must call this object."""
        return len(self.compiled) + len(self.fluxes) < self.expected

    @property
    def complete(self):
        """Whether none is missing, as after `load`."""
        return len(self.forces) == self.expected

    @property
    def acts(self):
        """Whether there are forces besides fluxes."""
        return len(self.fluxes) < self.expected

    def check(self):
        """ValueError unless all are there."""
        if not self.complete:
            raise ValueError(f"this simulation was saved with {self.expected} user forces and has "
                             f"{len(self.forces)}: call sim.forces.add again after load, before run, "
                             "and sim.fields.add_flux, or load it with forces='drop'")

    @property
    def corrections(self):
        """Calls of all functions in each step but the first."""
        return max((force.corrections for force in self.forces), default=0)

    def __call__(self, loop, steps):
        """Add them to the forces in the state of the `Driver`, at the pose `steps` after the loop was made."""
        self.check()
        state, frame = loop.state, loop.state.column("orientation")
        force, torque = state.column("force"), state.column("torque")
        velocity, turning = state.column("predicted_velocity"), quaternions.rotate(frame, state.column("predicted"))
        for f, m, rates in self.answers(loop, steps, velocity, turning):
            if rates and loop.force_calls.is_last_call:
                add_sources(loop.field_rates.sources, state, loop.population.components, rates)
            force += f
            torque += quaternions.rotate_back(frame, m)
        state.set_column("force", force)
        state.set_column("torque", torque)

    def answers(self, loop, steps, velocity, turning):
        """Call each function in Python with velocities and angular velocities (n, 3), lab: yields forces and torques
        (n, 3), and rates of fields, a dict."""
        state, components = loop.state, loop.population.components
        if self._state is not state:
            self._state, self._template_frames = state, template_frames(state)
        pose = (state.column("position"), velocity,
                quaternions.multiply(state.column("orientation"), self._template_frames), turning)
        for force_of_user in (one for one in self.forces if one.address is None and not one.is_flux):
            # Copies: a function may use its arguments as scratch memory.
            further = {"fields": field_values(state, components)} if "fields" in force_of_user.keywords else {}
            if "mass" in force_of_user.keywords:
                further["mass"] = state.column("mass")
            if "random" in force_of_user.keywords:
                further["random"] = numbers_of(force_of_user.seed, loop.population.ids,
                                               math.ceil(loop.first_step + steps), force_of_user.random)
            time = (loop.first_step + steps) * loop.settings.dt
            answer = force_of_user.function(time, *(values.copy() for values in pose), *force_of_user.parameters,
                                            **further)
            try:
                f, m, *rates = _checked(answer, state.n_clumps, "fields" in further)
                rates = checked_rates(state, components, *rates)
            except ValueError as error:
                name = getattr(force_of_user.function, "__qualname__", force_of_user.function)
                raise ValueError(f"step {math.ceil(loop.first_step + steps)} (time {time:.6g} s), {name}: {error}") \
                    from None
            yield f, m, rates


def _checked(answer, n, has_fields):
    """(force, torque), and what else a function with the argument `fields` may return."""
    # an array of two rows could be forces on two clumps
    if not (isinstance(answer, tuple) and (len(answer) == 2 or has_fields and len(answer) == 3)):
        kind = f"an array of shape {answer.shape}" if isinstance(answer, np.ndarray) else short_repr(answer)
        raise ValueError(f"a user force returned {kind}: return a tuple (force (n, 3), torque (n, 3)"
                         f"{', or with a dict of rates by the names of fields' if has_fields else ''})")
    return *(finite_array(f"{name} of a user force", value, (n, 3), repeat=True, limit=LARGEST)
             for name, value in zip(("force", "torque"), answer)), *answer[2:]
