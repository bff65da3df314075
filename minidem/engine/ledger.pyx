"""The ledger of a time loop: energies dissipated in contacts, and work of walls and a box that move; what broke; forces
of walls, and the stress that moves a box.

Each thread sums over its own contacts. The sums have no order (contact/fixed_point.pxd). Work is the integral of the
power by the trapezoidal rule over each step. That of user forces is of single clumps: user_forces.py,
compiled_forces.pyx.
"""
import numpy as np

from libc.math cimport fabs, sqrt
from libc.string cimport memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport Blocks, ContactBlock, block_at, block_of, history_of
from minidem.contact.contact cimport Contact, load3
from minidem.contact.contact_motion cimport Bodies, gather_contacts
from minidem.contact.fixed_point cimport Wide, join_wide, rounded_wide, split_wide
from minidem.contact.law cimport Law
from minidem.contact.part cimport (
    DAMPING, FRICTION, FrictionHistory, STIFFNESS, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS,
)
from minidem.contact.contacts cimport KINDS, SPHERES, WALLS, Contacts, Fracture, Ledger
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, norm, scale, sub, vec3
from minidem.engine.loop cimport Loop
from minidem.state.periodic_box cimport (
    BoxPose, box_moves, from_center, image_velocity, nearest_image, times_gradient,
)
from minidem.state.rows cimport ClumpBlock, load
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of
from minidem.walls.surface cimport WallPose, Walls

cdef extern from *:
    """
    #define MINIDEM_LEAST_LENGTH 1e-150
    #define MINIDEM_COARSER 0x1p24
    """
    const double LEAST_LENGTH "MINIDEM_LEAST_LENGTH"        # [m]
    const double COARSER "MINIDEM_COARSER"      # unit of sums of resistances, far above those of energies, over theirs

cdef struct Resistance:             # of a contact to displacements: c / dt + k / 4, with its dashpot c and its spring k
    double along, across            # its normal [N/m]


cdef inline Vec3 vector(const double *v) noexcept nogil:
    return vec3(v[0], v[1], v[2])


cdef Wide walls_work(const Loop *loop, int thread) noexcept nogil:
    """Work of the walls that move on own clumps in half a step, by the forces that the blocks of contacts hold."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Blocks *blocks = &contacts.groups[WALLS]
    cdef const Walls *walls = contacts.law.walls
    cdef const WallPose *pose
    cdef const ContactBlock *block
    cdef Contact contact
    cdef Bodies sides[2]
    cdef Vec3 force, arm
    cdef Wide work = 0
    cdef Py_ssize_t b
    cdef int lane, wall
    for b in range(blocks.n_blocks if walls.any_moves else 0):
        block = block_at(blocks, b)
        gather_contacts(False, contacts.law, &loop.state, block.first, block.second, True, &contact, sides, NULL)
        for lane in range(LANES):
            wall = walls.wall_of[-1 - block.second[lane]]
            if block.first[lane] == blocks.hole or not walls.moves[wall]:
                continue
            pose, force = walls.now + wall, load(block.force[0] + lane)
            arm = sub(add_scaled(load(sides[0].sphere + lane), contact.overlap[lane]
                                 - sides[0].sphere[3 * LANES + lane], load3(contact.normal, lane)),
                      vector(pose.position))
            work += rounded_wide(0.5 * loop.step.dt * (dot(force, vector(pose.velocity_now)) + dot(
                vector(pose.turning_now), add(cross(arm, force), load(block.couple[0] + lane)))) * loop.law.per_energy)
    return work


cdef inline void add_image_work(const Loop *loop, const BoxPose *box, int i, int j, Vec3 force,
                                Wide *work) noexcept nogil:
    """Of a contact of two spheres; force on the first [N]."""
    cdef double half = 0.5 * loop.step.dt
    cdef Vec3 behind, ahead
    if image_velocity(box, sub(vector(loop.state.spheres + 4 * <Py_ssize_t> i),
                               vector(loop.state.spheres + 4 * <Py_ssize_t> j)), &behind, &ahead):
        work[0] += rounded_wide(half * dot(force, behind) * loop.law.per_energy)
        work[1] += rounded_wide(half * dot(force, ahead) * loop.law.per_energy)


cdef void add_box_work(const Loop *loop, int thread, bint between, Wide *work) noexcept nogil:
    """Work of a periodic box that moves, by contacts with images: force times velocity of the image.

    work : (2,), in the half steps that end and begin.

    The evaluation of a step has summed it. It is summed again `between` steps, where the box may have new rates, and
    if forces contain onset corrections.
    """
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Blocks *blocks = &contacts.groups[SPHERES]
    cdef const ContactBlock *block
    cdef Py_ssize_t k
    cdef int lane
    cdef bint again = between or loop.law.ends > 0.0
    for k in range(0 if again else 2):
        work[k] += contacts.box_work[k]
    for k in range(LANES * blocks.n_blocks if again else 0):
        block, lane = block_of(blocks, k), lane_of(k)
        if block.first[lane] != blocks.hole:
            add_image_work(loop, contacts.law.box, block.first[lane], block.second[lane],
                           load(block.force[0] + lane), work)


cdef inline Resistance resistance_of(const Law *law, const ContactBlock *block, int lane,
                                     double overlap) noexcept nogil:
    """Of a contact, by the coefficients of the parts of a law with friction, and of the force of a law without history.

    Of bonds and laws of the user it is unknown: that of the stiffest spring and the strongest dashpot which the step
    resolves is taken.
    """
    cdef int pair = block.materials[lane] if law.n_materials > 1 else 0
    cdef const double *coefficients = law.coefficients + pair * law.n_coefficients
    cdef double mass = block.mass[lane], radius, dashpot, sticks
    cdef Resistance resistance
    if law.history == NULL:
        resistance.along = 0.25 * law.power * norm(load(block.force[0] + lane)) / max(overlap, LEAST_LENGTH)
        resistance.across = 0.0
        return resistance
    if law.parameters.parts[0].forces == NULL or law.touch_records > 0:
        resistance.along = resistance.across = 1.25 * mass / (law.dt * law.dt)
        return resistance
    radius = fabs((<const FrictionHistory *> history_of(block)).radius[lane])
    dashpot = coefficients[<int> DAMPING] * sqrt(mass * radius) / law.dt
    sticks = 1.0 if coefficients[<int> FRICTION] > 0.0 else 0.0
    resistance.along = dashpot + 0.25 * law.power * coefficients[<int> STIFFNESS] * radius
    resistance.across = sticks * (dashpot * coefficients[<int> TANGENTIAL_DAMPING]
                                  + 0.25 * coefficients[<int> TANGENTIAL_STIFFNESS] * radius)
    return resistance


cdef inline void add_virial(const Loop *loop, const BoxPose *box, const ContactBlock *block, int lane,
                            Wide *sums) noexcept nogil:
    """Force times branch vector of a contact of two spheres, normal components; the same of the largest force by which
    it resists to strain rates of magnitude 1 along the axes."""
    cdef const StateView *state = &loop.state
    cdef int i = block.first[lane], j = block.second[lane]
    cdef Vec3 force = load(block.force[0] + lane)
    cdef int one = clump_of(state, i), other = clump_of(state, j)
    cdef const double *x = clumps_of(state, row_of(one)).position + lane_of(one)
    cdef const double *y = clumps_of(state, row_of(other)).position + lane_of(other)
    cdef Vec3 between = sub(vector(state.spheres + 4 * <Py_ssize_t> i), vector(state.spheres + 4 * <Py_ssize_t> j))
    cdef Vec3 nearest = nearest_image(box, between), image = sub(nearest, between)
    cdef Vec3 branch = add(sub(load(x), load(y)), image)
    cdef Vec3 moved = branch if box.affine else image           # displacement of i beside j per strain
    cdef Vec3 n = scale(1.0 / max(norm(nearest), LEAST_LENGTH), nearest), resists
    cdef Resistance resistance = resistance_of(&loop.law, block, lane, state.spheres[4 * <Py_ssize_t> i + 3]
                                               + state.spheres[4 * <Py_ssize_t> j + 3] - norm(nearest))
    cdef double straight = fabs(resistance.along - resistance.across) * (
        fabs(n.x * moved.x) + fabs(n.y * moved.y) + fabs(n.z * moved.z))
    resists.x = straight * fabs(n.x) + resistance.across * fabs(moved.x)
    resists.y = straight * fabs(n.y) + resistance.across * fabs(moved.y)
    resists.z = straight * fabs(n.z) + resistance.across * fabs(moved.z)
    sums[0] += rounded_wide(force.x * branch.x * loop.law.per_energy)
    sums[1] += rounded_wide(force.y * branch.y * loop.law.per_energy)
    sums[2] += rounded_wide(force.z * branch.z * loop.law.per_energy)
    sums[3] += rounded_wide(resists.x * fabs(branch.x) * (loop.law.per_energy / COARSER))
    sums[4] += rounded_wide(resists.y * fabs(branch.y) * (loop.law.per_energy / COARSER))
    sums[5] += rounded_wide(resists.z * fabs(branch.z) * (loop.law.per_energy / COARSER))


cdef void add_steering_forces(const Loop *loop, int thread, Wide *sums) noexcept nogil:
    """Sum over own contacts and clumps what moves walls and axes of the box.

    sums : (walls, 3) forces of the walls in units of the force, and if an axis is under a pressure nine more: stress
        by contacts, resistance to strain rates (see `md.Pressure`), stress by velocities beside the flow; normal
        components, times the volume.

    Velocities are half a step behind, as the flow is.
    """
    cdef const StateView *state = &loop.state
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef const Blocks *blocks = &contacts.groups[WALLS]
    cdef const BoxPose *box = contacts.law.box
    cdef const ContactBlock *block
    cdef const ClumpBlock *clumps
    cdef Vec3 u
    cdef Py_ssize_t k
    cdef double inverse
    cdef int axis, lane
    memset(sums, 0, loop.course.n_sums * sizeof(Wide))
    for k in range(LANES * blocks.n_blocks):
        block, lane = block_of(blocks, k), lane_of(k)
        for axis in range(3 if block.first[lane] != blocks.hole else 0):
            sums[3 * contacts.law.walls.wall_of[-1 - block.second[lane]] + axis] += rounded_wide(
                block.force[axis][lane] / loop.law.force_unit)
    if not loop.course.presses:
        return
    sums += 3 * loop.walls.count
    blocks = &contacts.groups[SPHERES]
    for k in range(LANES * blocks.n_blocks):
        block, lane = block_of(blocks, k), lane_of(k)
        if block.first[lane] != blocks.hole:
            add_virial(loop, box, block, lane, sums)
    for k in range(mine.first_block * LANES, mine.last_block * LANES):
        clumps, lane = clumps_of(state, k // LANES), k % LANES
        inverse = constants_of(state, k // LANES).inverse_mass[lane]
        if state.clump_number[k] >= 0 and inverse > 0.0:
            u = sub(load(clumps.velocity + lane), times_gradient(box.flow, from_center(
                box, clumps.position + lane, LANES)))
            sums[6] += rounded_wide(u.x * u.x / inverse * loop.law.per_energy)
            sums[7] += rounded_wide(u.y * u.y / inverse * loop.law.per_energy)
            sums[8] += rounded_wide(u.z * u.z / inverse * loop.law.per_energy)


cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil:
    """(6,) stress, and resistance to strain rates, times the volume [J], of the nine sums of add_steering_forces."""
    cdef int axis
    for axis in range(3):                               # strains of all axes change it by less than five times itself
        virial[axis] = (sums[axis] + sums[6 + axis]) * loop.law.energy_unit
        virial[3 + axis] = sums[3 + axis] * (COARSER * loop.law.energy_unit) + 1.25 * (
            sums[6 + axis] * loop.law.energy_unit)


cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil:
    """At a whole step, when the contacts of own clumps are known. between : no step has led to this pose."""
    cdef Ledger *ledger = &loop.contacts[thread].ledger
    cdef Wide work[2]
    work[0] = work[1] = walls_work(loop, thread)
    if box_moves(loop.contacts[thread].law.box):
        add_box_work(loop, thread, between, work)
    if not between:
        ledger.wall_work += ledger.wall_power + work[0]
    ledger.wall_power = work[1]


cdef object read_ledger(const Loop *loop):
    """(7, 2) energies, each the sum of two numbers [J].

    Dissipated by damping, tangential damping, sliding, rolling, fracture; work of moving walls, and in half a step at
    the last.
    """
    cdef double[:, ::1] entries = np.zeros((KINDS + 2, 2))
    cdef const Ledger *ledger
    cdef Wide total[KINDS + 2]
    cdef int t, k
    memset(total, 0, sizeof(total))
    for t in range(loop.n_threads):
        ledger = &loop.contacts[t].ledger
        for k in range(<int> KINDS):
            total[k] += ledger.dissipated[k]
        total[<int> KINDS] += ledger.wall_work
        total[<int> KINDS + 1] += ledger.wall_power
    for k in range(<int> KINDS + 2):
        split_wide(total[k], loop.law.energy_unit, &entries[k, 0])
    for t in range(loop.n_threads):
        for k in range(<int> KINDS):
            entries[k, 0] += loop.contacts[t].ledger.lost[k]
    return np.asarray(entries)


cdef void write_ledger(Loop *loop, const double[:, ::1] entries) noexcept nogil:
    """Replace the energies: the reverse of read_ledger."""
    cdef Ledger *ledger = &loop.contacts[0].ledger
    cdef int t, k
    for t in range(loop.n_threads):
        memset(&loop.contacts[t].ledger, 0, sizeof(Ledger))
    for k in range(<int> KINDS):
        ledger.dissipated[k] = join_wide(&entries[k, 0], loop.law.energy_unit)
    ledger.wall_work = join_wide(&entries[<int> KINDS, 0], loop.law.energy_unit)
    ledger.wall_power = join_wide(&entries[<int> KINDS + 1, 0], loop.law.energy_unit)


cdef object take_fractures(Loop *loop, known, driver):
    """`known` of a Driver, (n, 6), and behind it what broke since the last call, by ascending step and spheres.

    Ids of the two clumps, -1 - k of wall k; places of the spheres in their clumps, 0 of a wall; number of the step at
    whose end it broke; energy [J].
    """
    cdef const Fracture *noted
    cdef Py_ssize_t k, row = 0, n = 0
    cdef int t
    for t in range(loop.n_threads):
        n += loop.contacts[t].ledger.n_fractures
    if n == 0:
        return known
    cdef double[:, ::1] found = np.empty((4, n))
    for t in range(loop.n_threads):
        for k in range(loop.contacts[t].ledger.n_fractures):
            noted = <const Fracture *> loop.contacts[t].fractures.data + k
            found[0, row], found[1, row] = noted.second, noted.first
            found[2, row], found[3, row] = noted.step, noted.energy
            row += 1
    second, first, step, energy = np.asarray(found)[:, np.lexsort(found[:3])]
    sizes, columns = driver.state.bodies.sizes[driver.state.template_index], []
    ends = np.cumsum(sizes)
    for spheres in (first, second):
        clump, at_wall = ends.searchsorted(np.maximum(spheres, 0.0), side="right"), spheres < 0.0
        wall = np.append(driver.walls.wall_of, 0).take(-1 - np.minimum(spheres, -1.0).astype(int))
        columns += [np.where(at_wall, -1 - wall, driver.population.ids[clump]),
                    np.where(at_wall, 0, spheres - (ends - sizes)[clump])]
    both = np.append(known, np.column_stack([*columns[::2], *columns[1::2], step, energy]), axis=0)
    for t in range(loop.n_threads):                     # nothing is interrupted from here on
        loop.contacts[t].ledger.n_fractures = 0
    return both
