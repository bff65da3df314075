"""The oracle for contacts with friction: forces, and equations of motion by DOP853, in phases of stick and slip.

Two bodies i and j in contact; n is the unit normal from j to i, d the overlap, u the velocity of i relative to j at the
contact point, u_t its tangential part, a = sqrt(R* d), m* the effective mass of the masses of the bodies. Forces act on
i, the opposite ones on j. c = s_i - n (R_i - d/2) is the contact point of two spheres, c = s_i - n (R_i - d) that of a
sphere on a plane.

    normal       F_n = 4/3 E* a d + c d',  c = sqrt(5) beta sqrt(4/3 E* a m*),  beta = -ln e / sqrt(pi^2 + ln^2 e)
    spring T     T' = -k_t u_t + W x T + min(a'/a, 0) T,  k_t = 8 G* a
                 tangential="mindlin": a'/a in place of min(a'/a, 0), "mindlin-rescale": a'/a + min(a'/a, 0),
                 "mindlin-force": 0, "linear": 0, and a given k_t
    dashpot      T_d = -x c u_t,  x = sqrt(4 G*/E*) or a number
    limit        |T + T_d| <= mu |F_n|
    turning      W = n x n' + n (w_i + w_j).n / 2
The couple M of rolling resistance is a spring of the same kind for the tangential part of w_i - w_j, with k_r = 2.25
mu_r^2 R*^2 2 E* a, a dashpot 2 eta sqrt(I_r k_r) (Ai et al. 2011, doi 10.1016/j.powtec.2010.09.030, model C), and the
limit |M + M_d| <= mu_r R* |F_n|. Linear springs have F_n = k d + 2 beta sqrt(m* k) d' and a constant k_t.

Slip: a step of a simulation scales T and T_d by the same s = mu |F_n| / |T + T_d|, and the spring keeps s T. In the
limit of short steps T shrinks along its own direction, T' = ... - lambda T with the smallest lambda >= 0 that keeps
|T + T_d| <= mu |F_n|. So a contact is in one of three phases:
    STICK   T follows the equation above;
    SLIP    T = y t, where y >= 0 is the larger solution of |y t + T_d| = mu |F_n| and the unit vector t follows the
            equation above. It ends when, without lambda, |T + T_d| would grow more slowly than mu |F_n|;
    FREE    no such y exists: T = 0, and the total force is mu |F_n| in the direction of T_d.
Where F_n passes through zero, before the attraction that precedes lift-off, the limit is zero and so is T; without
friction_limit="magnitude" it stays so, FREE, while F_n attracts. mu |F_n| above is mu max(F_n, 0) then.
Changes of phase, touch and lift-off are located as roots, where the integration starts anew.
"""
from dataclasses import dataclass

import numpy as np
from reference_contact import World, effective_modulus, pack, rotation_matrix
from scipy.integrate import DOP853
from scipy.optimize import brentq

from minidem.core.quaternions import cross
from minidem.scenarios.rotating_bodies.driven_bodies import quaternion_rate

STICK, SLIP, FREE = range(3)        # phases of a spring
MOST_PHASES = 500


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


class FrictionWorld(World):
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
        """(2, m, 3) springs and total forces of a phase; (2, m) lengths y of slipping springs, > 0 while y exists."""
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

    def rates(self, y, touching, phase, free_growth=False):
        """dy/dt. With free_growth, springs that slip grow as if they stuck (lambda = 0)."""
        x, v, q, principal, spring, _ = self.split(y)
        to_lab, w = self.lab(q, principal)
        now = self.contacts(x, v, q, w, touching)
        true, total, length, _ = self.springs(now, spring, phase)
        growth = -now.stiffness[..., None] * now.motion
        turned = cross(np.broadcast_to(now.turning, spring.shape), spring)
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = np.where(touching & (now.overlap > 0), 0.5 * now.rate / now.overlap, 0.0)      # a' / a
        change = np.tile(np.minimum(radius, 0.0), (2, 1))
        change[0] = {"rescale": change[0], "mindlin": radius, "linear": 0.0 * radius, "mindlin-force": 0.0 * radius,
                     "mindlin-rescale": radius + change[0]}[self.law.tangential]
        stick = growth + turned + (0.0 if self.law.stiffness else change[..., None] * spring)
        size = norm(spring)
        along = spring / np.maximum(size, 1e-300)[..., None]
        across = growth - dot(growth, along)[..., None] * along
        slip = (size / (length + 1e-10 * self.force_scale))[..., None] * across + turned
        change = np.where((phase == SLIP)[..., None] & (not free_growth), slip, stick)
        change[(phase == FREE) | ~touching] = 0.0
        push = now.normal_force[:, None] * now.normal + total[0]
        force, torque = np.zeros((2, len(x) + 1, 3))
        for clump, arm, sign in ((self.clump_i, now.arms[0], 1.0), (self.clump_j, now.arms[1], -1.0)):
            np.add.at(force, clump, sign * push)
            np.add.at(torque, clump, sign * (cross(arm, push) + total[1]))
        torque = np.einsum("nji,nj->ni", to_lab, torque[:-1])
        turn = (torque - cross(principal, self.inertia * principal)) / self.inertia
        lost = ((now.normal_force - now.elastic_force) * now.rate).sum(), *(-dot(total, now.motion).sum(1))
        drawn = np.einsum("nij,nj->ni", self.axes, principal)
        return pack(v, force[:-1] / self.mass[:, None] + self.gravity, quaternion_rate(q, drawn), turn, change, lost)

    def split(self, y):
        """x, v, q, w (principal frame), springs (2, m, 3), energy lost (3,)."""
        n, m = len(self.mass), len(self.i)
        a, b, c, d, e = 3 * n, 6 * n, 10 * n, 13 * n, 13 * n + 6 * m
        return (y[:a].reshape(n, 3), y[a:b].reshape(n, 3), y[b:c].reshape(n, 4), y[c:d].reshape(n, 3),
                y[d:e].reshape(2, m, 3), y[e:])

    def lab(self, q, principal):
        """Principal frame -> lab, (n, 3, 3), and the angular velocity in the lab."""
        to_lab = rotation_matrix(q / norm(q)[:, None]) @ self.axes
        return to_lab, np.einsum("nij,nj->ni", to_lab, principal)

    def look(self, y, touching, phase):
        """`Contacts`, springs (2, m, 3), |T + T_d| - mu |F_n| (2, m), and the last result of `springs`."""
        x, v, q, principal, spring, _ = self.split(y)
        now = self.contacts(x, v, q, self.lab(q, principal)[1], touching)
        true, _, _, exists = self.springs(now, spring, phase)
        return now, true, norm(true + now.dashpot) - now.limit, exists

    def growth_of_excess(self, y, touching, phase):
        """d/dt (|T + T_d| - mu |F_n|) without lambda, (2, m), by a central difference."""
        now, springs, _, _ = self.look(y, touching, phase)
        near = np.abs(now.overlap[touching]) / np.maximum(np.abs(now.rate[touching]), 1e-300)
        ahead = max(min([self.shortest, *(1e-3 * near)]), 1e-6 * self.shortest)
        true, stuck = y.copy(), np.zeros_like(phase)
        self.split(true)[4][:] = springs
        slope = self.rates(true, touching, phase, free_growth=True)
        before, after = (self.look(true + step * slope, touching, stuck)[2] for step in (-ahead, ahead))
        return (after - before) / (2 * ahead)

    def margins(self, y, touching, phase):
        """(6, m): positive until a contact changes its phase. Overlap; then for both springs the end of STICK or FREE,
        and of SLIP towards STICK and FREE; last the sign of F_n, where the limit has a kink."""
        now, _, excess, exists = self.look(y, touching, phase)
        slip = phase == SLIP
        margin, free = np.where(phase == STICK, -excess, norm(now.dashpot) - now.limit), np.where(slip, exists, 1.0)
        if np.any(slip):
            margin = np.where(slip, self.growth_of_excess(y, touching, phase), margin)
        inactive = ~(touching & self.has_limit) | self.without_limit
        margin[inactive] = free[inactive] = 1.0
        pushing = np.where(touching, self.sign * now.normal_force, 1.0)
        return np.concatenate([[np.where(touching, now.overlap, -now.overlap)], margin, free, [pushing]])

    def change_phase(self, y, touching, phase, row, k):
        """Apply the change of contact k that row `row` of `margins` announces, in place."""
        spring = self.split(y)[4]                       # a view
        if row in (0, 5):
            self.sign[k] = -self.sign[k] if row == 5 else 1.0
            touching[k] ^= row == 0
            spring[:, k], phase[:, k] = 0.0, FREE
            for kind in np.flatnonzero(self.has_limit[:, 0] & touching[k] & ~self.without_limit[k]):
                rises = kind == 1 or self.law.tangential == "rescale"       # at touch the stiffness is ~ sqrt(t)
                growth = 2 / 3 if row == 0 and rises and not self.law.stiffness else 1.0
                phase[kind, k] = self.first_phase(y, touching, phase, kind, k, growth)
            started = phase[:, k] == SLIP
        else:
            kind, old = (row - 1) % 2, phase[(row - 1) % 2, k]
            now, true, _, _ = self.look(y, touching, phase)
            grows = dot(true[kind, k], true[kind, k] + now.dashpot[kind, k]) < 0        # |T + T_d|, when T shrinks
            phase[kind, k] = (FREE if grows else SLIP) if old != SLIP else STICK if row < 3 else FREE
            spring[kind, k] = 0.0 if phase[kind, k] == FREE else true[kind, k]
            started = (np.arange(2) == kind) & (phase[:, k] == SLIP)
        x, v, q, principal, *_ = self.split(y)
        motion = self.contacts(x, v, q, self.lab(q, principal)[1], touching).motion
        for kind in np.flatnonzero(started):            # a slipping spring has a direction only
            along = spring[kind, k] if spring[kind, k].any() else -motion[kind, k]
            spring[kind, k] = self.force_scale * along / norm(along)

    @property
    def without_limit(self):
        """(m,) the contacts whose normal force attracts, without friction."""
        return (self.sign < 0) & (self.law.friction_limit == "repulsion")

    def first_phase(self, y, touching, phase, kind, k, growth):
        """Phase of a spring of zero length just after its limit has been zero; growth : its length / (rate * time)."""
        x, v, q, principal, *_ = self.split(y + self.shortest * self.rates(y, touching, phase))
        now = self.contacts(x, v, q, self.lab(q, principal)[1], touching)
        spring = -growth * self.shortest * now.stiffness[kind, k] * now.motion[kind, k]
        if norm(now.dashpot[kind, k]) > now.limit[kind, k]:
            return FREE
        return SLIP if norm(spring + now.dashpot[kind, k]) > now.limit[kind, k] else STICK

    def move(self, x, v, q, w, time, longest_step, rtol=1e-10):
        """Integrate the motion over `time` -> x, v, q, w at the end, and the energy lost [J], (3,): by the normal
        dashpot, and the work of the tangential forces and of the couples, which includes what their springs store.

        Contacts at the start begin without history. `longest_step` [s]: a fiftieth of a contact, or less.
        """
        n, m = len(self.mass), len(self.i)
        principal = np.einsum("nji,nj->ni", rotation_matrix(q) @ self.axes, w)
        size = np.max(np.abs(self.offsets)) + np.max(self.radii)
        speed = np.max(np.abs(v)) + size * np.max(np.abs(w)) + norm(self.gravity) * time
        self.shortest, self.force_scale = 1e-5 * longest_step, 0.1 * np.mean(self.mass) * speed / longest_step
        coefficients = np.array([[self.law.friction], [self.law.rolling_friction]])
        self.sign, self.has_limit = np.ones(m), np.tile(coefficients > 0, m)
        couple_scale, energy = self.force_scale * np.min(self.radius), np.mean(self.mass) * speed**2
        scale = pack(*(np.full(shape, value) for shape, value in (
            ((n, 3), size), ((n, 3), speed), ((n, 4), 1.0), ((n, 3), speed / size), ((m, 3), self.force_scale),
            ((m, 3), couple_scale), (3, energy))))
        y = pack(x, v, q, principal, np.zeros((2, m, 3)), np.zeros(3))
        t, touching, phase = 0.0, np.zeros(m, dtype=bool), np.full((2, m), FREE)
        for k in np.flatnonzero(self.margins(y, touching, phase)[0] < 0):
            self.change_phase(y, touching, phase, 0, k)
        for _ in range(MOST_PHASES):
            solver = DOP853(lambda _, y: self.rates(y, touching, phase), t, y, time, max_step=longest_step, rtol=rtol,
                            atol=rtol * scale)
            change = None
            while solver.status == "running" and change is None:
                solver.step()
                change = self.first_change(solver, touching, phase)
            assert solver.status != "failed"
            if change is None:
                x, v, q, principal, _, lost = self.split(solver.y)
                q = q / norm(q)[:, None]
                return x, v, q, self.lab(q, principal)[1], lost
            t, y, row, k = change
            self.change_phase(y, touching, phase, row, k)
        raise RuntimeError(f"{MOST_PHASES} changes of phase until {t} s: stick and slip alternate without end")

    def first_change(self, solver, touching, phase):
        """(t, y, row, contact) of the first negative margin in the last step, or None."""
        after = self.margins(solver.y, touching, phase)
        if np.all(after >= 0):
            return None
        path, found = solver.dense_output(), []
        for row, k in np.argwhere(after < 0):
            def margin(t):
                return self.margins(path(t), touching, phase)[row, k]
            begin = solver.t_old + 1e-7 * (solver.t - solver.t_old)         # may be zero, or rounded to below, at t_old
            root = brentq(margin, begin, solver.t, xtol=1e-16 * solver.t, rtol=1e-14) if margin(begin) > 0 else begin
            found.append((root, row, k))
        t, row, k = min(found)
        return t, path(t), row, k
