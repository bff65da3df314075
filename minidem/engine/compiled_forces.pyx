"""Compiled functions of the user (core/external.pyx) for forces and torques on clumps, and their work.

`Simulation.add_force` documents the signature. Each thread calls them for its own blocks, after the reduction of the
wrenches. A function sees eight clumps and nothing else, so results do not depend on the threads.

Of each clump there is a line of eight doubles: the rotation from the frame of the template to the principal frame (4),
mass, id, work since the start [J], power at the last whole step [W]. The work is the integral of the power by the
trapezoidal rule over each step.
"""
from libc.math cimport ceil
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from minidem.core.lanes cimport LANES
from minidem.core.philox cimport random_numbers
from minidem.core.quaternion cimport Quat, multiply, rotate, rotate_back
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport add, dot
from minidem.engine.leapfrog cimport Restrict
from minidem.engine.loop cimport MAX_RANDOM, Clumps, ForceFunction, UserForce, Wrenches
from minidem.state.rows cimport ClumpBlock, WrenchBlock, load, load_quat, store, store_quat
from minidem.state.state cimport clumps_of, field_of, pointer_to, wrench_of

from minidem.state.bodies import frames_to_drawn
from minidem.state.layout import aligned

cdef enum:                           # of a line
    TO_DRAWN = 0
    MASS_AND_ID = 4
    WORK = 6
    POWER = 7
    LINE = 8
    BEYOND = 64                     # doubles behind the parameters: not a number, where a function must not read

MOST_RANDOM = <int> MAX_RANDOM


cdef class CompiledForces:
    """The functions, and the lines of the clumps.

    Parameters
    ----------
    state : State
    ids : (n_clumps,)
    forces : list of (address, parameters array, number of random numbers, seed)
    work : (n_clumps, 2) work and power, or None for zero
    """

    def __cinit__(self, State state, ids, forces, work):
        cdef UserForce *force
        self.lines = aligned((state.n_clumps, <int> LINE))
        self.lines[:, :MASS_AND_ID] = frames_to_drawn(state)
        self.lines[:, MASS_AND_ID], self.lines[:, MASS_AND_ID + 1] = state.column("mass"), ids
        self.lines[:, WORK:] = 0.0 if work is None else work
        self.shifts, self.functions = state.shift, np.zeros(len(forces) * sizeof(UserForce), np.uint8)
        self.parameters = [np.append(values, np.full(<int> BEYOND, np.nan)) for _, values, _, _ in forces]
        force = <UserForce *> pointer_to(self.functions)
        for values, (address, _, n_random, seed) in zip(self.parameters, forces):
            force.function, force.parameters = <ForceFunction> <size_t> address, <const double *> pointer_to(values)
            force.n_random, force.seed = n_random, seed
            force += 1

    cdef object bind(self, Loop *loop):
        loop.n_forces, loop.forces = <int> len(self.parameters), <const UserForce *> pointer_to(self.functions)
        loop.force_lines = <double *> pointer_to(self.lines)
        loop.shifts = <const long long *> pointer_to(self.shifts)

    cdef object check_parameters(self, Loop *loop):
        """ValueError if a function reads behind its parameters: at the present poses the result depends on it."""
        cdef Clumps clumps
        cdef double lines[LINE * LANES]
        cdef Wrenches wrench
        cdef double time = loop.first_step * loop.step.dt
        cdef int k
        describe_block(loop, 0, &clumps, lines)
        for k in range(loop.n_forces):
            draw(loop, k, loop.first_step, &clumps)
            found = []
            for behind in (np.nan, 0.0):
                parameters = self.parameters[k].copy()
                parameters[-<int> BEYOND:] = behind
                memset(&wrench, 0, sizeof(wrench))
                loop.forces[k].function(&time, &clumps, &wrench, <const double *> pointer_to(parameters))
                found.append(np.array(<double[:sizeof(Wrenches) // sizeof(double)]> <double *> &wrench))
            if not np.array_equal(*found, equal_nan=True):
                raise ValueError(f"parameters = {self.parameters[k][:-<int> BEYOND].tolist()}: the compiled function "
                                 "reads more numbers than these; give all that it reads")

    def work(self):
        """(n_clumps, 2) work [J] and power [W] of each clump."""
        return self.lines[:, WORK:].copy()


cdef void draw(const Loop *loop, int force, double steps, Clumps *clumps) noexcept nogil:
    """Random numbers of a force, behind the fields."""
    cdef const UserForce *drawing = loop.forces + force
    cdef int lane
    for lane in range(LANES if drawing.n_random else 0):
        random_numbers(drawing.seed, <uint64_t> clumps.id[lane], <uint64_t> ceil(steps),
                       drawing.n_random, clumps.values + loop.law.fields.n * LANES + lane, LANES)


def numbers_of(seed, ids, step, int n):
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


cdef inline void describe(const ClumpBlock *block, Restrict lines, Clumps *clumps) noexcept nogil:
    """Write the rows that a function reads, except those of the fields."""
    cdef Quat q
    cdef int lane
    memcpy(clumps.position, block.position, sizeof(clumps.position))
    memcpy(clumps.velocity, block.predicted_velocity, sizeof(clumps.velocity))
    memcpy(clumps.mass, lines + MASS_AND_ID * LANES, sizeof(clumps.mass))
    memcpy(clumps.id, lines + (MASS_AND_ID + 1) * LANES, sizeof(clumps.id))
    for lane in range(LANES):
        q = load_quat(block.orientation + lane)
        store_quat(clumps.orientation + lane, multiply(q, load_quat(lines + TO_DRAWN * LANES + lane)))
        store(clumps.angular_velocity + lane, rotate(q, load(block.predicted + lane)))


cdef inline void add_wrenches(Restrict q, const Wrenches *total, WrenchBlock *stored) noexcept nogil:
    """Add forces and torques to the stored wrenches; q : (4, LANES) orientations."""
    cdef int lane
    for lane in range(LANES):
        store(stored.force + lane, add(load(stored.force + lane), load(total.force + lane)))
        store(stored.torque + lane, add(load(stored.torque + lane), rotate_back(
            load_quat(q + lane), load(total.torque + lane))))


cdef inline void find_power(const Clumps *clumps, const Wrenches *total, double half, double *lines) noexcept nogil:
    """Replace work and power, two rows of the lines."""
    cdef double power
    cdef int lane
    for lane in range(LANES):
        power = dot(load(total.force + lane), load(clumps.velocity + lane)) \
            + dot(load(total.torque + lane), load(clumps.angular_velocity + lane))
        lines[WORK * LANES + lane] += half * (lines[POWER * LANES + lane] + power)
        lines[POWER * LANES + lane] = power


cdef inline int describe_block(const Loop *loop, Py_ssize_t b, Clumps *clumps, double *lines) noexcept nogil:
    """Rows that a function reads, and the lines of the clumps as rows; returns the number of clumps.

    Empty lanes repeat the first clump.
    """
    cdef const int *numbers = loop.state.clump_number + b * LANES
    cdef int first[LANES]
    cdef int second[LANES]
    cdef int lane, k, count = LANES
    while numbers[count - 1] < 0:
        count -= 1
    for lane in range(LANES):
        first[lane] = 2 * (numbers[lane] if numbers[lane] >= 0 else numbers[0])
        second[lane] = first[lane] + 1
    rows_from_records(loop.force_lines, first, lines)
    rows_from_records(loop.force_lines, second, lines + MASS_AND_ID * LANES)
    describe(clumps_of(&loop.state, b), lines, clumps)
    for k in range(loop.law.fields.n):
        memcpy(clumps.values + k * LANES, field_of(&loop.state, b, k, loop.law.fields.n).value,
               LANES * sizeof(double))
    for k in range(3 if loop.law.box != NULL else 0):         # to unbounded space
        for lane in range(count):
            clumps.position[k * LANES + lane] += loop.law.box.length[k] \
                * loop.shifts[3 * <Py_ssize_t> numbers[lane] + k]
    for lane in range(count, LANES):
        for k in range(<int> ((clumps.mass - <double *> clumps) // LANES)):
            (<double *> clumps)[k * LANES + lane] = (<double *> clumps)[k * LANES]
    return count


cdef void add_compiled_forces(Loop *loop, Py_ssize_t b, double steps, double half, double *sources) noexcept nogil:
    """Add the forces on a block, at the predicted velocities, to its stored wrenches.

    steps : of the pose, since the start.  sources : (components of fields, LANES), to be written.
    half : half a step at the end of a step; 0 where no step has led to the pose; negative at a stage before the end.
    """
    cdef const int *numbers = loop.state.clump_number + b * LANES
    cdef Clumps clumps
    cdef double lines[LINE * LANES]
    cdef Wrenches total
    cdef double *line
    cdef int lane, k, count = describe_block(loop, b, &clumps, lines)
    call_functions(loop, &clumps, steps, &total)
    for k in range(<int> (sizeof(Wrenches) // (LANES * sizeof(double))) if count < LANES else 0):
        memset(<double *> &total + k * LANES + count, 0, (LANES - count) * sizeof(double))
    memcpy(sources, total.rates, loop.law.fields.n * LANES * sizeof(double))
    add_wrenches(clumps_of(&loop.state, b).orientation, &total, wrench_of(&loop.state, b))
    if half >= 0.0:
        find_power(&clumps, &total, half, lines)
        for lane in range(count):
            line = loop.force_lines + LINE * <Py_ssize_t> numbers[lane]
            line[WORK], line[POWER] = lines[WORK * LANES + lane], lines[POWER * LANES + lane]
