# distutils: extra_compile_args = -O1
"""All contacts at the present pose, as a structured array for Python by the user's numbers of clumps and spheres.

Compiled, because a scenario lists all contacts a thousand times in a run.
"""
from libc.math cimport isnan
from libc.string cimport memcpy, memset

import numpy as np

from minidem.broadphase.neighbours cimport push_pair
from minidem.contact.blocks cimport Blocks, ContactBlock, block_at, block_of, history_of, is_hole
from minidem.contact.central cimport CentralForce, central_force
from minidem.contact.contact cimport Contact, Energies, MAX_COMPONENTS, MAX_RECORDS, Result, Row
from minidem.contact.contact_motion cimport Side
from minidem.contact.fluxes cimport total_rates
from minidem.contact.law cimport Law, LawKernels
from minidem.contact.narrow_phase cimport Contacts, correction_of
from minidem.contact.stored cimport GROUPS, WALLS
from minidem.contact.stored_forces cimport describe_kept, load_block, load_only_pair
from minidem.core.lanes cimport LANES, lane_of
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, norm, scale, sub, vec3
from minidem.core.vectors cimport IntVector, release
from minidem.state.periodic_box cimport nearest_image
from minidem.state.rows cimport load
from minidem.state.state cimport State, StateView, clump_of, clumps_of
from minidem.walls.surface cimport Walls, find_triangles, overlaps_simple


cdef inline void write_row(int *pair, double *values, const StateView *state, int i, int j, const Law *law,
                           double correction) noexcept nogil:
    """A row for `describe`. i : slot of a sphere;  j : likewise, or -1 - element;  correction of its force."""
    cdef CentralForce contact = central_force(law, state, i, j)
    pair[0], pair[1] = i, j
    values[0], values[1] = contact.overlap, contact.force + correction
    values[2] = law.energy_factor * contact.force * contact.overlap
    values[3], values[4], values[5] = contact.normal.x, contact.normal.y, contact.normal.z


cdef object list_contacts(State state, const Contacts *contacts, int n_threads):
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
            correction = correction_of(contacts + t, k, &m)
            write_row(&pair[count, 0], &values[count, 0], &state.view, i, j, contacts[t].law, correction)
            count += 1
    return describe(state, pair, values, None, count)


cdef void write_block(const Contacts *contacts, const StateView *view, int group, Py_ssize_t b, Py_ssize_t *count,
                      int[:, ::1] pair, double[:, ::1] values, double[:, ::1] friction) noexcept nogil:
    """Rows for `describe` of the contacts of a block."""
    cdef const Blocks *blocks = &contacts.stored.groups[group]
    cdef const ContactBlock *block = block_at(blocks, b)
    cdef Contact contact
    cdef double history[MAX_RECORDS * 4 * LANES]
    cdef Energies energies
    cdef Side sides[2]
    cdef double points[3 * LANES]
    cdef double images[6 * LANES]
    cdef Py_ssize_t n
    cdef int lane, m
    memset(&contact, 0, sizeof(contact))
    load_only_pair(contacts.law, &contact)
    load_block(contacts.law, view, blocks, b, group == <int> WALLS, &contact, sides, points, images)
    memcpy(history, history_of(block), contacts.law.n_records * 4 * LANES * sizeof(double))
    contacts.law.describe(&contact, history, &energies, &contacts.law.parameters)
    for lane in range(LANES):
        if block.first[lane] == blocks.hole:
            continue
        n = count[0]
        count[0] += 1
        pair[n, 0], pair[n, 1] = block.first[lane], block.second[lane]
        values[n, 0], values[n, 1] = contact.overlap[lane], 0.0
        values[n, 2] = energies.normal_energy[lane]
        for m in range(3):
            values[n, 3 + m] = contact.normal[m][lane]
            friction[n, m] = block.force[m][lane]
            friction[n, 3 + m] = points[m * LANES + lane]
            friction[n, 6 + m] = block.couple[m][lane]
        friction[n, 9], friction[n, 10] = energies.tangential_energy[lane], energies.rolling_energy[lane]
        friction[n, 11] = energies.sliding[lane]


cdef object list_stored(State state, const StateView *view, const Contacts *contacts, int n_threads):
    """All contacts of a law with records, of all threads, a structured array of CONTACT; the spheres are posed."""
    cdef Py_ssize_t count = 0, b
    cdef int t, group
    cdef int[:, ::1] pair
    cdef double[:, ::1] values, friction
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            count += LANES * contacts[t].stored.groups[group].n_blocks
    pair, values, friction = np.empty((count, 2), dtype=np.int32), np.empty((count, 6)), np.empty((count, 12))
    count = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            for b in range(contacts[t].stored.groups[group].n_blocks):
                write_block(contacts + t, view, group, b, &count, pair, values, friction)
    (<LawKernels> contacts[0].law.parameters.context).raise_error()
    return describe(state, pair, values, friction, count)


cdef void write_slopes(const Contacts *contacts, const StateView *view, int group, Py_ssize_t b,
                       const double[::1] changes, Py_ssize_t *count, long long[:, ::1] clumps,
                       double[:, :, ::1] slopes) noexcept nogil:
    """Rows of `list_slopes` of the contacts of a block."""
    cdef const Blocks *blocks = &contacts.stored.groups[group]
    cdef const Law *law = contacts.law
    cdef const ContactBlock *block = block_at(blocks, b)
    cdef Contact contact
    cdef Result result
    cdef Side sides[2]
    cdef double images[6 * LANES]
    cdef Row values[2 * MAX_COMPONENTS]
    cdef Row before[2 * MAX_COMPONENTS]
    cdef Row after[2 * MAX_COMPONENTS]
    cdef Py_ssize_t place
    cdef bint walls = group == <int> WALLS
    cdef int n = law.fields.n, k, m, lane, j
    memset(&contact, 0, sizeof(contact))
    memset(&result, 0, sizeof(result))
    load_only_pair(law, &contact)
    load_block(law, view, blocks, b, walls, &contact, sides, NULL, images)
    memcpy(values, contact.values, 2 * n * sizeof(Row))
    describe_kept(law, block, &contact, &result)
    total_rates(law, &contact, &result, before)
    for k in range(n if walls else 2 * n):
        for lane in range(LANES):
            contact.values[k][lane] += changes[k % n]
            if walls and isnan(law.fields.of_walls[law.walls.wall_of[-1 - block.second[lane]] * n + k]):
                contact.values[n + k][lane] += changes[k]       # a wall without a value has that of the clump
        describe_kept(law, block, &contact, &result)
        total_rates(law, &contact, &result, after)
        memcpy(contact.values, values, 2 * n * sizeof(Row))
        place = count[0]
        for lane in range(LANES):
            if block.first[lane] != blocks.hole:
                for m in range(2 * n):
                    slopes[place, m, k] = (after[m][lane] - before[m][lane]) / changes[k % n]
                place += 1
    for lane in range(LANES):
        if block.first[lane] != blocks.hole:
            j = block.second[lane]
            clumps[count[0], 0] = view.clump_number[clump_of(view, block.first[lane])]
            clumps[count[0], 1] = view.clump_number[clump_of(view, j)] if j >= 0 else -1
            count[0] += 1


cdef object list_slopes(const StateView *view, const Contacts *contacts, int n_threads, const double[::1] changes):
    """Derivatives of the rates of fields in contacts, by differences of the values; nothing else is changed.

    changes : (components,) of the values.
    Returns clumps (n, 2), -1 for a wall, and slopes (n, 2 components, 2 components): of each rate of i and j, by the
    values of i and j.
    """
    cdef Py_ssize_t count = 0, b
    cdef int t, group
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            count += LANES * contacts[t].stored.groups[group].n_blocks
    cdef long long[:, ::1] clumps = np.empty((count, 2), dtype=np.int64)
    cdef double[:, :, ::1] slopes = np.zeros((count, 2 * len(changes), 2 * len(changes)))
    count = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            for b in range(contacts[t].stored.groups[group].n_blocks):
                write_slopes(contacts + t, view, group, b, changes, &count, clumps, slopes)
    (<LawKernels> contacts[0].law.parameters.context).raise_error()
    return np.asarray(clumps)[:count], np.asarray(slopes)[:count]


cdef double deepest_stored(const StateView *view, const Contacts *contacts) noexcept nogil:
    """The largest overlap of the contacts of a thread [m], of a law with records."""
    cdef double deepest = 0.0
    cdef const ContactBlock *block
    cdef Py_ssize_t lane
    cdef int group, k
    for group in range(<int> GROUPS):
        for lane in range(LANES * contacts.stored.groups[group].n_blocks):
            if not is_hole(&contacts.stored.groups[group], lane):
                block, k = block_of(&contacts.stored.groups[group], lane), lane_of(lane)
                deepest = max(deepest, central_force(contacts.law, view, block.first[k], block.second[k]).overlap)
    return deepest


cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads) noexcept nogil:
    """The largest overlap of all contacts of all threads [m]; 0 without any."""
    cdef double deepest = 0.0
    cdef const IntVector *pairs
    cdef Py_ssize_t k
    cdef int t
    for t in range(n_threads):
        pairs = &contacts[t].pairs
        deepest = max(deepest, deepest_stored(view, contacts + t))
        for k in range(pairs.size // 2):
            deepest = max(deepest, central_force(contacts[t].law, view, pairs.data[2 * k],
                                                 pairs.data[2 * k + 1]).overlap)
    return deepest


cdef bint find_at_walls(IntVector *pairs, IntVector *triangles, const Walls *walls, int slot,
                        const double *sphere) noexcept nogil:
    """Elements of walls that overlap with a sphere. False: memory exhausted."""
    cdef Py_ssize_t k
    cdef bint fine = find_triangles(walls, sphere, 0.0, triangles)
    for k in range(walls.n_simple):
        if overlaps_simple(walls, k, sphere, sphere[3]):
            fine &= push_pair(pairs, slot, -1 - <int> k)
    for k in range(triangles.size):
        fine &= push_pair(pairs, slot, -1 - triangles.data[k])
    return fine


cdef bint find_overlaps(IntVector *pairs, IntVector *triangles, const StateView *state, Py_ssize_t slot,
                        const Law *law) noexcept nogil:
    """Contacts of the clump in a slot with walls and with clumps of lower numbers. False: memory exhausted."""
    cdef Py_ssize_t block = slot // LANES, row, own
    cdef int lane = slot % LANES, other, clump = state.clump_number[slot]
    cdef Vec3 centre = load(clumps_of(state, block).position + lane)
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
            distance = norm(nearest_image(law.box, sub(vec3(sphere[0], sphere[1], sphere[2]), centre)))
            if distance >= bounding_radius + sphere[3]:
                continue
            for own in range(state.first_member[block], state.first_member[block + 1]):
                if state.sphere_number[own * LANES + lane] >= 0 \
                        and central_force(law, state, <int> (own * LANES + lane), other).overlap > 0.0 \
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


CONTACT = np.dtype([
    ("clump_i", np.int32), ("clump_j", np.int32),       # both j fields of wall k are -1 - k
    ("sphere_i", np.int32), ("sphere_j", np.int32),
    ("overlap", float),                                 # [m]
    ("normal", float, 3),                               # unit, from j to i
    ("force", float, 3),                                # on i [N]
    ("point", float, 3),                                # middle of the overlap, at sphere_i; at a wall the point of
                                                        # the wall [m]
    ("energy", float),                                  # elastic, of the normal force [J]
    ("tangential", float, 3),                           # part of the force, of laws with friction [N]
    ("couple", float, 3),                               # on i, of rolling resistance [N m]
    ("energy_tangential", float), ("energy_rolling", float),        # of their springs [J]
    ("sliding", bool),                                  # the limit of friction is reached
], align=True)


def with_history(contacts, records):
    """The same array with one more column: history (n_records, 4), of records (n_records, n, 4) in the same order."""
    joined = np.zeros(len(contacts), np.dtype([*((name, CONTACT[name]) for name in CONTACT.names),
                                               ("history", float, (len(records), 4))], align=True))
    for name in CONTACT.names:
        joined[name] = contacts[name]
    joined["history"] = records.transpose(1, 0, 2)
    return joined


def columns(contacts):
    """A dict of arrays (n,) of an array of CONTACT: vectors as NAME_x, NAME_y, NAME_z; history_0_0 ... by number."""
    found = {}
    for name in contacts.dtype.names:
        values = contacts[name]
        if values.ndim == 1:
            found[name] = values
        elif name == "history":
            found |= {f"{name}_{record}_{k}": values[:, record, k] for record, k in np.ndindex(values.shape[1:])}
        else:
            found |= {f"{name}_{axis}": values[:, k] for k, axis in enumerate("xyz")}
    return found


cdef struct Listed:                 # of CONTACT
    int clump_i, clump_j, sphere_i, sphere_j
    double overlap
    Vec3 normal, force, point
    double energy
    Vec3 tangential, couple
    double energy_tangential, energy_rolling
    unsigned char sliding

if sizeof(Listed) != CONTACT.itemsize:
    raise ImportError("a contact has another layout in C than in NumPy")


cdef inline Vec3 at(const double *values) noexcept nogil:
    return vec3(values[0], values[1], values[2])


cdef inline Vec3 signed(double sign, const double *values) noexcept nogil:
    """Without a negative zero."""
    return add(scale(sign, at(values)), vec3(0.0, 0.0, 0.0))


cdef inline void add_friction(Listed *row, const double *friction, double sign, bint point_known) noexcept nogil:
    row.force, row.couple = signed(sign, friction), signed(sign, friction + 6)
    if point_known:
        row.point = at(friction + 3)
    row.tangential = add(add_scaled(row.force, -dot(row.force, row.normal), row.normal), vec3(0.0, 0.0, 0.0))
    row.energy_tangential, row.energy_rolling = friction[9], friction[10]
    row.sliding = friction[11] > 0.0


cdef object in_order(State state, const int[:, ::1] slots, Py_ssize_t n):
    """Numbers of n contacts by ascending sphere_i and sphere_j, walls first; see `describe`."""
    cdef Py_ssize_t k
    cdef const int *number = state.view.sphere_number
    cdef long long first, second
    cdef long long[::1] keys = np.empty(n, dtype=np.int64)
    for k in range(n):
        first, second = number[slots[k, 0]], slots[k, 1]
        if second >= 0:
            second = number[slots[k, 1]]
            first, second = min(first, second), max(first, second)
        keys[k] = (first << 32) + second
    return np.argsort(keys)


cdef object describe(State state, const int[:, ::1] slots, const double[:, ::1] values, const double[:, ::1] friction,
                     Py_ssize_t n):
    """Rows of CONTACT of n contacts, sphere_i < sphere_j, sorted by both.

    slots : (n, 2) sphere slots, -1 - k for element k of the walls
    values : (n, 6) overlap, force, energy, normal
    friction : (n, 12) of a law with history, force (3) on the first sphere, point (3), couple (3), energies of the
        tangential and rolling springs, whether it slides; else None
    """
    cdef Py_ssize_t place, k
    cdef int i, j
    cdef bint wall, has_friction = friction is not None, in_box = state.box is not None
    cdef double sign
    cdef Listed *row
    cdef const int *number = state.view.sphere_number
    cdef const double *sphere
    found = np.zeros(n, dtype=CONTACT)
    if n == 0:
        return found
    cdef const long long[::1] order = in_order(state, slots, n)
    cdef unsigned char[::1] room = found.view(np.uint8)
    for place in range(n):
        k, row = order[place], <Listed *> &room[0] + place
        i, j = slots[k, 0], slots[k, 1]
        wall, sign = j < 0, 1.0
        if not wall and number[j] < number[i]:
            i, j, sign = j, i, -1.0
        sphere = state.view.spheres + 4 * <Py_ssize_t> i
        row.clump_i, row.sphere_i = number_of_clump(state, i), number[i]
        row.clump_j, row.sphere_j = j if wall else number_of_clump(state, j), j if wall else number[j]
        row.overlap, row.energy = values[k, 0], values[k, 2]
        row.normal = scale(sign, at(&values[k, 3]))
        row.point = add_scaled(at(sphere), (1.0 if wall else 0.5) * row.overlap - sphere[3], row.normal)
        if has_friction:                # its point in a periodic box: mean of two images, one of which may be elsewhere
            add_friction(row, &friction[k, 0], sign, wall or not in_box)
        else:
            row.force = scale(values[k, 1], row.normal)
    if in_box:
        found["point"] += state.shift[found["clump_i"]] * state.box.start.length
    return found


cdef inline int number_of_clump(State state, int slot) noexcept:
    return state.view.clump_number[<Py_ssize_t> state.view.block_of_member[slot // LANES] * LANES + slot % LANES]
