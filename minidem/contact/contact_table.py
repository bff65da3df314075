"""The structured array of contacts, by the user's numbers of clumps and spheres; contact_rows.pyx fills it."""
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
