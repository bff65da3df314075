"""Templates of rigid clumps: spheres, mass, centre of mass, principal inertia."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from minidem.core.checks import LARGEST, Assumed, as_array, finite_array, flag, positive, refuse, short_repr
from minidem.core.read_only import Immutable
from minidem.templates import mercury_folder
from minidem.templates.fit_mesh import fit_spheres
from minidem.templates.fit_report import MeshReport
from minidem.templates.mass.mass_properties import (
    SAME,
    MassProperties,
    components,
    layered_properties,
    lengths,
    quaternion,
    tensor_properties,
    union_properties,
)
from minidem.templates.sphere_files import FORMATS, read_clump, read_density, read_mass_properties, write_spheres
from minidem.templates.triangle_mesh import TriangleMesh

DENSITY = Assumed(2500.0)       # [kg/m3] of a template without one; a simulation of it warns
TINY = float(np.finfo(np.float64).tiny)     # the reciprocals of smaller numbers overflow


class ClumpTemplate(Immutable):
    """A rigid body of uniform density that fills the union of its spheres, or of given mass properties.

    Spheres may overlap, touch, contain one another or be separate. Volume and inertia belong to the union, exact
    to round-off: overlaps count once (`minidem.templates.mass.union_of_spheres`). Templates are immutable; array
    attributes are copies.

    A body that is not uniform has either one density per sphere, or a mass, a centre of mass and a tensor of inertia
    that were measured, or computed elsewhere. In any case the spheres make the contacts.

    The principal axes are a deterministic choice (`minidem.templates.mass.mass_properties`). A rod, with all centres on
    one line, has axis 1 along that line, offsets in y and z that are exactly zero, and inertia[1] == inertia[2].
    Moments that differ by no more than the round-off of the given coordinates are made equal to the last bit.

    Parameters
    ----------
    centers : (n, 3) array_like
        Centres of the spheres in any frame, the input frame of the clump [m].
    radii : (n,) array_like
        Radii of the spheres [m].
    density : float or (n,) array_like
        Density [kg/m3], one for all or one per sphere; where spheres overlap, the largest density counts. Without it
        2500 kg/m3 are taken, and `Simulation.run` warns.
    mass : float, optional
        Mass [kg], instead of a density.
    center_of_mass : (3,) array_like, optional
        Centre of mass, input frame [m], together with `inertia`. Default: the centre of mass of the spheres.
    inertia : (3, 3) array_like, optional
        Tensor of inertia about the centre of mass, input frame [kg m2], together with `mass` or `density`. Default:
        the inertia of the spheres.

    Attributes
    ----------
    centers, radii
        As given.
    density : float
        Mass over volume [kg/m3].
    volume, mass : float
        Volume of the union of the spheres [m3] and mass [kg].
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
        a mesh (`from_mesh`). For a clump of given mass and inertia, the error of the volume.

    Raises
    ------
    ValueError
        No spheres, wrong shapes, numbers that are not finite, or a radius, density or mass that is not positive. A
        tensor of inertia that no rigid body has: its principal moments must be positive, and none larger than the sum
        of the others.

    Warns
    -----
    UserWarning
        Mass properties of a body that reaches beyond its spheres, as of other units.
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

    def __init__(self, centers: ArrayLike, radii: ArrayLike, density: ArrayLike = DENSITY, *, mass: float | None = None,
                 center_of_mass: ArrayLike | None = None, inertia: ArrayLike | None = None):
        centers = finite_array("centers", centers, (-1, 3), limit=LARGEST)
        radii = finite_array("radii", radii, (-1,), limit=LARGEST)
        densities = as_array("density", density)
        if len(centers) == 0:
            raise ValueError("centers = []: a clump needs one sphere at least")
        if len(radii) != len(centers):
            raise ValueError(f"radii has shape {radii.shape} and centers {centers.shape}: give one radius per centre")
        refuse("radii", radii, radii <= 0.0, "give radii greater than 0")
        if densities.ndim:
            densities = finite_array("density", density, (len(radii),), limit=LARGEST)
            refuse("density", densities, densities < 1.0 / LARGEST, "give densities greater than 0")
            density = densities[0]
        density = positive("density", density)
        _check_given(density, mass, center_of_mass, inertia)
        with np.errstate(over="ignore", under="ignore"):    # checked by _fill
            body, offsets = union_properties(centers, radii, density)
            if not 0.0 < body.volume < np.inf:
                raise ValueError(f"radii give a volume of {body.volume} m3, which double precision cannot hold: check "
                                 "the units")
            if densities.ndim and (densities != density).any():
                body = layered_properties(centers, radii, densities)
                offsets = components(centers - body.center_of_mass, body.axes)
            if mass is not None:
                body = body.scaled(1.0, positive("mass", mass) / body.volume)
            if inertia is not None:
                body = tensor_properties(
                    "inertia", finite_array("inertia", inertia, (3, 3), limit=LARGEST), body.density * body.volume,
                    body.center_of_mass if center_of_mass is None else
                    finite_array("center_of_mass", center_of_mass, (3,), limit=LARGEST),
                    body.volume, body.relative_error)
                offsets = components(centers - body.center_of_mass, body.axes)
            self._fill(centers, radii, body, offsets)
        if inertia is not None:
            self._warn_of_reach()

    def _warn_of_reach(self):
        """Warn of a given body that the sphere about its centre of mass cannot contain: trace(I) / 2 <= m R^2."""
        gyration = float(np.sqrt(0.5 * self.inertia.sum() / self.mass))
        if gyration > self.bounding_radius:
            warnings.warn(f"inertia: mass is {gyration:.3g} m away from the centre of mass in the root mean square, "
                          f"and the spheres reach {self.bounding_radius:.3g} m; check the units of mass (kg) and "
                          "inertia (kg m2)", UserWarning, stacklevel=3)

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

    def with_density(self, density: float) -> ClumpTemplate:
        """Return the same body of another density [kg/m3]: its mass and moments grow in proportion."""
        return self._with(self._body.scaled(1.0, positive("density", density)))

    @classmethod
    def from_file(cls, path: str | Path, density: float | None = None, scale: float = 1.0) -> Self:
        """Read a clump from a file with a line `x,y,z,r` per sphere, a LAMMPS molecule or a folder of MercuryDPM.

        The mass properties follow from the spheres, unless the file has others: a comment written by `to_file`, a
        molecule with Masses, or with mass, com and inertia in its header, or the folder of a clump of MercuryDPM, with
        mass and inertia about the origin of its spheres.

        Parameters
        ----------
        path : str or Path
            File with numbers separated by commas, semicolons or blanks, or a molecule file
            (`minidem.templates.sphere_files`). Or a folder (`minidem.templates.mercury_folder`).
        density : float, optional
            Density [kg/m3], to which mass and moments of the file are scaled. Default: the density in a comment
            written by `to_file`, or its mass [kg] over the volume of the spheres; else 2500 kg/m3, with a warning.
        scale : float
            Unit of length of the file [m]: 1e-3 for mm.

        Raises
        ------
        ValueError
            A line that is not a sphere, with its number. A mass or a tensor of inertia that is impossible. A comment of
            `to_file` and masses of a molecule that differ.
        FileNotFoundError
            The file, or one in the folder, does not exist.

        Warns
        -----
        UserWarning
            What of the file is not used, as types of spheres; a density that is not known.
        """
        scale, folder = positive("scale", scale), mercury_folder.is_folder(path)
        file = mercury_folder.spheres_file(path) if folder else path
        centers, radii, given, unread = read_clump(file, scale)
        if unread:
            warnings.warn(f"{path}: {', '.join(unread)}: not used", UserWarning, stacklevel=2)
        body, known = None, None if folder else read_density(file)
        spheres = cls(centers * scale, radii * scale, positive("density", density) if density is not None else
                      float(DENSITY) if known is None else known)
        if folder:
            body = mercury_folder.read_body(path, spheres.volume, scale, spheres.relative_error)
        elif stored := read_mass_properties(file):
            body, known = stored.scaled(scale, stored.density), stored.density
        if density is None and not (known or folder or "mass" in given):
            _warn_of_density()
        if given:
            try:
                found = spheres._of_molecule(given, scale, known)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from None
            other = body or spheres._body
            alike = found.is_distributed_as(other)
            if known and not (alike and abs(found.density * found.volume / (known * other.volume) - 1.0) <= SAME):
                raise ValueError(f"{path}: mass, com, inertia or Masses of the molecule are not those of its comment "
                                 f"{'body' if body else 'density'}; remove the comment, or these")
            if alike and not known and density is None:     # with all digits
                return cls(spheres.centers, spheres.radii, found.density)
            body = body if alike else found
        return spheres if body is None else spheres._with(
            body if density is None else body.scaled(1.0, spheres.density))

    def _of_molecule(self, given, scale, known):
        """The MassProperties `given` for these spheres (`read_clump`); lengths in units of `scale`.

        Masses are in kg, except in a file with a density, `known`, which remains the same for any scale.
        """
        unit = scale ** 3 if known else 1.0
        given = {name: value * {"mass": unit, "center_of_mass": scale, "inertia": unit * scale ** 2}[name]
                 for name, value in given.items()}
        density = {} if "mass" in given else {"density": known or self.density}
        return ClumpTemplate(self.centers, self.radii, **density, **given)._body

    def to_file(self, path: str | Path, style: str = "csv") -> None:
        """Write the spheres atomically to a text file, input frame [m], or to a folder for MercuryDPM.

        `from_file` reads the same bits, of a folder of MercuryDPM, whose spheres are in the principal frame, the same
        offsets and moments. The density, or mass properties that do not follow from the spheres, are written as a
        comment, which other codes skip; not for LIGGGHTS, whose files have none.

        Parameters
        ----------
        path : str or Path
            File to write, or folder for MercuryDPM.
        style : {"csv", "lammps", "liggghts", "mercurydpm"}
            A line `x,y,z,r` for each sphere; a molecule file with mass, centre of mass and inertia; lines `x y z r`; a
            folder with spheres, mass and tensor of inertia, to be put in Tools/MClump/Clumps of MercuryDPM.

        Raises
        ------
        ValueError
            For another style, or numbers that MercuryDPM, in single precision, cannot read.

        Warns
        -----
        UserWarning
            With style="liggghts", for mass properties that do not follow from the spheres.
        """
        if style not in FORMATS:
            raise ValueError(f"style = {short_repr(style)}: give one of {', '.join(map(repr, FORMATS))}")
        if style == "mercurydpm":
            mercury_folder.write_folder(path, self.offsets, self.radii, self.mass, self.inertia)
            return
        union = ClumpTemplate(self.centers, self.radii, self.density)
        same = all(np.array_equal(mine, theirs) for mine, theirs in zip(self._body, union._body))
        if style == "liggghts" and not same:
            warnings.warn("style = 'liggghts': mass, centre of mass and inertia of this clump are not those of its "
                          "spheres, and not in such a file; give mass and inertia_tensor to LIGGGHTS, or read the file "
                          "of another style", UserWarning, stacklevel=2)
        write_spheres(path, self.centers, self.radii, self._body, same, style)

    @property
    def _body(self):
        """The MassProperties."""
        return MassProperties(*(getattr(self, name) for name in MassProperties._fields))

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
            The density is not given; volume, a moment or the centre differ from the mesh by more than 10 %;
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
        template = cls(centers, radii, positive("density", density))
        if match == "mesh":
            density = template.density
            template = template._with(MassProperties(mesh.volume, mesh.center_of_mass, density * mesh.moments,
                                                     mesh.axes, mesh.relative_error, density))
        warning = MeshReport(mesh, template).warning
        if warning:
            warnings.warn(warning, UserWarning, stacklevel=2)
        return template

    def __repr__(self):
        moments = ", ".join(f"{moment:.6g}" for moment in self.inertia)
        n = len(self.radii)
        return (f"<ClumpTemplate of {n} sphere{'s' * (n > 1)}: mass {self.mass:.6g} kg, "
                f"inertia [{moments}] kg m2, bounding radius {self.bounding_radius:.6g} m>")


def _check_given(density, mass, center_of_mass, inertia):
    """ValueError for mass properties that contradict or lack one another."""
    if mass is not None and not isinstance(density, Assumed):
        raise ValueError(f"mass = {short_repr(mass)} and density = {density}: give one of the two")
    if center_of_mass is not None and inertia is None:
        raise ValueError(f"center_of_mass = {short_repr(center_of_mass)}: give the tensor of inertia about it, too, or "
                         "one density per sphere")
    if inertia is not None and mass is None and isinstance(density, Assumed):
        raise ValueError(f"inertia = {short_repr(inertia)}: give the mass, too")


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
