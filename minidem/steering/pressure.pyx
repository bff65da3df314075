"""The pressure of a periodic box: the stress in it, and how it changes the rates of the lengths, see `md.Pressure`."""
from libc.math cimport exp, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.blocks cimport ContactBlock, block_at
from minidem.contact.contacts cimport BLOCKS_PER_FOLD, SPHERES, Contacts
from minidem.contact.fixed_point cimport add_energies, fold, rounded_wide
from minidem.contact.law cimport Law
from minidem.core.eight cimport (
    Eight, Eight3, add3, dot3, eight_of, eight_where, load_eight, load_eight3, scale3, store_eight, store_eight3,
    sub3,
)
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.prefetch cimport BLOCKS_AHEAD, prefetch_rows
from minidem.core.transpose cimport rows_from_records
from minidem.state.periodic_box cimport times_gradient, from_center, nearest_differences
from minidem.state.rows cimport ClumpBlock, load, store
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, free_slot_of
from minidem.steering.resistance cimport LEAST_LENGTH, RESISTANCE_UNIT, find_resistances, magnitude, root

cdef enum:                          # sums for a pressure, of three axes, times the volume
    STRESS                          # by contacts
    RESISTANCE                      # to strain rates, see md.Pressure
    IMAGES                          # part of the stress by displacements of images; behind it the one of the shear
    KINETIC                         # stress by velocities
    N_TOTALS

cdef enum:
    STRESS_UNIT = 1 << 14           # unit of the sums of stresses / unit of energies
    ROWS_OF_VIRIAL = 14             # of a ContactBlock, up to the contact radius

cdef struct Totals:                 # of four quantities, see add_energies
    int64_t sums[4 * LANES]         # of the last few blocks
    Wide totals[4]
    double lost[4]
    int n                           # blocks


cdef inline Eight3 by_axis(Eight3 a, Eight3 b) noexcept nogil:
    a.x, a.y, a.z = a.x * b.x, a.y * b.y, a.z * b.z
    return a


cdef inline void add_rows(Eight present, Eight3 rows, Eight last, double per_unit, Totals *totals) noexcept nogil:
    """Add four rows, where `present` is 1 and not 0."""
    cdef double room[4 * LANES]
    rows.x, rows.y, rows.z = eight_where(present, rows.x), eight_where(present, rows.y), eight_where(present, rows.z)
    store_eight3(room, rows)
    store_eight(room + 3 * LANES, eight_where(present, last))
    add_energies(room, per_unit, totals.sums, totals.totals, totals.lost)
    totals.n += 1
    if totals.n % BLOCKS_PER_FOLD == 0:
        fold(totals.sums, 4, totals.totals)


cdef inline Eight3 centres_of(const StateView *state, const int *spheres, const double *bodies) noexcept nogil:
    """Centres of mass of the clumps of eight spheres. bodies : (4, LANES) the spheres."""
    cdef double centres[3 * LANES]
    cdef int lane, clump
    if state.n_members == state.n_blocks:               # one sphere each
        return load_eight3(bodies)
    for lane in range(LANES):
        clump = clump_of(state, spheres[lane]) if spheres[lane] < free_slot_of(state) else 0
        store(centres + lane, load(clumps_of(state, row_of(clump)).position + lane_of(clump)))
    return load_eight3(centres)


cdef inline void add_virial(const Loop *loop, const Law *law, const ContactBlock *block,
                            Totals *totals) noexcept nogil:
    """Add the parts of eight contacts between spheres to STRESS, RESISTANCE and IMAGES."""
    cdef const BoxPose *box = law.box
    cdef double a[4 * LANES], b[4 * LANES], room[3 * LANES], present[LANES]
    cdef Eight distance, straight, along, across
    cdef Eight3 nearest, n, image, branch, moved, force = load_eight3(block.force[0]), by_strain
    cdef int lane
    rows_from_records(loop.state.spheres, block.first, a)
    rows_from_records(loop.state.spheres, block.second, b)
    nearest_differences(box, a, b, room)
    for lane in range(LANES):
        present[lane] = 1.0 if block.first[lane] != free_slot_of(&loop.state) else 0.0
    nearest = load_eight3(room)
    distance = root(dot3(nearest, nearest))
    find_resistances(law, block, load_eight(a + 3 * LANES) + load_eight(b + 3 * LANES) - distance, &along, &across)
    n = scale3(eight_of(1.0) / (distance + eight_of(LEAST_LENGTH)), nearest)
    image = sub3(nearest, sub3(load_eight3(a), load_eight3(b)))
    branch = add3(sub3(centres_of(&loop.state, block.first, a), centres_of(&loop.state, block.second, b)), image)
    moved = branch if box.affine else image             # displacement of i beside j per strain
    straight = magnitude(along - across) * (
        magnitude(n.x * moved.x) + magnitude(n.y * moved.y) + magnitude(n.z * moved.z))
    by_strain.x = magnitude((straight * magnitude(n.x) + across * magnitude(moved.x)) * branch.x)
    by_strain.y = magnitude((straight * magnitude(n.y) + across * magnitude(moved.y)) * branch.y)
    by_strain.z = magnitude((straight * magnitude(n.z) + across * magnitude(moved.z)) * branch.z)
    add_rows(load_eight(present), by_axis(force, branch), eight_of(0.0), law.per_energy / STRESS_UNIT, totals + STRESS)
    add_rows(load_eight(present), by_strain, eight_of(0.0), law.per_energy / RESISTANCE_UNIT, totals + RESISTANCE)
    store_eight3(room, image)
    add_rows(load_eight(present), by_axis(force, image), load_eight(block.force[box.flow_axis]) * load_eight(
        room + LANES * box.gradient_axis), law.per_energy / STRESS_UNIT, totals + IMAGES)


cdef inline void add_kinetic(const Loop *loop, const BoxPose *box, Py_ssize_t b, Totals *totals) noexcept nogil:
    """Stress by velocities of the clumps of a block beside the flow; half a step behind, as the flow is."""
    cdef const ClumpBlock *clumps = clumps_of(&loop.state, b)
    cdef double mass[LANES]
    cdef Eight3 u = load_eight3(clumps.velocity)
    cdef int lane
    for lane in range(LANES):
        mass[lane] = constants_of(&loop.state, b).mass[lane] if loop.state.clump_number[b * LANES + lane] >= 0 else 0.0
    u = sub3(u, times_gradient(box.flow, from_center(box, load_eight3(clumps.position))))
    add_rows(load_eight(mass), scale3(load_eight(mass), by_axis(u, u)), eight_of(0.0),
             loop.law.per_energy / STRESS_UNIT, totals)


cdef void add_stress(const Loop *loop, int thread, Wide *sums) noexcept nogil:
    """Sum over own contacts and clumps what moves the axes of the box; sums : (N_TOTALS, 4)."""
    cdef const Contacts *contacts = loop.contacts + thread
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef Totals totals[N_TOTALS]
    cdef Py_ssize_t k
    cdef int m
    memset(totals, 0, sizeof(totals))
    for k in range(contacts.groups[SPHERES].n_blocks):
        prefetch_rows(<const double *> block_at(&contacts.groups[SPHERES], k + BLOCKS_AHEAD), ROWS_OF_VIRIAL)
        add_virial(loop, contacts.law, block_at(&contacts.groups[SPHERES], k), totals)
    for k in range(mine.first_block, mine.last_block):
        add_kinetic(loop, contacts.law.box, k, totals + KINETIC)
    for m in range(N_TOTALS):
        fold(totals[m].sums, 4, totals[m].totals)
        memcpy(sums + 4 * m, totals[m].totals, 4 * sizeof(Wide))


cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil:
    """Stress (3,) and resistance (3,), see above, times the volume [J]. sums : (N_TOTALS, 4)"""
    cdef double unit = loop.law.energy_unit * STRESS_UNIT, kinetic
    cdef int axis
    for axis in range(3):                               # strains of all axes change it by less than five times itself
        kinetic = sums[4 * <int> KINETIC + axis] * unit
        virial[axis] = sums[4 * <int> STRESS + axis] * unit + kinetic
        virial[3 + axis] = sums[4 * <int> RESISTANCE + axis] * (RESISTANCE_UNIT * loop.law.energy_unit) + 1.25 * kinetic


cdef void accelerate_box(const BoxSpec *spec, const BoxState *state, const double *virial, bint begins,
                         double *rates) noexcept nogil:
    """Advance the strain rates (3,) of the axes under a Pressure from half a step before this instant to half a step
    after it [1/s].

    virial : (6,) stresses along the axes, and resistances to their strain rates (Pressure), times the volume [J].
    begins : the Pressures begin, and the rates belong to this instant, not to half a step before it.
    """
    cdef double volume = exp(state.strain[0] + state.strain[1] + state.strain[2]), stress, square, drag, rate
    cdef double span = 0.5 * spec.dt if begins else spec.dt
    cdef int axis
    for axis in range(3):
        volume *= spec.start[axis]
    for axis in range(3):
        if spec.pressure[axis] > 0.0:
            rate = spec.begins[axis] if begins else state.rate[axis]
            stress = virial[axis] / volume
            square = spec.time[axis] * spec.time[axis] + 2.0 * (spec.dt * spec.dt) * (
                virial[3 + axis] / volume) / spec.pressure[axis]
            drag = span * spec.damping[axis] / sqrt(square)
            rates[axis] = ((1.0 - drag) * rate + span * (
                stress / spec.pressure[axis] - 1.0) / square) / (1.0 + drag)


cdef Wide work_of_images(const Loop *loop, const Wide *sums, const BoxPose *box) noexcept nogil:
    """Work in the half step that begins, in which the box has new rates: force times velocity of the images.

    sums : see virial_of; the sums of IMAGES use -1 times the image displacement.
    """
    cdef int axis, f = box.flow_axis, g = box.gradient_axis
    cdef double power = sums[4 * <int> IMAGES + 3] * (
        box.lattice_ahead[f] - box.ahead[f] * box.inverse[f] * box.lattice[f]) * box.across[g]
    for axis in range(3):
        power += sums[4 * <int> IMAGES + axis] * (box.ahead[axis] * box.inverse[axis])
    return rounded_wide(-0.5 * loop.step.dt * STRESS_UNIT * power)
