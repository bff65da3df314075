"""Observer of contacts between spheres in a periodic box that moves: the work of the box, and its stress.

The work is the force of each contact with an image, times the velocity of the image. Under a Pressure, stress and
resistance of all contacts are summed as well.
"""
from libc.string cimport memset

from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport SideBlock, Contact
from minidem.contact.contacts cimport BLOCKS_PER_FOLD, SPHERES, Contacts, Room
from minidem.contact.fixed_point cimport add_energies, fold
from minidem.contact.law cimport Law
from minidem.core.eight cimport (
    Eight, Eight3, add3, by_axis3, dot3, eight3_where, eight_at, eight_of, eight_of_ints, eight_where, load_eight,
    load_eight3, scale3, store_eight, store_eight3, sub3,
)
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.periodic_box cimport BoxPose, nearest_differences
from minidem.state.state cimport StateView, clump_of, clumps_of, free_slot_of
from minidem.steering.resistance cimport RESISTANCE_UNIT, find_resistances, magnitude


cdef void fold_sums(BoxSums *sums) noexcept nogil:
    """Move the sums of the last few blocks to the totals."""
    fold(sums.sums, BOX_SUMS, sums.totals)
    sums.n_blocks = 0


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: forget the contacts of the last pose."""
    cdef BoxSums *sums = <BoxSums *> own
    memset(sums.sums, 0, sizeof(sums.sums))
    memset(sums.totals, 0, sizeof(sums.totals))
    sums.n_blocks = 0


cdef inline void add_rows(const double *rows, int n, int first, BoxSums *sums) noexcept nogil:
    """Add n rows of units to the sums from `first` on."""
    add_energies(rows, n, 1.0, sums.sums + first * LANES, sums.totals + first, sums.lost + first)


cdef inline Eight3 centres_of(const StateView *state, const int *spheres) noexcept nogil:
    """Centres of mass of the clumps of eight spheres."""
    cdef const double *position[LANES]
    cdef Eight3 centres
    cdef int lane, clump
    for lane in range(LANES):
        clump = clump_of(state, spheres[lane]) if spheres[lane] < free_slot_of(state) else 0
        position[lane] = clumps_of(state, row_of(clump)).position + lane_of(clump)
    centres.x, centres.y, centres.z = eight_at(position, 0), eight_at(position, LANES), eight_at(position, 2 * LANES)
    return centres


cdef inline void add_stress(const Law *law, const StateView *state, const ContactBlock *block, Eight present,
                            Eight3 force, const Contact *contact, const SideBlock *sides, bint crosses,
                            BoxSums *sums) noexcept nogil:
    """Add stress and resistance of eight contacts.

    present : positive where there is a contact.  crosses : one of them is with an image.
    """
    cdef const BoxPose *box = law.box
    cdef const double *a = sides[0].sphere
    cdef const double *b = sides[1].sphere
    cdef double rows[6 * LANES]
    cdef double images[3 * LANES]
    cdef Eight straight, along, across, per_stress = eight_of(law.per_energy / STRESS_UNIT)
    cdef Eight3 n = load_eight3(contact.normal[0]), image = scale3(eight_of(0.0), n), branch, moved, by_strain
    if crosses:
        nearest_differences(box, a, b, images)          # without an image the difference is exactly zero
        image = sub3(load_eight3(images), sub3(load_eight3(a), load_eight3(b)))
        store_eight3(images, image)
        store_eight3(rows, eight3_where(present, scale3(per_stress, by_axis3(force, image))))
        store_eight3(rows + 3 * LANES, eight3_where(present, scale3(per_stress, force)))
        store_eight(rows + 3 * LANES, load_eight(rows + (3 + box.flow_axis) * LANES)
                    * load_eight(images + box.gradient_axis * LANES))
        add_rows(rows, 4, IMAGES, sums)
    branch = scale3(load_eight(a + 3 * LANES) + load_eight(b + 3 * LANES) - load_eight(contact.overlap), n)
    if state.n_members > state.n_blocks:                # clumps of several spheres
        branch = add3(sub3(centres_of(state, block.first), centres_of(state, block.second)), image)
    find_resistances(law, block, force, load_eight(contact.overlap), &along, &across)
    moved = branch if box.affine else image             # displacement of i beside j per strain
    straight = magnitude(along - across) * (
        magnitude(n.x * moved.x) + magnitude(n.y * moved.y) + magnitude(n.z * moved.z))
    by_strain.x = (straight * magnitude(n.x) + across * magnitude(moved.x)) * magnitude(branch.x)
    by_strain.y = (straight * magnitude(n.y) + across * magnitude(moved.y)) * magnitude(branch.y)
    by_strain.z = (straight * magnitude(n.z) + across * magnitude(moved.z)) * magnitude(branch.z)
    store_eight3(rows, eight3_where(present, scale3(per_stress, by_axis3(force, branch))))
    store_eight3(rows + 3 * LANES, eight3_where(present, scale3(
        eight_of(law.per_energy / RESISTANCE_UNIT), by_strain)))
    add_rows(rows, 6, STRESS, sums)


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: add the contacts of a block that do not end."""
    cdef const Law *law = contacts.law
    cdef BoxSums *sums = <BoxSums *> own
    cdef double work[2 * LANES]
    cdef Eight present = eight_of(free_slot_of(state)) - eight_of_ints(block.first)     # positive: there is a contact
    cdef Eight3 force = load_eight3(room.result.force[0])
    cdef int half
    if room.group != <int> SPHERES or not (sums.presses or room.crosses):
        return
    if law.history != NULL:
        present = eight_where(load_eight(room.result.goes_on) - eight_of(0.5), present)
    if room.crosses:
        for half in range(2):
            store_eight(work + half * LANES, eight_where(present, 0.5 * law.dt * dot3(force, load_eight3(
                room.images[3 * half])) * law.per_energy))
        add_rows(work, 2, WORK_BEHIND, sums)
    if sums.presses:
        add_stress(law, state, block, present, force, &room.contact, room.sides, room.crosses, sums)
    sums.n_blocks += 1
    if sums.n_blocks == <int> BLOCKS_PER_FOLD:
        fold_sums(sums)


cdef Observer box_observer(BoxSums *sums) noexcept nogil:
    """It sums over the contacts of a thread."""
    return Observer(clear, see, sums)
