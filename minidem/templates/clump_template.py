"""Templates of rigid clumps: spheres, mass, centre of mass, principal inertia."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, Assumed, finite_array, flag, positive, refuse, short_repr
from minidem.core.read_only import read_only
from minidem.templates import mercury_folder
from minidem.templates.fit_mesh import fit_spheres
from minidem.templates.fit_report import MeshReport
from minidem.templates.mass.mass_properties import MassProperties, components, lengths, quaternion, union_properties
from minidem.templates.sphere_files import FORMATS, read_mass_properties, read_spheres, write_spheres
from minidem.templates.triangle_mesh import TriangleMesh

DENSITY = Assumed(2500.0)       # [kg/m3] of a template without one; a simulation of it warns
TINY = float(np.finfo(np.float64).tiny)     # the reciprocals of smaller numbers overflow


class ClumpTemplate:
    """A rigid body of uniform density that fills the union of its spheres.

    Spheres may overlap, touch, contain one another or be separate. Volume and inertia are those of the union, exact
    to round-off: overlaps count once (`minidem.templates.mass.union_of_spheres`). Templates are immutable; array
    attributes are copies (`minidem.core.read_only`).

    The principal axes are a deterministic choice (`minidem.templates.mass.mass_properties`). A rod, with all centres on
    one line, has axis 1 along that line, offsets in y and z that are exactly zero, and inertia[1] == inertia[2].
    Moments that differ by no more than the round-off of the given coordinates are made equal to the last bit.

    Parameters
    ----------
    centers : (n, 3) array_like
        Centres of the spheres in any frame, the input frame of the clump [m].
    radii : (n,) array_like
        Radii of the spheres [m].
    density : float
        Density [kg/m3]. Without it 2500 kg/m3 are taken, and `Simulation.run` warns.

    Attributes
    ----------
    centers, radii, density
        As given.
    volume, mass : float
        Volume [m3] and mass [kg].
    center_of_mass : (3,) ndarray
        Centre of mass, input frame [m].
    inertia : (3,) ndarray
        Principal moments about the centre of mass, ascending [kg m2].
    axes : (3, 3) ndarray
        Principal axes as columns, input frame, right-handed.
    orientation : (4,) ndarray
        Unit quaternion (w, x, y, z) of the axes, principal frame -> input frame.
    offsets : (n, 3) ndarray
        Centres of the spheres relative to the centre of mass, principal frame [m].
    bounding_radius : float
        Radius of the smallest sphere about the centre of mass that contains the clump [m].
    relative_error : float
        Bound of the relative error of the mass and of each principal moment for exactly the given spheres
        (`minidem.templates.mass.union_of_spheres`), or for the given triangles of a clump with the mass properties of
        a mesh (`from_mesh`).

    Raises
    ------
    ValueError
        No spheres, wrong shapes, numbers that are not finite, or a radius or density that is not positive.
    """

    centers: np.ndarray
    radii: np.ndarray
    density: float
    volume: float
    mass: float
    center_of_mass: np.ndarray
    inertia: np.ndarray
    axes: np.ndarray
    orientation: np.ndarray
    offsets: np.ndarray
    bounding_radius: float
    relative_error: float

    def __init__(self, centers: ArrayLike, radii: ArrayLike, density: float = DENSITY):
        centers = finite_array("centers", centers, (-1, 3), limit=LARGEST)
        radii = finite_array("radii", radii, (-1,), limit=LARGEST)
        density = positive("density", density)
        if len(centers) == 0:
            raise ValueError("centers = []: a clump needs one sphere at least")
        if len(radii) != len(centers):
            raise ValueError(f"radii has shape {radii.shape} and centers {centers.shape}: give one radius per centre")
        refuse("radii", radii, radii <= 0.0, "give radii greater than 0")
        with np.errstate(over="ignore", under="ignore"):    # checked by _fill
            self._fill(centers, radii, *union_properties(centers, radii, density))

    def _fill(self, centers, radii, body, offsets):
        """Set all attributes from the spheres and the MassProperties `body` and its `offsets`."""
        mass, inertia = body.density * body.volume, body.inertia
        if not (TINY <= mass and TINY <= inertia[0] and np.isfinite(mass) and np.isfinite(inertia[2])):
            raise ValueError(f"radii and density give a mass of {mass} kg and moments of inertia {inertia} "
                             "kg m2, which double precision cannot hold: check the units")
        values = dict(centers=centers, radii=radii, density=body.density, volume=body.volume, mass=mass,
                      center_of_mass=body.center_of_mass, inertia=inertia, axes=body.axes,
                      orientation=quaternion(body.axes), offsets=offsets,
                      bounding_radius=float((lengths(offsets) + radii).max()), relative_error=body.relative_error)
        self.__dict__.update({name: np.ascontiguousarray(value) + 0.0 if isinstance(value, np.ndarray) else value
                              for name, value in values.items()})           # + 0.0: no negative zeros

    def _with(self, body):
        """Return a template of the same spheres with the mass properties of `body`."""
        template = object.__new__(ClumpTemplate)
        centers, radii = vars(self)["centers"], vars(self)["radii"]
        template._fill(centers, radii, body, components(centers - body.center_of_mass, body.axes))
        return template

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return read_only(name, value.copy()) if isinstance(value, np.ndarray) else value

    @classmethod
    def from_file(cls, path: str | Path, density: float | None = None, scale: float = 1.0) -> Self:
        """Read a clump from a file with a line `x,y,z,r` per sphere, a LAMMPS molecule or a folder of MercuryDPM.

        The mass properties are those of the spheres, unless a comment in the file, written by `to_file`, holds those
        of a mesh. The folder of a clump of MercuryDPM has mass and inertia, about the origin of its spheres.

        Parameters
        ----------
        path : str or Path
            File with numbers separated by commas, semicolons or blanks, or a molecule file
            (`minidem.templates.sphere_files`). Or a folder (`minidem.templates.mercury_folder`).
        density : float
            Density [kg/m3]. Without it 2500 kg/m3 are taken, with a warning. A folder without it has its own mass
            [kg], so that the density is this mass over the volume of the spheres; with it, mass and moments are scaled
            to that density.
        scale : float
            Unit of length of the file [m]: 1e-3 for mm.

        Raises
        ------
        ValueError
            A line that is not a sphere, with its number. A mass or a tensor of inertia that is impossible.
        FileNotFoundError
            The file, or one in the folder, does not exist.
        """
        scale, folder = positive("scale", scale), mercury_folder.is_folder(path)
        centers, radii = read_spheres(mercury_folder.spheres_file(path) if folder else path)
        template = cls(centers * scale, radii * scale, float(DENSITY) if density is None else density)
        if folder:
            body = mercury_folder.read_body(path, template.volume, scale, template.relative_error)
            return template._with(body if density is None else body.scaled(1.0, template.density))
        if density is None:
            _warn_of_density()
        body = read_mass_properties(path)
        return template if body is None else template._with(body.scaled(scale, template.density))

    def to_file(self, path: str | Path, style: str = "csv") -> None:
        """Write the spheres atomically to a text file, input frame [m], or to a folder for MercuryDPM.

        `from_file` with the same density reads the same bits, of a folder of MercuryDPM, whose spheres are in the
        principal frame, the same offsets and moments. Mass properties other than those of the spheres are written as a
        comment, which other codes skip; not for LIGGGHTS, whose files have none.

        Parameters
        ----------
        path : str or Path
            File to write, or folder for MercuryDPM.
        style : {"csv", "lammps", "liggghts", "mercurydpm"}
            A line `x,y,z,r` for each sphere; a molecule file with mass, centre of mass and inertia of the union of the
            spheres; lines `x y z r`; a folder with spheres, mass and tensor of inertia, to be put in
            Tools/MClump/Clumps of MercuryDPM.

        Raises
        ------
        ValueError
            For another style, or numbers that MercuryDPM, in single precision, cannot read.
        """
        if style not in FORMATS:
            raise ValueError(f"style = {short_repr(style)}: give one of {', '.join(map(repr, FORMATS))}")
        if style == "mercurydpm":
            mercury_folder.write_folder(path, self.offsets, self.radii, self.mass, self.inertia)
            return
        union = ClumpTemplate(self.centers, self.radii, self.density)
        same = union.mass == self.mass and np.array_equal(union.inertia, self.inertia)
        write_spheres(path, self.centers, self.radii, None if same else MassProperties(
            self.volume, self.center_of_mass, self.inertia, self.axes, self.relative_error, self.density), style,
            (self.mass, self.center_of_mass, self.axes * self.inertia @ self.axes.T))

    @classmethod
    def from_mesh(cls, path: str | Path | TriangleMesh, spheres: int = 100, density: float | None = None,
                  scale: float = 1.0, match: str = "spheres", repair: bool = False) -> Self:
        """Fill a closed surface with spheres (`minidem.templates.fit_mesh` describes the method and its sources).

        All spheres lie inside the mesh. `minidem.mesh_report.MeshReport` compares the clump with the mesh.

        Parameters
        ----------
        path : str, Path or TriangleMesh
            Mesh file, .stl, .obj, .ply, .off or .glb, or a mesh. It must be watertight.
        spheres : int
            Largest number of spheres; the volume error falls with the number.
        density : float
            Density [kg/m3]. Without it 2500 kg/m3 are taken, with a warning.
        scale : float
            Unit of length of the file [m]: 1e-3 for mm.
        match : {"spheres", "mesh"}
            Source of volume, mass, centre of mass and principal inertia: the union of the spheres, or the mesh.
            The spheres are the same.
        repair : bool
            Fill the holes of a mesh file that is not watertight (pymeshfix, in the extra `mesh`).

        Raises
        ------
        ValueError
            A mesh that cannot be read, has open edges or encloses no volume.

        Warns
        -----
        UserWarning
            The density is not given; volume, a moment or the centre differ by more than 10 % from those of the mesh;
            with match="mesh", the spheres fill less than half of the mesh.
        """
        if not isinstance(match, str) or match not in ("spheres", "mesh"):
            raise ValueError(f"match = {short_repr(match)}: give 'spheres' or 'mesh'")
        if not isinstance(path, TriangleMesh):
            path = TriangleMesh.read(path, scale, repair)
        elif scale != 1.0 or flag("repair", repair):
            raise ValueError(f"scale = {short_repr(scale)}, repair = {short_repr(repair)}: these are of a mesh file, "
                             "and a TriangleMesh is given; give them to TriangleMesh.read")
        mesh = path
        if density is None:
            density = float(DENSITY)
            _warn_of_density()
        centers, radii = fit_spheres(mesh, spheres)
        template = cls(centers, radii, density)
        if match == "mesh":
            density = template.density
            template = template._with(MassProperties(mesh.volume, mesh.center_of_mass, density * mesh.moments,
                                                     mesh.axes, mesh.relative_error, density))
        warning = MeshReport(mesh, template).warning
        if warning:
            warnings.warn(warning, UserWarning, stacklevel=2)
        return template

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set: a ClumpTemplate is immutable, make a new one")

    def __repr__(self):
        moments = ", ".join(f"{moment:.6g}" for moment in self.inertia)
        n = len(self.radii)
        return (f"<ClumpTemplate of {n} sphere{'s' * (n > 1)}: mass {self.mass:.6g} kg, "
                f"inertia [{moments}] kg m2, bounding radius {self.bounding_radius:.6g} m>")


def _warn_of_density():
    """Warn the caller of the caller that the default is taken."""
    warnings.warn(f"density is not given: {DENSITY:g} kg/m3 are taken; give density=", UserWarning, stacklevel=3)


def template_scales(template, scale, n):
    """Return the scales (n,) of n clumps, from (n,) or one for all; ValueError if mass or inertia leave the range."""
    scale = finite_array("scale", scale, (n,), repeat=True, limit=LARGEST)
    refuse("scale", scale, scale <= 0.0, "give scales greater than 0")
    with np.errstate(over="ignore", under="ignore"):
        least = np.minimum(template.mass * scale ** 3, template.inertia[0] * scale ** 5)
        most = np.maximum(template.mass * scale ** 3, template.inertia[2] * scale ** 5)
    refuse("scale", scale, (least < TINY) | ~np.isfinite(most),
           "double precision cannot hold mass and inertia of such a clump: check the units")
    return scale
