"""All contacts at the present pose, as arrays for Python."""
import numpy as np

from libc.string cimport memcpy, memmove, memset

from minidem.contact.blocks cimport block_at, history_of
from minidem.contact.contact cimport MAX_RECORDS, Contact, Energies, load3
from minidem.contact.contacts cimport GROUPS, WALLS
from minidem.contact.gather cimport call_central, couple_of, gather_contacts, load_block, load_only_pair
from minidem.contact.law cimport LawKernels
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3
from minidem.state.rows cimport load
from minidem.state.state cimport clump_of, free_slot_of
from minidem.walls.surface cimport Walls

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
    ("triangle", np.int32),                             # of a mesh, by its number there, else -1
], align=True)


cdef struct ContactRow:                 # a row of CONTACT
    int clump_i, clump_j, sphere_i, sphere_j
    double overlap
    Vec3 normal, force, point
    double energy
    Vec3 tangential, couple
    double energy_tangential, energy_rolling
    unsigned char sliding
    int triangle

cdef ContactRow a_row
ROW = np.asarray(<ContactRow[:1]> &a_row).dtype
if [(name, ROW.fields[name][1]) for name in ROW.names] != [(name, CONTACT.fields[name][1]) for name in CONTACT.names]:
    raise ImportError("a contact has another layout in C than in NumPy")


cdef object all_blocks(const Contacts *contacts, int n_threads):
    """(n, 3) of all threads: thread, group and number in the group."""
    return np.concatenate([
        np.stack(np.broadcast_arrays(t, group, np.arange(contacts[t].groups[group].n_blocks, dtype=np.intp)), axis=1)
        for t in range(n_threads) for group in range(<int> GROUPS)])


cdef inline Vec3 signed(double sign, Vec3 v) noexcept nogil:
    """Without a negative zero."""
    return add(scale(sign, v), vec3(0.0, 0.0, 0.0))


cdef void load_room(const Law *law, const StateView *state, const ContactBlock *block, bint walls,
                    Room *room) noexcept nogil:
    """As load_block, into a room of zeros."""
    memset(room, 0, sizeof(Room))
    load_only_pair(law, &room.contact)
    load_block(law, state, block, walls, LANES, &room.contact, room.sides, room.images[0])


cdef void write_block(const Law *law, const StateView *state, const ContactBlock *block, bint walls,
                      ContactRow *rows) noexcept nogil:
    """Rows (LANES,) of the contacts of a block; of two spheres, sphere_i < sphere_j; of a free lane, sphere_i is -1."""
    cdef Room room
    cdef Contact *contact = &room.contact
    cdef double history[MAX_RECORDS * 4 * LANES]
    cdef double magnitude[LANES]
    cdef double force[3 * LANES]
    cdef Energies energies
    cdef ContactRow *row
    cdef double sign
    cdef int lane, i, j, side
    memset(&energies, 0, sizeof(energies))
    load_room(law, state, block, walls, &room)
    if law.history != NULL:
        memcpy(history, history_of(block), law.n_records * 4 * LANES * sizeof(double))
        law.describe(contact, history, &energies, &law.parameters)
    elif law.central != NULL:
        call_central(law, contact, magnitude, force)
        for lane in range(LANES):
            energies.normal_energy[lane] = law.energy_factor * magnitude[lane] * contact.overlap[lane]
    for lane in range(LANES):
        i, j, side, row = block.first[lane], block.second[lane], 0, rows + lane
        row.sphere_i = -1
        if i == free_slot_of(state):
            continue
        if j >= 0 and state.sphere_number[j] < state.sphere_number[i]:
            i, j, side = j, i, 1
        sign = -1.0 if side else 1.0
        row.clump_i, row.sphere_i = state.clump_number[clump_of(state, i)], state.sphere_number[i]
        row.clump_j = row.sphere_j = j
        if not walls:
            row.clump_j, row.sphere_j = state.clump_number[clump_of(state, j)], state.sphere_number[j]
        row.overlap, row.normal = contact.overlap[lane], scale(sign, load3(contact.normal, lane))
        row.force, row.couple = signed(sign, load(block.force[0] + lane)), signed(sign, couple_of(law, block, lane))
        row.point = add_scaled(load(room.sides[side].sphere + lane), (1.0 if walls else 0.5) * row.overlap
                               - room.sides[side].sphere[3 * LANES + lane], row.normal)
        if law.history != NULL:
            row.tangential = add(add_scaled(row.force, -dot(row.force, row.normal), row.normal), vec3(0.0, 0.0, 0.0))
        row.energy, row.energy_tangential = energies.normal_energy[lane], energies.tangential_energy[lane]
        row.energy_rolling, row.sliding = energies.rolling_energy[lane], energies.sliding[lane] > 0.0


cdef object list_contacts(State state, const StateView *view, const Contacts *contacts, int n_threads, double above):
    """All contacts with an overlap above a limit [m], a structured array of CONTACT by ascending sphere_i and sphere_j,
    walls first, by their primitives; spheres are posed.

    Compiled, because a scenario lists all contacts a thousand times in a run.
    """
    cdef const Py_ssize_t[:, ::1] blocks = all_blocks(contacts, n_threads)
    cdef const Contacts *mine
    cdef ContactRow *rows
    cdef const Walls *walls = contacts[0].law.walls
    cdef Py_ssize_t k, n = 0, primitive
    cdef int lane
    found = np.zeros(LANES * len(blocks) + 1, dtype=CONTACT)        # takes memory only where it is written
    cdef unsigned char[::1] memory = found.view(np.uint8)
    for k in range(len(blocks)):
        mine, rows = contacts + blocks[k, 0], <ContactRow *> &memory[0] + n
        write_block(mine.law, view, block_at(&mine.groups[blocks[k, 1]], blocks[k, 2]), blocks[k, 1] == <int> WALLS,
                    rows)
        for lane in range(LANES):
            if rows[lane].sphere_i >= 0 and not rows[lane].overlap <= above:        # no free lane
                memmove(<ContactRow *> &memory[0] + n, rows + lane, sizeof(ContactRow))
                n += 1
    (<LawKernels> contacts[0].law.parameters.context).raise_error()
    found = found[:n]
    order, rows = np.argsort((found["sphere_i"].astype(np.int64) << 32) + found["sphere_j"]), <ContactRow *> &memory[0]
    for k in range(n):
        rows[k].triangle = -1
        if rows[k].clump_j < 0:                         # the wall instead of its primitive
            primitive = -1 - rows[k].clump_j
            if primitive >= walls.n_simple:
                rows[k].triangle = walls.triangle_of[primitive - walls.n_simple]
            rows[k].clump_j = rows[k].sphere_j = -1 - walls.wall_of[primitive]
    found = found.take(order)                           # with its padding
    if state.box is not None:                           # points in unbounded space
        found["point"] += state.shift[found["clump_i"]] * state.box.start.length
    return found


cdef double deepest_overlap(const StateView *view, const Contacts *contacts, int n_threads):
    """The largest overlap of all contacts of all threads [m]; 0 without any."""
    cdef const Py_ssize_t[:, ::1] blocks = all_blocks(contacts, n_threads)
    cdef double deepest = 0.0
    cdef const Contacts *mine
    cdef const ContactBlock *block
    cdef Room room
    cdef Py_ssize_t k
    cdef int lane
    for k in range(len(blocks)):
        mine = contacts + blocks[k, 0]
        block = block_at(&mine.groups[blocks[k, 1]], blocks[k, 2])
        gather_contacts(False, mine.law, view, block.first, block.second, blocks[k, 1] == <int> WALLS, LANES,
                        &room.contact, room.sides, room.images[0])
        for lane in range(LANES):
            if block.first[lane] != free_slot_of(view):
                deepest = max(deepest, room.contact.overlap[lane])
    return deepest


def with_history(contacts, history):
    """The same array with one more column: history (n_records, 4), of the records of `read_history`."""
    records = history["records"]
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
