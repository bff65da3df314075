"""Topic of a `Simulation`: files for other programs."""
from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from minidem.contact.listing import columns
from minidem.core.checks import file_path
from minidem.core.guard import exclusive
from minidem.output import vtu
from minidem.output.lammps.script import write_lammps
from minidem.simulation.topic import Accessor


class Files(Accessor):
    """`sim.io`: files for ParaView, and the way to LAMMPS."""

    @exclusive
    def write_vtu(self, path: str | Path, *, fields: Iterable[str] | str | None = None) -> None:
        """Write all spheres to a VTU file for ParaView.

        Parameters
        ----------
        path : path
        fields : list of str, or str, optional
            Out of clump, velocity, angular_velocity, orientation, template, clump_center, contact_force (see `Frame` in
            output/vtu.py); centres, radii and `sim.fields` are always written. Default: all.
        """
        vtu.Frame(self._sim, fields=fields).write(file_path("path", path, ".vtu"))

    @exclusive
    def write_contacts(self, path: str | Path, *, between: str = "clumps") -> None:
        """Write the contacts to a VTU file for ParaView as lines, which show force chains.

        Parameters
        ----------
        path : path
        between : {"clumps", "spheres"}
            Lines from centre to centre of these, or to the contact point on a wall. Cell data are force, normal_force,
            tangential_force [N], overlap [m], sliding, clump_i, clump_j (see `contact_mesh` in output/vtu.py).
        """
        sim = self._sim
        vtu.write_mesh(file_path("path", path, ".vtu"), vtu.contact_mesh(sim, between), sim.loop.step_count * sim.dt)

    @exclusive
    def write_bonds(self, path: str | Path) -> None:
        """Write the bonds that hold to a VTU file for ParaView, as lines between the centres of their spheres.

        Parameters
        ----------
        path : path
            Cell data are normal_force, shear_force, bending, torsion, tension, shear, energy (see `bonds`), and
            clump_i, clump_j, the ids of the clumps.
        """
        sim = self._sim
        vtu.write_mesh(file_path("path", path, ".vtu"), vtu.bond_mesh(sim), sim.loop.step_count * sim.dt)

    def contact_columns(self) -> dict[str, np.ndarray]:
        """`sim.contacts()` by columns (n,), vectors as normal_x, normal_y, normal_z, for `pandas.DataFrame`."""
        return columns(self._sim.contacts())

    @exclusive
    def write_lammps(self, folder: str | Path, *, steps: int = 100_000, every: int = 0) -> None:
        """Write the input of LAMMPS, which continues on many processors: `mpirun -np 8 lmp -in in.minidem`.

        Parameters
        ----------
        folder : path
            For spheres.data, clumps.state (fix rigid/small; clumps of one sphere have fix nve/sphere), in.minidem, and
            start.npz, a checkpoint.
        steps : int
            Number of steps, unless lmp is started with `-var steps N`.
        every : int
            Steps between two frames of all spheres in spheres.dump, which OVITO reads; 0: none. `-var every N`.

        Raises
        ------
        ValueError
            For what LAMMPS does not compute equally: contact laws other than 'hertz' and 'hertz-mindlin' without
            rolling friction, meshes other than sides of a box along the axes, cylinders and cones in other directions,
            user forces, clumps that are held but move, clumps of several spheres in a periodic box that moves. Nothing
            is written then.

        Notes
        -----
        Contacts keep their springs of friction; a warning says where they cannot (see the guide, output). The onset
        correction and the rotation scheme have no equal in LAMMPS (output/lammps/LAMMPS.md).
        """
        write_lammps(self._sim, folder, steps, every)
