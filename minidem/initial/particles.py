"""Spheres and their motion, as files of other codes have them, and the clumps that they are spheres of."""
from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from minidem.core.checks import positive
from minidem.templates.clump_template import ClumpTemplate

ALIKE = 1e-3        # smaller relative differences may come from files with few digits


@dataclass(eq=False, repr=False)
class Particles:
    """Spheres by id, as `read_particles` returns them. What a file does not have is None.

    Arrays may be changed. `particles[particles.type == 2]` are the spheres of a type, `print(particles)` says what the
    file does not have. `axes` must be set, where the file does not have it, if clumps reach through periodic faces.

    Attributes
    ----------
    position, velocity, angular_velocity : (n, 3)
        Lab frame [m], [m/s], [rad/s]. Positions in a periodic box are as in the file.
    orientation : (n, 4)
        Quaternions (w, x, y, z).
    radius, density, mass : (n,)
        Of each sphere [m], [kg/m3], [kg].
    molecule, id, type : (n,)
        Spheres with the same positive molecule are one clump. Types are numbers or words.
    low, high, tilts, axes : (3,)
        Corners of the box without its tilt [m], displacements xy, xz, yz of its images [m], which axes are periodic.
    step, time : int, float
        Time in [s].
    kind, unread : str, list of str
        What the file is, and its columns and sections that are not used.
    """

    position: np.ndarray
    radius: np.ndarray | None = None
    velocity: np.ndarray | None = None
    angular_velocity: np.ndarray | None = None
    orientation: np.ndarray | None = None
    density: np.ndarray | None = None
    mass: np.ndarray | None = None
    molecule: np.ndarray | None = None
    id: np.ndarray | None = None
    type: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    tilts: np.ndarray | tuple = (0.0, 0.0, 0.0)
    axes: np.ndarray | None = None
    step: int | None = None
    time: float | None = None
    kind: str = "a table"
    unread: tuple | list = ()

    def __len__(self):
        return len(self.position)

    def __repr__(self):
        missing = [name for name in ("radius", "velocity", "angular_velocity", "axes") if getattr(self, name) is None]
        return f"{len(self)} spheres of {self.kind}" + "".join(f"; {what}: {', '.join(names)}" for what, names in (
            ("not in it", missing), ("not read", self.unread)) if names)

    def __getitem__(self, chosen):
        return replace(self, **{name: values[chosen] for name, values in vars(self).items()
                                if isinstance(values, np.ndarray) and name not in ("low", "high", "tilts", "axes")})

    def clumps(self, density: float | None = None) -> list[tuple[ClumpTemplate, dict]]:
        """Templates, and the clumps of each: `for template, clumps in ...: sim.add_clumps(template, **clumps)`.

        Clumps whose spheres, in the order of their ids, differ in position, orientation and size alone, to 1e-3 of a
        radius, share a template. In it the first sphere has a radius of 1 m, so that `scale` is its radius in a clump.

        Parameters
        ----------
        density : float, optional
            [kg/m3]. Default: `density`, or `mass` over volume, if all are single spheres and have the same one.

        Raises
        ------
        ValueError
            Without radii or a density.

        Notes
        -----
        A sphere is taken next to the one before it in its clump, through periodic faces. Velocities of clumps are means
        over their spheres. Without `angular_velocity` it follows from them, and a rod has none about its axis. A
        warning says where spheres do not move as a rigid body.
        """
        if self.radius is None:
            raise ValueError(f"{self.kind} without radii: set particles.radius, (n,) [m], before clumps")
        molecule = np.zeros(len(self), dtype=int) if self.molecule is None else np.asarray(self.molecule)
        names = np.where(molecule > 0, molecule, -1 - np.arange(len(self)))
        order = np.argsort(names, kind="stable")
        first, sizes = np.unique(names[order], return_index=True, return_counts=True)[1:]
        density, found = self._density(sizes) if density is None else positive("density", density), []
        for size in np.unique(sizes):
            spheres = order[first[sizes == size, None] + np.arange(size)]       # (clumps, spheres of each)
            spheres = spheres[np.argsort(spheres[:, 0])]
            while len(spheres):
                template, clumps, same = self._like_first(spheres, density)
                found.append((template, clumps))
                spheres = spheres[~same]
        return found

    def _density(self, sizes):
        """The density of all spheres, which must not be parts of clumps."""
        own = self.density if self.mass is None else self.mass / (4.0 / 3.0 * np.pi * self.radius ** 3)
        if own is None or (sizes > 1).any() or np.ptp(own) > ALIKE * own.min():
            raise ValueError(f"density = None: {self.kind} with clumps, or without one density for all spheres; choose "
                             "spheres, particles[particles.type == 1], and give their density in kg/m3")
        return float(np.median(own))

    def _like_first(self, spheres, density):
        """Template of the first of the clumps with these spheres (n, m); the clumps like it, and which these are."""
        from scipy.spatial.transform import Rotation  # not with minidem: it takes a fifth of a second
        center, scale = self._whole(self.position[spheres]), self.radius[spheres][:, :1]
        middle, radius = center.mean(axis=1), self.radius[spheres] / scale
        arm = (center - middle[:, None]) / scale[:, None]
        u, _, vt = np.linalg.svd(np.einsum("nji,jk->nik", arm, arm[0]))     # W. Kabsch, doi 10.1107/S0567739476001873
        u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
        turn = u @ vt                                                       # of the first clump to each
        off = np.linalg.norm(arm - arm[0] @ np.swapaxes(turn, 1, 2), axis=2) + np.abs(radius - radius[0])
        same = off.max(axis=1) <= ALIKE * radius.min(axis=1)
        template = ClumpTemplate(arm[0], radius[0], density)
        shift = turn @ template.center_of_mass
        velocity, spin = self._motion(spheres[same], ((arm - shift[:, None]) * scale[:, None])[same])
        turned = np.roll(Rotation.from_matrix(turn[same]).as_quat(), 1, axis=1)     # to w, x, y, z
        if spheres.shape[1] == 1 and self.orientation is not None:
            turned = self.orientation[spheres[same, 0]]
        return template, {"position": (middle + shift * scale)[same], "orientation": turned, "velocity": velocity,
                          "angular_velocity": spin, "scale": scale[same, 0]}, same

    def _whole(self, center):
        """Centres (n, m, 3) of spheres of which each is next to the one before, through periodic faces."""
        if self.axes is None or not np.any(self.axes):
            return center
        lattice, step = np.diag(self.high - self.low), np.diff(center, axis=1)
        lattice[[1, 2, 2], [0, 0, 1]] = self.tilts
        step -= np.where(self.axes, np.rint(step @ np.linalg.inv(lattice)), 0.0) @ lattice
        return np.cumsum(np.concatenate([center[:, :1], step], axis=1), axis=1)

    def _motion(self, spheres, arm):
        """Velocities of centres of mass, angular velocities (n, 3) of clumps. arm : (n, m, 3), from these centres."""
        velocity = np.zeros(arm.shape) if self.velocity is None else self.velocity[spheres]
        if self.angular_velocity is not None:
            spin = self.angular_velocity[spheres].mean(axis=1)
        else:                                           # least squares
            about = arm - arm.mean(axis=1, keepdims=True)
            moments = np.sum(about ** 2, axis=(1, 2))[:, None, None] * np.eye(3) - np.swapaxes(about, 1, 2) @ about
            momentum = np.cross(about, velocity).sum(axis=1)
            spin = (np.linalg.pinv(moments, rcond=1e-6) @ momentum[..., None])[..., 0]
        center = velocity - np.cross(spin[:, None], arm)
        loose = np.ptp(center, axis=1).max(axis=1) > ALIKE * np.abs(velocity).max(axis=(1, 2))
        if loose.any():
            warnings.warn(f"the spheres of {loose.sum()} of {len(loose)} clumps do not move as rigid bodies: they get "
                          "their mean motion. For spheres that are not glued set particles.molecule = None",
                          UserWarning, stacklevel=4)
        return center.mean(axis=1), spin
