"""The narrow phase: which candidates overlap, and with what force.

A clump's forces are added in an order given by the user's numbers alone (gather.pyx), whatever the order
in which its contacts are found here. Eight are computed at once: roots and divisions have the same bits so.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from minidem.core.int_vector cimport APART, push, release, reserve
from minidem.broadphase.neighbours cimport Neighbours, Planes, height, select_near
from minidem.contact.evaluate cimport Law, Touch, touch, touch_spheres
from minidem.core.vec3 cimport vec3
from minidem.core.prefetch cimport SUMS_AHEAD, prefetch
from minidem.core.transpose cimport records_from_rows, rows_from_records
from minidem.core.lanes cimport LANES
from minidem.state.state cimport StateView


cdef enum:
    # Ints of the inner list that are looked at before their contacts are computed. touch_pairs has 37 kB of forces for
    # them on its stack, which OMP_STACKSIZE may limit to 64 kB.
    PORTION = 1024
    CACHE_LINE = 64             # bytes; a sum that stands on two takes twice as long


cdef inline Py_ssize_t whole_lines(Py_ssize_t bytes) noexcept nogil:
    return (bytes + CACHE_LINE - 1) // CACHE_LINE * CACHE_LINE


cdef bint create_contacts(Contacts *contacts, const StateView *state) noexcept nogil:
    """Room for whatever part of the clumps the thread may own; what is not used takes no memory. False: there is none.

    All in one piece, on cache lines that no other thread has.
    """
    cdef Py_ssize_t sums = whole_lines((1 + state.n_members * LANES) * 4 * sizeof(double))
    cdef Py_ssize_t places = whole_lines(state.n_members * LANES * sizeof(int)), rows = whole_lines(state.n_members)
    cdef Py_ssize_t blocks = whole_lines(state.n_blocks + SUMS_AHEAD)
    cdef char *start
    contacts.memory = calloc(2 * sums + places + 2 * rows + blocks + 2 * APART, 1)
    if contacts.memory == NULL:
        return False
    start = <char *> contacts.memory + APART - <uintptr_t> contacts.memory % CACHE_LINE
    contacts.sums = <double *> start
    contacts.other_sums = <double *> (start + sums)
    contacts.place = <int *> (start + 2 * sums)
    contacts.rows = <unsigned char *> (start + 2 * sums + places)
    contacts.crowded_bits = contacts.rows + rows
    contacts.blocks = contacts.crowded_bits + rows
    return True


cdef void cover_own(Contacts *contacts, const Neighbours *mine, const StateView *state) noexcept nogil:
    """Be about what the thread owns, of which no sphere is in a contact yet."""
    contacts.first_block = mine.first_block
    contacts.first_row = state.first_member[mine.first_block]
    contacts.first_slot = <int> contacts.first_row * LANES
    contacts.n_slots = <int> (state.first_member[mine.last_block] - contacts.first_row) * LANES


cdef void find_places(Contacts *contacts, const StateView *state, const int *slots, Py_ssize_t n,
                      int *places) noexcept nogil:
    """Which of the sums is that of each of n spheres, a new one of zeros if need be; 0 if it is another thread's."""
    cdef int *place = contacts.place
    cdef unsigned char *rows = contacts.rows
    cdef unsigned char *blocks = contacts.blocks - contacts.first_block
    cdef const int *block_of_member = state.block_of_member + contacts.first_row
    cdef unsigned int own, n_slots = contacts.n_slots
    cdef int first_slot = contacts.first_slot, n_sums = contacts.n_sums, known
    cdef Py_ssize_t k, most = min(n, <Py_ssize_t> contacts.n_slots - n_sums)      # that can be new
    memset(contacts.sums + 4 * <Py_ssize_t> (n_sums + 1), 0, most * 4 * sizeof(double))
    for k in range(n):
        own = slots[k] - first_slot                     # beyond n_slots as well if it is negative
        places[k] = 0
        if own < n_slots:
            known = place[own]
            n_sums += known == 0                        # without a branch: nobody could guess it
            known = known if known else n_sums
            place[own] = places[k] = known
            rows[own >> 3] = True
            blocks[block_of_member[own >> 3]] = True
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


cdef inline double *force_record(double *forces, Py_ssize_t k) noexcept nogil:
    """Where the force on the first sphere of pair number k / 2 stands; that on the second is LANES records behind it.

    forces : records, of eight pairs on their first spheres, on their second ones, of the next eight, ...
    """
    return forces + 2 * (k + k // (2 * LANES) * (2 * LANES))


cdef bint touch_pairs(Contacts *contacts, const StateView *state, Py_ssize_t n, bint walls) noexcept nogil:
    """Forces of the next n ints, two by two, of those that overlap. False: memory exhausted.

    walls : some are pairs of a sphere and a wall.
    """
    cdef int places[PORTION + 2 * LANES]
    cdef double forces[4 * (PORTION + 2 * LANES)]
    cdef const int *pairs = contacts.pairs.data + contacts.computed
    cdef double *on_i
    cdef Touch contact
    cdef Py_ssize_t k, eight, eights = 0 if walls else n // (2 * LANES)
    cdef bint fine = True
    find_places(contacts, state, pairs, n, places)
    # First all, then all are added: roots and divisions of one eight need not wait for the sums of another.
    for eight in range(eights):
        k = 2 * LANES * eight
        compute_eight(state.spheres, pairs + k, &contacts.law, force_record(forces, k),
                      force_record(forces, k) + 4 * LANES)
    for k in range(2 * LANES * eights, n, 2):
        contact = touch(state.spheres, pairs[k], pairs[k + 1], &contacts.law)
        on_i = force_record(forces, k)
        set_forces(on_i, on_i + 4 * LANES, 1, &contact)
    for k in range(0, n, 2):
        on_i = force_record(forces, k)
        fine &= add_force(contacts, pairs[k], places[k], on_i)
        fine &= add_force(contacts, pairs[k + 1], places[k + 1], on_i + 4 * LANES)
    contacts.computed += n
    return fine


cdef bint touch_rest(Contacts *contacts, const StateView *state, bint walls) noexcept nogil:
    """Forces of all pairs that overlap and have none yet; see touch_pairs. False: memory exhausted."""
    cdef bint fine = True
    while contacts.computed < contacts.pairs.size:
        fine &= touch_pairs(contacts, state, min(<Py_ssize_t> PORTION, contacts.pairs.size - contacts.computed), walls)
    return fine


cdef bint touch_walls(Contacts *contacts, const Neighbours *mine,
                      const StateView *state) noexcept nogil:
    """Contacts of own spheres with walls. False: memory exhausted."""
    cdef const int *near = mine.walls.data
    cdef const double *sphere
    cdef Planes planes = contacts.law.planes[0]
    cdef int *pairs = contacts.pairs.data
    cdef Py_ssize_t k, n = contacts.pairs.size
    for k in range(0, mine.walls.size, 2):
        sphere = state.spheres + 4 * <Py_ssize_t> near[k]
        pairs[n] = near[k]
        pairs[n + 1] = -1 - near[k + 1]
        n += 2 * (height(&planes, near[k + 1], sphere) < sphere[3])     # without a branch: nobody could guess it
    contacts.pairs.size = n
    return touch_rest(contacts, state, True)


cdef void drop_contacts(Contacts *contacts, const StateView *state) noexcept nogil:
    """Forget those found so far at this pose."""
    cdef Py_ssize_t k
    cdef unsigned int own
    for k in range(contacts.computed):
        own = contacts.pairs.data[k] - contacts.first_slot
        if own < <unsigned int> contacts.n_slots:
            contacts.place[own] = 0
            contacts.rows[own >> 3] = False
            contacts.blocks[state.block_of_member[contacts.first_row + (own >> 3)] - contacts.first_block] = False
    forget(contacts)


cdef bint find_contacts(Contacts *contacts, const Neighbours *mine, const StateView *state,
                        Py_ssize_t end) noexcept nogil:
    """Go on to `end` with the inner list of one thread: overlaps, and their forces on its own spheres.

    The last few contacts may be left for the next call. False: memory exhausted.
    """
    cdef Py_ssize_t l, n, whole_eights
    cdef unsigned int own, n_slots = contacts.n_slots
    cdef int *pairs
    cdef bint fine = True
    if not reserve(&contacts.pairs, mine.pairs.size + mine.walls.size + 2):
        return False
    pairs = contacts.pairs.data
    # A portion's spheres stay near the processor, and its places arrive while the one before is computed.
    while contacts.looked_at < end:
        n = contacts.pairs.size
        contacts.pairs.size += select_near(state.spheres, mine.pairs.data + contacts.looked_at,
                                           min(<Py_ssize_t> PORTION, end - contacts.looked_at), 0.0, pairs + n)
        contacts.looked_at = min(contacts.looked_at + PORTION, end)
        for l in range(n, contacts.pairs.size):
            own = pairs[l] - contacts.first_slot        # of a ghost: beyond n_slots
            prefetch(contacts.place + (own if own < n_slots else 0))
        whole_eights = (n - contacts.computed) // (2 * LANES) * (2 * LANES)
        if whole_eights:
            fine &= touch_pairs(contacts, state, whole_eights, False)
    return fine


cdef bint find_other_contacts(Contacts *contacts, const Neighbours *mine,
                              const StateView *state) noexcept nogil:
    """All that find_contacts has left: the rest of the inner list, and walls. False: memory exhausted."""
    cdef Py_ssize_t k
    for k in range(mine.n_own, mine.pairs.size):        # ghosts come from memory while the others are seen to
        prefetch(state.spheres + 4 * <Py_ssize_t> mine.pairs.data[k])
    return find_contacts(contacts, mine, state, mine.n_own) and touch_rest(contacts, state, False) \
        and touch_walls(contacts, mine, state) \
        and find_contacts(contacts, mine, state, mine.pairs.size) and touch_rest(contacts, state, False)


cdef void forget_all(Contacts *contacts) noexcept nogil:
    """None are known any more, and the memory of their lists is given back."""
    forget(contacts)
    release(&contacts.pairs)
    release(&contacts.crowded)
    release(&contacts.first)
    release(&contacts.next)
    release(&contacts.ends)
    release(&contacts.entries)


cdef void free_contacts(Contacts *contacts) noexcept nogil:
    free(contacts.memory)
    forget_all(contacts)
    memset(contacts, 0, sizeof(Contacts))
