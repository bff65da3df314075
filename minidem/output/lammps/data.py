"""Spheres and clumps of a simulation as files of LAMMPS: read_data, and keyword infile of fix rigid/small."""
import numpy as np

from minidem.core.quaternions import rotate
from minidem.output.lammps.walls import bounds_of


def single_spheres(sim):
    """(n_clumps,) bool, the clumps of one sphere, which fix rigid/small refuses; they are for fix nve/sphere."""
    return np.array([len(template.radii) == 1 for template in sim.templates])[sim.template_index]


def inertia_of(sim):
    """Quaternions (n, 4) from the principal frame to the lab, and inertia tensors (n, 3, 3) [kg m2] in the lab frame,
    about the centres of mass."""
    principal, moments = sim.engine.state.column("orientation"), sim.engine.state.column("inertia")
    axes = rotate(principal[:, None], np.eye(3)).swapaxes(1, 2)
    return principal, (axes * moments[:, None, :]) @ axes.swapaxes(1, 2)


def write_spheres(sim, path):
    """Data file. Lines: id, type, position, diameter, density (of clumps of one sphere), molecule id.

    The k-th material of the clumps, in the order of `sim.materials`, is type k. The molecule is the clump, from 1 on,
    or 0 for clumps of one sphere.
    """
    center, radius, clump = sim.sphere_centers(), sim.sphere_radii, sim.sphere_clump
    low, high, _ = bounds_of(sim)
    n, density = len(radius), sim.mass[clump] / (4.0 / 3.0 * np.pi * radius ** 3)
    sides = "".join(f"{a:.17g} {b:.17g} {axis}lo {axis}hi\n" for a, b, axis in zip(low, high, "xyz"))
    single, ids = single_spheres(sim)[clump], np.arange(1, n + 1)
    motion = np.column_stack([sim.velocity, sim.angular_velocity])[clump] * single[:, None]
    materials, kind = np.unique(sim.material_index, return_inverse=True)
    table = np.column_stack([ids, kind[clump] + 1, center, 2.0 * radius, density, np.where(single, 0, clump + 1)])
    with path.open("w") as file:
        np.savetxt(file, table, "%d %d %.17g %.17g %.17g %.17g %.17g %d", comments="",
                   header=f"spheres\n\n{n} atoms\n{len(materials)} atom types\n{sides}\nAtoms # hybrid\n")
        np.savetxt(file, np.column_stack([ids, motion]), "%d" + 6 * " %.17g", header="\nVelocities\n", comments="")


def write_clumps(sim, path):
    """Infile of fix rigid/small. Lines: molecule id, mass, centre, inertia xx yy zz xy xz yz, velocity, angular
    momentum, three image flags."""
    inertia, bodies = inertia_of(sim)[1], ~single_spheres(sim)
    momentum = np.einsum("nij,nj->ni", inertia, sim.angular_velocity)
    table = np.column_stack([np.arange(1, sim.n_clumps + 1), sim.mass, sim.wrapped_position,
                             inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], sim.velocity, momentum, sim.image])
    np.savetxt(path, table[bodies], "%d" + 16 * " %.17g" + 3 * " %d", header=str(np.count_nonzero(bodies)), comments="")
