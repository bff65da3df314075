"""The oracle for contacts: every pair of spheres, every plane, in plain NumPy. Shares no code
with minidem's kernels.

    overlap    d = R_i + R_j - |c_i - c_j|              two spheres of different clumps
               d = R_i - (c_i - point) . normal         sphere and plane; normal to the side where clumps
               live
    force      F = 4/3 E* sqrt(R*) d^(3/2)              along the line of centres, or along the normal
    energy     U = 8/15 E* sqrt(R*) d^(5/2)
    1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2          1/R* = 1/R_1 + 1/R_2, a plane has 1/R = 0
(Hertz 1882; Johnson, Contact Mechanics, 1985, Eqs 4.22-4.24.) All overlapping pairs of two clumps add up,
spheres of one clump never interact. SI units; quaternions (w, x, y, z), body -> lab. The frame of a clump
is the one in which its template was drawn, `position` its centre of mass.
"""
from dataclasses import dataclass

import numpy as np

from minidem.core.quaternions import cross


@dataclass(frozen=True)
class Body:
    """A rigid clump: sphere centres relative to the centre of mass, and its principal moments, in the drawn frame."""
    offsets: np.ndarray          # (k, 3) [m]
    radii: np.ndarray            # (k,) [m]
    mass: float                  # [kg]
    inertia: np.ndarray          # (3,) [kg m^2]
    axes: np.ndarray             # (3, 3), columns are the principal axes

    @classmethod
    def of(cls, template, centers):
        """From a ClumpTemplate and the centres that it was given: its mass properties are taken as data."""
        return cls(np.asarray(centers, float) - template.center_of_mass, np.asarray(template.radii, float),
                   template.mass, np.asarray(template.inertia), np.asarray(template.axes))


@dataclass(frozen=True)
class Plane:
    point: np.ndarray
    normal: np.ndarray           # unit
    young: float                 # [Pa]
    poisson: float


@dataclass(frozen=True)
class Forces:
    """What `World.forces` returns. Pairs have sphere_i < sphere_j; sphere_j = -1 - k is plane number k."""
    sphere_i: np.ndarray
    sphere_j: np.ndarray
    clump_i: np.ndarray
    clump_j: np.ndarray          # -1 - k for plane number k
    overlap: np.ndarray          # [m], all > 0
    pair_force: np.ndarray       # (m, 3) on sphere i [N]
    pair_energy: np.ndarray      # [J]
    stiffness: np.ndarray        # dF/dd = 2 E* sqrt(R* d) [N/m]
    force: np.ndarray            # (n, 3) on the clumps [N]
    torque: np.ndarray           # (n, 3) about their centres of mass, lab [N m]


def rotation_matrix(q):
    """Body -> lab for unit quaternions of shape (..., 4), after Eq 13 of Diebel, Representing Attitude (2006)."""
    q = np.asarray(q, float)
    w, x, y, z = (q[..., k] for k in range(4))
    rows = [[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]]
    matrix = np.array(rows)
    return matrix.transpose(*range(2, matrix.ndim), 0, 1)


def effective_modulus(young_1, poisson_1, young_2, poisson_2):
    return 1.0 / ((1 - poisson_1**2) / young_1 + (1 - poisson_2**2) / young_2)


class World:
    """Clumps between planes.

    Parameters: bodies, one `Body` per clump; young [Pa] and poisson of all clumps or of each, (n,);
    planes; gravity [m/s^2].
    """

    def __init__(self, bodies, young, poisson, planes=(), gravity=(0.0, 0.0, 0.0)):
        self.gravity = np.asarray(gravity, float)
        self.owner = np.repeat(np.arange(len(bodies)), [len(b.radii) for b in bodies])
        self.offsets = np.concatenate([b.offsets for b in bodies])
        self.radii = radii = np.concatenate([b.radii for b in bodies])
        self.mass = np.array([b.mass for b in bodies])
        self.inertia = np.array([b.inertia for b in bodies])
        self.axes = np.array([b.axes for b in bodies])
        i, j = np.triu_indices(len(radii), 1)
        foreign = self.owner[i] != self.owner[j]
        self.pairs = i, j = i[foreign], j[foreign]
        young, poisson = (np.broadcast_to(value, len(bodies))[self.owner] for value in (young, poisson))
        modulus = effective_modulus(young[i], poisson[i], young[j], poisson[j])
        self.pair_factor = 4 / 3 * modulus * np.sqrt(1 / (1 / radii[i] + 1 / radii[j]))     # force / d^(3/2)
        self.points = np.reshape([plane.point for plane in planes], (-1, 3))
        self.normals = np.reshape([plane.normal for plane in planes], (-1, 3))
        self.wall_factor = 4 / 3 * np.sqrt(radii) * np.reshape(
            [effective_modulus(young, poisson, plane.young, plane.poisson) for plane in planes], (-1, len(radii)))

    def sphere_centers(self, x, q):
        return x[self.owner] + np.einsum("sij,sj->si", rotation_matrix(q)[self.owner], self.offsets)

    def forces(self, x, q):
        """All contacts, and the resultant on every clump without gravity, at positions x and orientations q."""
        c, radii = self.sphere_centers(x, q), self.radii
        i, j = self.pairs
        apart = c[i] - c[j]
        distance = np.sqrt((apart**2).sum(1))
        touching = distance < radii[i] + radii[j]
        i, j, apart, distance = i[touching], j[touching], apart[touching], distance[touching]
        into_wall = radii - ((c - self.points[:, None]) * self.normals[:, None]).sum(-1)    # (walls, spheres)
        wall, on_wall = np.nonzero(into_wall > 0)
        d = np.concatenate([radii[i] + radii[j] - distance, into_wall[wall, on_wall]])
        normal = np.concatenate([apart / distance[:, None], self.normals[wall]])
        k = np.concatenate([self.pair_factor[touching], self.wall_factor[wall, on_wall]])
        clump_j = np.concatenate([self.owner[j], -1 - wall])
        i, j = np.concatenate([i, on_wall]), np.concatenate([j, -1 - wall])
        on_i = (k * d**1.5)[:, None] * normal
        force, torque = np.zeros_like(x), np.zeros_like(x)
        for sphere, push in ((i, on_i), (j[j >= 0], -on_i[j >= 0])):
            clump = self.owner[sphere]
            np.add.at(force, clump, push)
            np.add.at(torque, clump, cross(c[sphere] - x[clump], push))
        energy, stiffness = 0.4 * k * d**2.5, 1.5 * k * np.sqrt(d)
        return Forces(i, j, self.owner[i], clump_j, d, on_i, energy, stiffness, force, torque)

    def energy(self, x, v, q, w):
        """Translational + rotational + elastic + gravitational (zero at the origin) [J]."""
        spin = np.einsum("nji,nj->ni", self.axes, np.einsum("nji,nj->ni", rotation_matrix(q), w))
        kinetic = 0.5 * (self.mass[:, None] * v**2).sum() + 0.5 * (self.inertia * spin**2).sum()
        return kinetic + self.forces(x, q).pair_energy.sum() - (self.mass * (x @ self.gravity)).sum()


def pack(*parts):
    return np.concatenate([np.ravel(part) for part in parts])
