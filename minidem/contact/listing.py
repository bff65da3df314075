"""Contacts as Python sees them: one structured array, in the user's numbers and order."""
import numpy as np

CONTACT = np.dtype([
    ("clump_i", np.int32), ("clump_j", np.int32),       # both j fields of wall k are -1 - k
    ("sphere_i", np.int32), ("sphere_j", np.int32),
    ("overlap", float),                                 # [m]
    ("normal", float, 3),                               # unit, from j to i
    ("force", float, 3),                                # on i [N]
    ("point", float, 3),                                # middle of the overlap; on a wall the sphere's lowest point [m]
    ("energy", float),                                  # [J]
])


def describe(state, slots, values):
    """Rows of CONTACT, sphere_i < sphere_j, sorted by both.

    slots : (n, 2) sphere slots, -1 - k for wall k
    values : (n, 6) overlap, force, energy, normal
    """
    lanes = state.blocks.shape[2]
    clump_of_slot = state.clump_number.reshape(-1, lanes)[state.block_of_member].reshape(-1)
    sphere_of_slot = state.sphere_number.reshape(-1)
    spheres = state.spheres.reshape(-1, 4)[slots[:, 0]]
    wall = slots[:, 1] < 0
    found = np.zeros(len(slots), dtype=CONTACT)
    for slot, clump, sphere in ((slots[:, 0], "clump_i", "sphere_i"), (slots[:, 1], "clump_j", "sphere_j")):
        found[clump] = np.where(slot < 0, slot, clump_of_slot[slot])
        found[sphere] = np.where(slot < 0, slot, sphere_of_slot[slot])
    found["overlap"], found["energy"], found["normal"] = values[:, 0], values[:, 2], values[:, 3:]
    arm = spheres[:, 3] - np.where(wall, 0.0, 0.5) * found["overlap"]
    found["point"] = spheres[:, :3] - arm[:, None] * found["normal"]
    swap = ~wall & (found["sphere_j"] < found["sphere_i"])
    for i, j in (("clump_i", "clump_j"), ("sphere_i", "sphere_j")):
        found[i][swap], found[j][swap] = found[j][swap], found[i][swap]
    found["normal"][swap] *= -1.0
    found["force"] = values[:, 1:2] * found["normal"]
    return found[np.lexsort((found["sphere_j"], found["sphere_i"]))]
