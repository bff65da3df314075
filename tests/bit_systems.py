"""Systems of which tests/restart compares the bits: how each starts, and what must have happened until it ends."""
import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import capillary_bridge as bridge
import custom_integrator
import custom_law
import numpy as np
import pytest
import scenes
from reference_walls import CUBE, CUBE_FACES, MINDLIN, ROLLING, facets, simulation
from rods_with_fields import box_of_rods, conduction
from scenes import MATERIAL, material_for, settling
from user_functions import CFUNC, rods

import minidem as md
from minidem.engine.columns import COLUMNS
from minidem.fields.field import field_rows
from minidem.initial import place_densely

STATE = "position", "orientation", "velocity", "angular_velocity", "force", "torque"
ONSET = "hertz:onset=corrected"
PLASTIC = "hooke-coulomb:stiffness=1e5,rolling=epsd,plastic=walton-braun"
SINGLE = "hertz-mindlin:rolling=epsd,mass=single"
WRAP = 64                   # steps between wraps of periodic positions, of the fixture many_threads_and_sorts
SCHEMES = md.rotation.available()
SINGLE_STAGE = [name for name in SCHEMES if len(md.rotation.info(name).stages) == 1]
MULTISTAGE = next(name for name in SCHEMES if name not in SINGLE_STAGE)
ERRORS = KeyboardInterrupt, ValueError, FloatingPointError, SystemExit


class Trap:
    """Called by the user-defined functions of systems, raises `error` in the call that is set."""
    def __init__(self):
        self.left, self.error = 0, None

    def set(self, calls, error):
        self.left, self.error = calls, error

    def __call__(self):
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                raise self.error("said by the function")


trap = Trap()


@dataclass(frozen=True)
class System:
    """build(contact=, rotation=, threads=) makes it. Bits are compared over `steps` from step number `before` on.

    place : where a ball of radius 0.04 touches nobody, None: nowhere.
    traps : whether functions of the system call `trap`.
    functions : function (simulation) that adds those of the user once more, None: forces without parameters.
    """
    build: Callable
    laws: tuple
    steps: int
    before: int = 0
    motions: dict | None = None
    place: tuple | None = None
    traps: bool = False
    rotations: tuple = ("exact",)
    functions: Callable | None = None

    def reloaded(self, sim, threads, folder):
        motions = self.motions
        if sim.box is not None and sim.loop.state.box.functions:
            motions = {"periodic": sim.periodic}
        loaded = through_a_file(sim, folder, threads=threads, motions=motions)
        for function in sim.forces.functions if self.functions is None else ():
            loaded.forces.add(function, corrections=sim.loop.user_forces.corrections)
        if self.functions is not None:
            self.functions(loaded)
            for function in sim.forces.functions[len(loaded.forces.functions):]:
                loaded.forces.add(function)
        return loaded


def values_of(sim, n=None):
    """All that a simulation contains, or the state of its first n clumps: {name: array}."""
    found = {name: np.array(getattr(sim, name))[:n] for name in ("ids", *STATE)}
    if n is not None:
        return found
    contacts = sim.contacts()
    found |= {f"contacts {name}": contacts[name] for name in contacts.dtype.names} | (sim.loop.history() or {})
    found |= {name: getattr(sim, name) for name in ("time", "step_count", "template_index")}
    found["energies"] = np.array(list(vars(sim.energy(shadow=sim.loop.state.hold is None)).values()), dtype=float)
    found["coordination"] = sim.coordination_number()
    everywhere = sim.box is not None and np.all(sim.box.axes)
    found["stress"] = sim.stress(kinetic=True, **{} if everywhere else {"volume": 1.0} if sim.box else {
        "low": [0.0] * 3, "high": [0.5] * 3})
    found["walls"] = [np.append(sim.walls.force(k), sim.walls.torque(k)) for k in range(len(sim.walls))]
    found["planes"] = [wall.point for wall in sim.walls.at_rest if isinstance(wall, md.Plane)]
    found |= sim.loop.ledger()
    found |= {one.name: sim.reader.column(one.name) for one in COLUMNS if sim.reader.has_column(one.name)}
    found |= {"bonds": sim.bonds(), "broken": sim.bonds.broken(),
              "fields": field_rows(sim.loop.state)}
    if sim.periodic:
        found["shift"] = np.array(sim.loop.state.shift)
    return found


def bits(sim, n=None):
    return {name: np.ascontiguousarray(values).tobytes() for name, values in values_of(sim, n).items()}


def through_a_file(sim, folder, **options):
    sim.save(folder / "state.npz")
    return md.Simulation.load(folder / "state.npz", **options)


def brake(t, x, v, q, w):
    """So weak that it suits all systems."""
    trap()
    return -0.1 * v, 0.0 * w


def drag(t, x, v, q, w):
    trap()
    return -0.5 * v + 3.0 * np.sin(300.0 * t) * x[:, ::-1], -1e-3 * w


def of_scene(make, dt=2e-4, forces=(), corrections=0, **changes):
    """A builder from a scene. make() : the `Scene`; corrections : of user forces; changes : to its fields."""
    def build(contact, rotation="exact", threads=1):
        sim = make().changed(**changes).simulation(dt, contact=contact, rotation=rotation, threads=threads)
        for function in forces:
            sim.forces.add(function, corrections=corrections)
        return sim
    return build


@CFUNC
def spring(time, clumps, wrenches, parameters):
    """A compiled force to the origin, and a couple against rotation, of the rows of eight clumps."""
    rows, found = np.ctypeslib.as_array(clumps, (15, 8)), np.ctypeslib.as_array(wrenches, (6, 8))
    found[:3], found[3:] = -20.0 * rows[:3] - 0.5 * rows[3:6], -1e-3 * rows[10:13]


def mixture(walls=True):
    return scenes.packed_mixture(4, (4, 4, 4), walls=walls)


def in_contact():
    """Clumps of which two are within the first step of their contact at the start."""
    before = SYSTEMS["open"].build("hertz")
    before.run(9)
    names = "position", "orientation", "velocity", "angular_velocity"
    return mixture(False).changed(**dict(zip(names, scenes.state_of(before))))


def held(contact, rotation="exact", threads=1):
    """A box of rods and odd clumps, of which some are fixed, driven, free in a plane, at pins and hinges."""
    sim = of_scene(mixture, young=1e6, gravity=DOWN)(contact, rotation, threads)
    sim.set_motion(sim.ids[::5], free="", turns="")
    sim.set_motion(sim.ids[1::5], free="xz", turns=(1, 1, 0))
    sim.set_motion(sim.ids[2::10], free="", turns="", velocity=(1, 0, 2), angular_velocity=(0, 5, 0))
    for k in range(3, sim.n_clumps if rotation in SINGLE_STAGE else 0, 5):
        sim.set_motion([k], pin=sim.position[k] + (0.01, 0.0, 0.02), turns=("xyz", "z", "")[k % 3],
                       angular_velocity=(3, 4, -20))
    return sim


def heap(contact, rotation="exact", threads=1):
    return settling(contact=contact, rotation=rotation, threads=threads)


def shaken(t):
    """A motion, of a function that pickle can hold."""
    return (0.05 * np.sin(9.0 * t), 0.0, 0.03 * np.sin(17.0 * t)), (0.3 * np.sin(14.0 * t), 0.2 * np.sin(6.0 * t), t)


MIXED = md.ClumpTemplate([(-0.03, 0.0, 0.0), (0.03, 0.0, 0.0), (0.0, 0.03, 0.02)], [0.05, 0.05, 0.04], density=2500.0)


def mixer(contact, rotation="exact", threads=1):
    """Clumps in a turning mesh drum, with a shaken cube and cone, between planes; they drive one, and a cylinder."""
    turn = {"angular_velocity": (0, 0, 4.0)}
    lift, spin = md.Driven(mass=20.0, force=300.0, damping=2e3), md.Driven(inertia=0.3, axis=(0, 0, 1), moment=2.0)
    walls = [md.MeshWall(facets(30, 0.5, 1.0, rows=6), **turn, center=(0, 0, 0)),
             md.Plane((0, 0, -0.4), (0, 0, 1), **turn, motion=lift),
             md.Plane((0, 0, 0.4), (0, 0, -1), motion=md.Oscillation((0, 0, 0.03), 8.0)),
             md.MeshWall((0.25 * (CUBE - 0.5) + (0.1, 0, -0.3), CUBE_FACES), motion=shaken,
                         surface_velocity=(0.5, 0, 1)),
             md.Cylinder((0, 0, 0), (0, 0, 1), 0.08, outside=True, **turn, motion=spin),
             md.CompoundWall([md.Cone((-0.28, 0, -0.24), (0, 1, 0.2), (0.02, 0.08), 0.05),
                              md.MeshWall((0.06 * CUBE + (-0.3, -0.06, -0.25), CUBE_FACES[:4]))],
                             angular_velocity=(3.0, 0, 0), center=(-0.28, 0, -0.24), motion=shaken,
                             surface_angular_velocity=(0, 2, 1))]
    sim = simulation(walls, contact, 2e-4, rotation=rotation, threads=threads, gravity=(2, -9, -4))
    rng = np.random.default_rng(6)
    places = 0.16 * (np.argwhere(np.ones((6, 6, 4))) - [2.5, 2.5, 1.5])
    radius = np.linalg.norm(places[:, :2], axis=1)
    places = places[(radius < 0.39) & (radius > 0.19) & ~np.all(np.abs(places - (0.1, 0, -0.3)) < 0.23, axis=1)
                    & (np.linalg.norm(places - (-0.28, 0, -0.24), axis=1) > 0.19)]
    n = len(places)
    turns, velocity, spin = scenes.unit_vectors(rng, n, 4), rng.normal(size=(n, 3)), 5.0 * rng.normal(size=(n, 3))
    sim.add_clumps(MIXED, places, turns, velocity=velocity, angular_velocity=spin)
    return sim


def bumps(low, length, n=6, height=0.04, seed=1):
    """A floor of n x n squares over a periodic box, closed over its faces, with random heights."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    heights = height * np.random.default_rng(seed).uniform(-1.0, 1.0, (n, n))[i % n, j % n]
    points = np.column_stack([low[0] + length[0] * i / n, low[1] + length[1] * j / n, heights])
    a = ((n + 1) * np.arange(n)[:, None] + np.arange(n)).ravel()
    return points, np.concatenate([np.column_stack([a, a + n + 1, a + n + 2]), np.column_stack([a, a + n + 2, a + 1])])


def shaken_floor(contact, rotation="exact", threads=1, dt=1e-4):
    """Rods on a bumpy plate that shakes, which has images in a periodic box."""
    low, high = (0.0, 0.0, -1.0), (1.0, 0.7, 1.0)
    floor = md.MeshWall(bumps(low, (1.0, 0.7)), motion=md.Oscillation((0.01, 0.0, 0.01), 15.0))
    sim = simulation([floor], contact, dt=dt, gravity=(0, 0, -9.81), periodic=(low, high, (True, True, False)),
                     threads=threads, rotation=rotation)
    places = [(x, y, z) for x in (0.1, 0.35, 0.6, 0.85) for y in (0.1, 0.3, 0.5) for z in (0.12, 0.25, 0.4)]
    sim.add_clumps(md.shapes.rod(0.16, 0.04, 3, density=2500.0), places, (0.5**0.5, 0, 0.5**0.5, 0),
                   velocity=(0.5, -0.8, 0.0))
    return sim


def gas(contact, rotation="exact", threads=1, axes=(True, True, True), order=slice(None)):
    """75 rods that drift through several lengths of a periodic box; friction between soft ones."""
    scene = scenes.packed_rods(3, (3, 5, 5), walls=False)
    side = scenes.ROD_RADIUS * np.array([6.2, 3.2, 3.2]) * (3, 5, 5)
    walls = [plane for plane in md.box_walls((0, 0, 0), side) if not np.any(np.array(plane.normal)[list(axes)])]
    material = MATERIAL if "mindlin" in contact else md.Material(young=1e8, poisson=0.1)
    sim = md.Simulation(material, walls, contact=contact, dt=38e-6, threads=threads, rotation=rotation,
                        periodic=((0, 0, 0), side, axes))
    x, q, v, w = (values[order] for values in scene.state)
    sim.add_clumps(scene.shapes[0].template, x, q, velocity=v + np.where(axes, (120.0, 0.0, -60.0), 0.0),
                   angular_velocity=w)
    return sim


def press(contact="hertz-mindlin", rotation="exact", threads=1, dt=4e-5, **servo):
    servo = md.Servo(direction=(0, 0, -1), **{"force": 20.0, "mass": 0.02, "damping": 0.5} | servo)
    edge, rod = 0.06, md.ClumpTemplate([(0, 0, 0), (0.006, 0, 0)], [0.005] * 2, density=2500.0)
    lid = md.Plane((0, 0, 0.09), (0, 0, -1), motion=servo)
    sim = md.Simulation(md.Material(1e7, 0.3, restitution=0.4, friction=0.4),
                        [*md.box_walls((0, 0, 0), (edge, edge, 1.0))[:5], lid], contact=contact, dt=dt,
                        gravity=(0, 0, -9.81), threads=threads, rotation=rotation)
    x = np.arange(0.012, edge - 0.01, 0.018)
    place = np.array([(a, b, c) for c in 0.012 + 0.0185 * np.arange(4) for a in x for b in x])
    sim.add_clumps(rod, place, scenes.unit_vectors(np.random.default_rng(1), len(place), 4))
    return sim


def carried(contact, rotation="exact", threads=1):
    """The press with rods glued to its lid, and others that a function and an oscillation move."""
    sim = press(contact, rotation, threads, force=60.0)
    shakes = md.Oscillation((0, 1e-3, 2e-3), 60.0)
    for some, motion in (slice(-9, None), 5), (slice(0, 2), stirring), (slice(2, 4), shakes):
        sim.set_motion(sim.ids[some], motion=motion)
    return sim


def stirring(t):
    return (2e-3 * np.sin(400.0 * t), 0.0, 0.0), (0.0, 0.0, 20.0 * t)


STICKY = ("hertz-mindlin:cohesion=jkr,rolling=epsd", "hertz-mindlin:cohesion=jkr,rolling=epsd,friction_limit=magnitude",
          "hertz-mindlin:cohesion=jkr,rolling=epsd,twisting=marshall,tangential=mindlin,mass=clump",
          "hertz-mindlin:liquid=willett,rolling=epsd,mobilised_damping=1,surface_tension=0.5",
          "hertz-mindlin:cohesion=dmt,rolling=constant,sliding=static",
          "hooke-coulomb:stiffness=2e4,liquid=willett,twisting=marshall,bonds=parallel,surface_tension=1")


def sticky(contact, rotation="exact", threads=1):
    radius, material = 2e-3, md.Material(1e7, 0.3, restitution=0.95, friction=0.4, rolling_friction=0.1, adhesion=5.0,
                                        bridge_volume=1e-10, static_friction=0.6)
    low, high = np.zeros(3), np.full(3, 8.2 * 2 * radius)
    sim = md.Simulation(material, md.box_walls(low, high), contact=contact, dt=5e-6, threads=threads, rotation=rotation)
    random = np.random.default_rng(5)
    places = 4.1 * radius * (0.5 + np.stack(np.meshgrid(*3 * [np.arange(4)]), axis=-1).reshape(-1, 3))
    speeds = 0.3 * random.normal(size=(64, 3))
    rod = md.ClumpTemplate([(-0.8 * radius, 0.0, 0.0), (0.8 * radius, 0.0, 0.0)], [radius] * 2, density=2500.0)
    sim.add_clumps(rod, places[:32], velocity=speeds[:32], angular_velocity=50 * random.normal(size=(32, 3)))
    sim.add_clumps(md.ClumpTemplate([(0, 0, 0)], [radius], density=2500.0), places[32:], velocity=speeds[32:])
    return sim


def sizes_and_materials(contact, rotation="exact", threads=1):
    """Rods and small asymmetric clumps, each of a size of its own, of two materials, in a box of a third one."""
    soft, glass, steel = md.Material(1e8, 0.45), md.Material(1e9, 0.2), md.Material(2.1e11, 0.3)
    scene = scenes.packed_mixture(4, (7, 10, 10), speed=20.0, spin=20.0)
    sim = md.Simulation(glass, [replace(wall, material=steel) for wall in scene.walls], dt=38e-6, threads=threads,
                        contact=contact, rotation=rotation)
    n = len(scene.shapes)
    rods, scale = sum(shape is scene.shapes[0] for shape in scene.shapes), np.random.default_rng(2).uniform(0.5, 1.0, n)
    for start, end in (0, rods), (rods, n):
        for k, material in enumerate((glass, soft)):
            part = slice(start + k, end, 2)
            sim.add_clumps(scene.shapes[start].template, **scenes.motion(rows[part] for rows in scene.state),
                           scale=scale[part], material=material)
    return sim


def python_law(asymmetric=False):
    """That of custom_law.py, which uses + - * / alone: its bits depend on neither language nor compiler.

    asymmetric : distinguish the two bodies: i is the sphere with the lower number for the life of a contact.
    """
    def force(contacts, stiffness):
        trap()
        custom_law.force(contacts, stiffness)
        if asymmetric:
            first = contacts.history[:, 0, :3] == 0.0           # zero in a new contact
            contacts.history[:, 0, :3] = np.where(first, 1.0 + 0.1 * contacts.velocity, contacts.history[:, 0, :3])
            touching = contacts.overlap[:, None] > 0.0
            contacts.force = np.where(touching, contacts.force + 0.1 * contacts.history[:, 0, :3], 0.0)
    return {"force": force, "describe": custom_law.describe}


def python_scheme():
    """SPIRAL's leapfrog in Python. `sync` is called for onset corrections only."""
    def kicked(bodies, h):
        return custom_integrator.flow(bodies.w.T, bodies.torque.T, bodies.inertia.T, h)
    def start(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, -0.5 * dt)
    def move(bodies, dt, stage):
        bodies.w.T[:] = kicked(bodies, dt)
        bodies.q.T[:] = custom_integrator.turn(bodies.q.T, bodies.w.T, dt)
    def sync(bodies, dt, stage):
        trap()
        bodies.predicted.T[:] = kicked(bodies, 0.5 * dt)
    return {"start": start, "move": move, "sync": sync, "angular_velocity_offset": -0.5}


BONDED = "hertz-mindlin:bonds=parallel"
SOFT_BONDED = "hooke-coulomb:stiffness=5e3,plastic=walton-braun,bonds=parallel"
BRITTLE = md.Material(young=1e6, poisson=0.3, restitution=0.5, friction=0.5)
GRAIN = md.ClumpTemplate([(0, 0, 0)], [0.01], density=1000.0)


def agglomerates(contact=BONDED, rotation="exact", threads=1, n=3, speed=6.0):
    """Cubes of 27 spheres, ids in their order, that fall on a plate after 600 steps and break in part."""
    rng, cube = np.random.default_rng(1), 0.0201 * np.argwhere(np.ones((3, 3, 3)))[:, [1, 0, 2]]
    sim = md.Simulation(BRITTLE, [md.Plane((0, 0, 0), (0, 0, 1))], contact=contact, dt=1e-5, gravity=(0, 0, -9.81),
                        threads=threads, rotation=rotation)
    for k in range(n):
        sim.add_clumps(GRAIN, cube + np.array([k % 4, k // 4 % 3, k // 12]) * 0.1 + 0.05,
                       velocity=rng.normal(0, 1, 3) - (0, 0, speed))
    assert sim.bonds.add(5e-4, young=1e7, tensile=2e4, shear=2e4, damping=0.05) == 54 * n
    return sim


def trapped_conduction(contacts, conductivity):
    trap()
    conduction(contacts, conductivity)


def stir(t, x, v, q, w, *, fields, random):
    trap()
    return 1e-3 * (random[:, :3] - 0.5), 1e-5 * (random[:, 3:] - 0.5), {"temperature": -2e3 * fields["temperature"]}


def stirred(sim):
    sim.fields.add_flux(trapped_conduction, [1e6])
    sim.forces.add(stir, random=6, seed=5)


def rods_with_fields(contact, rotation="exact", threads=1):
    sim = box_of_rods(64, contact=contact, rotation=rotation, threads=threads)
    stirred(sim)
    return sim


def wet_grains(contact, rotation="exact", threads=1):
    """A dense gas in which every second grain is wet; bridges that form and break transfer liquid."""
    sim = md.Simulation(md.Material(young=1e6, poisson=0.3), contact=contact, dt=2e-5, rotation=rotation,
                        periodic=((0, 0, 0), (0.0095,) * 3, (True,) * 3), threads=threads)
    [(place, _)] = place_densely([bridge.SPHERE], [32], (0, 0, 0), (0.0095,) * 3, np.random.default_rng(1))
    sim.add_clumps(bridge.SPHERE, place, velocity=np.random.default_rng(2).normal(0.0, 2.0, place.shape))
    sim.fields.add("liquid", 1e-12 * (np.arange(32) % 2), capacity=2.0)
    return sim


DOWN = (0.3, -0.2, -9.81)
BALANCED = "hertz", ONSET, ROLLING
PYTHON_LAWS = {"own-python": python_law, "own-asymmetric": partial(python_law, asymmetric=True),
               "own-damped": lambda: python_law() | {"damped": True}}
COMPILED_LAW = custom_law.INTERFACES["ctypes"]              # None without a C compiler
OWN_LAWS = PYTHON_LAWS | {"own-ctypes": COMPILED_LAW}
OWN_SCHEME, WET = "own-leapfrog", "own-wet"
SYSTEMS = {
    "dilute": System(of_scene(lambda: scenes.rods_in_box(seed=1), 38e-6), ("hertz",), 1000),
    # contacts of rods last for hundreds of steps, and a rod has several at a time
    "soft": System(of_scene(lambda: scenes.packed_rods(5, (8, 9, 10)), 38e-6, young=1e7), ("hertz",), 400),
    # clumps of thirty spheres of many sizes: the search compares bounding spheres of clumps first
    "bunches": System(of_scene(lambda: scenes.packed_bunches(6, 3), 5e-5, young=1e7), ("hertz", ONSET), 400),
    "mixture": System(of_scene(mixture, young=1e7, gravity=DOWN), ("hertz", ONSET, "hooke:stiffness=1e4"), 50),
    "with force": System(of_scene(mixture, forces=[drag], young=1e7, gravity=DOWN), ("hertz", ONSET), 50, traps=True,
                         rotations=SCHEMES),
    "compiled force": System(of_scene(mixture, forces=[spring, drag], corrections=2, young=1e7), ("hertz", ONSET), 50,
                             traps=True),
    "own scheme": System(of_scene(mixture, young=1e7, gravity=DOWN), (ONSET,), 50, traps=True, rotations=(OWN_SCHEME,)),
    "own law": System(rods, tuple(f"{name}:stiffness=4e6" for name in PYTHON_LAWS), 80, 120, traps=True),
    "compiled law": System(rods, ("own-ctypes:stiffness=4e6",) * bool(COMPILED_LAW()), 80, 120),
    "open": System(of_scene(lambda: mixture(False), young=1e7), ("hertz", ONSET), 50, place=(50.0, 60.0, 70.0)),
    "held": System(held, ("hertz", MINDLIN, ONSET), 60, 40, rotations=SCHEMES),
    "in contact": System(of_scene(in_contact, young=1e7), (ONSET,), 30, place=(50.0, 60.0, 70.0)),
    "heap": System(heap, (MINDLIN, ROLLING, "hooke-coulomb:stiffness=1e5,rolling=epsd", PLASTIC, "hertz", ONSET),
                   120, 4000, place=(0.5, 0.1, 0.55)),
    "mixer": System(mixer, ("hertz", MINDLIN, ROLLING, SINGLE), 150, 2500, {3: shaken, 5: shaken},
                    place=(5.0, 5.0, 0.0)),
    "gas": System(gas, BALANCED, 400),
    "gas between walls": System(partial(gas, axes=(True, False, True)), BALANCED, 400),
    **{f"{name} box": System(partial(scenes.gas, motion, n=64, speed=3.0), BALANCED, 300)
       for name, motion in scenes.MOTIONS.items()},
    "images of a floor": System(shaken_floor, ("hertz", ROLLING), 140, 1320),
    "press": System(press, ("hertz", MINDLIN, SINGLE), 400, 500),
    "carried": System(carried, ("hertz", MINDLIN), 300, 500, {6: stirring}),
    "sticky": System(sticky, STICKY, 400, 8000),
    "sizes and materials": System(sizes_and_materials, ("hertz", ONSET), 200),
    "bonds": System(agglomerates, (BONDED, SOFT_BONDED), 530, 650),
    "fields": System(rods_with_fields, ("hertz-mindlin",), 120, 600, traps=True, functions=stirred),
    "wet": System(wet_grains, (f"{WET}:tension=0.001,reach=1e-4",), 80),
    "half steps": System(heap, ("hertz",), 120, 4000, place=(0.5, 0.1, 0.55), rotations=(MULTISTAGE,)),
    "half steps of walls": System(mixer, ("hertz",), 150, 2500, {3: shaken, 5: shaken}, place=(5.0, 5.0, 0.0),
                                  rotations=(MULTISTAGE,)),
}
CASES = [(name, law, rotation) for name, system in SYSTEMS.items() for law in system.laws
         for rotation in system.rotations if rotation == "exact" or law == ONSET
         and rotation in (*SINGLE_STAGE, OWN_SCHEME) or law == "hertz" and rotation not in (*SINGLE_STAGE, OWN_SCHEME)]


def register_own(register_law, register_scheme):
    """The laws and the scheme that are not built in, of which the registry is empty."""
    for name, functions in OWN_LAWS.items():
        if functions():
            register_law(name, **functions(), **custom_law.RECORD)
    register_law(WET, bridge.shared_force, bridge.shared_describe, **bridge.SHARED)
    register_scheme(OWN_SCHEME, **python_scheme())


def some(rows, columns, part):
    """Parameters (*row, *column): of each row every `part`-th column, one further in the next row; others are slow."""
    return [pytest.param(*row, *column, marks=[pytest.mark.slow] * ((i + j) % part > 0))
            for i, row in enumerate(rows) for j, column in enumerate(columns)]


@cache
def _begun(name, law, rotation):
    system = SYSTEMS[name]
    sim = system.build(law, rotation=rotation)
    sim.run(system.before)
    return sim


def begun(name, law, rotation="exact"):
    return copy.deepcopy(_begun(name, law, rotation))


@cache
def undisturbed(name, law, rotation="exact", n=None):
    """Bits at the end of a run in one go on one thread, those of all or of the first n clumps."""
    sim = begun(name, law, rotation)
    sim.run(SYSTEMS[name].steps)
    return bits(sim, n)


def is_correcting(sim):
    """Whether a contact has an onset correction now: its force is not that of its overlap."""
    contacts = sim.contacts()
    plain = 2.5 * contacts["energy"] / contacts["overlap"]
    return np.any(np.abs(np.linalg.norm(contacts["force"], axis=1) / plain - 1.0) > 1e-9)


@cache
def corrected(name, rotation="exact"):
    sim, steps = begun(name, ONSET, rotation), []
    sim.run(SYSTEMS[name].steps, every=1, callback=lambda sim: is_correcting(sim) and steps.append(sim.step_count))
    return steps


def pairs_of(sim):
    contacts = sim.contacts()
    return set(zip(contacts["sphere_i"].tolist(), contacts["sphere_j"].tolist()))


def assert_eventful(name, law, rotation):
    """Contacts begin and end in the steps that are compared, also those with walls; clumps have collided."""
    system, sim = SYSTEMS[name], begun(name, law, rotation)
    before, seen, velocity = pairs_of(sim), set(), np.array(sim.velocity)
    sim.run(system.steps, every=max(1, system.steps // 40), callback=lambda sim: seen.update(pairs_of(sim)))
    after = pairs_of(sim)
    assert seen - before and seen - after and np.mean(np.any(sim.velocity != velocity, axis=1)) > 0.15
    if system.before:
        assert before - after and after - before and (law in ("hertz", ONSET) or before & after)
    if name == "heap" and material_for(law) is MATERIAL:
        assert len(after) > 100 and sim.contacts()["sliding"].any()
    if name == "bonds":
        assert len(sim.bonds.broken()) > 2 and len(sim.bonds()) > 100
    if name == "mixer":
        assert {-1} <= {j for _, j in before | seen if j < 0}
    if law == ONSET and not system.before:
        steps = corrected(name, rotation)
        assert len(steps) >= 4 and steps[-1] > steps[0] + 3
        assert is_correcting(begun(name, law, rotation)) == (name == "in contact")
        plain = system.build("hertz", rotation=rotation)
        plain.run(system.steps)
        assert not np.array_equal(plain.velocity, sim.velocity)
    if name.startswith("gas"):
        assert np.any(np.abs(sim.loop.state.shift) >= 2)
        assert np.all(np.abs(sim.loop.state.in_slot_order("position")) < 3.0 * np.max(sim.periodic[1]))
