"""Motion of clumps at the instant of the pose, under the forces there: for corrections of contact forces.

Of each clump four records of four doubles, in `loop.motions`:

    0   orientation
    1   velocity, lab [m/s];                                first component of the angular velocity
    2   acceleration, lab [m/s2];                           second
    3   angular acceleration, principal frame [rad/s2];     third, principal frame [rad/s]
"""
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from minidem.contact.force_sums cimport forces_of_sums
from minidem.contact.law cimport unit_key
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.transpose cimport records_from_rows
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, scale
from minidem.engine.leapfrog cimport Restrict
from minidem.engine.time_loop cimport Loop
from minidem.rotation.scheme cimport PREDICT, SYNC, Body, Step, angular_acceleration, call_scheme, set_stage
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport (
    ANGULAR_VELOCITY, FORCE, INERTIA, INVERSE_INERTIA, INVERSE_MASS, ORIENTATION, PATH, POSITION,
    PREDICTED, SCRATCH, TORQUE, TURN_BOUND, VELOCITY, WRENCH_ROWS, load, store,
)
from minidem.state.state cimport StateView, fixed_rows, member, wrench_of


cdef void sum_forces(const Loop *loop, const Contacts *contacts, const int *clumps, int n, const double *q,
                     double *force, double *torque) noexcept nogil:
    """Forces (3, LANES), lab, and torques (3, LANES), principal frames, on n own clumps by their spheres.

    q : (4, LANES) orientations.
    """
    cdef const StateView *state = &loop.state
    cdef const double *table
    cdef double f[3 * LANES], offset[4 * LANES], matrices[9 * LANES]
    cdef uint64_t keys[LANES]
    cdef int accumulator[LANES], lane, found
    cdef Py_ssize_t first[LANES], count[LANES], row, k, rows = 0
    memset(force, 0, 3 * LANES * sizeof(double))
    memset(torque, 0, 3 * LANES * sizeof(double))
    memset(offset, 0, sizeof(offset))
    memset(accumulator, 0, sizeof(accumulator))         # the first sum is zero
    memset(keys, 0, sizeof(keys))
    for lane in range(n):
        k = row_of(clumps[lane])
        first[lane], count[lane] = state.first_member[k], state.first_member[k + 1] - state.first_member[k]
        rows = max(rows, count[lane])
        table = loop.body_force + (state.block_type[k] * <Py_ssize_t> WRENCH_ROWS + FORCE) * LANES
        store(force + lane, load(table + lane_of(clumps[lane])))
        keys[lane] = unit_key(&loop.law, state, clumps[lane])
    load_matrices(matrices, q)
    for k in range(rows):
        found = 0
        for lane in range(n):
            row = first[lane] + k
            accumulator[lane] = contacts.accumulator_of_slot[(row - contacts.first_row) * LANES
                                                             + lane_of(clumps[lane])] if k < count[lane] else 0
            found |= accumulator[lane]
        if not found:
            continue
        for lane in range(n):
            row = first[lane] + (k if k < count[lane] else 0)
            store(offset + lane, load(member(state, row) + lane_of(clumps[lane])))
            offset[3 * LANES + lane] = member(state, row)[3 * LANES + lane_of(clumps[lane])]
        forces_of_sums(contacts.sphere_force, accumulator, keys, loop.law.unit_shift, offset + 3 * LANES, f)
        for lane in range(LANES):
            store(force + lane, add(load(force + lane), load(f + lane)))
            store(torque + lane, add(load(torque + lane), cross(load(offset + lane),
                                                                to_body(matrices + lane, load(f + lane)))))


cdef inline void write_records(Loop *loop, const int *clumps, int n, int record, const double *rows) noexcept nogil:
    """Write rows (4, LANES) to a record of the motions of n clumps."""
    cdef double records[4 * LANES]
    cdef int lane
    records_from_rows(rows, records)
    for lane in range(n):
        memcpy(loop.motions + 16 * <Py_ssize_t> clumps[lane] + 4 * record, records + 4 * lane, 4 * sizeof(double))


cdef inline void repeat_first(double *rows, Py_ssize_t n_rows, int n) noexcept nogil:
    """Copy the first lane of rows to those from n on: numbers that a rotation scheme can work with."""
    cdef Py_ssize_t row
    cdef int lane
    for row in range(n_rows):
        for lane in range(n, LANES):
            rows[row * LANES + lane] = rows[row * LANES]


cdef inline void accelerate(Restrict rows, Restrict force, Restrict torque, Restrict fixed, Restrict half,
                            double *velocity, double *linear, double *angular) noexcept nogil:
    """The last three records of eight motions, as rows (4, LANES).

    half : (LANES,) time by which the stored velocities are behind the pose [s].
    """
    cdef Body body
    cdef Vec3 acceleration, w
    cdef int lane
    for lane in range(LANES):
        body.inertia = load(fixed + INERTIA * LANES + lane)
        body.inverse_inertia = load(fixed + INVERSE_INERTIA * LANES + lane)
        w = load(rows + PREDICTED * LANES + lane)
        acceleration = scale(fixed[INVERSE_MASS * LANES + lane], load(force + lane))
        store(linear + lane, acceleration)
        store(velocity + lane, add_scaled(load(rows + VELOCITY * LANES + lane), half[lane], acceleration))
        store(angular + lane, angular_acceleration(&body, w, load(torque + lane)))
        velocity[3 * LANES + lane], linear[3 * LANES + lane], angular[3 * LANES + lane] = w.x, w.y, w.z


cdef void find_motions(Loop *loop, int thread, const int *clumps, int n, bint stored, bint between) noexcept nogil:
    """Motions of n <= LANES own clumps (slots) at the instant of the pose, into loop.motions.

    They are treated as one block, so that the rotation scheme predicts eight angular velocities at a time.
    """
    cdef StateView *state = &loop.state
    cdef double *rows = <double *> loop.contacts[thread].room.data
    cdef double *torque = rows + state.n_rows * LANES
    cdef double *fixed = torque + 3 * LANES
    cdef const double *block
    cdef const double *constants
    cdef double force[3 * LANES], half[LANES]
    cdef double linear[4 * LANES], velocity[4 * LANES], angular[4 * LANES]
    cdef Step step = loop.step
    cdef Py_ssize_t row
    cdef int lane, clump, source
    for lane in range(n):
        clump = clumps[lane]
        source = lane_of(clump)
        block = state.blocks + row_of(clump) * state.n_rows * LANES + source
        constants = fixed_rows(state, row_of(clump)) + source
        for row in range(POSITION):
            rows[row * LANES + lane] = block[row * LANES]
        for row in range(VELOCITY, PATH):
            rows[row * LANES + lane] = block[row * LANES]
        for row in range(SCRATCH, state.n_rows):
            rows[row * LANES + lane] = block[row * LANES]
        for row in range(TURN_BOUND):
            fixed[row * LANES + lane] = constants[row * LANES]
        if stored:
            store(torque + lane, load(wrench_of(state, row_of(clump)) + TORQUE * LANES + source))
            store(force + lane, load(wrench_of(state, row_of(clump)) + FORCE * LANES + source))
    if n < LANES:
        repeat_first(rows, state.n_rows, n)
        repeat_first(fixed, TURN_BOUND, n)
    if not stored:
        sum_forces(loop, loop.contacts + thread, clumps, n, rows + ORIENTATION * LANES, force, torque)
    elif n < LANES:
        repeat_first(torque, 3, n)
        repeat_first(force, 3, n)
    for lane in range(LANES):
        half[lane] = 0.5 * step.dt
    set_stage(&step, 0)
    call_scheme(loop.scheme, loop.roles, SYNC if between else PREDICT, rows, torque, fixed, &step)
    for lane in range(n if between else 0):
        if not loop.started[state.clump_number[clumps[lane]]]:          # its velocities are those at the pose
            half[lane] = 0.0
            store(rows + PREDICTED * LANES + lane, load(rows + ANGULAR_VELOCITY * LANES + lane))
    accelerate(rows, force, torque, fixed, half, velocity, linear, angular)
    write_records(loop, clumps, n, 0, rows + ORIENTATION * LANES)
    write_records(loop, clumps, n, 1, velocity)
    write_records(loop, clumps, n, 2, linear)
    write_records(loop, clumps, n, 3, angular)
