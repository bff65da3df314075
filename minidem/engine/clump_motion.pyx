"""Motion of clumps at the instant of the pose, under the forces there: for corrections of contact forces.

Of each clump four records of four doubles, in `loop.motions`:

    0   orientation
    1   velocity, lab [m/s];                                first component of the angular velocity
    2   acceleration, lab [m/s2];                           second
    3   angular acceleration, principal frame [rad/s2];     third, principal frame [rad/s]
"""
from libc.string cimport memcpy

from minidem.contact.narrow_phase cimport Contacts
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.transpose cimport records_from_rows, rows_from_records
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, scale, vec3
from minidem.engine.time_loop cimport Loop
from minidem.rotation.scheme cimport Body, Step, angular_acceleration, set_stage
from minidem.state.pose cimport load_matrices, to_body
from minidem.state.rows cimport (
    ANGULAR_VELOCITY, FORCE, INERTIA, INVERSE_INERTIA, INVERSE_MASS, ORIENTATION, PATH, POSITION,
    PREDICTED, SCRATCH, TORQUE, TURN_BOUND, VELOCITY, WRENCH_ROWS, load, store,
)
from minidem.state.state cimport StateView, fixed_rows, member, wrench_of


cdef void sum_forces(const Loop *loop, const Contacts *contacts, const int *clumps, const double *q, double *force,
                     double *torque) noexcept nogil:
    """Forces (3, LANES), lab, and torques (3, LANES), principal frames, on own clumps by their spheres.

    q : (4, LANES) orientations.
    """
    cdef const StateView *state = &loop.state
    cdef const double *table
    cdef double f[4 * LANES], offset[3 * LANES], matrices[9 * LANES]
    cdef int accumulator[LANES], lane, found
    cdef Py_ssize_t first[LANES], count[LANES], row, k, rows = 0
    for lane in range(LANES):
        k = row_of(clumps[lane])
        first[lane], count[lane] = state.first_member[k], state.first_member[k + 1] - state.first_member[k]
        rows = max(rows, count[lane])
        table = loop.body_force + (state.block_type[k] * <Py_ssize_t> WRENCH_ROWS + FORCE) * LANES
        store(force + lane, load(table + lane_of(clumps[lane])))
        store(torque + lane, vec3(0.0, 0.0, 0.0))
    load_matrices(matrices, q)
    for k in range(rows):
        found = 0
        for lane in range(LANES):
            row = first[lane] + k
            accumulator[lane] = contacts.accumulator_of_slot[(row - contacts.first_row) * LANES
                                                             + lane_of(clumps[lane])] if k < count[lane] else 0
            found |= accumulator[lane]
        if not found:
            continue
        for lane in range(LANES):
            row = first[lane] + (k if k < count[lane] else 0)
            store(offset + lane, load(member(state, row) + lane_of(clumps[lane])))
        rows_from_records(contacts.sphere_force, accumulator, f)        # of number 0: zero
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
    cdef double linear[4 * LANES], velocity[4 * LANES], angular[4 * LANES], half[LANES]
    cdef Vec3 w
    cdef Step step = loop.step
    cdef Body body
    cdef Py_ssize_t row
    cdef int lane, clump, source, started[LANES], own[LANES]
    for lane in range(LANES):
        clump = clumps[min(lane, n - 1)]
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
        own[lane] = clump
        store(torque + lane, load(wrench_of(state, row_of(clump)) + TORQUE * LANES + source))
        store(linear + lane, load(wrench_of(state, row_of(clump)) + FORCE * LANES + source))
        started[lane] = not between or loop.started[state.clump_number[clump]]
        half[lane] = 0.5 * step.dt if started[lane] else 0.0
    if not stored:
        sum_forces(loop, loop.contacts + thread, own, rows + ORIENTATION * LANES, linear, torque)
    set_stage(&step, 0)
    (loop.sync if between else loop.predict)(rows, torque, fixed, &step)
    for lane in range(LANES):
        body.inertia = load(fixed + INERTIA * LANES + lane)
        body.inverse_inertia = load(fixed + INVERSE_INERTIA * LANES + lane)
        store(linear + lane, scale(fixed[INVERSE_MASS * LANES + lane], load(linear + lane)))
        store(velocity + lane, add_scaled(load(rows + VELOCITY * LANES + lane), half[lane], load(linear + lane)))
        w = load(rows + (PREDICTED if started[lane] else ANGULAR_VELOCITY) * LANES + lane)
        velocity[3 * LANES + lane], linear[3 * LANES + lane], angular[3 * LANES + lane] = w.x, w.y, w.z
        store(angular + lane, angular_acceleration(&body, w, load(torque + lane)))
    write_records(loop, clumps, n, 0, rows + ORIENTATION * LANES)
    write_records(loop, clumps, n, 1, velocity)
    write_records(loop, clumps, n, 2, linear)
    write_records(loop, clumps, n, 3, angular)
