"""User forces: forces and torques on clumps from functions in Python, and compiled ones (core/external.pyx).

`Simulation.add_force` documents their signatures. The time loop calls `UserForces` for those in Python, and compiled
ones directly: each thread for its own blocks, after the reduction of the wrenches. A compiled function sees eight
clumps and nothing else, so results do not depend on the threads.

Their work is found in loop.pyx, `add_work`.
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
from minidem.state.state import as_blocks

from minidem.core.lanes cimport LANES
from minidem.core.philox cimport random_numbers
from minidem.core.quaternion cimport Quat, multiply, rotate, rotate_back
from minidem.core.vec3 cimport add
from minidem.loop.leapfrog cimport Restrict
from minidem.loop.loop cimport MAX_RANDOM, Clumps, ForceBlock, ForceFunction, UserForce, Wrenches
from minidem.state.rows cimport ClumpBlock, WrenchBlock, load, load_quat, store, store_quat
from minidem.state.state cimport clumps_of, field_of, pointer_to, wrench_of

cdef enum:
    BEYOND = 64                     # doubles behind the parameters: not a number, where a function must not read

MOST_RANDOM = <int> MAX_RANDOM
WORK = 6                            # first of the two rows of work and power in a ForceBlock


cdef object bind_forces(Loop *loop, State state, ids, forces, work, int corrections, bint checks):
    """Let a loop call compiled functions. Returns its ForceBlocks, as rows, and other arrays that it points to.

    ids : (n_clumps,)
    forces : list of (address, parameters array, number of random numbers, seed)
    work : (n_clumps, 2) work and power of all user forces, or None for zero
    corrections : calls in each step but the first
    checks : ValueError if a function reads behind its parameters: at the present poses the result depends on it
    """
    cdef Clumps clumps
    cdef Wrenches wrench
    cdef UserForce *force
    cdef double time = loop.first_step * loop.step.dt
    cdef int k
    rows = np.zeros((state.n_clumps + 1, sizeof(ForceBlock) // (LANES * sizeof(double))))           # the last one: none
    rows[:-1, :6] = np.column_stack([template_frames(state), state.column("mass"), ids])
    rows[:-1, WORK:WORK + 2] = 0.0 if work is None else work
    blocks = as_blocks(rows.take(state.clump_number, axis=0).reshape(-1, LANES, rows.shape[1]))
    functions = np.zeros(len(forces) * sizeof(UserForce), np.uint8)
    parameters = [np.append(values, np.full(<int> BEYOND, np.nan)) for _, values, _, _ in forces]
    loop.n_forces, loop.forces = <int> len(forces), <const UserForce *> pointer_to(functions)
    loop.corrections = corrections
    loop.force_blocks, loop.shifts = <ForceBlock *> pointer_to(blocks), <const long long *> pointer_to(state.shift)
    force = <UserForce *> loop.forces
    for values, (address, _, n_random, seed) in zip(parameters, forces):
        force.function, force.parameters = <ForceFunction> <size_t> address, <const double *> pointer_to(values)
        force.n_random, force.seed = n_random, seed
        force += 1
    if checks:
        load_clumps(loop, 0, &clumps)
    for k in range(loop.n_forces if checks else 0):
        draw(loop, k, loop.first_step, &clumps)
        values, found = parameters[k], []
        for behind in (0.0, np.nan):
            values[-<int> BEYOND:] = behind
            memset(&wrench, 0, sizeof(wrench))
            loop.forces[k].function(&time, &clumps, &wrench, loop.forces[k].parameters)
            found.append(np.array(<double[:sizeof(Wrenches) // sizeof(double)]> <double *> &wrench))
        if not np.array_equal(*found, equal_nan=True):
            raise ValueError(f"parameters = {values[:-<int> BEYOND].tolist()}: the compiled function "
                             "reads more numbers than these; give all that it reads")
    return blocks, functions, parameters


cdef void draw(const Loop *loop, int force, double steps, Clumps *clumps) noexcept nogil:
    """Random numbers of a force, behind the fields."""
    cdef const UserForce *drawing = loop.forces + force
    cdef int lane
    for lane in range(LANES if drawing.n_random else 0):
        random_numbers(drawing.seed, <uint64_t> clumps.id[lane], <uint64_t> ceil(steps),
                       drawing.n_random, clumps.values + loop.law.fields.n * LANES + lane, LANES)


cdef object numbers_of(seed, ids, step, int n):
    """(len(ids), n) random numbers of clumps in a step; see philox.h."""
    cdef double[:, ::1] numbers = np.empty((len(ids), n))
    cdef const long long[::1] of = np.ascontiguousarray(ids, dtype=np.int64)
    cdef Py_ssize_t k
    for k in range(numbers.shape[0] if n else 0):
        random_numbers(seed, of[k], step, n, &numbers[k, 0], 1)
    return np.asarray(numbers)


cdef void call_functions(const Loop *loop, Clumps *clumps, double steps, Wrenches *total) noexcept nogil:
    """Sum of the forces, torques, and rates of the fields."""
    cdef Wrenches wrench
    cdef double time = steps * loop.step.dt
    cdef int k, m
    memset(total, 0, sizeof(Wrenches))
    draw(loop, 0, steps, clumps)
    loop.forces[0].function(&time, clumps, total, loop.forces[0].parameters)
    for k in range(1, loop.n_forces):
        memset(&wrench, 0, sizeof(wrench))
        draw(loop, k, steps, clumps)
        loop.forces[k].function(&time, clumps, &wrench, loop.forces[k].parameters)
        for m in range(<int> (sizeof(Wrenches) // sizeof(double))):
            (<double *> total)[m] += (<double *> &wrench)[m]


cdef inline void add_wrenches(Restrict q, const Wrenches *total, WrenchBlock *stored) noexcept nogil:
    """Add forces and torques to the stored wrenches; q : (4, LANES) orientations."""
    cdef int lane
    for lane in range(LANES):
        store(stored.force + lane, add(load(stored.force + lane), load(total.force + lane)))
        store(stored.torque + lane, add(load(stored.torque + lane), rotate_back(
            load_quat(q + lane), load(total.torque + lane))))


cdef inline int load_clumps(const Loop *loop, Py_ssize_t b, Clumps *clumps) noexcept nogil:
    """Rows that a function reads; returns the number of clumps. Empty lanes repeat the first clump."""
    cdef const ClumpBlock *block = clumps_of(&loop.state, b)
    cdef const ForceBlock *rows = loop.force_blocks + b
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
    for k in range(loop.law.fields.n):
        memcpy(clumps.values + k * LANES, field_of(&loop.state, b, k, loop.law.fields.n).value,
               LANES * sizeof(double))
    for k in range(3 if loop.law.box != NULL else 0):         # to unbounded space
        for lane in range(count):
            clumps.position[k * LANES + lane] += loop.law.box.length[k] \
                * loop.shifts[3 * <Py_ssize_t> numbers[lane] + k]
    for lane in range(count, LANES):
        for k in range(<int> ((clumps.values - <double *> clumps) // LANES)):
            (<double *> clumps)[k * LANES + lane] = (<double *> clumps)[k * LANES]
    return count


cdef void add_compiled_forces(Loop *loop, Py_ssize_t b, double steps, double *sources) noexcept nogil:
    """Add the forces on a block, at the predicted velocities, to its stored wrenches.

    steps : of the pose, since the start.  sources : (components of fields, LANES), to be written.
    """
    cdef Clumps clumps
    cdef Wrenches total
    cdef int k, count = load_clumps(loop, b, &clumps)
    call_functions(loop, &clumps, steps, &total)
    for k in range(<int> (sizeof(Wrenches) // (LANES * sizeof(double))) if count < LANES else 0):
        memset(<double *> &total + k * LANES + count, 0, (LANES - count) * sizeof(double))
    memcpy(sources, total.rates, loop.law.fields.n * LANES * sizeof(double))
    add_wrenches(clumps_of(&loop.state, b).orientation, &total, wrench_of(&loop.state, b))


cdef object compiled_forces(Loop *loop, State state, double steps, motion):
    """(n_clumps, 6) sums of compiled forces and torques, lab. motion : (n_clumps, 6) velocities, angular ones, lab."""
    cdef Clumps clumps
    cdef Wrenches total
    cdef Py_ssize_t b, three = sizeof(clumps.velocity)
    given = as_blocks(np.concatenate([motion, motion[:1]]).take(state.clump_number, axis=0).reshape(-1, LANES, 6))
    found = np.zeros_like(given)
    cdef const double[:, :, ::1] motions = given
    cdef double[:, :, ::1] results = found
    for b in range(motions.shape[0] if loop.n_forces else 0):
        load_clumps(loop, b, &clumps)
        memcpy(clumps.velocity, &motions[b, 0, 0], three)
        memcpy(clumps.angular_velocity, &motions[b, 3, 0], three)
        call_functions(loop, &clumps, steps, &total)
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
                             f"{len(self.forces)}: call add_force again after load, before run, and "
                             "add_flux too, or load it with forces='drop'")

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
            if loop.is_last_call:
                add_sources(state, loop.population.components, rates)
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
