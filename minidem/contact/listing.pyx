# distutils: extra_compile_args = -O2
"""Contacts as Python sees them: one structured array, in the user's numbers and order."""
import numpy as np

from minidem.broadphase.ghosts cimport slot_of
from minidem.broadphase.neighbours cimport Neighbours, owns
from minidem.contact.contacts cimport Contacts
from minidem.contact.hertz cimport hertz_energy
from minidem.contact.touch cimport Touch, touch
from minidem.state cimport State

CONTACT = np.dtype([
    ("clump_i", np.int32), ("clump_j", np.int32),       # both j fields of wall k are -1 - k
    ("sphere_i", np.int32), ("sphere_j", np.int32),
    ("overlap", float),                                 # [m]
    ("normal", float, 3),                               # unit, from j to i
    ("force", float, 3),                                # on i [N]
    ("point", float, 3),                                # middle of the overlap; on a wall the sphere's lowest point [m]
    ("energy", float),                                  # [J]
])


cdef object list_contacts(State state, const Contacts *contacts, const Neighbours *threads, int n_threads):
    """All contacts of all threads, a structured array of CONTACT."""
    cdef Py_ssize_t count = 0, k
    cdef int t, i, j
    cdef Touch contact
    cdef int[:, ::1] pair
    cdef double[:, ::1] values
    for t in range(n_threads):
        count += contacts[t].pairs.size // 2
    pair, values = np.empty((count, 2), dtype=np.int32), np.empty((count, 6))
    count = 0
    for t in range(n_threads):
        for k in range(0, contacts[t].pairs.size, 2):
            i, j = contacts[t].pairs.data[k], contacts[t].pairs.data[k + 1]
            if owns(threads + t, &state.view, i):                       # else its owner lists it
                pair[count, 0], pair[count, 1] = i, slot_of(&state.view, j)
                contact = touch(state.view.spheres, i, j, &contacts[t].law)
                values[count, 0], values[count, 1] = contact.overlap, contact.force
                values[count, 2] = hertz_energy(contact.force, contact.overlap)
                values[count, 3], values[count, 4] = contact.normal.x, contact.normal.y
                values[count, 5] = contact.normal.z
                count += 1
    return describe(state, np.asarray(pair)[:count], np.asarray(values)[:count])


def describe(state, slots, values):
    """Rows of CONTACT, sphere_i < sphere_j, sorted by both.

    slots : (n, 2) sphere slots, -1 - k for wall k
    values : (n, 6) overlap, force, energy, normal
    """
    lanes = state.blocks.shape[2]
    clump_of_slot = state.clump_number.reshape(-1, lanes)[state.block_of_member].reshape(-1)
    sphere_of_slot = state.sphere_number.reshape(-1)
    wall = slots[:, 1] < 0
    swap = ~wall & (sphere_of_slot[slots[:, 1]] < sphere_of_slot[slots[:, 0]])
    slots = np.where(swap[:, None], slots[:, ::-1], slots)
    i, j = slots.T
    spheres = state.spheres.reshape(-1, 4)[i]
    found = np.zeros(len(slots), dtype=CONTACT)
    found["clump_i"], found["clump_j"] = clump_of_slot[i], np.where(wall, j, clump_of_slot[j])
    found["sphere_i"], found["sphere_j"] = sphere_of_slot[i], np.where(wall, j, sphere_of_slot[j])
    found["overlap"], found["energy"] = values[:, 0], values[:, 2]
    found["normal"] = np.where(swap[:, None], -1.0, 1.0) * values[:, 3:]
    found["force"] = values[:, 1:2] * found["normal"]
    arm = spheres[:, 3] - np.where(wall, 0.0, 0.5) * found["overlap"]
    found["point"] = spheres[:, :3] - arm[:, None] * found["normal"]
    return found[np.lexsort((found["sphere_j"], found["sphere_i"]))]


def columns(contacts):
    """A dict of arrays (n,) of an array of CONTACT: vectors as NAME_x, NAME_y, NAME_z."""
    found = {}
    for name in contacts.dtype.names:
        values = contacts[name]
        if values.ndim == 1:
            found[name] = values
        else:
            found |= {f"{name}_{axis}": values[:, k] for k, axis in enumerate("xyz")}
    return found
