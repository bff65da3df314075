"""Systems to test with: one description for minidem and for the oracle."""
import warnings
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby, product as combinations_of

import numpy as np
from reference_contact import Body, Plane, World

import minidem as md
from minidem.initial import place

ROD_RADIUS = 0.02 * np.sqrt(3.0)                     # three touching spheres on the diagonal of a cube
ROD_CENTERS = np.array([[-0.04, -0.04, -0.04], [0.0, 0.0, 0.0], [0.04, 0.04, 0.04]])
LUMPY_CENTERS = np.array([[0.0, 0.0, 0.0], [0.05, 0.01, 0.0], [-0.02, 0.06, 0.01], [0.01, -0.01, 0.07]])
LUMPY_RADII = np.array([0.04, 0.03, 0.025, 0.02])    # four overlapping spheres, three different moments
CLUMP = md.ClumpTemplate([(-0.02, 0.0, 0.0), (0.02, 0.0, 0.0), (0.0, 0.02, 0.01)], [0.03, 0.03, 0.025], density=2500.0)
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.04], density=2500.0)
MATERIAL = md.Material(young=1e7, poisson=0.2, restitution=0.5, friction=0.4, rolling_friction=0.1)
ELASTIC = md.Material(young=1e7, poisson=0.2)
ROLLING = "hertz-mindlin:rolling=epsd"


class Shape:
    """A template, and the `Body` that the oracle makes of its spheres. `scale` multiplies all lengths."""
    def __init__(self, centers, radii, density=2500.0, scale=1.0):
        centers, radii = np.atleast_2d(centers) * scale, np.atleast_1d(radii) * scale
        self.template = md.ClumpTemplate(centers, radii, density=density)
        self.body = Body.of(self.template, centers)
        self.reach = np.max(np.linalg.norm(self.body.offsets, axis=1) + radii)


def rod(**options):
    return Shape(ROD_CENTERS, np.full(3, ROD_RADIUS), **options)


def lumpy(**options):
    return Shape(LUMPY_CENTERS, LUMPY_RADII, **options)


def ball(radius, **options):
    return Shape(np.zeros((1, 3)), [radius], **options)


def bunch(spheres=30, **options):
    """Overlapping spheres of radii from 0.01 to 0.05 about one middle: a clump that fills its surroundings."""
    rng = np.random.default_rng(spheres)
    return Shape(0.04 * rng.normal(size=(spheres, 3)), rng.uniform(0.01, 0.05, spheres), **options)


@dataclass
class Scene:
    """n clumps, lab frame, and their walls. shapes[k] is the `Shape` of clump k; materials[k] its material, or where
    there are no materials, `young` and `poisson` are those of all."""
    shapes: list
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    walls: list = field(default_factory=list)
    young: float = 1e9
    poisson: float = 0.1
    gravity: tuple = (0.0, 0.0, 0.0)
    contact: str = "hertz"
    materials: list | None = None

    def simulation(self, dt=38e-6, material=None, **options):
        default = material or md.Material(young=self.young, poisson=self.poisson)
        materials = self.materials or [default] * len(self.shapes)
        sim = md.Simulation(material=default, walls=self.walls, dt=dt, gravity=self.gravity,
                            **{"contact": self.contact} | options)
        for _, run in groupby(range(len(self.shapes)), key=lambda k: (id(self.shapes[k]), materials[k])):
            run = list(run)
            sim.add_clumps(self.shapes[run[0]].template, **motion(state[run] for state in self.state),
                           material=materials[run[0]])
        return sim

    @property
    def state(self):
        return self.position, self.orientation, self.velocity, self.angular_velocity

    def world(self):
        planes = [Plane(np.asarray(wall.point), np.asarray(wall.normal),
                        *((self.young, self.poisson) if wall.material is None
                          else (wall.material.young, wall.material.poisson))) for wall in self.walls]
        young, poisson = ([getattr(material, name) for material in self.materials or [self]]
                          for name in ("young", "poisson"))
        return World([shape.body for shape in self.shapes], young, poisson, planes, self.gravity)

    def changed(self, **fields):
        return replace(self, **fields)

    def part(self, numbers):
        """The clumps of these numbers, in this order, and all walls."""
        position, orientation, velocity, angular_velocity = (rows[numbers] for rows in self.state)
        materials = self.materials and [self.materials[k] for k in numbers]
        return self.changed(shapes=[self.shapes[k] for k in numbers], materials=materials, position=position,
                            orientation=orientation, velocity=velocity, angular_velocity=angular_velocity)


def drag(t, x, v, q, w):
    return -0.1 * v, -1e-3 * w


def state_of(sim):
    return sim.position, sim.orientation, sim.velocity, sim.angular_velocity


def motion(state):
    """Arguments of `add_clumps` out of position, orientation, velocity and angular velocity."""
    return dict(zip(("position", "orientation", "velocity", "angular_velocity"), state))


def warnings_of(call, file=None):
    """Texts of all warnings of a function, and its result. file : that the warnings must point to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    assert file is None or all((one.category, one.filename) == (UserWarning, file) for one in caught)
    return [str(warning.message) for warning in caught], result


def unit_vectors(rng, n, dimensions=3):
    vectors = rng.normal(size=(n, dimensions))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def quaternion(axis, angle):
    """Turn about the unit vectors `axis` (n, 3) by `angle` (n,)."""
    half = 0.5 * np.broadcast_to(angle, len(axis))[:, None]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)


def product(a, b):
    (s, u), (t, v) = ((q[:, :1], q[:, 1:]) for q in (a, b))
    return np.concatenate([s * t - (u * v).sum(1, keepdims=True), s * v + t * u + np.cross(u, v)], axis=1)


def distance_to_touch(centers, radii, new_centers, new_radii, direction):
    """How far to move new spheres along `direction` to where they first touch others; -infinity if they pass by."""
    apart = new_centers[:, None] - centers
    along = apart @ direction
    reach_squared = (new_radii[:, None] + radii)**2 - ((apart**2).sum(-1) - along**2)
    hits = reach_squared >= 0
    return np.max(np.where(hits, np.sqrt(np.where(hits, reach_squared, 0.0)) - along, -np.inf))


def rods_in_box(seed, n=30, side=1.0, speed=4.0, spin=4.0, shape=None, walls=True):
    """n clumps apart from one another in a cube, random directions of velocity and angular velocity."""
    rng, shape = np.random.default_rng(seed), shape or rod()
    position = np.empty((0, 3))
    while len(position) < n:
        new = rng.uniform(shape.reach, side - shape.reach, 3)
        if np.all(((position - new)**2).sum(1) > (2 * shape.reach)**2):
            position = np.vstack([position, new])
    return Scene([shape] * n, position, unit_vectors(rng, n, 4), speed * unit_vectors(rng, n),
                 spin * unit_vectors(rng, n), md.box_walls([0.0] * 3, [side] * 3) if walls else [])


def packed_rods(seed, shape_of_lattice, speed=4.0, spin=4.0, walls=True):
    """Rods at solid fraction 0.2, nearly parallel, on an (a, b, c) lattice with cells of 6.2 x 3.2 x 3.2 sphere radii.

    A rod is 6 radii long and 2 wide and may tilt by 0.15 rad, which moves its ends by 0.3 radii: none overlap.
    """
    rng, shape = np.random.default_rng(seed), rod()
    cell = ROD_RADIUS * np.array([6.2, 3.2, 3.2])
    position = cell * (0.5 + np.argwhere(np.ones(shape_of_lattice)))
    n = len(position)
    along_x = quaternion(np.tile([0.0, np.sqrt(0.5), -np.sqrt(0.5)], (n, 1)), np.arccos(np.sqrt(1 / 3)))
    about_x = quaternion(np.tile([1.0, 0.0, 0.0], (n, 1)), rng.uniform(0.0, 2 * np.pi, n))
    orientation = product(quaternion(unit_vectors(rng, n), rng.uniform(0.0, 0.15, n)), product(about_x, along_x))
    return Scene([shape] * n, position, orientation, speed * unit_vectors(rng, n),
                 spin * unit_vectors(rng, n), md.box_walls([0.0] * 3, cell * shape_of_lattice) if walls else [])


def packed_mixture(seed, shape_of_lattice, **options):
    """The same with a small asymmetric clump in every third place; rods come first in the numbers."""
    rods, other = packed_rods(seed, shape_of_lattice, **options), lumpy(scale=0.4)
    n = len(rods.shapes)
    mixture = rods.changed(shapes=[other if k % 3 == 0 else shape for k, shape in enumerate(rods.shapes)])
    return mixture.part(sorted(range(n), key=lambda k: k % 3 == 0))


def packed_bunches(seed, side):
    """side^3 clumps of thirty spheres on a cubic lattice, a hundredth of their size apart, in a box."""
    rng, shape = np.random.default_rng(seed), bunch()
    cell, n = 2.02 * shape.reach, side**3
    position = cell * (0.5 + np.argwhere(np.ones((side, side, side))))
    return Scene([shape] * n, position, unit_vectors(rng, n, 4), 4.0 * unit_vectors(rng, n),
                 20.0 * unit_vectors(rng, n), md.box_walls([0.0] * 3, [cell * side] * 3))


def rescaled(box, length, modulus):
    """The same motion in other units of length and pressure, density kept: speeds go with sqrt(modulus),
    times with length / sqrt(modulus). Returns the scene and the factors of x, q, v, w and of time."""
    speed = np.sqrt(modulus)
    scene = box.changed(shapes=[rod(scale=length)] * len(box.shapes), position=length * box.position,
                        velocity=speed * box.velocity, angular_velocity=speed / length * box.angular_velocity,
                        walls=[md.Plane(length * np.asarray(wall.point), wall.normal) for wall in box.walls],
                        young=modulus * box.young)
    return scene, (length, 1.0, speed, speed / length), length / speed


def scattered(seed, shapes, n, low, length, axes, speed=2.0, spin=4.0, tries=1, **options):
    """n clumps in turn of several shapes at random in a box, apart or in contact by up to 0.09 of a radius, the closest
    of `tries`; fewer where the box is full. Centres may be up to two lengths outside along periodic axes."""
    rng = np.random.default_rng(seed)
    chosen = [shapes[k % len(shapes)] for k in range(n)]
    scene = Scene(chosen, np.zeros((n, 3)), unit_vectors(rng, n, 4), speed * unit_vectors(rng, n),
                  spin * unit_vectors(rng, n), **options)
    depth, periodic = 0.09 * min(shape.body.radii.min() for shape in shapes), np.array(axes)
    placed, radii = np.empty((0, 3)), np.empty(0)
    world = scene.world()
    around = world.sphere_centers(scene.position, scene.orientation)
    for k in range(n):
        mine = world.owner == k
        best, position = np.inf, None
        for attempt in range(300):
            new = low + rng.uniform(0.0, 1.0, 3) * length
            d = around[mine][:, None] + new - placed
            d -= np.where(periodic, length * np.round(d / length), 0.0)
            gap = (np.linalg.norm(d, axis=2) - world.radii[mine][:, None] - radii).min(initial=1e9)
            if -depth < gap < best:
                best, position = gap, new
            if position is not None and attempt >= tries - 1:
                break
        if position is None:
            return scene.part(np.arange(k))
        new = position
        placed, radii = np.vstack([placed, around[mine] + new]), np.append(radii, world.radii[mine])
        scene.position[k] = new + np.where(periodic, length * rng.integers(-2, 3, 3), 0.0)
    return scene


def smallest_gap(sim, box=None, first=0):
    """Of spheres of the clumps from `first` on to walls, to other clumps, and to images up to two boxes away."""
    x, r, clump = sim.sphere_centers, np.asarray(sim.sphere_radii), np.asarray(sim.sphere_clump)
    new, smallest = clump >= first, np.min([(x - wall.point) @ wall.normal - r for wall in sim.walls], initial=np.inf)
    axes, lattice = (box.axes, box.lattice) if box else ((False,) * 3, np.eye(3))
    for count in combinations_of(*(range(-2, 3) if periodic else [0] for periodic in axes)):
        gaps = np.linalg.norm(x[new, None] - x - count @ lattice, axis=2) - r[new, None] - r
        if not any(count):
            gaps[clump[new, None] == clump] = np.inf
        smallest = min(smallest, gaps.min())
    return smallest


def material_for(contact):
    """MATERIAL for laws that read its friction, else the same without it."""
    return MATERIAL if md.contact.info(contact).reads_of_pairs else ELASTIC


def settling(dt=1e-4, contact=ROLLING, template=CLUMP, gravity=(0.0, 0.0, -9.81), material=None, **options):
    """A hundred clumps of three spheres that fall into a box and lose their energy."""
    sim = md.Simulation(material or material_for(contact), md.box_walls((0.0, 0.0, 0.0), (0.6, 0.6, 0.6)),
                        contact=contact,
                        dt=dt, gravity=gravity, **options)
    rng, place = np.random.default_rng(1), 0.07 + 0.115 * np.argwhere(np.ones((5, 5, 4)))
    sim.add_clumps(template, place, unit_vectors(rng, 100, 4), velocity=rng.normal(size=(100, 3)),
                   angular_velocity=5.0 * rng.normal(size=(100, 3)))
    return sim


# --- Gases of rods and balls in periodic boxes that move.

SHORT_ROD = md.ClumpTemplate([(-0.03, 0.0, 0.0), (0.0, 0.0, 0.0), (0.03, 0.0, 0.0)], [0.02] * 3, density=2500.0)
MOTIONS = {                             # arguments of md.PeriodicBox
    "shear": {"shear": ("x", "y", 5.0)},
    "oscillation": {"shear": ("z", "x", lambda t: 5.0 * np.cos(40.0 * t))},
    "stretched": {"shear": ("x", "y", 3.0), "rates": (-0.5, -0.5, 0.2)},
    "pressure": {"shear": ("x", "z", 4.0), "rates": (0.0, 0.0, md.Pressure(500.0, 0.01))},
    "faces": {"shear": ("y", "z", lambda t: 5.0 * np.cos(40.0 * t)), "affine": False},
}


def sheared_material(contact):
    if "onset=corrected" in contact or contact == "hertz":
        return md.Material(1e7, 0.3)
    rolling = {"rolling_friction": 0.1} if "rolling" in contact else {}
    return md.Material(1e7, 0.3, restitution=0.8, friction=0.4, **rolling)


@cache
def _start(n, edge, seed, template):
    """Positions and orientations, velocities and angular velocities of deviation 1, which takes long to find."""
    rng = np.random.default_rng(seed)
    return *place([template], [n], (0.0,) * 3, (edge,) * 3, rng)[0], rng.normal(size=(n, 3)), rng.normal(size=(n, 3))


def gas(motion, contact="hertz", n=200, solid_fraction=0.25, dt=2e-5, seed=1, template=SHORT_ROD, speed=0.3, **options):
    """n clumps with random velocities in a cube. motion : arguments of md.PeriodicBox."""
    edge = (n * template.volume / solid_fraction) ** (1 / 3)
    position, orientation, velocity, spin = _start(n, edge, seed, template)
    sim = md.Simulation(sheared_material(contact), dt=dt, contact=contact,
                        periodic=md.PeriodicBox((0.0,) * 3, (edge,) * 3, axes=(True,) * 3, **motion), **options)
    sim.add_clumps(template, position, orientation, velocity=speed * velocity, angular_velocity=speed / 0.05 * spin)
    return sim
