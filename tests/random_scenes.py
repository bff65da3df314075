"""Random scenes for tests/restart: what happens in one is a function of its seed alone, how it is run is not."""
import copy
import pickle
from contextlib import suppress

import numpy as np
from bit_systems import bits
from user_functions import CFUNC

import minidem as md
from minidem.initial import place_densely

RADIUS, DT, STEPS = 0.01, 4e-5, 90
SHAPES = [md.ClumpTemplate(np.array(centers) * RADIUS, np.array(radii) * RADIUS, density=2500.0) for centers, radii in (
    ([(0, 0, 0)], [1.0]), ([(-0.6, 0, 0), (0.6, 0, 0)], [0.8, 0.8]),
    ([(-0.6, 0, 0), (0.6, 0, 0), (0, 0.6, 0.3)], [0.7, 0.7, 0.5]), ([(k, 0, 0) for k in (-2, -1, 0, 1, 2)], [0.5] * 5))]
CENTRAL = ["hertz", "hertz:onset=corrected", "hooke:stiffness=5e4,onset=corrected"]
WITH_HISTORY = ["hertz-mindlin", "hertz-mindlin:rolling=epsd,tangential=mindlin,mass=clump",
                "hertz-mindlin:cohesion=jkr,mass=shared", "hertz-mindlin:mass=shared",
                "hooke-coulomb:stiffness=5e4,rolling=epsd,friction_limit=magnitude"]
BONDED = ["hertz-mindlin:bonds=parallel", "hooke-coulomb:stiffness=5e4,rolling=epsd,bonds=parallel,mass=shared"]
ROTATIONS = [name for name in md.rotation.available() if len(md.rotation.info(name).stages) == 1]
BOXES = ["walls", "shaken", "servo", "driven", "periodic", "sheared", "stretched", "pressed", "waving"]
raises = []                     # steps of `drag` that raise


def drag(t, x, v, q, w):
    if raises:
        raise KeyboardInterrupt(raises.pop())
    return -0.05 * v, -1e-6 * w


def stir(t, x, v, q, w, *, fields, random):
    """Noise, and rates of all fields that depend on their values."""
    return 0.1 * (random[:, :3] - 0.5), 1e-5 * random[:, 1:] - 1e-6 * w, {
        name: 3.0 * (random[:, :1] if values.ndim > 1 else random[:, 0]) - values for name, values in fields.items()}


def exchange(contacts, rate):
    for name, values in contacts.fields.items():
        flow = rate * np.maximum(contacts.overlap, 1e-6).reshape(-1, *[1] * (values.ndim - 2)) * (
            values[:, 1] - values[:, 0])
        contacts.rates[name][:, 0], contacts.rates[name][:, 1] = flow, -flow


@CFUNC
def spring(time, clumps, wrenches, parameters):
    """Force to the origin, drag, and rates of as many components of fields as the parameter says."""
    n = int(parameters[0])
    rows, found = np.ctypeslib.as_array(clumps, (15 + n, 8)), np.ctypeslib.as_array(wrenches, (6 + n, 8))
    found[:3], found[3:6] = -3.0 * rows[:3] - 0.05 * rows[3:6], -1e-6 * rows[10:13]
    found[6:] = 1.0 + rows[15:]


@CFUNC
def conduct(contact, result, rates, parameters):
    n = int(parameters[0])
    rows, found = np.ctypeslib.as_array(contact, (84 + 2 * n, 8)), np.ctypeslib.as_array(rates, (2 * n, 8))
    found[:n] = 5.0 * (rows[84 + n:] - rows[84:84 + n])
    found[n:] = -found[:n]


class Wave:
    """A rate that pickle can hold."""
    def __init__(self, amplitude):
        self.amplitude = amplitude

    def __call__(self, t):
        return self.amplitude * np.cos(2000.0 * t)


class RandomScene:
    """Clumps, settings, and a list of what is done with them at which step, of a seed."""
    def __init__(self, seed):
        self.seed, rng = seed, np.random.default_rng([seed, 1])
        def pick(*options):
            return options[rng.integers(len(options))]
        self.contact = pick(*pick(CENTRAL, WITH_HISTORY, BONDED, BONDED))
        self.has_history = self.contact not in CENTRAL
        self.rotation, self.box = pick("spiral", pick(*ROTATIONS)), pick(*BOXES)
        if "onset" in self.contact and self.box in ("shaken", "servo", "driven"):
            self.box = "walls"
        self.gravity = tuple(pick(0.0, 9.81, 200.0) * rng.normal(size=3))
        self.shapes, self.counts = [pick(*SHAPES), pick(*SHAPES)], rng.integers(6, 18, size=2).tolist()
        volume = sum(shape.volume * n for shape, n in zip(self.shapes, self.counts))
        self.high = np.full(3, max((volume / rng.uniform(0.1, 0.25)) ** (1 / 3), 0.075))
        self.rates = rng.uniform(-25.0, 25.0, size=4)
        self.fields = [(f"f{k}", int(n)) for k, n in enumerate(rng.integers(1, 4, size=pick(0, 1, 2)))]
        self.components = sum(n for _, n in self.fields)
        self.fluxes = [pick([], [exchange], [conduct], [exchange, conduct])] if self.fields and self.has_history else []
        self.fluxes = [flux for fluxes in self.fluxes for flux in fluxes]
        self.forces = pick([], [], [drag], [stir], [spring], [drag, spring])
        generic = not any(one in self.forces + self.fluxes for one in (spring, conduct))
        possible = {"field": generic, "set": self.fields, "bond": self.contact in BONDED,
                    "deform": self.box in ("sheared", "stretched", "pressed"),
                    "hold": "onset" not in self.contact and self.box in (*BOXES[:4], "periodic"),
                    "move": self.has_history and self.box in BOXES[:4]}
        actions = ["add", "remove", "add", *(name for name, holds in possible.items() if holds)]
        self.actions = sorted((int(rng.integers(STEPS)), pick(*actions), int(rng.integers(1 << 30)))
                              for _ in range(rng.integers(5)))
        if self.contact in BONDED:
            self.actions = [(0, "bond", int(rng.integers(1 << 30))), *self.actions]

    def __repr__(self):
        return (f"<seed {self.seed}: {self.contact}, {self.box}, {self.rotation}, fields {self.fields}, "
                f"{[f.__name__ if hasattr(f, '__name__') else 'compiled' for f in self.fluxes + self.forces]}, "
                f"{[action[:2] for action in self.actions]}>")

    def boundaries(self):
        walls, x, (s, a, b, c) = list(md.box((0, 0, 0), self.high)), (True, True, True), self.rates
        if self.box == "shaken":
            walls[-1] = md.Plane(walls[-1].point, walls[-1].normal, motion=md.Oscillation((0, 0, 0.2 * RADIUS), 300.0))
        elif self.box == "servo":
            walls[-1] = md.Plane(walls[-1].point, walls[-1].normal, motion=md.Servo(
                tuple(walls[-1].normal), force=20.0, mass=0.02, damping=0.5))
        elif self.box == "driven":
            walls[-1] = md.Plane(walls[-1].point, walls[-1].normal, motion=md.Driven(mass=0.02, force=20.0 * abs(s)))
            walls[0] = md.Plane(walls[0].point, walls[0].normal, motion=md.Driven(inertia=1e-4, moment=0.01 * a))
            walls[2] = md.Plane(walls[2].point, walls[2].normal, surface_velocity=(0.1 * b, 0, 0.1 * c))
        boxes = {"periodic": {}, "sheared": {"shear": ("x", "y", 4.0 * s)}, "stretched": {"rates": (a, b, c)},
                 "pressed": {"rates": (md.Pressure(1e3, 3e-3), a, 0.0), "shear": ("x", "z", s)},
                 "waving": {"shear": ("y", "z", Wave(2.0 * s)), "rates": (0.0, Wave(a), 0.0)}}
        if self.box not in boxes:
            return {"walls": walls}
        return {"periodic": md.PeriodicBox((0, 0, 0), self.high, x, **boxes[self.box])}

    def start(self, threads):
        damped = {"restitution": 0.6, "friction": 0.4} if self.has_history else {}
        damped |= {"rolling_friction": 0.1} if "rolling" in self.contact else {}
        damped |= {"adhesion": 5.0} if "jkr" in self.contact else {}
        sim = md.Simulation(md.Material(1e7, 0.3, **damped), contact=self.contact, rotation=self.rotation, dt=DT,
                            gravity=self.gravity, threads=threads, **self.boundaries())
        rng = np.random.default_rng([self.seed, 2])
        for shape, (x, q) in zip(self.shapes, place_densely(self.shapes, self.counts, (0, 0, 0), self.high, rng)):
            sim.add_clumps(shape, x, q, rng.normal(0.0, 1.5, size=x.shape), rng.normal(0.0, 40.0, size=x.shape))
        for name, n in self.fields:
            sim.add_field(name, rng.uniform(0.0, 2.0, size=(sim.n_clumps, n)[:2 if n > 1 else 1]), n, capacity=0.3,
                          new=0.5 if n == 1 else [0.5] * n)
        self.add_functions(sim)
        return sim

    def add_functions(self, sim):
        for flux in self.fluxes:
            sim.add_flux(flux, [30.0] if flux is exchange else [self.components])
        for force in self.forces:
            sim.add_force(force, [self.components] if force is spring else (), random=4 if force is stir else 0)

    def act(self, sim, action, key):
        rng = np.random.default_rng(key)
        if action == "add":
            for _ in range(20):
                try:
                    sim.add_clumps(sim.templates[0], rng.uniform(0.0, self.high), velocity=rng.normal(size=3),
                                   scale=0.7)
                    break
                except ValueError:              # too deep an overlap
                    continue
        elif action == "remove":
            sim.remove_clumps(rng.choice(sim.ids, size=2, replace=False))
        elif action == "field":
            if "late" not in sim.fields:
                sim.add_field("late", rng.uniform(size=sim.n_clumps), new=0.5)
        elif action == "set":
            name = self.fields[rng.integers(len(self.fields))][0]
            sim.set_field(name, 0.9 * sim.field(name) + 0.05)
        elif action == "bond":
            strength = 10.0 ** rng.uniform(3.0, 6.0)
            sim.add_bonds(rng.uniform(0.02, 0.07) * RADIUS, young=1e7, tensile=strength, shear=strength, damping=0.05)
        elif action == "hold":
            self.hold(sim, rng)
        elif action == "move":
            self.move(sim, rng)
        elif action == "deform":
            axes = ("x", "z") if self.box == "pressed" else ("x", "y")
            sim.deform(shear=(*axes, rng.uniform(-60.0, 60.0)), rates=(0.0, rng.uniform(-20.0, 20.0), 0.0))

    def hold(self, sim, rng):
        """Hold three clumps in one of many ways, or free them."""
        pin, axis = sim.position[0] + rng.normal(0.0, 0.5 * RADIUS, size=3), rng.normal(size=3)
        ways = [{}, {"free": "", "turns": ""}, {"free": "", "turns": "", "velocity": 0.3 * rng.normal(size=3)},
                {"free": "xz", "turns": "y"}, {"turns": axis}, {"pin": pin}, {"pin": pin, "turns": "z"},
                {"motion": md.Oscillation(0.1 * RADIUS * axis, 200.0)},
                {"motion": md.Driven(mass=0.05, axis=axis, force=1.0)},
                {"motion": md.Driven(inertia=1e-5, axis=axis, moment=0.01)}]
        way = ways[rng.integers(len(ways))]
        sim.set_motion(sim.ids[:1] if "pin" in way else rng.choice(sim.ids, size=3, replace=False), **way)

    def move(self, sim, rng):
        """Give a wall another motion or surface velocity, or add or remove a plane, or a wall that carries clumps."""
        high, (a, b, c) = self.high, self.rates[1:]
        if sim.walls[-1].name == "lid":
            sim.remove_wall("lid")
        elif rng.random() < 0.3:
            with suppress(ValueError):              # too deep an overlap
                sim.add_wall(md.Plane(high, (0, 0, -1), name="lid"))
        else:
            ways = [{}, {"velocity": (0, 0, 0.001 * a)}, {"motion": md.Oscillation((0, 0, 0.1 * RADIUS), 300.0)},
                    {"motion": md.Servo(pressure=1e3, mass=0.02, area=0.01)},
                    {"surface_velocity": (0, 0.1 * b, 0.1 * c)}]
            sim.move_wall(int(rng.integers(2)), **ways[rng.integers(len(ways))])

    def disturbed(self, sim, rng, folder):
        how = rng.choice(["file", "copy", "pickle", "look", "sort", "undo"])
        if how == "file":
            sim.save(folder / "state.npz")
            motions = {"periodic": sim.periodic} if self.box == "waving" else None
            sim = md.Simulation.load(folder / "state.npz", threads=int(rng.integers(1, 4)), motions=motions)
            self.add_functions(sim)
        elif how == "copy":
            sim = copy.deepcopy(sim)
        elif how == "pickle" and not any(one in self.forces + self.fluxes for one in (spring, conduct)):
            sim = pickle.loads(pickle.dumps(sim))
        elif how == "look":
            bits(sim)
        elif how == "sort":
            sim.continue_from(sim.loop.sorted(), sim.loop)
        elif how == "undo" and drag in self.forces and sim.loop.started.all():     # else: half a step back
            raises.append("in the next step")
            try:
                sim.run(1)
            except KeyboardInterrupt:
                pass
            assert not raises
        return sim

    def run(self, threads=1, seed=None, folder=None):
        """Bits before and after each action and at the end. seed : of what disturbs the run, None: nothing.

        What is not disturbed is not looked at: its bits are those of copies.
        """
        sim, rng, found = self.start(threads), np.random.default_rng([self.seed, 3, seed or 0]), []
        for last, *action in [*self.actions, (STEPS, None, 0)]:
            while sim.step_count < last:
                most = last - sim.step_count
                sim.run(most if seed is None else min(most, int(rng.choice([1, 2, 7, 20]))))
                if seed is not None and rng.random() < 0.35:
                    sim = self.disturbed(sim, rng, folder)
            found.append(bits(copy.deepcopy(sim) if seed is None else sim))
            if action[0]:
                self.act(sim, *action)
                if seed is not None and rng.random() < 0.6:
                    sim = self.disturbed(sim, rng, folder)
                found.append(bits(copy.deepcopy(sim) if seed is None else sim))
        return found


def differences(a, b):
    assert len(a) == len(b)
    return [sorted(name for name in x.keys() | y.keys() if x.get(name) != y.get(name)) for x, y in zip(a, b)]
