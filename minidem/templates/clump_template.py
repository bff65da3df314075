"""Templates of rigid clumps: spheres, mass, centre of mass, principal inertia."""

import warnings
from math import frexp, fsum

import numpy as np

from minidem.core.checks import LARGEST, finite_array, positive, refuse, shown
from minidem.core.readings import reading
from minidem.templates.mass.principal_axes import frame_about, principal_axes, quaternion
from minidem.templates.mass.union_of_spheres import moments_of_union
from minidem.templates.sphere_files import Body, read_body, read_spheres, write_spheres

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)     # the reciprocals of smaller numbers overflow


class ClumpTemplate:
    """A rigid body that fills the union of its spheres, with a uniform density.

    Spheres may overlap, touch, contain one another or stand apart. Volume and inertia are those
    of the union, exact to round-off: what overlaps counts once (`minidem.templates.mass.union_of_spheres`).

    Args:
        centers: (n, 3) centres of the spheres in any frame, the clump's input frame [m].
        radii: (n,) [m].
        density: [kg/m3].

    Attributes (arrays are copies, `minidem.core.readings`):
        centers, radii, density: as given.
        volume [m3], mass [kg].
        center_of_mass: (3,) in the input frame [m].
        inertia: (3,) principal moments about the centre of mass, ascending [kg m2].
        axes: (3, 3), columns = principal axes in the input frame, right-handed; see below.
        orientation: (4,) unit quaternion (w, x, y, z) of the axes, principal -> input frame.
        offsets: (n, 3) centres of the spheres from the centre of mass, in principal axes [m].
        bounding_radius: of the smallest sphere about the centre of mass that holds the clump [m].
        relative_error: bound of the relative error of the mass and of each principal moment, for
            exactly the spheres given; `minidem.templates.mass.union_of_spheres` says how it is found. Of a clump with
            mass and inertia of a mesh (`from_mesh`): for exactly the triangles given.

    The axes are a deterministic choice. A rod, all its centres on a line, has axis 1 along itself,
    offsets in y and z that are exactly zero, and inertia[1] == inertia[2]. Otherwise moments that
    differ by no more than the round-off of the given coordinates are made equal to the last bit;
    three equal moments (one sphere, a tetrahedron) go with the axes of the input frame, two equal
    ones (a square) with those that `minidem.templates.mass.principal_axes` builds about the third axis.

    Raises ValueError for an empty list, wrong shapes, numbers that are not finite, a radius or a
    density that is not positive.
    """

    @np.errstate(over="ignore", under="ignore")         # found out at the end
    def __init__(self, centers, radii, density=2500.0):
        centers = finite_array("centers", centers, (-1, 3), limit=LARGEST)
        radii = finite_array("radii", radii, (-1,), limit=LARGEST)
        density = positive("density", density)
        if len(centers) == 0:
            raise ValueError("centers = []: a clump needs one sphere at least")
        if len(radii) != len(centers):
            raise ValueError(f"radii has shape {radii.shape} and centers {centers.shape}: "
                             "give one radius per centre")
        refuse("radii", radii, radii <= 0.0, "give radii greater than 0")

        # Lengths from about the middle of the body, so that far from the origin nothing cancels,
        # in units of a power of two near its size, so that no power of a length over- or underflows.
        origin = _middle(centers, radii)
        local = centers - origin
        exponent = frexp(float((np.abs(local).max(axis=1) + radii).max()))[1]
        local = np.ldexp(local, -exponent)
        # What the input frame resolves: its coordinates, computed by the user, carry some roundings.
        resolution = 16.0 * EPS * float(np.ldexp(np.abs(centers).max(), -exponent))

        volume, center, inertia, axes, offsets, error = _body(local, np.ldexp(radii, -exponent), resolution)
        self._fill(centers, radii, density, Body(
            float(np.ldexp(volume, 3 * exponent)), origin + np.ldexp(center, exponent),
            density * np.ldexp(inertia, 5 * exponent), axes, error), np.ldexp(offsets, exponent))

    def _fill(self, centers, radii, density, body, offsets):
        """Spheres that stand for a body of that density, its centre and axes those of the offsets."""
        mass, inertia = density * body.volume, body.inertia
        if not (TINY <= mass and TINY <= inertia[0] and np.isfinite(mass) and np.isfinite(inertia[2])):
            raise ValueError(f"radii and density give a mass of {mass} kg and moments of inertia {inertia} "
                             "kg m2, which double precision cannot hold: check the units")
        self._set(centers=centers, radii=radii, density=density, volume=body.volume, mass=mass,
                  center_of_mass=body.center_of_mass, inertia=inertia, axes=body.axes,
                  orientation=quaternion(body.axes), offsets=offsets,
                  bounding_radius=float((_lengths(offsets) + radii).max()), relative_error=body.relative_error)

    def _with(self, body):
        """The same spheres, with mass, centre and inertia of another body."""
        template = object.__new__(ClumpTemplate)
        fields = vars(self)
        offsets = _components(fields["centers"] - body.center_of_mass, body.axes)
        template._fill(fields["centers"], fields["radii"], self.density, body, offsets)
        return template

    def _set(self, **values):
        """Numbers as they are, arrays without negative zeros."""
        self.__dict__.update({name: np.ascontiguousarray(value) + 0.0 if isinstance(value, np.ndarray) else value
                              for name, value in values.items()})

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return reading(name, value.copy()) if isinstance(value, np.ndarray) else value

    @classmethod
    def from_file(cls, path, density=2500.0, scale=1.0):
        """The clump of the spheres in a text file, a line `x,y,z,r` each (`minidem.templates.sphere_files`).

        Args:
            path: the file; commas, semicolons or blanks between numbers, comments and a header are read over.
            density: [kg/m3].
            scale: what a unit of the file is in m: 1e-3 for a file in mm.

        Mass, centre and inertia are those of the spheres, unless a comment in the file says others: `to_file`
        writes it for a clump that has them from a mesh. They are then those, at the density given.

        Raises ValueError with the line that is wrong, FileNotFoundError when there is no such file.
        """
        scale = positive("scale", scale)
        centers, radii = read_spheres(path)
        template, body = cls(centers * scale, radii * scale, density), read_body(path)
        return template if body is None else template._with(body.scaled(scale, template.density))

    def to_file(self, path):
        """Write the spheres to a text file, a line `x,y,z,r` each, in the input frame [m].

        `from_file` with the same density reads the same bits. The file is whole or stays as it was. Mass and
        inertia are in it, in a comment that other codes read over, if they are not those of the spheres.
        """
        alone = ClumpTemplate(self.centers, self.radii, self.density)
        own = None if alone.mass == self.mass and np.array_equal(alone.inertia, self.inertia) else Body(
            self.volume, self.center_of_mass, self.inertia, self.axes, self.relative_error, self.density)
        write_spheres(path, self.centers, self.radii, own)

    @classmethod
    def from_mesh(cls, path, spheres=100, density=2500.0, scale=1.0, match="spheres", repair=False):
        """A clump inside a closed surface.

        Args:
            path: the mesh file, .stl, .obj, .ply, .off or .glb; or a `TriangleMesh`, as it is. It must be
                watertight (`minidem.templates.triangle_mesh`). With the extra `mesh` installed trimesh reads it, else
                meshio, which reads fewer files, and no .glb.
            spheres: how many at most; the more, the smaller the volume error. `minidem.templates.fit_mesh` has the
                method and its sources; no sphere sticks out of the mesh.
            density: [kg/m3].
            scale: what a unit of the file is in m: 1e-3 for a file in mm.
            match: "spheres" for volume, mass, centre of mass and principal inertia of the union of the spheres;
                "mesh" for those of the mesh. The spheres are the same, and lie in the mesh alike.
            repair: fill holes of a mesh file that is not watertight (pymeshfix, in the extra `mesh`).

        For the quality of the fit, volume and inertia beside those of the mesh: `minidem.templates.fit_report`.

        Raises ValueError for a mesh that cannot be read, has open edges or holds no volume. Warns (UserWarning)
        with the numbers where volume, a principal moment, or the centre of mass over the cube root of the volume
        are off by more than 10 %; with match="mesh", where the spheres fill less than half the mesh.
        """
        if not isinstance(match, str) or match not in ("spheres", "mesh"):
            raise ValueError(f"match = {shown(match)}: give 'spheres' or 'mesh'")
        from minidem.templates.fit_mesh import fit_spheres
        from minidem.templates.fit_report import (
            MeshReport,  # here, because what reads meshes takes longer to import than all else
        )
        from minidem.templates.triangle_mesh import TriangleMesh
        mesh = path if isinstance(path, TriangleMesh) else TriangleMesh.read(path, scale, repair)
        template = cls(*fit_spheres(mesh, spheres), density)
        if match == "mesh":
            template = template._with(Body(mesh.volume, mesh.center_of_mass, template.density * mesh.moments,
                                           mesh.axes, mesh.relative_error))
        complaint = MeshReport(mesh, template).complaint
        if complaint:
            warnings.warn(complaint, UserWarning, stacklevel=2)
        return template

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set: a ClumpTemplate does not change, make a new one")

    def __reduce__(self):                   # as it is: mass and inertia may be those of a mesh
        return _as_it_was, (dict(vars(self)),)

    def __repr__(self):
        moments = ", ".join(f"{moment:.6g}" for moment in self.inertia)
        n = len(self.radii)
        return (f"<ClumpTemplate of {n} sphere{'s' * (n > 1)}: mass {self.mass:.6g} kg, "
                f"inertia [{moments}] kg m2, bounding radius {self.bounding_radius:.6g} m>")


def _as_it_was(values):
    template = object.__new__(ClumpTemplate)
    template._set(**values)
    return template


def template_scales(template, scale, n):
    """The scales of n clumps, (n,), from one for all or (n,); ValueError unless mass and inertia stay in range."""
    scale = finite_array("scale", scale, (n,), repeat=True, limit=LARGEST)
    refuse("scale", scale, scale <= 0.0, "give scales greater than 0")
    with np.errstate(over="ignore", under="ignore"):
        least = np.minimum(template.mass * scale ** 3, template.inertia[0] * scale ** 5)
        most = np.maximum(template.mass * scale ** 3, template.inertia[2] * scale ** 5)
    refuse("scale", scale, (least < TINY) | ~np.isfinite(most),
           "double precision cannot hold mass and inertia of such a clump: check the units")
    return scale


def _body(centers, radii, resolution):
    """Volume, centre of mass, moments of inertia per density, axes, offsets and relative error.

    The body measures half a unit to one; `resolution` is that of its coordinates. A rod is measured
    in a frame along itself, where its symmetry is exact: centre of mass and offsets then lie on
    the axis, and the two moments across it are one number.
    """
    line = _common_line(centers, resolution)
    axes = np.eye(3) if line is None else frame_about(line)
    offsets = _components(centers, axes)
    if line is not None:
        offsets[:, 1:] = 0.0
    volume, first, second, volume_error, second_error = moments_of_union(offsets, radii)
    center = first / volume
    if line is not None:
        center[1:] = 0.0
    offsets -= center
    second -= volume * center[:, None] * center[None, :]
    # Moments closer than this are equal: a coordinate off by the resolution, of a body of this size,
    # changes them by a few times the resolution.
    equal = 8.0 * resolution + fsum(second_error) / np.trace(second) + 64.0 * EPS
    if line is None:
        moments, axes = principal_axes(second, equal)
        offsets = _components(offsets, axes)
        inertia_error = fsum(second_error) / moments[0]
    else:
        across = 0.5 * (second[1, 1] + second[2, 2])
        along = second[0, 0]        # at least `across`, for any union of spheres on a line
        if along - across <= equal * along:
            along = across
        moments = np.array([2.0 * across, along + across, along + across])
        center = center[0] * axes[:, 0]
        inertia_error = max((second_error[1] + second_error[2]) / moments[0],
                            (second_error[0] + second_error[1]) / moments[1])
    return volume, center, moments, axes, offsets, max(volume_error / volume, inertia_error)


def _common_line(centers, resolution):
    """Unit vector along the line through all centres; None if there is none, or one point only."""
    start = centers[np.argmax(_lengths(centers))]
    span = centers - start
    end = span[np.argmax(_lengths(span))]
    length = float(_lengths(end[None])[0])
    if length <= resolution:
        return None
    line = end / length
    away = span - _components(span, line[:, None]) * line
    return line if _lengths(away).max() <= resolution else None


def _middle(centers, radii):
    """A point near the centre of mass: the mean centre by volume, whatever the order of the spheres."""
    box = 0.5 * centers.min(axis=0) + 0.5 * centers.max(axis=0)
    weights = (radii / radii.max()) ** 3
    return box + [fsum(weights * (centers[:, k] - box[k])) / fsum(weights) for k in range(3)]


def _components(vectors, axes):
    """Components (n, k) of vectors (n, 3) along the columns of axes (3, k), summed in order."""
    return vectors[:, 0:1] * axes[0] + vectors[:, 1:2] * axes[1] + vectors[:, 2:3] * axes[2]


def _lengths(vectors):
    return np.sqrt(_components(vectors * vectors, np.ones((3, 1))))[:, 0]
