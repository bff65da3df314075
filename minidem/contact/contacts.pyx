"""The narrow phase: which candidates overlap, and with what force.

A clump's forces are added in an order given by the user's numbers alone (gather.pyx), whatever the order
in which its contacts are found here. Eight are computed at once: roots and divisions have the same bits so.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free

from minidem.arrays cimport push, release, reserve
from minidem.broadphase.neighbours cimport Neighbours, Planes, height, select_near
from minidem.contact.touch cimport Law, Touch, touch, touch_spheres
from minidem.geometry.vec3 cimport vec3
from minidem.prefetch cimport prefetch
from minidem.records cimport records_from_rows, rows_from_records
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef enum:
    PORTION = 2048              # ints of the inner list that are looked at before their contacts are computed
    CACHE_LINE = 64             # bytes; a sum that stands on two takes twice as long


cdef bint reserve_sums(Contacts *contacts, Py_ssize_t wanted) noexcept nogil:
    """Room for so many sums when all are zero. False: memory exhausted."""
    if wanted < contacts.sums_capacity:
        return True
    free(contacts.sums_memory)
    contacts.sums_memory = calloc(4 * (wanted + 1) * sizeof(double) + CACHE_LINE, 1)
    contacts.sums = <double *> (
        <char *> contacts.sums_memory + (-<uintptr_t> contacts.sums_memory) % CACHE_LINE)
    contacts.sums_capacity = wanted + 1 if contacts.sums_memory != NULL else 0
    return contacts.sums_memory != NULL


cdef void find_places(Contacts *contacts, SphereForces *forces, const StateView *state, const int *slots,
                      Py_ssize_t n, int *places) noexcept nogil:
    """Which of the sums is that of each of n spheres, a new one if need be; 0 if it is another thread's."""
    cdef int *place = forces.place
    cdef unsigned char *rows = forces.rows
    cdef unsigned char *blocks = forces.blocks
    cdef const int *block_of_member = state.block_of_member
    cdef int first_slot = contacts.first_slot, last_slot = contacts.last_slot
    cdef int n_sums = contacts.n_sums, slot, known
    cdef Py_ssize_t k
    for k in range(n):
        slot = slots[k]
        places[k] = 0
        if first_slot <= slot < last_slot:
            known = place[slot]
            n_sums += known == 0                        # without a branch: nobody could guess it
            known = known if known else n_sums
            place[slot] = places[k] = known
            rows[slot >> 3] = True
            blocks[block_of_member[slot >> 3]] = NOW
    contacts.n_sums = n_sums


cdef inline bint add_force(Contacts *contacts, int slot, int place, const double *force) noexcept nogil:
    """Add a force and its number, 1, to the sum of a sphere, if it is an own one. False: memory exhausted."""
    cdef double *total = contacts.sums + 4 * <Py_ssize_t> place
    cdef int k
    if not place:
        return True
    for k in range(4):
        total[k] += force[k]
    return total[3] < 3.0 or total[3] > 3.0 or push(&contacts.crowded, slot)


cdef inline void set_forces(double *on_i, double *on_j, Py_ssize_t stride,
                            const Touch *contact) noexcept nogil:
    """What a contact adds to the sums of its two spheres; the components stand so many doubles apart."""
    on_i[0] = contact.force * contact.normal.x
    on_i[stride] = contact.force * contact.normal.y
    on_i[2 * stride] = contact.force * contact.normal.z
    on_j[0] = -on_i[0]
    on_j[stride] = -on_i[stride]
    on_j[2 * stride] = -on_i[2 * stride]
    on_i[3 * stride] = on_j[3 * stride] = 1.0


cdef void compute_eight(const double *spheres, const int *pairs, const Law *law,
                        double *on_i, double *on_j) noexcept nogil:
    """What eight pairs of spheres that overlap add to the sums: records (LANES, 4)."""
    cdef double a[4][LANES]
    cdef double b[4][LANES]
    cdef double rows_i[4][LANES]
    cdef double rows_j[4][LANES]
    cdef int i[LANES]
    cdef int j[LANES]
    cdef double modulus = law.modulus, dt = law.dt
    cdef Touch contact
    cdef int l
    for l in range(LANES):
        i[l] = pairs[2 * l]
        j[l] = pairs[2 * l + 1]
    rows_from_records(spheres, i, a[0])
    rows_from_records(spheres, j, b[0])
    for l in range(LANES):
        contact = touch_spheres(vec3(a[0][l] - b[0][l], a[1][l] - b[1][l], a[2][l] - b[2][l]),
                                a[3][l], b[3][l], modulus, dt)
        set_forces(rows_i[0] + l, rows_j[0] + l, LANES, &contact)
    records_from_rows(rows_i[0], on_i)
    records_from_rows(rows_j[0], on_j)


cdef bint touch_pairs(Contacts *contacts, SphereForces *forces, const StateView *state, const int *pairs,
                      Py_ssize_t n) noexcept nogil:
    """Forces of pairs of spheres that overlap: n ints, two by two. False: memory exhausted."""
    cdef int places[PORTION + 2 * LANES]
    cdef double on_i[4 * LANES]
    cdef double on_j[4 * LANES]
    cdef Touch contact
    cdef Py_ssize_t k = 0, l, count
    cdef bint fine = True
    find_places(contacts, forces, state, pairs, n, places)
    while k < n:
        count = min(<Py_ssize_t> LANES, (n - k) // 2)
        if count == LANES:
            compute_eight(state.spheres, pairs + k, &contacts.law, on_i, on_j)
        else:
            for l in range(count):
                contact = touch(state.spheres, pairs[k + 2 * l], pairs[k + 2 * l + 1], &contacts.law)
                set_forces(on_i + 4 * l, on_j + 4 * l, 1, &contact)
        for l in range(count):
            fine &= add_force(contacts, pairs[k], places[k], on_i + 4 * l)
            fine &= add_force(contacts, pairs[k + 1], places[k + 1], on_j + 4 * l)
            k += 2
    return fine


cdef bint touch_walls(Contacts *contacts, SphereForces *forces, const Neighbours *mine,
                      const StateView *state) noexcept nogil:
    """Contacts of own spheres with walls. False: memory exhausted."""
    cdef const int *near = mine.walls.data
    cdef const double *sphere
    cdef Planes planes = contacts.law.planes[0]
    cdef double on_sphere[4]
    cdef double on_wall[4]
    cdef Touch contact
    cdef Py_ssize_t k
    cdef int *pair
    cdef int place
    cdef bint fine = True
    for k in range(0, mine.walls.size, 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[k]
        if height(&planes, near[k + 1], sphere) < sphere[3]:
            pair = contacts.pairs.data + contacts.pairs.size
            pair[0] = near[k]
            pair[1] = -1 - near[k + 1]
            contacts.pairs.size += 2
            find_places(contacts, forces, state, pair, 1, &place)
            contact = touch(state.spheres, pair[0], pair[1], &contacts.law)
            set_forces(on_sphere, on_wall, 1, &contact)
            fine &= add_force(contacts, pair[0], place, on_sphere)
    return fine


cdef bint find_contacts(Contacts *contacts, SphereForces *forces, const Neighbours *mine, const StateView *state,
                        const Planes *planes, double modulus, double dt) noexcept nogil:
    """Overlaps among the candidates of one thread, and their forces on its own spheres. False: memory exhausted.

    modulus : effective modulus between two clumps [Pa].
    """
    cdef Py_ssize_t k, l, n, done = 0
    cdef int *pairs
    cdef bint fine = True
    contacts.pairs.size = contacts.crowded.size = contacts.n_sums = 0
    contacts.law.planes, contacts.law.modulus, contacts.law.dt = planes, modulus, dt
    contacts.first_slot = <int> (state.first_member[mine.first_block] * LANES)
    contacts.last_slot = <int> (state.first_member[mine.last_block] * LANES)
    if not (reserve_sums(contacts, contacts.last_slot - contacts.first_slot)
            and reserve(&contacts.pairs, mine.pairs.size + mine.walls.size)):
        return False
    pairs = contacts.pairs.data
    # A portion's spheres stay near the processor, and its places arrive while the one before is computed.
    for k in range((mine.pairs.size + PORTION - 1) // PORTION):
        n = contacts.pairs.size
        contacts.pairs.size += select_near(
            state.spheres, mine.pairs.data + k * PORTION,
            min(<Py_ssize_t> PORTION, mine.pairs.size - k * PORTION), 0.0, pairs + n)
        for l in range(n, contacts.pairs.size):
            prefetch(forces.place + pairs[l])
        n = (n - done) // (2 * LANES) * (2 * LANES)         # whole eights; the rest waits for the next
        if n:
            fine &= touch_pairs(contacts, forces, state, pairs + done, n)
            done += n
    if done < contacts.pairs.size:
        fine &= touch_pairs(contacts, forces, state, pairs + done, contacts.pairs.size - done)
    return fine & touch_walls(contacts, forces, mine, state)


cdef bint create_sphere_forces(SphereForces *forces, const StateView *state) noexcept nogil:
    """No sphere in a contact. False: memory exhausted."""
    forces.place = <int *> calloc(state.n_members * LANES + 1, sizeof(int))
    forces.rows = <unsigned char *> calloc(state.n_members + 1, 1)
    forces.crowded = <unsigned char *> calloc(state.n_members + 1, 1)
    forces.blocks = <unsigned char *> calloc(state.n_blocks + 1, 1)
    return forces.place != NULL and forces.rows != NULL and forces.crowded != NULL and forces.blocks != NULL


cdef void free_sphere_forces(SphereForces *forces) noexcept nogil:
    free(forces.place)
    free(forces.rows)
    free(forces.crowded)
    free(forces.blocks)
    forces.place = NULL
    forces.rows = NULL
    forces.crowded = NULL
    forces.blocks = NULL


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.sums_memory)
    contacts.sums_memory = NULL
    contacts.sums = NULL
    contacts.sums_capacity = 0
    release(&contacts.pairs)
    release(&contacts.crowded)
    release(&contacts.first)
    release(&contacts.next)
    release(&contacts.ends)
