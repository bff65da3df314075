"""Forces and torques of the clumps: the sum over their contacts, the same whatever the order in memory.

First the forces on each sphere are added, then the spheres of a clump in the order of its template.
Two forces may be added either way round, a + b = b + a to the last bit; where a sphere bears more,
they are added again by ascending user's number of the other sphere, walls last. The sum then
depends neither on threads nor on how candidates were found or stored.

Every contact acts at its sphere: the torque is offset x force in the principal body frame (the arm
along the normal passes through the sphere's centre), so a rod of spheres on one axis has an axial
torque of exactly zero.
"""
from libc.string cimport memcpy, memset

from minidem.core.int_vector cimport reserve
from minidem.broadphase.ghosts cimport slot_of
from minidem.contact.narrow_phase cimport Contacts
from minidem.contact.key_sort cimport Entry, sort_entries
from minidem.contact.evaluate cimport Touch, touch
from minidem.core.vec3 cimport Vec3, add, cross, vec3
from minidem.state.pose cimport load_matrices, to_body
from minidem.core.prefetch cimport SUMS_AHEAD, prefetch
from minidem.core.transpose cimport clear_places, rows_from_records
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FORCE, LOAD_ROWS, ORIENTATION, TORQUE, load, store
from minidem.state.state cimport StateView, member


cdef inline unsigned int rank(const Contacts *contacts, const StateView *state, int end) noexcept nogil:
    """Order of the forces on one sphere: by the user's number of the other, walls after all spheres."""
    cdef int other = contacts.pairs.data[contacts.ends.data[end] ^ 1]
    if other < 0:
        return 2147483648u - 1u - <unsigned int> other
    return <unsigned int> state.sphere_number[slot_of(state, other)]


cdef inline double *sum_of(const Contacts *contacts, int slot) noexcept nogil:
    """Of the forces on an own sphere, and their number."""
    return contacts.sums + 4 * <Py_ssize_t> contacts.place[slot - contacts.first_slot]


cdef bint find_crowded(Contacts *contacts, const StateView *state) noexcept nogil:
    """All forces on spheres in more than two contacts. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef unsigned char *bits = contacts.crowded_bits
    cdef int *ends
    cdef Py_ssize_t k, n = 0
    cdef int slot, other, first_slot = contacts.first_slot
    cdef unsigned int own, n_slots = contacts.n_slots
    if not reserve(&contacts.ends, contacts.pairs.size):
        return False
    ends = contacts.ends.data
    for k in range(contacts.crowded.size):
        own = contacts.crowded.data[k] - first_slot
        bits[own >> 3] |= 1 << (own & 7)
    for k in range(contacts.pairs.size):
        own = pairs[k] - first_slot
        if own < n_slots:
            ends[n] = <int> k
            n += bits[own >> 3] >> (own & 7) & 1
    for k in range(contacts.crowded.size):
        bits[(contacts.crowded.data[k] - first_slot) >> 3] = 0
    for k in range(n):                                  # what they are computed from, all at once from memory
        slot, other = pairs[ends[k]], pairs[ends[k] ^ 1]
        prefetch(contacts.first.data + slot - first_slot)
        prefetch(state.spheres + 4 * <Py_ssize_t> slot)
        if other >= 0:
            prefetch(state.spheres + 4 * <Py_ssize_t> other)
            prefetch(state.sphere_number + slot_of(state, other))
    contacts.ends.size = n
    return reserve(&contacts.next, n)


cdef bint make_room(Contacts *contacts) noexcept nogil:
    """Room for the forces on any one sphere, twice, while they are sorted. False: memory exhausted."""
    cdef double most = 0.0
    cdef Py_ssize_t k
    for k in range(contacts.crowded.size):
        most = max(most, sum_of(contacts, contacts.crowded.data[k])[3])
    return reserve(&contacts.entries, 2 * <Py_ssize_t> most * (sizeof(Entry) // sizeof(int)))


cdef inline const Entry *in_order(const Contacts *contacts, const StateView *state, int end,
                                  Py_ssize_t *count) noexcept nogil:
    """The forces on one sphere, of which `end` is the first of the chain: entries (count,) of their `rank`, sorted."""
    cdef Entry *entries = <Entry *> contacts.entries.data
    cdef Py_ssize_t n = 0
    while end >= 0:
        entries[n] = <Entry> rank(contacts, state, end) << 32 | <unsigned int> contacts.ends.data[end]
        end = contacts.next.data[end]
        n += 1
    count[0] = n
    return sort_entries(entries, entries + n, n)


cdef bint add_in_order(Contacts *contacts, const StateView *state) noexcept nogil:
    """The sums of spheres in more than two contacts once more, in order. False: memory exhausted."""
    cdef const int *pairs = contacts.pairs.data
    cdef const Entry *entries
    cdef Touch contact
    cdef double *total
    cdef int *first
    cdef int *link
    cdef int end, entry
    cdef Py_ssize_t k, m, n = 0
    if contacts.crowded.size == 0:
        return True
    if not (reserve(&contacts.first, contacts.n_slots) and find_crowded(contacts, state) and make_room(contacts)):
        return False
    first = contacts.first.data - contacts.first_slot
    for k in range(contacts.crowded.size):
        first[contacts.crowded.data[k]] = -1
    for end in range(<int> contacts.ends.size):
        link = first + pairs[contacts.ends.data[end]]
        contacts.next.data[end] = link[0]
        link[0] = end
    for k in range(contacts.crowded.size):
        total = sum_of(contacts, contacts.crowded.data[k])
        total[0] = total[1] = total[2] = 0.0
        entries = in_order(contacts, state, first[contacts.crowded.data[k]], &n)
        for m in range(n):
            entry = <int> <unsigned int> entries[m]
            contact = touch(state.spheres, pairs[entry], pairs[entry ^ 1], &contacts.law)
            total[0] += contact.force * contact.normal.x
            total[1] += contact.force * contact.normal.y
            total[2] += contact.force * contact.normal.z
    return True


cdef inline void add_row(double *force, double *torque, const double *matrices, const double *offsets,
                         const double *sums, int *place) noexcept nogil:
    """Add the forces on the spheres of a member row to the loads of their clumps.

    force, torque (3, LANES), rotation matrices (9, LANES), offsets (3, LANES): of the block.
    place : (LANES,) where the sums of the spheres are, zero after it. Lanes without a force add zeros,
        which change no bit.
    """
    cdef double one[4][LANES]
    cdef Vec3 f
    cdef int lane
    rows_from_records(sums, place, one[0])
    clear_places(place)
    for lane in range(LANES):
        f = vec3(one[0][lane], one[1][lane], one[2][lane])
        store(force + lane, add(load(force + lane), f))
        f = cross(load(offsets + lane), to_body(matrices + lane, f))
        store(torque + lane, add(load(torque + lane), f))


cdef inline void prefetch_sums(const Contacts *contacts, const StateView *state, Py_ssize_t b,
                               const double *sums) noexcept nogil:
    """Ask for what `gather` will read for block b, if it is an own one: the sums stand in the order of the contacts."""
    cdef Py_ssize_t row
    cdef int lane
    if contacts.blocks[b - contacts.first_block]:
        for row in range(state.first_member[b] - contacts.first_row, state.first_member[b + 1] - contacts.first_row):
            for lane in range(LANES):
                prefetch(sums + 4 * <Py_ssize_t> contacts.place[row * LANES + lane])


cdef inline Py_ssize_t next_row(const unsigned char *rows, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """The first member row from `row` on, but before `last`, that bears a force; `last` if none does."""
    while row < last and not rows[row]:
        row += 1
    return row


cdef const double *gather(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *sums,
                          const double *weights, double *loads) noexcept nogil:
    """Loads (LOAD_ROWS, LANES) of the clumps of block b from the forces on their spheres, which bear none after it.

    sums : of these forces, now or before.
    weights : (mixtures, LOAD_ROWS, LANES), loads without any contact.
    loads : room for them. Returns where they are: there, or among the weights.
    """
    cdef double force[3 * LANES], torque[3 * LANES], matrices[9 * LANES]      # known to be apart from all else
    cdef unsigned char *bears_one = contacts.blocks + (b - contacts.first_block)
    cdef unsigned char *rows = contacts.rows - contacts.first_row
    cdef Py_ssize_t row, last = state.first_member[b + 1]
    weights += state.mixture_of_block[b] * LOAD_ROWS * <Py_ssize_t> LANES
    if contacts.far:
        prefetch_sums(contacts, state, b + SUMS_AHEAD, sums)
    if not bears_one[0]:
        return weights
    memcpy(force, weights + FORCE * LANES, sizeof(force))
    memset(torque, 0, sizeof(torque))
    load_matrices(matrices, state.blocks + (b * state.n_rows + ORIENTATION) * LANES)
    row = next_row(rows, state.first_member[b], last)
    while True:                 # one row at least bears a force; a loop that may not run at all would sum in memory
        add_row(force, torque, matrices, member(state, row), sums,
                contacts.place + (row - contacts.first_row) * LANES)
        rows[row] = False
        row = next_row(rows, row + 1, last)
        if row == last:
            break
    bears_one[0] = False
    memcpy(loads + FORCE * LANES, force, sizeof(force))
    memcpy(loads + TORQUE * LANES, torque, sizeof(torque))
    return loads
