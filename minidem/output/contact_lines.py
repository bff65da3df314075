"""Contacts as lines for ParaView: force chains."""
import meshio
import numpy as np

from minidem.core.checks import short_repr
from minidem.core.guard import exclusive
from minidem.output.vtu import write_mesh

ENDS = ("clumps", "spheres")


def write_contacts(path, sim, between="clumps"):
    """Write the contacts of `sim` at its current time, see `contact_mesh`, to the VTU file `path`, atomically."""
    write_mesh(path, contact_mesh(sim, between), sim.time)


@exclusive
def contact_mesh(sim, between="clumps"):
    """A meshio.Mesh with one line per contact, in the order of `sim.contacts()`.

    Lines end at the centres of the two clumps or spheres, or of one and at the contact point on a wall. In a periodic
    box a line begins where a frame has the first clump and ends at the image that it touches. Cell data:

    - `force`, `normal_force`, `tangential_force`: magnitudes of the force and of its parts [N]; `normal_force` is
      negative in attraction;
    - `overlap` [m], `sliding` (int32, 1 at the limit of friction);
    - `clump_i`, `clump_j` (int32, ids; -1 - k for wall k).

    Parameters
    ----------
    sim : Simulation
    between : {"clumps", "spheres"}

    Raises
    ------
    ValueError
        For another value of `between`.
    """
    if between not in ENDS:
        raise ValueError(f"between = {short_repr(between)}: give one of {', '.join(map(repr, ENDS))}")
    contacts, ids, spheres, box = sim.contacts(), np.asarray(sim.ids), sim.sphere_centers(), sim._state.box
    centers = np.asarray(sim.position) if between == "clumps" else spheres
    at_wall, n, clump_j = contacts["clump_j"] < 0, len(contacts), contacts["clump_j"]
    starts, ends = (centers[np.where(contacts[name] < 0, 0, contacts[name])]
                    for name in (f"{between[:-1]}_i", f"{between[:-1]}_j"))
    if box is not None:
        apart = spheres[contacts["sphere_i"]] - spheres[np.where(at_wall, 0, contacts["sphere_j"])]
        ends = ends + box.length * box.lengths_in(apart)
    ends = np.where(at_wall[:, None], contacts["point"], ends)
    if box is not None:
        moved = (np.asarray(sim.wrapped_position) - np.asarray(sim.position))[contacts["clump_i"]]
        starts, ends = starts + moved, ends + moved
    lines = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    data = {"force": np.linalg.norm(contacts["force"], axis=1),
            "normal_force": np.sum(contacts["force"] * contacts["normal"], axis=1),
            "tangential_force": np.linalg.norm(contacts["tangential"], axis=1), "overlap": contacts["overlap"],
            "sliding": contacts["sliding"].astype(np.int32), "clump_i": ids[contacts["clump_i"]].astype(np.int32),
            "clump_j": np.where(at_wall, clump_j, ids[np.where(at_wall, 0, clump_j)]).astype(np.int32)}
    return meshio.Mesh(np.stack([starts, ends], axis=1).reshape(-1, 3), {"line": lines},
                       cell_data={name: [values] for name, values in data.items()})
