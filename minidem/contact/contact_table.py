"""The structured arrays of contacts, by the user's numbers of clumps and spheres, which contact_rows.pyx fills, and of
what broke, which engine/ledger.pyx fills."""
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

FRACTURE = np.dtype([
    ("id_i", np.int64), ("id_j", np.int64),             # of clumps; j of wall k is -1 - k
    ("place_i", np.int64), ("place_j", np.int64),       # of the spheres in the template of the clump; 0 at a wall
    ("step", np.int64),                                 # number of the step at whose end it broke
    ("energy", float),                                  # that was dissipated by the fracture [J]
])


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
