# distutils: extra_compile_args = -O1
"""All contacts at the present pose, as a structured array for Python by the user's numbers of clumps and spheres.

Compiled, because a scenario lists all contacts a thousand times in a run.
"""
from libc.math cimport isnan
from libc.string cimport memcpy, memset

import numpy as np

from minidem.contact.blocks cimport ContactBlock, block_at, history_of
from minidem.contact.contact cimport Contact, Energies, MAX_COMPONENTS, MAX_RECORDS, Result, Row, load3
from minidem.contact.contact_motion cimport Bodies, gather_contacts
from minidem.contact.contacts cimport GROUPS, WALLS, Contacts
from minidem.contact.evaluate cimport call_central, describe_kept, load_block, load_only_pair
from minidem.contact.fluxes cimport total_rates
from minidem.contact.law cimport Law, LawKernels
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3
from minidem.state.rows cimport load
from minidem.state.state cimport State, StateView, clump_of, free_slot_of

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


cdef inline Vec3 signed(double sign, Vec3 v) noexcept nogil:
    """Without a negative zero."""
    return add(scale(sign, v), vec3(0.0, 0.0, 0.0))


cdef void write_block(const Law *law, const StateView *state, const ContactBlock *block, bint walls, Listed *rows,
                      Py_ssize_t *count) noexcept nogil:
    """Rows of the contacts of a block behind the first `count`; of two spheres, sphere_i < sphere_j."""
    cdef Contact contact
    cdef double history[MAX_RECORDS * 4 * LANES]
    cdef double magnitude[LANES]
    cdef double force[3 * LANES]
    cdef Energies energies
    cdef Bodies sides[2]
    cdef double images[6 * LANES]
    cdef Listed *row
    cdef double sign
    cdef int lane, i, j, side
    memset(&contact, 0, sizeof(contact))
    memset(&energies, 0, sizeof(energies))
    load_only_pair(law, &contact)
    load_block(law, state, block, walls, &contact, sides, images)
    if law.history != NULL:
        memcpy(history, history_of(block), law.n_records * 4 * LANES * sizeof(double))
        law.describe(&contact, history, &energies, &law.parameters)
    elif law.central != NULL:
        call_central(law, &contact, magnitude, force)
        for lane in range(LANES):
            energies.normal_energy[lane] = law.energy_factor * magnitude[lane] * contact.overlap[lane]
    for lane in range(LANES):
        i, j, side = block.first[lane], block.second[lane], 0
        if i == free_slot_of(state):
            continue
        if j >= 0 and state.sphere_number[j] < state.sphere_number[i]:
            i, j, side = j, i, 1
        sign, row = -1.0 if side else 1.0, rows + count[0]
        count[0] += 1
        row.clump_i, row.sphere_i = state.clump_number[clump_of(state, i)], state.sphere_number[i]
        row.clump_j = row.sphere_j = j
        if not walls:
            row.clump_j, row.sphere_j = state.clump_number[clump_of(state, j)], state.sphere_number[j]
        row.overlap, row.normal = contact.overlap[lane], scale(sign, load3(contact.normal, lane))
        row.force, row.couple = signed(sign, load(block.force[0] + lane)), signed(sign, load(block.couple[0] + lane))
        row.point = add_scaled(load(sides[side].sphere + lane), (1.0 if walls else 0.5) * row.overlap
                               - sides[side].sphere[3 * LANES + lane], row.normal)
        row.energy, row.tangential = energies.normal_energy[lane], vec3(0.0, 0.0, 0.0)
        if law.history != NULL:
            row.tangential = add(add_scaled(row.force, -dot(row.force, row.normal), row.normal), vec3(0.0, 0.0, 0.0))
        row.energy_tangential, row.energy_rolling = energies.tangential_energy[lane], energies.rolling_energy[lane]
        row.sliding = energies.sliding[lane] > 0.0


cdef object in_order(State state, found):
    """Contacts (n,) by ascending sphere_i and sphere_j, walls first; points in unbounded space."""
    found = found.take(np.argsort((found["sphere_i"].astype(np.int64) << 32) + found["sphere_j"]))  # with its padding
    if state.box is not None:
        found["point"] += state.shift[found["clump_i"]] * state.box.start.length
    return found


cdef object list_contacts(State state, const StateView *view, const Contacts *contacts, int n_threads):
    """All contacts of all threads, a structured array of CONTACT; the spheres are posed."""
    cdef Py_ssize_t count = 0, b
    cdef int t, group
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            count += LANES * contacts[t].groups[group].n_blocks
    found = np.zeros(count + 1, dtype=CONTACT)
    cdef unsigned char[::1] rows = found.view(np.uint8)
    count = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            for b in range(contacts[t].groups[group].n_blocks):
                write_block(contacts[t].law, view, block_at(&contacts[t].groups[group], b), group == <int> WALLS,
                            <Listed *> &rows[0], &count)
    (<LawKernels> contacts[0].law.parameters.context).raise_error()
    return in_order(state, found[:count])


cdef void write_slopes(const Contacts *contacts, const StateView *view, int group, Py_ssize_t b,
                       const double[::1] changes, Py_ssize_t *count, long long[:, ::1] clumps,
                       double[:, :, ::1] slopes) noexcept nogil:
    """Rows of `list_slopes` of the contacts of a block."""
    cdef const Law *law = contacts.law
    cdef const ContactBlock *block = block_at(&contacts.groups[group], b)
    cdef Contact contact
    cdef Result result
    cdef Bodies sides[2]
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
    load_block(law, view, block, walls, &contact, sides, images)
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
            if block.first[lane] != free_slot_of(view):
                for m in range(2 * n):
                    slopes[place, m, k] = (after[m][lane] - before[m][lane]) / changes[k % n]
                place += 1
    for lane in range(LANES):
        if block.first[lane] != free_slot_of(view):
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
            count += LANES * contacts[t].groups[group].n_blocks
    cdef long long[:, ::1] clumps = np.empty((count, 2), dtype=np.int64)
    cdef double[:, :, ::1] slopes = np.zeros((count, 2 * len(changes), 2 * len(changes)))
    count = 0
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            for b in range(contacts[t].groups[group].n_blocks):
                write_slopes(contacts + t, view, group, b, changes, &count, clumps, slopes)
    (<LawKernels> contacts[0].law.parameters.context).raise_error()
    return np.asarray(clumps)[:count], np.asarray(slopes)[:count]


cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads) noexcept nogil:
    """The largest overlap of all contacts of all threads [m]; 0 without any."""
    cdef double deepest = 0.0
    cdef const ContactBlock *block
    cdef Contact contact
    cdef Bodies sides[2]
    cdef double images[6 * LANES]
    cdef Py_ssize_t b
    cdef int t, group, lane
    for t in range(n_threads):
        for group in range(<int> GROUPS):
            for b in range(contacts[t].groups[group].n_blocks):
                block = block_at(&contacts[t].groups[group], b)
                gather_contacts(False, contacts[t].law, view, block.first, block.second, group == <int> WALLS, &contact,
                                sides, images)
                for lane in range(LANES):
                    if block.first[lane] != free_slot_of(view):
                        deepest = max(deepest, contact.overlap[lane])
    return deepest


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
