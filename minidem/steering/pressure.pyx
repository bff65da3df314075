"""The pressure of a periodic box: the stress in it, and how it changes the rates of the lengths, see `md.Pressure`."""
from libc.math cimport exp, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from minidem.broadphase.neighbours cimport Neighbours
from minidem.contact.contacts cimport BLOCKS_PER_FOLD
from minidem.contact.fixed_point cimport add_energies, fold, rounded_wide
from minidem.core.eight cimport (
    Eight3, by_axis3, eight3_where, eight_of, eight_of_ints, load_eight, load_eight3, scale3, store_eight3, sub3,
)
from minidem.core.lanes cimport LANES
from minidem.core.prefetch cimport BLOCKS_AHEAD, prefetch_rows
from minidem.state.periodic_box cimport from_center, times_gradient
from minidem.state.rows cimport ClumpBlock
from minidem.state.state cimport clumps_of, constants_of
from minidem.steering.box_sums cimport (
    BOX_SUMS, IMAGES, RESISTANCE, SHEARED, STRESS, STRESS_UNIT, fold_sums,
)
from minidem.steering.resistance cimport RESISTANCE_UNIT

cdef enum:
    KINETIC = BOX_SUMS              # stress of three axes by velocities, behind the sums over contacts
    ROWS_OF_POSITION = 6            # and of the velocity


cdef void add_kinetic(const Loop *loop, int thread, Wide *totals) noexcept nogil:
    """Add the stress by velocities of own clumps beside the flow to totals (3,); half a step behind, as the flow is."""
    cdef const Neighbours *mine = loop.broad.threads + thread
    cdef const BoxPose *box = loop.contacts[thread].law.box
    cdef const ClumpBlock *clumps
    cdef double per_unit = loop.law.per_energy / STRESS_UNIT
    cdef double rows[3 * LANES]
    cdef double lost[3]
    cdef int64_t sums[3 * LANES]
    cdef Py_ssize_t b
    cdef Eight3 u
    memset(sums, 0, sizeof(sums))
    for b in range(mine.first_block, mine.last_block):
        clumps = clumps_of(&loop.state, b)
        prefetch_rows(clumps_of(&loop.state, b + BLOCKS_AHEAD).position, ROWS_OF_POSITION)
        u = sub3(load_eight3(clumps.velocity), times_gradient(box.flow, from_center(
            box, load_eight3(clumps.position))))
        u = scale3(eight_of(per_unit) * load_eight(constants_of(&loop.state, b).mass), by_axis3(u, u))
        store_eight3(rows, eight3_where(eight_of_ints(loop.state.clump_number + b * LANES) + eight_of(1.0), u))
        add_energies(rows, 3, 1.0, sums, totals, lost)
        if (b + 1) % BLOCKS_PER_FOLD == 0:
            fold(sums, 3, totals)
    fold(sums, 3, totals)


cdef void sum_stress(const Loop *loop, int thread, BoxSums *own, Wide *sums) noexcept nogil:
    """Sum over own contacts and clumps what moves the axes of the box; sums : (STEERING_SUMS,), zeros."""
    fold_sums(own)
    memcpy(sums, own.totals, sizeof(own.totals))
    add_kinetic(loop, thread, sums + <int> KINETIC)


cdef void virial_of(const Loop *loop, const Wide *sums, double *virial) noexcept nogil:
    """Stress (3,) and resistance (3,), see above, times the volume [J]. sums : (STEERING_SUMS,)"""
    cdef double unit = loop.law.energy_unit * STRESS_UNIT, kinetic
    cdef int axis
    for axis in range(3):                               # strains of all axes change it by less than five times itself
        kinetic = sums[<int> KINETIC + axis] * unit
        virial[axis] = sums[<int> STRESS + axis] * unit + kinetic
        virial[3 + axis] = sums[<int> RESISTANCE + axis] * (RESISTANCE_UNIT * loop.law.energy_unit) + 1.25 * kinetic


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
    cdef double power = sums[<int> SHEARED] * (
        box.lattice_ahead[f] - box.ahead[f] * box.inverse[f] * box.lattice[f]) * box.across[g]
    for axis in range(3):
        power += sums[<int> IMAGES + axis] * (box.ahead[axis] * box.inverse[axis])
    return rounded_wide(-0.5 * loop.step.dt * STRESS_UNIT * power)
