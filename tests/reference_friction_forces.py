"""Contact forces with friction, damping and rolling resistance, for reference_friction. Shares no code with minidem's
kernels.

Two bodies i and j in contact; n is the unit normal from j to i, d the overlap, u the velocity of i relative to j at the
contact point, u_t its tangential part, a = sqrt(R* d), m* the effective mass of the masses of the bodies. Forces act on
i, the opposite ones on j. c = s_i - n (R_i - d/2) is the contact point of two spheres, c = s_i - n (R_i - d) that of a
sphere on a plane.

    normal       F_n = 4/3 E* a d + c d',  c = sqrt(5) beta sqrt(4/3 E* a m*),  beta = -ln e / sqrt(pi^2 + ln^2 e)
    spring T     T' = -k_t u_t + W x T + min(a'/a, 0) T,  k_t = 8 G* a
                 tangential="mindlin": a'/a in place of min(a'/a, 0), "linear": 0, and a given k_t
    dashpot      T_d = -x c u_t,  x = sqrt(4 G*/E*) or a number
    limit        |T + T_d| <= mu |F_n|
    turning      W = n x n' + n (w_i + w_j).n / 2
The couple M of rolling resistance is a spring of the same kind for the tangential part of w_i - w_j, with k_r = 2.25
mu_r^2 R*^2 2 E* a, a dashpot 2 eta sqrt(I_r k_r) (Ai et al. 2011, doi 10.1016/j.powtec.2010.09.030, model C), and the
limit |M + M_d| <= mu_r R* |F_n|. Linear springs have F_n = k d + 2 beta sqrt(m* k) d' and a constant k_t.
"""
from dataclasses import dataclass

import numpy as np
from reference_contact import World, effective_modulus, rotation_matrix

from minidem.core.quaternions import cross

STICK, SLIP, FREE = range(3)        # phases of a spring, see reference_friction


@dataclass(frozen=True)
class Law:
    """Properties of all contacts. With `stiffness` [N/m] springs are linear, tangential ones `ratio` times as stiff."""
    restitution: float = 1.0
    friction: float = 0.0
    rolling_friction: float = 0.0
    tangential_damping: float | None = None         # x; None: square root of the ratio of the stiffnesses
    rolling_damping: float = 0.0
    limit_damping: bool = False
    friction_limit: str = "repulsion"
    stiffness: float | None = None
    ratio: float = 2 / 7
    tangential: str = "rescale"
    tangential_stiffness: float | None = None

    @property
    def beta(self):
        log = np.log(self.restitution)
        return -log / np.sqrt(np.pi**2 + log**2)


@dataclass(frozen=True)
class Contacts:
    """Of all m pairs of spheres, or sphere and plane, at one instant; springs (2, m, ...): tangential, rolling."""
    overlap: np.ndarray
    rate: np.ndarray                # d overlap / dt
    normal: np.ndarray
    normal_force: np.ndarray
    elastic_force: np.ndarray       # F_e
    arms: tuple                     # from the centres of mass of i and j to the contact point
    motion: np.ndarray              # (2, m, 3) u_t, tangential part of w_i - w_j
    turning: np.ndarray             # W
    stiffness: np.ndarray           # (2, m) k_t, k_r
    dashpot: np.ndarray             # (2, m, 3)
    limit: np.ndarray               # (2, m)
    elastic: np.ndarray             # (m,) [J]


def norm(vectors):
    return np.sqrt((vectors * vectors).sum(-1))


def dot(a, b):
    return (a * b).sum(-1)


def shear_modulus(young_1, poisson_1, young_2, poisson_2):
    """G*: 1/G* = sum of 2 (2 - nu) (1 + nu) / E."""
    return 1 / sum(2 * (2 - nu) * (1 + nu) / young for young, nu in ((young_1, poisson_1), (young_2, poisson_2)))


class FrictionForces(World):
    """A `World` with friction. All contacts have the properties `law`."""

    def __init__(self, bodies, young, poisson, law, planes=(), gravity=(0.0, 0.0, 0.0)):
        super().__init__(bodies, young, poisson, planes, gravity)
        self.law, n, spheres = law, len(bodies), len(self.radii)
        i, j = self.pairs
        wall, on_wall = np.divmod(np.arange(len(planes) * spheres), spheres)
        self.i, self.j = np.concatenate([i, on_wall]), np.concatenate([j, np.full(len(wall), spheres)])
        self.on_wall, self.wall = np.arange(len(self.i)) >= len(i), wall
        owner, radii = np.append(self.owner, n), np.append(self.radii, 0.0)         # the last one stands for planes
        self.clump_i, self.clump_j = owner[self.i], owner[self.j]
        self.radius_i, self.radius_j = radii[self.i], radii[self.j]
        inverse_radius, inverse_mass = np.append(1 / self.radii, 0.0), np.append(1 / self.mass, 0.0)
        self.radius = 1 / (inverse_radius[self.i] + inverse_radius[self.j])
        self.reduced_mass = 1 / (inverse_mass[self.clump_i] + inverse_mass[self.clump_j])
        with np.errstate(divide="ignore"):
            rolling = [5 / 7 * inverse_mass[clump] * inverse_radius[sphere]**2
                       for clump, sphere in ((self.clump_i, self.i), (self.clump_j, self.j))]
        self.rolling_inertia = 1 / sum(rolling)
        other = [(young, poisson)] * len(i) + [(planes[k].young, planes[k].poisson) for k in wall]
        self.normal_modulus = np.array([effective_modulus(young, poisson, *pair) for pair in other])
        self.tangential_modulus = np.array([shear_modulus(young, poisson, *pair) for pair in other])

    def stiffnesses(self, d):
        """F_e, its energy, the damping coefficient, k_t, k_r."""
        law, modulus = self.law, self.normal_modulus
        if law.stiffness:
            normal = np.where(d > 0, law.stiffness, 0.0)
            return (normal * d, 0.5 * normal * d**2, 2 * law.beta * np.sqrt(self.reduced_mass * normal),
                    law.ratio * normal, 2.25 * (law.rolling_friction * self.radius)**2 * normal)
        a = np.sqrt(self.radius * d)
        tangential = np.where(d > 0, law.tangential_stiffness, 0.0) if law.tangential == "linear" \
            else 8 * self.tangential_modulus * a
        return (4 / 3 * modulus * a * d, 8 / 15 * modulus * a * d * d,
                np.sqrt(5) * law.beta * np.sqrt(4 / 3 * modulus * a * self.reduced_mass),
                tangential, 2.25 * (law.rolling_friction * self.radius)**2 * 2 * modulus * a)

    def contacts(self, x, v, q, w, touching):
        """`Contacts` of the state, (n, 3) and (n, 4) each, of the pairs `touching`; zeros for the others."""
        law, i, j = self.law, self.i, self.j
        still = np.zeros((1, 3))
        arm = np.einsum("sij,sj->si", rotation_matrix(q)[self.owner], self.offsets)
        center = np.concatenate([x[self.owner] + arm, still])
        speed = np.concatenate([v[self.owner] + cross(w[self.owner], arm), still])
        arm, v, w = (np.concatenate([each, still]) for each in (arm, v, w))
        between, on_wall = center[i] - center[j], self.on_wall
        normals = self.normals[self.wall]
        between[on_wall] = dot(center[i[on_wall]] - self.points[self.wall], normals)[:, None] * normals
        distance = norm(between)
        n, overlap = between / distance[:, None], self.radius_i + self.radius_j - distance
        d, spin = np.where(touching, np.maximum(overlap, 0.0), 0.0), (w[self.clump_i], w[self.clump_j])
        arm_i = arm[i] - (self.radius_i - np.where(on_wall, 1.0, 0.5) * d)[:, None] * n
        arm_j = arm[j] + np.where(on_wall, 0.0, self.radius_j - 0.5 * d)[:, None] * n
        u = v[self.clump_i] + cross(spin[0], arm_i) - v[self.clump_j] - cross(spin[1], arm_j)
        rate, difference = -dot(u, n), spin[0] - spin[1]
        motion = np.array([u + rate[:, None] * n, difference - dot(difference, n)[:, None] * n])
        minimal = cross(n, speed[i] - speed[j]) / distance[:, None]
        turning = np.where(on_wall[:, None], 0.0, minimal) + 0.5 * dot(spin[0] + spin[1], n)[:, None] * n
        elastic_force, elastic, damping, *stiffness = self.stiffnesses(d)
        normal_force = elastic_force + damping * rate
        if law.limit_damping:
            normal_force = np.maximum(normal_force, 0.0)
        ratio = np.sqrt(law.ratio if law.stiffness else 4 * self.tangential_modulus / self.normal_modulus)
        factor = ratio if law.tangential_damping is None else law.tangential_damping
        dashpot = np.array([factor * damping, 2 * law.rolling_damping * np.sqrt(self.rolling_inertia * stiffness[1])])
        dashpot = -dashpot[..., None] * motion
        load = np.abs(normal_force) if law.friction_limit == "magnitude" else np.maximum(normal_force, 0.0)
        limit = load * np.array([law.friction + 0 * d, law.rolling_friction * self.radius])
        return Contacts(overlap, rate, n, normal_force, elastic_force, (arm_i, arm_j), motion, turning,
                        np.array(stiffness), dashpot, limit, elastic)

    def springs(self, now, spring, phase):
        """(2, m, 3) springs and total forces of a phase, length y (2, m) of a slipping spring, and a number (2, m) that
        is positive as long as y exists."""
        along = spring / np.maximum(norm(spring), 1e-300)[..., None]
        projected = dot(along, now.dashpot)
        inside = projected**2 - dot(now.dashpot, now.dashpot) + now.limit**2
        length = np.maximum(np.sqrt(np.maximum(inside, 0.0)) - projected, 0.0)
        slipping, free = (phase == SLIP)[..., None], (phase == FREE)[..., None]
        true = np.where(slipping, length[..., None] * along, np.where(free, 0.0, spring))
        damping = norm(now.dashpot)
        total = np.where(free, (now.limit / np.maximum(damping, 1e-300))[..., None] * now.dashpot, true + now.dashpot)
        exists = np.where(projected < 0, inside / np.maximum(now.limit + damping, 1e-300), now.limit - damping)
        return true, total, length, exists
