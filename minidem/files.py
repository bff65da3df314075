"""Files for other programs: frames for ParaView, input and state of LAMMPS."""
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from minidem.core.checks import file_path, whole
from minidem.core.guard import exclusive
from minidem.forces import Forces
from minidem.output import lammps, vtu
from minidem.output.contact_lines import write_contacts


class Files(Forces):
    """Base class of `Simulation`: the methods that write files for other programs, or read theirs."""

    @exclusive
    def write_vtu(self, path: str | Path, fields: Iterable[str] | str | None = None) -> None:
        """Write all spheres to a VTU file for ParaView.

        Parameters
        ----------
        path : path
        fields : list of str, or str, optional
            Out of clump, velocity, angular_velocity, orientation, template, clump_center, contact_force (see
            output/vtu.py); centres and radii are always written. Default: all.
        """
        vtu.write_spheres(file_path("path", path, ".vtu"), self, fields=fields)

    @exclusive
    def write_contacts(self, path: str | Path, between: str = "clumps") -> None:
        """Write the contacts to a VTU file for ParaView as lines, which show force chains.

        Parameters
        ----------
        path : path
        between : {"clumps", "spheres"}
            Lines from centre to centre of these, or to the contact point on a wall. Cell data are force, normal_force,
            tangential_force [N], overlap [m], sliding, clump_i, clump_j (see output/contact_lines.py).
        """
        write_contacts(file_path("path", path, ".vtu"), self, between)

    @exclusive
    def write_lammps(self, folder: str | Path, steps: int = 100_000, every: int = 0) -> None:
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
            rolling friction, walls other than planes at rest along the axes and a closed drum, user forces. Nothing is
            written then.

        Notes
        -----
        Contacts begin without history, so that tangential springs are zero: no text file of LAMMPS has them, only its
        binary restart files. So a heap at rest settles again: a hundred clumps of spheres of 3 cm with overlaps up to
        0.6 mm, which minidem holds at rest, moved by up to 1.4e-4 m within a second. The onset correction and the
        rotation scheme have no equal: LAMMPS has errors of its own in the step (see output/lammps/law.py).

        LAMMPS prints kinetic energies and the load of the ranks, between which it moves the limits of their parts of
        the box. It computes no elastic energy; `energy()` of the state that is read has all terms.
        """
        lammps.write(file_path("folder", folder), self, whole("steps", steps, 1), whole("every", every, 0))

    @classmethod
    def read_lammps(cls, folder: str | Path, threads: int | None = None) -> Self:
        """Read the state that LAMMPS has reached with the input of `write_lammps`.

        Parameters
        ----------
        folder : path
            The folder of `write_lammps`, in which LAMMPS has run in.minidem.
        threads : int, optional
            As for a new simulation.

        Returns
        -------
        Simulation
            Settings, templates, ids and order of the clumps are those of the simulation that was written; time,
            positions, orientations, velocities and angular velocities those at the end of the run.

        Raises
        ------
        ValueError
            For a dump of other clumps, or with numbers that are not finite.
        FileNotFoundError

        Notes
        -----
        The history of contacts is not read: tangential springs begin at zero again. Sums of `energy()` (dissipated,
        work, exchanged) begin at zero, too. Clumps of one sphere have the orientations of the start.
        """
        return lammps.read(file_path("folder", folder), cls, threads)
