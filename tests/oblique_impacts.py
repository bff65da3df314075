"""Isolated impacts with friction, for minidem and for the reference solution. `Impact` is one pair of clumps, or a
clump and a plane, of which a simulation holds many copies; `Spheres` are many pairs, or spheres on a plane."""
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from reference_contact import Plane, effective_modulus, rotation_matrix
from reference_friction import FrictionWorld, Law
from scenes import ball, distance_to_touch, state_of, unit_vectors

import minidem as md
from minidem.core.quaternions import cross
from minidem.scenarios.rotating_bodies.driven_bodies import quaternion_rate

YOUNG, POISSON = 1e9, 0.3
PHASES = (np.arange(8) + 0.5) / 8         # fractions of a step at which spheres touch


def duration(mass, radius, modulus, speed):
    """Of an elastic Hertz contact with these effective values (test_friction_collisions) [s]."""
    return 2.868265699195333 * (mass**2 / (radius * modulus**2 * speed))**0.2


def simulation(law, dt, walls=(), young=YOUNG, poisson=POISSON, **options):
    """law : None: hertz."""
    if law is None:
        return md.Simulation(md.Material(young, poisson), list(walls), contact="hertz", dt=dt, **options)
    material = md.Material(young, poisson, restitution=law.restitution, friction=law.friction,
                           rolling_friction=law.rolling_friction)
    return md.Simulation(material, list(walls), contact=contact_name(law), dt=dt, **options)


def contact_name(law):
    """The option of minidem that selects a `Law`."""
    names = "stiffness", "tangential_damping", "friction_limit", "tangential", "tangential_stiffness"
    parameters = {name: getattr(law, name) for name in names} | {"mass": "clump"}
    parameters |= {"limit_damping": "yes"} if law.limit_damping else {}
    parameters |= {"rolling": "epsd", "rolling_damping": law.rolling_damping} if law.rolling_friction else {}
    given = ",".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    return ("hooke-coulomb" if law.stiffness else "hertz-mindlin") + (given and f":{given}")


@dataclass
class Impact:
    """One impact. Clump 0 meets clump 1 or, if there is one shape only, the plane z = 0."""
    shapes: list
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    law: Law
    contact_time: float                         # of an elastic contact, estimated [s]
    lasts: float = 2.2                          # from the start to after the impact [contact_time]
    rtol: float = 1e-8                          # of the reference solution

    def walls(self):
        return [md.Plane([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])] if len(self.shapes) == 1 else []

    def world(self):
        planes = [Plane(np.array(wall.point, float), np.array(wall.normal, float), YOUNG, POISSON)
                  for wall in self.walls()]
        return FrictionWorld([shape.body for shape in self.shapes], YOUNG, POISSON, self.law, planes)

    def outcome(self, q, v, w):
        """Velocity and angular momentum / (mass reach) [m/s], both constant after the impact, (2, n, 3)."""
        bodies = [shape.body for shape in self.shapes]
        frames = rotation_matrix(q) @ np.array([body.axes for body in bodies])
        momentum = np.einsum("nji,nj->ni", frames, w) * np.array([body.inertia for body in bodies])
        size = np.array([shape.body.mass * shape.reach for shape in self.shapes])
        return np.array([v, np.einsum("nij,nj->ni", frames, momentum) / size[:, None]])

    @cached_property
    def end(self):
        """x, v, q, w of the reference solution, and the energy lost by normal damping, friction and rolling."""
        return self.world().move(self.position, self.velocity, self.orientation, self.angular_velocity,
                                 self.lasts * self.contact_time, self.contact_time / 10, self.rtol)

    @property
    def expected(self):
        _, v, q, w, _ = self.end
        return self.outcome(q, v, w)

    def found(self, steps, phases, **options):
        """`outcome` (phases, 2, n, 3) of copies, of which each starts by another fraction of a step earlier."""
        dt, apart = self.contact_time / steps, 20.0 * max(shape.reach for shape in self.shapes)
        sim = simulation(self.law, dt, self.walls(), **options)
        early, site = -dt * (np.arange(phases) + 0.5) / phases, np.outer(apart * np.arange(phases), [1.0, 0.0, 0.0])
        for k, shape in enumerate(self.shapes):
            x = self.position[k] + early[:, None] * self.velocity[k] + site
            q, w = free_rotation(shape.body, self.orientation[k], self.angular_velocity[k], early)
            sim.add_clumps(shape.template, x, q, velocity=self.velocity[k], angular_velocity=w)
        sim.run(int(self.lasts * steps) + 2)
        assert len(sim.contacts()) == 0
        _, q, v, w = (part.reshape(len(self.shapes), phases, -1) for part in state_of(sim))
        return np.array([self.outcome(q[:, k], v[:, k], w[:, k]) for k in range(phases)])

    def errors(self, steps, phases, **options):
        """`found` - `expected`, relative to the largest component of `expected`."""
        return (self.found(steps, phases, **options) - self.expected) / np.max(np.abs(self.expected))


def free_rotation(body, q, w, times):
    """Orientations and lab angular velocities after a thousandth of a free turn at most, one Runge-Kutta step."""
    times = times[:, None]
    state = np.tile(np.concatenate([q, w @ rotation_matrix(q) @ body.axes]), (len(times), 1))
    def rate(state):
        q, spin = state[:, :4], state[:, 4:]
        return np.hstack([quaternion_rate(q, spin @ body.axes.T), -cross(spin, body.inertia * spin) / body.inertia])
    first = rate(state)
    second = rate(state + 0.5 * times * first)
    third = rate(state + 0.5 * times * second)
    state = state + times / 6.0 * (first + 2.0 * second + 2.0 * third + rate(state + times * third))
    q = state[:, :4] / np.linalg.norm(state[:, :4], axis=1, keepdims=True)
    return q, np.einsum("nij,nj->ni", rotation_matrix(q) @ body.axes, state[:, 4:])


def pair(shapes, law, aside, speed=10.0, spin=0.5, seed=3):
    """Two clumps in random orientations, with random spins of `spin` speed / reach. Their centres of mass pass each
    other at `aside` times the sum of their reaches: the sine of the angle of impact for spheres."""
    rng = np.random.default_rng(seed)
    frame, q = np.linalg.qr(rng.normal(size=(3, 3)))[0], unit_vectors(rng, 2, 4)
    reach, mass = np.array([shape.reach for shape in shapes]), np.array([shape.body.mass for shape in shapes])
    spheres = [(shape.body.offsets @ rotation_matrix(each).T, shape.body.radii) for shape, each in zip(shapes, q)]
    between = aside * reach.sum() * frame[1]
    between = between + distance_to_touch(*spheres[1], spheres[0][0] + between, spheres[0][1], frame[0]) * frame[0]
    radius = [shape.body.radii[0] for shape in shapes]
    reduced = mass.prod() / mass.sum()
    time = duration(reduced, np.prod(radius) / np.sum(radius), effective_modulus(YOUNG, POISSON, YOUNG, POISSON),
                    speed * np.sqrt(1.0 - aside**2))
    velocity = np.outer([-reduced / mass[0], reduced / mass[1]], speed * frame[0]) + [0.2 * speed, 0.0, 0.0]
    position = np.array([between, np.zeros(3)]) - 0.1 * time * velocity
    return Impact(shapes, position, q, velocity, spin * speed * unit_vectors(rng, 2) / reach[:, None], law, time)


def on_plane(shape, law, angle, speed=10.0, spin=0.5, seed=3):
    """A sphere that meets the plane z = 0 at `angle` [degrees] to its normal, with a random spin."""
    rng, angle = np.random.default_rng(seed), np.radians(angle)
    velocity = speed * np.array([[np.sin(angle), 0.0, -np.cos(angle)]])
    time = duration(shape.body.mass, shape.reach, effective_modulus(YOUNG, POISSON, YOUNG, POISSON),
                    speed * np.cos(angle))
    position = np.array([[0.0, 0.0, shape.reach]]) - 0.1 * time * velocity
    spins = spin * speed / shape.reach * unit_vectors(rng, 1)
    return Impact([shape], position, unit_vectors(rng, 1, 4), velocity, spins, law, time)


class Spheres:
    """n pairs of spheres in one simulation, or n spheres that meet the plane z = 0.

    Parameters: radii (n, 2) or (n, 1) [m]; normal (n, 3), from sphere 1 to sphere 0, or of the plane; velocity and
    angular_velocity (n, 2, 3) or (n, 1, 3); gap (n,), distance between the surfaces at the start [m].
    """

    def __init__(self, radii, normal, velocity, angular_velocity, gap, density=2500.0):
        self.radii, self.velocity, self.angular_velocity = radii, velocity, angular_velocity
        self.shape = ball(1.0, density=density)
        self.mass = self.shape.body.mass * radii**3
        self.inertia = 0.4 * self.mass * radii**2
        n, k = radii.shape
        side = int(np.ceil(n**(1 / (k + 1))))           # on a plane, sites on a square
        site = np.argwhere(np.ones((side,) * (k + 1)))[:n] * 8.0 * np.max(radii)
        self.position = np.zeros((n, k, 3))
        self.position[:, :, :k + 1] = site[:, None]
        self.position[:, 0] += normal * (radii.sum(1) + gap)[:, None]

    @classmethod
    def meeting(cls, radii, speed, modulus, steps=50, density=2500.0, tangential=0.0, phases=PHASES):
        """Impacts along z, one for each phase, of sphere 0 with `speed` and `tangential` (along x) on sphere 1 with the
        opposite, or on the plane, after 2 + phase steps; and their dt."""
        phases, k = np.asarray(phases), len(radii)
        mass = density * 4 / 3 * np.pi * np.array(radii)**3
        dt = duration(1 / (1 / mass).sum(), 1 / (1 / np.array(radii)).sum(), modulus, speed * k) / steps
        velocity = np.tile(np.array([[1.0], [-1.0]])[:k] * [tangential, 0.0, -speed], (len(phases), 1, 1))
        return cls(np.tile(radii, (len(phases), 1)), [0.0, 0.0, 1.0], velocity, np.zeros_like(velocity),
                   (2.0 + phases) * dt * speed * k, density), dt

    def simulation(self, law, dt, wall=None, **options):
        """wall : material of the plane, None: that of the spheres."""
        walls = [md.Plane([0.0, 0.0, 0.0], [0.0, 0.0, 1.0], material=wall)] if self.radii.shape[1] == 1 else []
        sim = simulation(law, dt, walls, **options)
        sim.add_clumps(self.shape.template, self.position.reshape(-1, 3), velocity=self.velocity.reshape(-1, 3),
                       angular_velocity=self.angular_velocity.reshape(-1, 3), scale=self.radii.ravel())
        return sim

    def after(self, law, dt, steps, **options):
        """Velocities and angular velocities, shaped as given, after `steps` steps; no contact may be left."""
        sim = self.simulation(law, dt, **options)
        sim.run(steps)
        assert len(sim.contacts()) == 0
        return sim.velocity.reshape(self.velocity.shape), sim.angular_velocity.reshape(self.velocity.shape)

    def kinetic(self, v, w):
        """Of each pair [J]."""
        return 0.5 * (self.mass * (v**2).sum(-1) + self.inertia * (w**2).sum(-1)).sum(1)
