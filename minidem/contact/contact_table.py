"""The structured array of contacts, by the user's numbers of clumps and spheres."""
import numpy as np

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


def describe(state, slots, values, friction=None):
    """Rows of CONTACT, sphere_i < sphere_j, sorted by both.

    slots : (n, 2) sphere slots, -1 - k for element k of the walls
    values : (n, 6) overlap, force, energy, normal
    friction : (n, 12) of a law with history, force (3) on the first sphere, point (3), couple (3), energies of the
        tangential and rolling springs, whether it slides
    """
    lanes = state.blocks.shape[2]
    clump_of_slot = state.clump_number.reshape(-1, lanes)[state.block_of_member].reshape(-1)
    sphere_of_slot = state.sphere_number.reshape(-1)
    wall = slots[:, 1] < 0
    other = np.maximum(slots[:, 1], 0)                  # of walls: any slot
    swap = ~wall & (sphere_of_slot[other] < sphere_of_slot[slots[:, 0]])
    slots = np.where(swap[:, None], slots[:, ::-1], slots)
    # Sorted before the fields are filled: the padding of an array that is sorted afterwards is not zero.
    order = np.lexsort((np.where(wall, slots[:, 1], sphere_of_slot[np.maximum(slots[:, 1], 0)]),
                        sphere_of_slot[slots[:, 0]]))
    slots, values, wall, swap = slots[order], values[order], wall[order], swap[order]
    friction = None if friction is None else friction[order]
    i, j = slots.T
    other = np.maximum(j, 0)
    spheres = state.spheres.reshape(-1, 4)[i]
    found = np.zeros(len(slots), dtype=CONTACT)
    found["clump_i"], found["clump_j"] = clump_of_slot[i], np.where(wall, j, clump_of_slot[other])
    found["sphere_i"], found["sphere_j"] = sphere_of_slot[i], np.where(wall, j, sphere_of_slot[other])
    found["overlap"], found["energy"] = values[:, 0], values[:, 2]
    sign = np.where(swap[:, None], -1.0, 1.0)
    found["normal"] = sign * values[:, 3:]
    arm = spheres[:, 3] - np.where(wall, 1.0, 0.5) * found["overlap"]
    found["point"] = spheres[:, :3] - arm[:, None] * found["normal"]
    if friction is None:
        found["force"] = values[:, 1:2] * found["normal"]
    else:
        found["force"], found["couple"] = sign * friction[:, :3] + 0.0, sign * friction[:, 6:9] + 0.0   # not -0.0
        known = wall | (state.box is None)              # else the mean of two images, one of which may be elsewhere
        found["point"][known] = friction[known, 3:6]
        along = np.sum(found["force"] * found["normal"], axis=1)
        found["tangential"] = found["force"] - along[:, None] * found["normal"] + 0.0
        found["energy_tangential"], found["energy_rolling"] = friction[:, 9], friction[:, 10]
        found["sliding"] = friction[:, 11] > 0.0
    if state.box is not None:
        found["point"] += state.shift[found["clump_i"]] * state.box.length
    return found


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
