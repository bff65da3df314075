# distutils: extra_compile_args = -O2
"""All contacts at the present pose, as a structured array for Python (contact_table.py)."""
from libc.string cimport memcpy, memset

import numpy as np

from minidem.broadphase.ghosts cimport slot_of
from minidem.broadphase.neighbours cimport Neighbours, owns, push_pair
from minidem.contact.contact_motion cimport gather_contacts
from minidem.contact.contact_rows cimport describe
from minidem.contact.history cimport Touching, couple_of, doubles, result_of
from minidem.contact.law cimport Contact, Law, LawKernels
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.rows cimport (
    CONTACT_ROWS, DESCRIPTION_ROWS, MAX_RECORDS, NORMAL_ENERGY, ROLLING_ENERGY, SLIDING, TANGENTIAL_ENERGY,
)
from minidem.core.int_vector cimport IntVector, release
from minidem.core.lanes cimport LANES
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, norm, sub, vec3
from minidem.state.periodic_box cimport nearest_image
from minidem.state.rows cimport POSITION, load
from minidem.state.state cimport State, StateView
from minidem.walls.surface cimport Walls, find_triangles, simple_height


cdef inline void write_row(int *pair, double *values, const StateView *state, int i, int j, const Law *law,
                           double correction) noexcept nogil:
    """A row for `describe`. i : slot of a sphere;  j : of a sphere or ghost, or -1 - element;  correction of its force.
    """
    cdef Contact contact = law.one(law, state, i, j)
    pair[0], pair[1] = i, slot_of(state, j)
    values[0], values[1] = contact.overlap, contact.force + correction
    values[2] = law.energy_factor * contact.force * contact.overlap
    values[3], values[4], values[5] = contact.normal.x, contact.normal.y, contact.normal.z


cdef object list_contacts(State state, const Contacts *contacts, const Neighbours *threads, int n_threads):
    """All contacts of all threads, a structured array of CONTACT."""
    cdef Py_ssize_t count = 0, k, m
    cdef int t, i, j
    cdef double correction
    cdef int[:, ::1] pair
    cdef double[:, ::1] values
    for t in range(n_threads):
        count += contacts[t].pairs.size // 2
    pair, values = np.empty((count, 2), dtype=np.int32), np.empty((count, 6))
    count = 0
    for t in range(n_threads):
        m = 0
        for k in range(0, contacts[t].pairs.size, 2):
            i, j = contacts[t].pairs.data[k], contacts[t].pairs.data[k + 1]
            correction = 0.0
            if m < contacts[t].ends.size and contacts[t].ends.data[m] == k:             # in ascending order
                correction = (<const double *> contacts[t].onset.data)[m]
                m += 1
            if owns(threads + t, &state.view, i):                       # else the owner of i lists it
                write_row(&pair[count, 0], &values[count, 0], &state.view, i, j, contacts[t].law, correction)
                count += 1
    return describe(state, pair, values, None, count)


cdef void write_friction(int *numbers, const Py_ssize_t *places, int n, double[:, ::1] values,
                         double[:, ::1] friction, const StateView *view, const Law *law,
                         const Touching *touching) noexcept nogil:
    """Energies and friction, as `describe` reads them, of n <= LANES contacts, all with walls or all without.

    numbers : of the contacts, room for LANES;  places : of their rows.
    """
    cdef double contact[CONTACT_ROWS * LANES]
    cdef double rows[MAX_RECORDS * 4 * LANES]
    cdef double result[DESCRIPTION_ROWS * LANES]
    cdef double points[3 * LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef int lane, m, r
    cdef double *row
    if n == 0:
        return
    for lane in range(LANES):
        numbers[lane] = numbers[min(lane, n - 1)]
        i[lane], j[lane] = touching.pairs.data[2 * numbers[lane]], touching.pairs.data[2 * numbers[lane] + 1]
    gather_contacts(law, view, i, j, j[0] < 0, contact, points)
    for r in range(law.n_records):
        rows_from_records(doubles(&touching.records[r]), numbers, rows + 4 * LANES * r)
    law.describe(contact, rows, result, law.parameters)
    for lane in range(n):
        row = &friction[places[lane], 0]
        memcpy(row, result_of(touching, numbers[lane]), 3 * sizeof(double))
        memset(row + 6, 0, 3 * sizeof(double))
        if law.has_couples:
            memcpy(row + 6, couple_of(touching, numbers[lane]), 3 * sizeof(double))
        for m in range(3):
            row[3 + m] = points[m * LANES + lane]
        values[places[lane], 2] = result[NORMAL_ENERGY * LANES + lane]
        row[9], row[10] = result[TANGENTIAL_ENERGY * LANES + lane], result[ROLLING_ENERGY * LANES + lane]
        row[11] = result[SLIDING * LANES + lane]


cdef object list_touching(State state, const StateView *view, const Contacts *contacts, const Neighbours *threads,
                          int n_threads):
    """All contacts of a law with history, of all threads, a structured array of CONTACT; the spheres are posed."""
    cdef Py_ssize_t count = 0, k
    cdef Py_ssize_t places[LANES]
    cdef int numbers[LANES]
    cdef int t, i, j, walls, n
    cdef const Touching *touching
    cdef int[:, ::1] pair
    cdef double[:, ::1] values, friction
    for t in range(n_threads):
        count += contacts[t].history.contacts.n
    pair, values, friction = np.empty((count, 2), dtype=np.int32), np.empty((count, 6)), np.empty((count, 12))
    count = 0
    for t in range(n_threads):
        touching = &contacts[t].history.contacts
        for walls in range(2):
            n = 0
            for k in range(touching.n):
                i, j = touching.pairs.data[2 * k], touching.pairs.data[2 * k + 1]
                if (j < 0) != walls or not owns(threads + t, view, i):      # the owner of i lists it
                    continue
                write_row(&pair[count, 0], &values[count, 0], view, i, j, contacts[t].law, 0.0)
                places[n], numbers[n] = count, <int> k
                n, count = n + 1, count + 1
                if n == LANES:
                    write_friction(numbers, places, n, values, friction, view, contacts[t].law, touching)
                    n = 0
            write_friction(numbers, places, n, values, friction, view, contacts[t].law, touching)
    (<LawKernels> contacts[0].law.context).raise_error()
    return describe(state, pair, values, friction, count)


cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads) noexcept nogil:
    """The largest overlap of all contacts of all threads [m]; 0 without any."""
    cdef double deepest = 0.0
    cdef int t
    cdef Py_ssize_t k
    cdef const Law *law
    cdef const IntVector *pairs
    for t in range(n_threads):
        law = contacts[t].law
        pairs = &contacts[t].pairs if law.history == NULL else &contacts[t].history.contacts.pairs
        for k in range(pairs.size // 2 if law.history == NULL else contacts[t].history.contacts.n):
            deepest = max(deepest, law.one(law, view, pairs.data[2 * k], pairs.data[2 * k + 1]).overlap)
    return deepest


cdef bint find_at_walls(IntVector *pairs, IntVector *triangles, const Walls *walls, int slot,
                        const double *sphere) noexcept nogil:
    """Elements of walls that overlap with a sphere. False: memory exhausted."""
    cdef Py_ssize_t k
    cdef bint fine = find_triangles(walls, sphere, 0.0, triangles)
    for k in range(walls.n_simple):
        if simple_height(walls, k, sphere) < sphere[3]:
            fine &= push_pair(pairs, slot, -1 - <int> k)
    for k in range(triangles.size):
        fine &= push_pair(pairs, slot, -1 - triangles.data[k])
    return fine


cdef bint find_overlaps(IntVector *pairs, IntVector *triangles, const StateView *state, Py_ssize_t slot,
                        const Law *law) noexcept nogil:
    """Contacts of the clump in a slot with walls and with clumps of lower numbers. False: memory exhausted."""
    cdef Py_ssize_t block = slot // LANES, row, own
    cdef int lane = slot % LANES, other, clump = state.clump_number[slot]
    cdef const double *x = state.blocks + (block * state.n_rows + POSITION) * LANES + lane
    cdef Vec3 centre = load(x)
    cdef double bounding_radius = 0.0, distance
    cdef const double *sphere
    for row in range(state.first_member[block], state.first_member[block + 1]):
        sphere = state.spheres + 4 * (row * LANES + lane)
        if state.sphere_number[row * LANES + lane] >= 0:
            bounding_radius = max(bounding_radius,
                                  norm(sub(vec3(sphere[0], sphere[1], sphere[2]), centre)) + sphere[3])
            if not find_at_walls(pairs, triangles, law.walls, <int> (row * LANES + lane), sphere):
                return False
    for row in range(state.n_members):
        for other in range(<int> row * LANES, <int> (row + 1) * LANES):
            sphere = state.spheres + 4 * <Py_ssize_t> other
            if state.sphere_number[other] < 0 \
                    or state.clump_number[<Py_ssize_t> state.block_of_member[row] * LANES + other % LANES] >= clump:
                continue
            distance = norm(nearest_image(state.box, sub(vec3(sphere[0], sphere[1], sphere[2]), centre)))
            if distance >= bounding_radius + sphere[3]:
                continue
            for own in range(state.first_member[block], state.first_member[block + 1]):
                if state.sphere_number[own * LANES + lane] >= 0 \
                        and law.one(law, state, <int> (own * LANES + lane), other).overlap > 0.0 \
                        and not push_pair(pairs, <int> (own * LANES + lane), other):
                    return False
    return True


cdef object list_last(State state, Py_ssize_t n, const Law *law):
    """Contacts of the n clumps added last, where all spheres are posed; the same array of CONTACT.

    By comparison with all other clumps: for a few clumps this is faster than the lists of candidates.
    """
    cdef IntVector pairs, triangles
    cdef bint fine = True
    cdef Py_ssize_t clump, k
    cdef const int[::1] clump_slot = state.clump_slot
    cdef int[:, ::1] pair
    cdef double[:, ::1] values
    memset(&pairs, 0, sizeof(pairs))
    memset(&triangles, 0, sizeof(triangles))
    try:
        for clump in range(clump_slot.shape[0] - n, clump_slot.shape[0]):
            fine &= find_overlaps(&pairs, &triangles, &state.view, clump_slot[clump], law)
        if not fine:
            raise MemoryError("no memory for the contacts of new clumps")
        pair, values = np.empty((pairs.size // 2, 2), dtype=np.int32), np.empty((pairs.size // 2, 6))
        for k in range(pair.shape[0]):
            write_row(&pair[k, 0], &values[k, 0], &state.view, pairs.data[2 * k], pairs.data[2 * k + 1], law,
                      0.0)
    finally:
        release(&pairs)
        release(&triangles)
    return describe(state, pair, values, None, pair.shape[0])
