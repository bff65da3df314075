"""The onset pass: the onset correction (contact/ONSET.md) of the contacts that the narrow phase has listed.

    mark        in the narrow phase: the blocks of these contacts, whichever thread owns them
    motions     of own clumps in marked blocks at the instant of the pose, under the forces found so far
    correct     the force of each contact, when all threads have found the motions
    add         to the forces on own spheres, when all threads have listed their corrections

It follows the narrow phase, so that a correction sees all other forces at this pose, and precedes the reduction. With
external forces it follows these, and changes the stored wrenches, in an order that does not depend on the run.

The motions of the eight clumps of a block are four lines of eight records of four doubles, in `loop.clump_motions`:

    0   orientation
    1   velocity, lab [m/s];                                first component of the angular velocity
    2   acceleration, lab [m/s2];                           second
    3   angular acceleration, principal frame [rad/s2];     third, principal frame [rad/s]
"""
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from minidem.broadphase.broadphase cimport NO_FAILURE, OUT_OF_MEMORY, wait
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.central cimport CentralForce, central_force, load_pair
from minidem.contact.force_sums cimport add_record
from minidem.contact.law cimport Law, record_force, rounded_force
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.onset cimport Onsets, onset_forces
from minidem.contact.reduce cimport force_on, reduce_block
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.openmp cimport set_flag
from minidem.core.quaternion cimport Quat, rotate, rotate_back
from minidem.core.transpose cimport records_from_rows, rows_from_records
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, norm, scale, sub, times, vec3
from minidem.core.vectors cimport reserve
from minidem.engine.loop cimport Loop
from minidem.rotation.scheme cimport PREDICT, SYNC, Body, Step, angular_acceleration, call_scheme, set_stage
from minidem.state.periodic_box cimport box_moves, image_velocity
from minidem.state.rows cimport ClumpBlock, ConstantBlock, WrenchBlock, load, load_quat, store
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, member, wrench_of

cdef struct Side:                   # of eight contacts: their spheres on one side, seen along the normals to it
    double normal[3 * LANES]        # lab
    double velocity[3 * LANES]      # of the sphere's centre, lab [m/s]
    double speed[LANES]             # its component along the normal [m/s]
    double acceleration[LANES]      # likewise [m/s2]
    double mobility[LANES]          # acceleration per normal force on the sphere [1/kg]

cdef enum:
    INTS = sizeof(Onset) // sizeof(int)
    ADDITION_INTS = sizeof(Addition) // sizeof(int)


cdef void find_motions(Loop *loop, int thread, Py_ssize_t b, bint stored, bint between) noexcept nogil:
    """Motions of the clumps of an own block at the instant of the pose, into loop.clump_motions."""
    cdef const StateView *state = &loop.state
    cdef Contacts *contacts = loop.contacts + thread
    cdef const WrenchBlock *wrench = wrench_of(state, b)
    cdef const ConstantBlock *constants = constants_of(state, b)
    cdef ClumpBlock *clumps = clumps_of(state, b)
    cdef double *motions = loop.clump_motions + 16 * b * LANES
    cdef WrenchBlock reduced
    cdef double w[3 * LANES], kept[3 * LANES], half[LANES]
    cdef double velocity[4 * LANES], linear[4 * LANES], angular[4 * LANES]
    cdef Body body
    cdef Vec3 acceleration
    cdef Step step = loop.step
    cdef int lane
    if not stored:
        wrench = reduce_block(contacts, state, b, contacts.sphere_force, loop.body_force, &reduced, True)
    set_stage(&step, 0)
    memcpy(kept, clumps.predicted, sizeof(kept))
    call_scheme(loop.scheme, loop.roles, SYNC if between else PREDICT, clumps, wrench, constants, &step)
    memcpy(w, clumps.predicted, sizeof(w))
    memcpy(clumps.predicted, kept, sizeof(kept))
    for lane in range(LANES):
        half[lane] = 0.5 * step.dt
        if between and state.clump_number[b * LANES + lane] >= 0 \
                and not loop.started[state.clump_number[b * LANES + lane]]:     # its velocities are those at the pose
            half[lane] = 0.0
            store(w + lane, load(clumps.angular_velocity + lane))
    for lane in range(LANES):
        body.inertia = load(constants.inertia + lane)
        body.inverse_inertia = load(constants.inverse_inertia + lane)
        acceleration = scale(constants.inverse_mass[lane], load(wrench.force + lane))
        store(linear + lane, acceleration)
        store(velocity + lane, add_scaled(load(clumps.velocity + lane), half[lane], acceleration))
        store(angular + lane, angular_acceleration(&body, load(w + lane), load(wrench.torque + lane)))
        velocity[3 * LANES + lane] = w[lane]
        linear[3 * LANES + lane] = w[LANES + lane]
        angular[3 * LANES + lane] = w[2 * LANES + lane]
    records_from_rows(clumps.orientation, motions)
    records_from_rows(velocity, motions + 4 * LANES)
    records_from_rows(linear, motions + 8 * LANES)
    records_from_rows(angular, motions + 12 * LANES)


cdef void mark_onsets(Loop *loop, int thread) noexcept nogil:
    """Mark the blocks of the listed contacts."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const int *pair
    cdef Py_ssize_t m, side
    for m in range(contacts.ends.size):
        pair = contacts.pairs.data + contacts.ends.data[m]
        for side in range(2 if pair[1] >= 0 else 1):
            set_flag(loop.onset_blocks + row_of(clump_of(&loop.state, pair[side])))


cdef void find_all_motions(Loop *loop, int thread, bint stored, bint between) noexcept nogil:
    """Motions of the clumps of own blocks that are marked."""
    cdef Py_ssize_t b
    for b in range(loop.broad.threads[thread].first_block, loop.broad.threads[thread].last_block):
        if loop.onset_blocks[b]:
            loop.onset_blocks[b] = 0
            find_motions(loop, thread, b, stored, between)


cdef void measure_side(const Loop *loop, const int *slots, Side *side) noexcept nogil:
    """Motion of eight spheres, in slots, at the instant of the pose; side.normal is given."""
    cdef const StateView *state = &loop.state
    cdef double offset[3 * LANES], inverse_inertia[3 * LANES], inverse_mass[LANES]
    cdef double q[4 * LANES], velocity[4 * LANES], linear[4 * LANES], angular[4 * LANES]
    cdef int record[4][LANES]
    cdef const ConstantBlock *constants
    cdef Vec3 arm, along, r, w, normal
    cdef int lane, clump, k
    for lane in range(LANES):
        clump = clump_of(state, slots[lane])
        for k in range(4):
            record[k][lane] = <int> ((4 * row_of(clump) + k) * LANES + lane_of(clump))
        constants = constants_of(state, row_of(clump))
        store(inverse_inertia + lane, load(constants.inverse_inertia + lane_of(clump)))
        inverse_mass[lane] = constants.inverse_mass[lane_of(clump)]
        store(offset + lane, load(member(state, row_of(slots[lane])) + lane_of(slots[lane])))
    rows_from_records(loop.clump_motions, record[0], q)
    rows_from_records(loop.clump_motions, record[1], velocity)
    rows_from_records(loop.clump_motions, record[2], linear)
    rows_from_records(loop.clump_motions, record[3], angular)
    for lane in range(LANES):
        normal, r = load(side.normal + lane), load(offset + lane)
        w = vec3(velocity[3 * LANES + lane], linear[3 * LANES + lane], angular[3 * LANES + lane])
        along = rotate_back(load_quat(q + lane), normal)
        arm = cross(r, along)
        store(side.velocity + lane, add(load(velocity + lane), rotate(load_quat(q + lane), cross(w, r))))
        side.speed[lane] = dot(load(velocity + lane), normal) + dot(w, arm)
        side.acceleration[lane] = dot(load(linear + lane), normal) + dot(load(angular + lane), arm) \
            + (dot(w, r) * dot(w, along) - dot(w, w) * dot(r, along))
        side.mobility[lane] = inverse_mass[lane] + dot(arm, times(load(inverse_inertia + lane), arm))


cdef void correct_eight(const Loop *loop, int thread, const int *pairs, const int *indices, int n, double *force,
                        double *normals) noexcept nogil:
    """Onset corrections (LANES,) [N] of n <= LANES contacts, and their normals (3, LANES).

    indices : (n,) of their first spheres in `pairs`.
    """
    cdef const StateView *state = &loop.state
    cdef const Law *law = loop.contacts[thread].law
    cdef Onsets onsets
    cdef CentralForce contact
    cdef Side a, b
    cdef double distance[LANES], movable[LANES], radius, other, rate, bending
    cdef int i[LANES], j[LANES]
    cdef Vec3 relative, image[LANES], behind, ahead
    cdef const double *x
    cdef const double *y
    cdef int lane
    memset(&onsets, 0, sizeof(onsets))                  # lanes from n on: no overlap
    for lane in range(LANES):
        i[lane] = j[lane] = pairs[indices[0]]
        image[lane] = vec3(0.0, 0.0, 0.0)
        distance[lane], movable[lane] = 1.0, 0.0
        store(a.normal + lane, vec3(1.0, 0.0, 0.0))
        store(b.normal + lane, vec3(1.0, 0.0, 0.0))
    for lane in range(n):
        i[lane], j[lane] = pairs[indices[lane]], pairs[indices[lane] + 1]
        contact = central_force(law, state, i[lane], j[lane])
        radius = state.spheres[4 * <Py_ssize_t> i[lane] + 3]
        onsets.overlap[lane], onsets.force[lane] = contact.overlap, contact.force
        load_pair(law, state, i[lane], j[lane], onsets.coefficients, lane)
        store(a.normal + lane, contact.normal)
        store(b.normal + lane, scale(-1.0, contact.normal))
        if j[lane] >= 0:
            other = state.spheres[4 * <Py_ssize_t> j[lane] + 3]
            onsets.radius[lane] = radius * other / (radius + other)
            distance[lane], movable[lane] = radius + other - contact.overlap, 1.0
            x, y = state.spheres + 4 * <Py_ssize_t> i[lane], state.spheres + 4 * <Py_ssize_t> j[lane]
            if box_moves(law.box) and image_velocity(law.box, vec3(x[0] - y[0], x[1] - y[1], x[2] - y[2]), &behind,
                                                     &ahead):
                image[lane] = scale(0.5, add(behind, ahead))
        else:
            onsets.radius[lane] = radius
            j[lane] = i[lane]                           # any sphere: what belongs to it is multiplied by zero
    memcpy(normals, a.normal, sizeof(a.normal))
    measure_side(loop, i, &a)
    measure_side(loop, j, &b)
    for lane in range(LANES):
        relative = sub(sub(load(a.velocity + lane), load(b.velocity + lane)), image[lane])
        rate = a.speed[lane] + movable[lane] * b.speed[lane] - dot(image[lane], load(a.normal + lane))
        # The centres turn about each other: their distance has the acceleration v_t^2 / distance.
        bending = movable[lane] * max(0.0, dot(relative, relative) - rate * rate) / distance[lane]
        onsets.rate[lane] = -rate
        onsets.mobility[lane] = a.mobility[lane] + movable[lane] * b.mobility[lane]
        onsets.acceleration[lane] = onsets.force[lane] * onsets.mobility[lane] - bending \
            - (a.acceleration[lane] + movable[lane] * b.acceleration[lane])
    onset_forces(law, &onsets, force)


cdef inline unsigned int order_of(const StateView *state, int sphere) noexcept nogil:
    """Canonical order: the user's number of a sphere, walls after all spheres."""
    if sphere < 0:
        return 2147483648u - 1u - <unsigned int> sphere
    return <unsigned int> state.sphere_number[sphere]


cdef int compare(const void *a, const void *b) noexcept nogil:
    """Canonical order of additions."""
    cdef const Addition *first = <const Addition *> a
    cdef const Addition *second = <const Addition *> b
    return 1 if first.rank > second.rank else -1


cdef inline void add_to_sphere(Contacts *contacts, const StateView *state, int slot, Vec3 force) noexcept nogil:
    cdef double rows[4]
    cdef int64_t record[4]
    rows[0], rows[1], rows[2], rows[3] = force.x, force.y, force.z, norm(force)
    record_force(contacts.law, state, slot, rows, record)
    add_record(record, force_on(contacts, slot))


cdef void add_to_wrench(const StateView *state, int slot, Vec3 force) noexcept nogil:
    """Add a force on an own sphere to the stored wrench of its clump."""
    cdef int clump = clump_of(state, slot), lane = lane_of(clump)
    cdef Py_ssize_t b = row_of(clump)
    cdef WrenchBlock *wrench = wrench_of(state, b)
    cdef Quat q = load_quat(clumps_of(state, b).orientation + lane)
    store(wrench.force + lane, add(load(wrench.force + lane), force))
    store(wrench.torque + lane, add(load(wrench.torque + lane),
                                    cross(load(member(state, row_of(slot)) + lane_of(slot)), rotate_back(q, force))))


cdef bint correct_contacts(Loop *loop, int thread) noexcept nogil:
    """Corrections of the own contacts that are listed, and what they add to spheres. False: memory exhausted."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef const StateView *state = &loop.state
    cdef double force[LANES], normals[3 * LANES]
    cdef const int *pair
    cdef const int *indices
    cdef Addition *addition
    cdef Py_ssize_t eight, first, n_ends = contacts.ends.size
    cdef int lane, side, count
    if not (reserve(&contacts.onset, n_ends) and reserve(&contacts.noted, <int> INTS * n_ends)
            and reserve(&contacts.additions, 2 * n_ends * <int> ADDITION_INTS)):
        return False
    for eight in range((n_ends + LANES - 1) // LANES):
        first = eight * LANES
        count = <int> min(<Py_ssize_t> LANES, n_ends - first)
        indices = contacts.ends.data + first
        correct_eight(loop, thread, contacts.pairs.data, indices, count, force, normals)
        memcpy(contacts.onset.data + first, force, count * sizeof(double))
        for lane in range(count):
            pair = contacts.pairs.data + indices[lane]
            for side in range((1 if pair[1] < 0 else 2) if force[lane] != 0.0 else 0):
                addition = <Addition *> (contacts.additions.data + contacts.additions.size)
                contacts.additions.size += <int> ADDITION_INTS
                addition.slot = pair[side]
                addition.force = rounded_force(&loop.law, state, pair[side], scale(
                    -force[lane] if side else force[lane], load(normals + lane)))
                addition.rank = <unsigned long long> order_of(state, pair[side]) << 32 | order_of(state, pair[1 - side])
    return True


cdef bint add_to_own(Loop *loop, int thread, bint stored) noexcept nogil:
    """Add the corrections that all threads have listed for own spheres, to their sums or the stored wrenches.

    False: memory exhausted.
    """
    cdef Contacts *contacts = loop.contacts + thread
    cdef const Addition *listed
    cdef Addition *own
    cdef Py_ssize_t k, n = 0, most = 0
    cdef int t
    for t in range(loop.n_threads):
        most += loop.contacts[t].additions.size
    if not reserve(&contacts.own_additions, most):
        return False
    own = <Addition *> contacts.own_additions.data
    for t in range(loop.n_threads):
        listed = <const Addition *> loop.contacts[t].additions.data
        for k in range(loop.contacts[t].additions.size // <int> ADDITION_INTS):
            own[n] = listed[k]
            n += <unsigned int> (listed[k].slot - contacts.first_slot) < <unsigned int> contacts.n_slots
    if stored:
        qsort(own, n, sizeof(Addition), compare)
    for k in range(n):
        if stored:
            add_to_wrench(&loop.state, own[k].slot, own[k].force)
        else:
            add_to_sphere(contacts, &loop.state, own[k].slot, own[k].force)
    return True


cdef void add_onset_forces(Loop *loop, int thread, bint stored, bint between) noexcept nogil:
    """Add the onset corrections to the forces on own clumps. Called by all threads together.

    stored : the wrenches are stored, external forces included, and the corrections are added to them.
    between : not within a step; loop.started says whose velocities are half a step behind.
    """
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    contacts.additions.size = 0
    if contacts.some_onset:
        find_all_motions(loop, thread, stored, between)
        wait(&loop.broad, thread, 0)
        if mine.failure == NO_FAILURE and not correct_contacts(loop, thread):
            mine.failure = OUT_OF_MEMORY
        wait(&loop.broad, thread, 0)
        if not add_to_own(loop, thread, stored):
            mine.failure = OUT_OF_MEMORY
    if between and loop.keeps_onsets and mine.failure == NO_FAILURE and not take_onsets(loop, thread, NULL):
        mine.failure = OUT_OF_MEMORY


cdef inline void name_pair(const StateView *state, const int *pair, Onset *onset) noexcept nogil:
    """The user's numbers of the spheres of a contact, in order."""
    cdef int i = state.sphere_number[pair[0]], j = pair[1]
    j = state.sphere_number[j] if j >= 0 else j
    onset.first, onset.second = (j, i) if 0 <= j < i else (i, j)


cdef void note_onsets(Contacts *contacts, const StateView *state) noexcept nogil:
    """Note the corrections at the present pose by the user's numbers, for `noted_onsets`."""
    cdef Onset *noted = <Onset *> contacts.noted.data
    cdef Py_ssize_t m
    contacts.noted.size = 0
    for m in range(contacts.ends.size):
        if contacts.onset.data[m] != 0.0:
            name_pair(state, contacts.pairs.data + contacts.ends.data[m], noted)
            noted.force = contacts.onset.data[m]
            noted += 1
            contacts.noted.size += <int> INTS


cdef object noted_onsets(const Loop *loop):
    """Corrections that all threads have noted, (n, 3): spheres as in `Onset`, in ascending order; force [N]."""
    cdef const Onset *noted
    cdef int t
    cdef Py_ssize_t m
    found = []
    for t in range(loop.n_threads):
        noted = <const Onset *> loop.contacts[t].noted.data
        for m in range(loop.contacts[t].noted.size // <int> INTS):
            found.append((noted[m].first, noted[m].second, noted[m].force))
    return np.unique(np.array(found, dtype=float).reshape(-1, 3), axis=0)


cdef double known_onset(const Loop *loop, const Onset *pair) noexcept nogil:
    """The known correction of a contact [N]; 0 without one."""
    cdef Py_ssize_t low = 0, high = loop.n_known_onsets, middle
    cdef const double *row
    while low < high:
        middle = (low + high) // 2
        row = loop.known_onsets + 3 * middle
        if row[0] == pair.first and row[1] == pair.second:
            return row[2]
        if row[0] < pair.first or row[0] == pair.first and row[1] < pair.second:
            low = middle + 1
        else:
            high = middle
    return 0.0


cdef inline bint has_clump(const StateView *state, const unsigned char *chosen, int sphere) noexcept nogil:
    """Whether the clump of a sphere, or a wall, is a chosen one; NULL: all are."""
    return chosen == NULL or sphere < 0 or chosen[state.clump_number[clump_of(state, sphere)]]


cdef bint take_onsets(Loop *loop, int thread, const unsigned char *kept) noexcept nogil:
    """Replace the corrections of contacts between clumps that are kept by the known ones. False: memory exhausted.

    Corrections depend on the forces and predicted velocities of the step that led to the pose, so that an evaluation
    between steps finds others, in the last bits or beyond.
    """
    cdef Contacts *contacts = loop.contacts + thread
    cdef const StateView *state = &loop.state
    cdef const int *pair
    cdef Onset *found
    cdef Onset one
    cdef Py_ssize_t k, m = 0, n = 0, most = contacts.ends.size + loop.n_known_onsets
    cdef bint listed
    if loop.known_onsets == NULL:
        return True
    if not (reserve(&contacts.ends, most) and reserve(&contacts.onset, most)
            and reserve(&contacts.noted, <int> INTS * most)):
        return False
    found = <Onset *> contacts.noted.data               # room
    for k in range(0, contacts.pairs.size, 2):
        pair = contacts.pairs.data + k
        listed = m < contacts.ends.size and contacts.ends.data[m] == k
        one.force = contacts.onset.data[m] if listed else 0.0
        m += listed
        if has_clump(state, kept, pair[0]) and has_clump(state, kept, pair[1]):
            name_pair(state, pair, &one)
            one.force = known_onset(loop, &one)
        if one.force != 0.0:
            found[n].force, found[n].first = one.force, <int> k
            n += 1
    contacts.ends.size, contacts.noted.size = n, 0
    for m in range(n):
        contacts.ends.data[m], contacts.onset.data[m] = found[m].first, found[m].force
    return True
