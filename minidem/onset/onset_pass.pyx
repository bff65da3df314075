"""The onset pass: corrections (ONSET.md) of the contacts that may begin or end within a step.

    list        these contacts, as an observer of their evaluation
    mark        the blocks of their clumps, whichever thread owns them
    motions     of own clumps in marked blocks at the instant of the pose, under the forces found so far
    correct     the force of each contact, when all threads have found the motions
    add         to the sums of the spheres, and to the forces that the blocks of contacts hold

It follows the reduction of the wrenches and user forces, so that a correction sees all other forces at this pose. Then
the sums have the corrections alone, and are reduced into the stored wrenches.
"""
import numpy as np

from minidem.onset.series import TERMS, zeta_polynomials

from libc.stdlib cimport free
from libc.string cimport memcpy

from minidem.broadphase.broadphase cimport wait
from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks, ContactBlock, block_of
from minidem.contact.contact cimport CENTRAL_COEFFICIENTS, SideBlock, Contact, load3
from minidem.contact.contacts cimport Contacts, Observer, Room, add_observer
from minidem.contact.gather cimport call_central, load_block, load_only_pair
from minidem.contact.law cimport LawKernels
from minidem.contact.sums cimport add_central, clear_foreign, reduce_block, take_foreign
from minidem.core.instant cimport BETWEEN, Instant
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.openmp cimport set_flag
from minidem.core.quaternion cimport Quat, matrix, rotate, rotate_back, turn_vector
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub, vec3
from minidem.core.vectors cimport release, require_memory, reserve, zeroed_memory
from minidem.holds.hold cimport held_wrench
from minidem.onset.formula cimport OnsetConstants, Onsets, onset_forces
from minidem.rotation.scheme cimport PREDICT, SYNC, Body, Step, angular_acceleration, call_scheme, set_stage
from minidem.state.mobility cimport mobility_of
from minidem.state.rows cimport PINNED, ClumpBlock, ConstantBlock, HoldBlock, WrenchBlock, load, load_quat, store
from minidem.state.state cimport (
    StateView, clump_of, clumps_of, constants_of, free_slot_of, hold_of, member, pointer_to, wrench_of,
)

# Window of 1.1 steps, and a margin because stored velocities are half a step old. What overlaps at the first sample of
# a contact has come in during the last step, at that velocity; what overlaps at the last one leaves during the next
# step, at another velocity.
BEGINS, ENDS = 1.21, 1.6

if TERMS != ZETA_TERMS:
    raise ImportError("a polynomial has another length in C than in NumPy")

cdef struct Side:                   # one of the spheres of a contact, seen along the normal to it
    Vec3 velocity                   # of the sphere's centre, lab [m/s]
    double speed                    # its component along the normal [m/s]
    double acceleration             # of the sphere's centre along the normal [m/s2]
    double mobility                 # acceleration per normal force on the sphere [1/kg]

cdef struct OnsetBlock:                 # at most eight of the listed contacts, at the pose
    ContactBlock block              # the lanes behind them have the bodies of the first one
    Contact contact
    SideBlock sides[2]
    double images[6 * LANES]        # if it crosses: see gather_contacts
    bint crosses
    double magnitude[LANES]         # of the forces without correction [N]
    double force[3 * LANES]         # on the first bodies, without correction [N]


cdef inline Vec3 sphere_velocity(const StateView *state, int sphere) noexcept nogil:
    """Velocity of a sphere's centre, as stored, lab: with most rotation schemes half a step behind the pose."""
    cdef const double *x = state.spheres + 4 * <Py_ssize_t> sphere
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ClumpBlock *clumps = clumps_of(state, row_of(clump))
    cdef Vec3 turning = turn_vector(matrix(load_quat(clumps.orientation + lane)), load(clumps.angular_velocity + lane))
    return add(load(clumps.velocity + lane), cross(turning, sub(vec3(x[0], x[1], x[2]), load(clumps.position + lane))))


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: forget the contacts of the last pose."""
    cdef NearOnset *near = <NearOnset *> own
    near.lanes[0].size = near.lanes[1].size = 0


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: list the contacts of a block that may begin or end within a step."""
    cdef NearOnset *near = <NearOnset *> own
    cdef IntVector *lanes = &near.lanes[room.group]
    cdef Vec3 relative
    cdef double speed
    cdef int lane
    if not reserve(lanes, lanes.size + LANES):
        return
    for lane in range(LANES):
        if block.first[lane] == free_slot_of(state):
            continue
        relative = sphere_velocity(state, block.first[lane])
        if block.second[lane] >= 0:
            relative = sub(relative, sphere_velocity(state, block.second[lane]))
        if room.crosses:
            relative = sub(relative, load(room.images[0] + lane))
        speed = dot(load3(room.contact.normal, lane), relative)
        lanes.data[lanes.size] = <int> room.block * LANES + lane
        lanes.size += room.contact.overlap[lane] < (near.ends * speed if speed > 0.0 else -near.begins * speed)


cdef void find_motions(Loop *loop, const OnsetPass *onsets, Py_ssize_t b, const Instant *now) noexcept nogil:
    """Motions of the clumps of an own block at the instant of the pose."""
    cdef const StateView *state = &loop.state
    cdef WrenchBlock held
    cdef const WrenchBlock *wrench = held_wrench(state, b, wrench_of(state, b), &held)
    cdef const ConstantBlock *constants = constants_of(state, b)
    cdef const HoldBlock *hold = hold_of(state, b)
    cdef ClumpBlock *clumps = clumps_of(state, b)
    cdef ClumpMotions *motions = onsets.motions + b
    cdef double kept[3 * LANES]
    cdef Body body
    cdef Vec3 acceleration
    cdef Step step = loop.step
    cdef bint between = now.purpose == BETWEEN, given
    cdef int lane
    set_stage(&step, 0)
    memcpy(kept, clumps.predicted, sizeof(kept))
    call_scheme(loop.scheme, loop.roles, SYNC if between else PREDICT, clumps, wrench, constants, &step)
    memcpy(motions.angular_velocity, clumps.predicted, sizeof(kept))
    memcpy(clumps.predicted, kept, sizeof(kept))
    for lane in range(LANES):
        given = between and state.clump_number[b * LANES + lane] >= 0 \
            and not onsets.started[state.clump_number[b * LANES + lane]]          # its velocities do not lag the pose
        if given:
            store(motions.angular_velocity + lane, load(clumps.angular_velocity + lane))
        body.inertia = load(constants.inertia + lane)
        body.inverse_inertia = load(constants.inverse_inertia + lane)
        acceleration = scale(constants.inverse_mass[lane], load(wrench.force + lane))
        store(motions.acceleration + lane, acceleration)
        store(motions.velocity + lane,
              add_scaled(load(clumps.velocity + lane), 0.0 if given else 0.5 * step.dt, acceleration))
        if hold != NULL and hold.kind[lane] == PINNED:  # the pin does not move
            store(motions.velocity + lane, vec3(0.0, 0.0, 0.0))
        store(motions.angular_acceleration + lane, angular_acceleration(
            &body, load(motions.angular_velocity + lane), load(wrench.torque + lane)))


cdef bint mark_onsets(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: mark the blocks of the listed contacts."""
    cdef OnsetPass *onsets = <OnsetPass *> own
    cdef const NearOnset *near = onsets.near + thread
    cdef const ContactBlock *block
    cdef Py_ssize_t m
    cdef int group, k
    for group in range(<int> GROUPS):
        for m in range(near.lanes[group].size):
            k = near.lanes[group].data[m]
            block, k = block_of(&loop.contacts[thread].groups[group], k), lane_of(k)
            set_flag(onsets.marks + row_of(clump_of(&loop.state, block.first[k])))
            if group != <int> WALLS:
                set_flag(onsets.marks + row_of(clump_of(&loop.state, block.second[k])))
            set_flag(&onsets.any)
    return True


cdef inline Side side_of(const Loop *loop, const ClumpMotions *all_motions, int sphere, Vec3 normal) noexcept nogil:
    """Motion of a sphere at the instant of the pose; normal : to it."""
    cdef const StateView *state = &loop.state
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ClumpMotions *motions = all_motions + row_of(clump)
    cdef Quat q = load_quat(clumps_of(state, row_of(clump)).orientation + lane)
    cdef Vec3 r = load(member(state, row_of(sphere)) + lane), w = load(motions.angular_velocity + lane)
    cdef Vec3 velocity = load(motions.velocity + lane), along = rotate_back(q, normal), arm
    cdef Side side
    if state.holds != NULL:
        r = add(r, load(hold_of(state, row_of(clump)).arm + lane))
    arm = cross(r, along)
    side.velocity = add(velocity, rotate(q, cross(w, r)))
    side.speed = dot(velocity, normal) + dot(w, arm)
    side.acceleration = dot(load(motions.acceleration + lane), normal) \
        + dot(load(motions.angular_acceleration + lane), arm) \
        + (dot(w, r) * dot(w, along) - dot(w, w) * dot(r, along))
    side.mobility = mobility_of(state, sphere, normal, True)
    return side


cdef void load_listed(const Contacts *contacts, const StateView *state, int group, const int *lanes, int n,
                      OnsetBlock *listed) noexcept nogil:
    """n <= LANES contacts of a group, and their forces without correction."""
    cdef const ContactBlock *source
    cdef int lane, k
    for lane in range(LANES):
        k = lanes[lane if lane < n else 0]
        source, k = block_of(&contacts.groups[group], k), lane_of(k)
        listed.block.first[lane], listed.block.second[lane] = source.first[k], source.second[k]
        listed.block.materials[lane] = source.materials[k]
    load_only_pair(contacts.law, &listed.contact)
    listed.crosses = load_block(contacts.law, state, &listed.block, group == <int> WALLS, LANES, &listed.contact,
                                listed.sides, listed.images)
    call_central(contacts.law, &listed.contact, listed.magnitude, listed.force)


cdef void store_forces(const Contacts *contacts, int group, const int *lanes, int n, OnsetBlock *listed,
                       const double *corrections) noexcept nogil:
    """Write the forces with these corrections (n,) [N] into the blocks."""
    cdef ContactBlock *block
    cdef int lane, k, m
    for lane in range(n):
        block, k = block_of(&contacts.groups[group], lanes[lane]), lane_of(lanes[lane])
        for m in range(3):
            block.force[m][k] = (listed.magnitude[lane] + corrections[lane]) * listed.contact.normal[m][lane]


cdef void correct_eight(const Loop *loop, const OnsetPass *of_all, bint walls, const OnsetBlock *listed, int n,
                        double *force) noexcept nogil:
    """Onset corrections (LANES,) [N] of n <= LANES contacts; zero in the other lanes."""
    cdef const Contact *contact = &listed.contact
    cdef const double *radius_i = listed.sides[0].sphere + 3 * LANES
    cdef const double *radius_j = listed.sides[1].sphere + 3 * LANES
    cdef Onsets onsets
    cdef Side a, b
    cdef double rate, bending, movable = 0.0 if walls else 1.0, distance = 1.0
    cdef Vec3 normal, relative, image = vec3(0.0, 0.0, 0.0)
    cdef int lane
    memcpy(onsets.overlap, contact.overlap, sizeof(onsets.overlap))
    memcpy(onsets.radius, contact.radius, sizeof(onsets.radius))
    memcpy(onsets.coefficients, contact.coefficients, sizeof(onsets.coefficients))
    memcpy(onsets.force, listed.magnitude, sizeof(onsets.force))
    for lane in range(n, LANES):
        onsets.overlap[lane] = onsets.force[lane] = onsets.rate[lane] = onsets.acceleration[lane] = 0.0
        onsets.mobility[lane] = 1.0
    for lane in range(n):
        normal = load3(contact.normal, lane)
        a = side_of(loop, of_all.motions, listed.block.first[lane], normal)
        # Of a wall any sphere: what belongs to it is multiplied by zero.
        b = side_of(loop, of_all.motions, listed.block.first[lane] if walls else listed.block.second[lane],
                    scale(-1.0, normal))
        if listed.crosses:
            image = scale(0.5, add(load(listed.images + lane), load(listed.images + 3 * LANES + lane)))
        if not walls:
            distance = radius_i[lane] + radius_j[lane] - contact.overlap[lane]
        relative = sub(sub(a.velocity, b.velocity), image)
        rate = a.speed + movable * b.speed - dot(image, normal)
        # The centres turn about each other: their distance has the acceleration v_t^2 / distance.
        bending = movable * max(0.0, dot(relative, relative) - rate * rate) / distance
        onsets.rate[lane] = -rate
        onsets.mobility[lane] = a.mobility + movable * b.mobility
        onsets.acceleration[lane] = onsets.force[lane] * onsets.mobility[lane] - bending \
            - (a.acceleration + movable * b.acceleration)
    onset_forces(&of_all.constants, &onsets, force)


cdef void correct_contacts(Loop *loop, OnsetPass *onsets, int thread) noexcept nogil:
    """Add the corrections of the own contacts that are listed; without memory for them none is."""
    cdef Contacts *contacts = loop.contacts + thread
    cdef NearOnset *near = onsets.near + thread
    cdef OnsetBlock listed
    cdef double force[LANES]
    cdef double corrections[3][LANES]
    cdef const int *lanes
    cdef Py_ssize_t eight, first
    cdef int group, n, lane, m
    if not (reserve(&near.forces[0], near.lanes[0].size) and reserve(&near.forces[1], near.lanes[1].size)):
        clear(contacts, near)
    for group in range(<int> GROUPS):
        for eight in range((near.lanes[group].size + LANES - 1) // LANES):
            first = eight * LANES
            n, lanes = <int> min(<Py_ssize_t> LANES, near.lanes[group].size - first), near.lanes[group].data + first
            load_listed(contacts, &loop.state, group, lanes, n, &listed)
            correct_eight(loop, onsets, group == <int> WALLS, &listed, n, force)
            memcpy(near.forces[group].data + first, force, n * sizeof(double))
            store_forces(contacts, group, lanes, n, &listed, force)
            for lane in range(LANES):
                for m in range(3):
                    corrections[m][lane] = force[lane] * listed.contact.normal[m][lane]
            add_central(contacts, &listed.block, corrections[0], listed.sides, group == <int> WALLS, n)


cdef bint add_onset_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil:
    """Phase: add the onset corrections to the stored wrenches of own clumps."""
    cdef OnsetPass *onsets = <OnsetPass *> own
    cdef Contacts *contacts = loop.contacts + thread
    cdef Neighbours *mine = loop.broad.threads + thread
    cdef WrenchBlock *wrench
    cdef Py_ssize_t b
    if not onsets.any:
        return True
    for b in range(mine.first_block, mine.last_block):
        if onsets.marks[b]:
            onsets.marks[b] = 0
            find_motions(loop, onsets, b, now)
    wait(&loop.broad, thread, 0)                        # all have taken the sums on their spheres
    clear_foreign(contacts)
    correct_contacts(loop, onsets, thread)
    wait(&loop.broad, thread, 0)
    if thread == 0:
        onsets.any = 0                                  # all have read it
    take_foreign(loop.contacts, thread, loop.n_threads, &loop.state)
    for b in range(mine.first_block, mine.last_block):
        wrench = wrench_of(&loop.state, b)
        reduce_block(contacts, &loop.state, b, wrench, wrench)
    return True


cdef inline (int, int) named(const StateView *state, const ContactBlock *block, int lane) noexcept nogil:
    """Spheres of a contact in the user's numbers, the first one smaller; or -1 - primitive of a wall."""
    cdef int i = state.sphere_number[block.first[lane]], j = block.second[lane]
    j = state.sphere_number[j] if j >= 0 else j
    return (j, i) if 0 <= j < i else (i, j)


cdef inline bint has_clump(const StateView *state, const unsigned char *chosen, int sphere) noexcept nogil:
    """Whether the clump of a sphere, or a wall, is a chosen one."""
    return sphere < 0 or chosen[state.clump_number[clump_of(state, sphere)]]


cdef class OnsetCorrection:
    """The onset pass of one time loop."""

    cdef object attach(self, Loop *loop, double power):
        """Take part in a loop. power : p of the force k d^p of its law."""
        cdef const double[:, ::1] zeta = zeta_polynomials(power)
        cdef int t, k
        cdef Contacts *contacts
        self.loop, self.n_threads = loop, loop.n_threads
        self.own.near = <NearOnset *> zeroed_memory(loop.n_threads * sizeof(NearOnset))
        self.own.motions = <ClumpMotions *> zeroed_memory(loop.state.n_blocks * sizeof(ClumpMotions))
        self.own.marks = <unsigned char *> zeroed_memory(loop.state.n_blocks)
        require_memory("the onset corrections")
        self.own.constants.central, self.own.constants.power = loop.law.central, power
        self.own.constants.dt = loop.step.dt
        for k in range(ZETA_TERMS):
            self.own.constants.zeta[0][k], self.own.constants.zeta[1][k] = zeta[0][k], zeta[1][k]
        for t in range(loop.n_threads):
            self.own.near[t].begins, self.own.near[t].ends = BEGINS * loop.step.dt, ENDS * loop.step.dt
            contacts = loop.contacts + t
            add_observer(contacts, Observer(clear, see, self.own.near + t))
            contacts.stores_forces = True

    def __dealloc__(self):
        cdef int t, group
        for t in range(self.n_threads if self.own.near != NULL else 0):
            for group in range(<int> GROUPS):
                release(&self.own.near[t].lanes[group])
                release(&self.own.near[t].forces[group])
        free(self.own.near)
        free(self.own.motions)
        free(self.own.marks)

    cdef object listed(self):
        """Corrections at the present pose, (n, 3): spheres as of `named`, in ascending order; force [N]."""
        cdef const NearOnset *near
        cdef (int, int) pair
        cdef Py_ssize_t m
        cdef int t, group, k
        found = []
        for t in range(self.n_threads):
            near = self.own.near + t
            for group in range(<int> GROUPS):
                for m in range(near.lanes[group].size):
                    if near.forces[group].data[m] != 0.0:
                        k = near.lanes[group].data[m]
                        pair = named(&self.loop.state, block_of(&self.loop.contacts[t].groups[group], k), lane_of(k))
                        found.append((pair[0], pair[1], near.forces[group].data[m]))
        return np.array(sorted(set(found)), dtype=float).reshape(-1, 3)

    cdef object prepare(self, started):
        """Prepare an evaluation between steps. started : (n_clumps,) bool, velocities are half a step behind"""
        self.started = np.ascontiguousarray(started)
        self.own.started = <const unsigned char *> pointer_to(self.started)

    cdef object take(self, known, clumps):
        """Replace the corrections of contacts between some clumps, (n_clumps,) bool, of which `listed` gave `known`.

        Corrections depend on the forces and predicted velocities of the step that led to the pose, so that an
        evaluation between steps finds others, in the last bits or beyond.
        """
        by_pair = {(i, j): correction for i, j, correction in known.tolist()}
        cdef int t
        for t in range(self.n_threads):
            self.take_of_thread(t, by_pair, <const unsigned char *> pointer_to(clumps))

    cdef object take_of_thread(self, int thread, by_pair, const unsigned char *clumps):
        cdef Contacts *contacts = self.loop.contacts + thread
        cdef NearOnset *near = self.own.near + thread
        cdef const StateView *state = &self.loop.state
        cdef const Blocks *blocks
        cdef const ContactBlock *block
        cdef OnsetBlock listed
        cdef Py_ssize_t first, k, m
        cdef double force
        cdef int group, lane
        cdef bint is_listed
        for group in range(<int> GROUPS):
            blocks, m, found = &contacts.groups[group], 0, []
            for k in range(LANES * blocks.n_blocks):
                block, lane = block_of(blocks, k), lane_of(k)
                if block.first[lane] == blocks.free_slot:
                    continue
                is_listed = m < near.lanes[group].size and near.lanes[group].data[m] == k
                force = near.forces[group].data[m] if is_listed else 0.0
                m += is_listed
                if has_clump(state, clumps, block.first[lane]) and has_clump(state, clumps, block.second[lane]):
                    force = by_pair.get(named(state, block, lane), 0.0)
                if is_listed or force != 0.0:           # also if it is zero now: the block holds its force
                    found.append((k, force))
            reserve(&near.lanes[group], len(found))
            reserve(&near.forces[group], len(found))
            require_memory("the onset corrections")
            near.lanes[group].size = len(found)
            for m, (k, force) in enumerate(found):
                near.lanes[group].data[m], near.forces[group].data[m] = <int> k, force
            for first in range(0, near.lanes[group].size, LANES):
                lane = <int> min(<Py_ssize_t> LANES, near.lanes[group].size - first)
                load_listed(contacts, state, group, near.lanes[group].data + first, lane, &listed)
                store_forces(contacts, group, near.lanes[group].data + first, lane, &listed,
                             near.forces[group].data + first)


def onset_force_at(LawKernels kernels, double overlap, double radius, coefficients, double power, zeta, double dt,
                   double rate, double acceleration, double mobility):
    """The onset correction [N] of one contact; the arguments are as of LawKernels.force_at and formula.pxd."""
    cdef OnsetConstants of_all
    cdef Onsets onsets
    cdef double force[LANES]
    cdef int lane, k
    of_all.central, of_all.power, of_all.dt = kernels.central, power, dt
    for k in range(ZETA_TERMS):
        of_all.zeta[0][k], of_all.zeta[1][k] = zeta[0][k], zeta[1][k]
    for lane in range(LANES):
        onsets.overlap[lane], onsets.radius[lane] = overlap, radius
        for k in range(CENTRAL_COEFFICIENTS):
            onsets.coefficients[k][lane] = coefficients[k] if k < len(coefficients) else 0.0
        onsets.rate[lane], onsets.acceleration[lane] = rate, acceleration
        onsets.force[lane], onsets.mobility[lane] = kernels.force_at(overlap, radius, coefficients), mobility
    onset_forces(&of_all, &onsets, force)
    return force[0]
