"""Random scenes for tests/restart: what happens in one is a function of its seed alone, how it is run is not."""
import copy
import pickle
from contextlib import suppress
from dataclasses import replace

import numpy as np
from bit_systems import SCHEMES, bits, trap
from user_functions import CFUNC

import minidem as md
from minidem.contact import registry as contact_laws
from minidem.initial import Inlet, Outlet, place_densely
from minidem.rotation import registry as rotation_schemes

RADIUS, DT, STEPS = 0.01, 4e-5, 90
SHAPES = [md.ClumpTemplate(np.array(centers) * RADIUS, np.array(radii) * RADIUS, density=2500.0) for centers, radii in (
    ([(0, 0, 0)], [1.0]), ([(-0.6, 0, 0), (0.6, 0, 0)], [0.8, 0.8]),
    ([(-0.6, 0, 0), (0.6, 0, 0), (0, 0.6, 0.3)], [0.7, 0.7, 0.5]), ([(k, 0, 0) for k in (-2, -1, 0, 1, 2)], [0.5] * 5))]
PATTERNS = [md.Fragments.packed(shape, 5, seed=1) for shape in SHAPES]
COMPILED, OWN = "own-ctypes:stiffness=1e5", ["own-python:stiffness=1e5", "own-asymmetric:stiffness=1e5"]
WALLED = ["walls", "shaken", "servo", "driven", "belt", "mesh", "drum", "funnel", "stirred"]
MOVING = ["sheared", "stretched", "pressed", "waving", "not affine"]


# --- Functions of the user: in Python, with a trap that may raise, and compiled.

def drag(t, x, v, q, w):
    trap()
    return -0.05 * v, -1e-6 * w


def stir(t, x, v, q, w, *, fields, random):
    """Noise, and rates of all fields that depend on their values."""
    trap()
    return 0.1 * (random[:, :3] - 0.5), 1e-5 * random[:, 1:] - 1e-6 * w, {
        name: 3.0 * (random[:, :1] if values.ndim > 1 else random[:, 0]) - values for name, values in fields.items()}


def exchange(contacts, rate):
    """Flow between two bodies, and an amount that the first evaluation of a contact adds to both."""
    trap()
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
    """A number that varies with the time, which pickle can hold and a file cannot."""
    def __init__(self, amplitude):
        self.amplitude = amplitude

    def __call__(self, t):
        return self.amplitude * np.sin(2000.0 * t)


class Shaking(Wave):
    """A motion of a wall, with a rotation about z if it `turns`."""
    def __init__(self, amplitude, turns=False):
        self.amplitude, self.turns = amplitude, turns

    def __call__(self, t):
        now = super().__call__(t)
        return (now * RADIUS, 0.0, 0.5 * now * RADIUS), (0.0, 0.0, now * self.turns)


def functions_of(sim):
    """The argument `motions` of `load`: what a file does not hold."""
    walls = {k: wall.motion for k, wall in enumerate(sim.walls) if isinstance(wall.motion, Wave) or any(
        map(callable, vars(wall.motion or object.__new__(Wave)).values()))}
    return walls | ({"periodic": sim.periodic} if sim.box is not None and sim.loop.state.box.functions else {})


class Flow:
    """An inlet and an outlet, the callback of a run."""
    every = 7

    def __init__(self, inlet, outlet):
        self.regions = inlet, outlet

    def __call__(self, sim):
        for region in self.regions:
            region(sim)


def random_law(pick):
    """A contact law with options."""
    name = pick("hertz", "hooke", *["hertz-mindlin", "hooke-coulomb"] * 3, *OWN, COMPILED)
    if "own" in name:
        return name
    if name in ("hertz", "hooke"):
        options = [f"onset={pick('plain', 'corrected', 'corrected')}"]
    else:
        tangential = pick("rescale", "mindlin", "linear", "mindlin-rescale", "mindlin-force")
        options = [f"{option}={pick(*values)}" for option, values in {
            "rolling": ("none", "epsd", "epsd", "constant"), "friction_limit": ("repulsion", "magnitude"),
            "limit_damping": ("no", "yes"),
            "mass": ("shared", "single", "clump"), "bonds": ("none", "parallel"),
            "liquid": ("none", "none", "willett"), "twisting": ("none", "none", "marshall"),
            "tangential_damping": ("stiffness-ratio", 0.3), "mobilised_damping": (0, 0.5),
            "sliding": ("coulomb", "coulomb", "static")}.items()] + [
                f"tangential={tangential}"]
        options += [f"cohesion={pick('none', 'jkr', 'dmt')}"] if name == "hertz-mindlin" else []
        options += pick([], ["plastic=walton-braun"], ["plastic=luding", "adhesive_stiffness=0.3"]) \
            if name == "hooke-coulomb" else []
        options += ["tangential_stiffness=2e4"] if tangential == "linear" and name == "hertz-mindlin" else []
    return f"{name}:{','.join(options + ['stiffness=5e4'] * ('hooke' in name))}"


class RandomScene:
    """Clumps, settings, and a list of what is done with them at which step, of a seed."""
    def __init__(self, seed):
        self.seed, rng = seed, np.random.default_rng([seed, 1])
        def pick(*options):
            return options[rng.integers(len(options))]
        while True:                             # a law and a scheme that go together
            self.contact, self.rotation = random_law(pick), pick("spiral", "exact", *SCHEMES)
            with suppress(ValueError):
                law, values = contact_laws.select(self.contact, rotation_schemes.select(self.rotation)[0])
                law.kernels_for(values)
                break
        self.has_history, self.onset = law.has_history, "corrected" in self.contact
        self.bonded = "bonds=parallel" in self.contact
        self.box = pick(*(WALLED[:1] if self.onset else WALLED), "periodic", "floor", *MOVING)
        self.gravity = tuple(pick(0.0, 9.81, 200.0) * rng.normal(size=3))
        self.shapes, self.counts = [pick(*SHAPES), pick(*SHAPES)], rng.integers(6, 18, size=2).tolist()
        volume = sum(shape.volume * n for shape, n in zip(self.shapes, self.counts))
        self.high = np.full(3, max((volume / rng.uniform(0.1, 0.25)) ** (1 / 3), 0.075))
        self.rates = rng.uniform(-25.0, 25.0, size=4)
        self.materials = self._materials(pick)
        self.scales = [rng.uniform(0.7, 1.0, size=n) if pick(True, False) else np.ones(n) for n in self.counts]
        self.fields = [(f"f{k}", int(n)) for k, n in enumerate(rng.integers(1, 4, size=pick(0, 1, 2)))]
        self.components = sum(n for _, n in self.fields)
        self.fluxes = pick([], [exchange], [conduct], [exchange, conduct]) if self.fields and self.has_history else []
        self.forces = pick([], [], [drag], [stir], [spring], [drag, spring])
        self.compiled = spring in self.forces or conduct in self.fluxes or self.contact == COMPILED
        self.flows = self.box != "floor" and pick(True, False, False)
        possible = {"field": not self.compiled, "set": self.fields, "bond": self.bonded, "deform": self.box in MOVING,
                    "force": not self.compiled, "hold": True, "walls": True,
                    "material": not self.flows, "gravity": True, "clear": pick(*[False] * 4, True)}
        actions = ["add", "remove", "break", "grow", *(name for name, holds in possible.items() if holds),
                   *["hold"] * 2]
        self.actions = sorted((int(rng.integers(STEPS)), pick(*actions), int(rng.integers(1 << 30)))
                              for _ in range(rng.integers(6)))
        if self.bonded:
            self.actions = [(0, "bond", int(rng.integers(1 << 30))), *self.actions]
        self.corrections = pick(0, 0, 2)

    def __repr__(self):
        return (f"<seed {self.seed}: {self.contact}, {self.box}, {self.rotation}, fields {self.fields}, "
                f"{[f.__name__ if hasattr(f, '__name__') else 'compiled' for f in self.fluxes + self.forces]}, "
                f"{len(self.materials)} materials, {'flow, ' * self.flows}{[action[:2] for action in self.actions]}>")

    def _materials(self, pick):
        damped = {"restitution": 0.6, "friction": 0.4} if self.has_history else {}
        damped |= {"rolling_friction": 0.1} if "epsd" in self.contact or "rolling=constant" in self.contact else {}
        damped |= {"adhesion": 5.0} if "jkr" in self.contact or "dmt" in self.contact else {}
        damped |= {"static_friction": 0.6} if "static" in self.contact else {}
        damped |= {"bridge_volume": 1e-9} if "willett" in self.contact else {}
        return [md.Material(1e7, 0.3, **damped)] + pick([], [md.Material(2e7, 0.2, **damped)])

    def boundaries(self):
        """Arguments of Simulation: walls, or a periodic box."""
        (x, y, z), (s, a, b, c) = self.high, self.rates
        walls, middle, half = list(md.box_walls((0, 0, 0), self.high)), 0.5 * self.high, 0.5 * np.hypot(x, y)
        lid = {"shaken": {"motion": md.Oscillation((0, 0, 0.2 * RADIUS), 300.0)},
               "stirred": {"motion": Shaking(1e-3 * a, turns=True)},
               "servo": {"motion": md.Servo(direction=tuple(walls[-1].normal), force=20.0, mass=0.02, damping=0.5)},
               "driven": {"motion": md.Driven(mass=0.02, force=Wave(20.0 * s))},
               "belt": {"surface_velocity": (0.1 * b, 0.1 * c, 0), "surface_angular_velocity": (0, 0, a)}}
        if self.box in lid:
            walls[-1] = md.Plane(walls[-1].point, walls[-1].normal, material=self.materials[-1], **lid[self.box])
        if self.box == "driven":
            walls[0] = md.Plane(walls[0].point, walls[0].normal, motion=md.Driven(inertia=1e-4, moment=0.01 * a))
            walls[2] = md.Plane(walls[2].point, walls[2].normal, surface_velocity=(0.1 * b, 0, 0.1 * c))
        elif self.box == "mesh":
            motion = [{"motion": md.Driven(inertia=1e-4, axis=(0, 0, 1), about=middle, moment=0.1 * a)},
                      {"angular_velocity": (0, 0, a)}, {"surface_velocity": (0.1 * b, 0, 0.1 * c)}][self.seed % 3]
            parts = [md.MeshWall.box((0, 0, 0), self.high), md.Cone((*middle[:2], 0), (0, 0, 1), (0, 0.5 * half), 0)]
            walls = [md.CompoundWall(parts, center=middle, material=self.materials[-1], **motion)]
        elif self.box == "drum":
            walls[:4] = [md.Cylinder(middle, (0, 0, 1), half, angular_velocity=(0, 0, a))]
        elif self.box == "funnel":
            walls[:5] = [md.Cone((*middle[:2], -0.5 * z), (0, 0, 1), (0.5 * half, 2.5 * half), 2 * z,
                                 surface_angular_velocity=(0, 0, a)), md.Plane((0, 0, -0.3 * z), (0, 0, 1))]
        boxes = {"periodic": {}, "sheared": {"shear": ("x", "y", 4.0 * s)}, "stretched": {"rates": (a, b, c)},
                 "not affine": {"shear": ("x", "y", 4.0 * s), "rates": (0.0, 0.0, a), "affine": False},
                 "pressed": {"rates": (md.Pressure(1e3, 3e-3), a, 0.0), "shear": ("x", "z", s)},
                 "waving": {"shear": ("y", "z", Wave(2.0 * s)), "rates": (0.0, Wave(a), 0.0)}}
        if self.box == "floor":
            return {"periodic": ((0, 0, 0), self.high, (True, True, False)), "walls": walls[-2:]}
        if self.box not in boxes:
            return {"walls": walls}
        return {"periodic": md.PeriodicBox((0, 0, 0), self.high, axes=(True, True, True), **boxes[self.box])}

    def start(self, threads):
        pairs = [md.Pair(*self.materials, restitution=0.7, friction=0.2, rolling_friction=0.1, adhesion=2.0,
                         bridge_volume=3e-9, static_friction=0.3,
                         contact=self.seed % 5 > 0)] if self.materials[1:] else []
        sim = md.Simulation(self.materials[0], contact=self.contact, rotation=self.rotation, dt=DT, pairs=pairs,
                            gravity=self.gravity, threads=threads, **self.boundaries())
        rng = np.random.default_rng([self.seed, 2])
        placed = place_densely(self.shapes, self.counts, (0, 0, 0), self.high, rng)
        for shape, (x, q), scale, material in zip(self.shapes, placed, self.scales, self.materials * 2):
            sim.add_clumps(shape, x, q, velocity=rng.normal(0.0, 1.5, size=x.shape),
                           angular_velocity=rng.normal(0.0, 40.0, size=x.shape), scale=scale, material=material,
                           overlap=0.5)     # smaller about their centres of mass, they may overlap
        for k, (name, n) in enumerate(self.fields):
            values = rng.uniform(0.0, 2.0, size=(sim.n_clumps, n)[:2 if n > 1 else 1])
            sim.fields.add(name, values, components=n, capacity=0.3, per_mass=k > 0, new=0.5 if n == 1 else [0.5] * n,
                          walls=[1.0] * n if n > 1 and sim.walls else None)
        self.add_functions(sim)
        return sim

    def add_functions(self, sim, others=()):
        """Those that the scene has from its start, and `others` that were added later."""
        for flux in self.fluxes:
            sim.fields.add_flux(flux, [30.0] if flux is exchange else [self.components])
        for force in [*self.forces, *others]:
            sim.forces.add(force, [self.components] if force is spring else (), random=4 if force is stir else 0,
                          corrections=self.corrections)

    def flow(self):
        """The callback of this run, or None."""
        if not self.flows:
            return None
        low, high = 0.15 * self.high, 0.85 * self.high
        inlet = Inlet(SHAPES[0], low, high, rate=0.2 / DT, velocity=self.rates[:3] / 10, every=Flow.every,
                      material=self.materials[-1])
        return Flow(inlet, Outlet(0.0 * low, 0.35 * self.high))

    def act(self, sim, action, key):
        """Do something; what is refused must change nothing."""
        with suppress(ValueError):
            if sim.n_clumps or action == "add":
                getattr(self, "_" + action)(sim, np.random.default_rng(key))

    def _add(self, sim, rng):
        for _ in range(20):
            with suppress(ValueError):              # too deep an overlap
                sim.add_clumps(sim.templates[0], rng.uniform(0.0, self.high), velocity=rng.normal(size=3), scale=0.7)
                break

    def _remove(self, sim, rng):
        sim.remove_clumps(rng.choice(sim.ids, size=min(2, sim.n_clumps), replace=False))

    def _break(self, sim, rng):
        """Two clumps of one template; fragments are refused, for they have no pattern."""
        pattern = PATTERNS[rng.integers(len(PATTERNS))]
        sim.replace(rng.permutation(pattern.parents(sim))[:2], pattern)

    def _grow(self, sim, rng):
        """A part of the clumps; those at a pin are refused."""
        chosen = sim.ids[rng.random(sim.n_clumps) < rng.choice([0.1, 1.0])]
        sim.set_scale(chosen, np.minimum(sim.scale[np.isin(sim.ids, chosen)] * rng.uniform(0.9, 1.05), 1.1))

    def _clear(self, sim, rng):
        sim.remove_clumps(sim.ids)

    def _force(self, sim, rng):
        sim.forces.add(drag, corrections=self.corrections)

    def _field(self, sim, rng):
        sim.fields.add("late", rng.uniform(size=sim.n_clumps), new=0.5)

    def _set(self, sim, rng):
        name = self.fields[rng.integers(len(self.fields))][0]
        sim.fields[name] = 0.9 * sim.fields[name] + 0.05

    def _bond(self, sim, rng):
        strength = 10.0 ** rng.uniform(3.0, 6.0)
        sim.bonds.add(rng.uniform(0.02, 0.07) * RADIUS, young=1e7, tensile=strength, shear=strength, damping=0.05)

    def _deform(self, sim, rng):
        axes = {"pressed": ("x", "z"), "waving": ("y", "z")}.get(self.box, ("x", "y"))
        sim.deform(shear=(*axes, rng.uniform(-60.0, 60.0)), rates=(0.0, rng.uniform(-20.0, 20.0), 0.0),
                   affine=self.box != "not affine")

    def _material(self, sim, rng):
        """Another stiffness and, where the law has it, less friction."""
        old = sim.materials[rng.integers(len(sim.materials))]
        young, friction = old.young * rng.uniform(0.5, 1.5), old.friction * rng.uniform()
        sim.set_material(old, replace(old, young=young, friction=friction))

    def _gravity(self, sim, rng):
        sim.set_gravity(20.0 * rng.normal(size=3))

    def _hold(self, sim, rng):
        """Hold three clumps in one of many ways, or free them."""
        chosen = rng.choice(sim.ids, size=min(3, sim.n_clumps), replace=False)
        pin, axis = sim.position[0] + rng.normal(0.0, 0.5 * RADIUS, size=3), rng.normal(size=3)
        ways = [{}, {"free": "", "turns": ""}, {"free": "", "turns": "", "velocity": 0.3 * rng.normal(size=3)},
                {"velocity": 0.3 * rng.normal(size=3), "angular_velocity": 30.0 * axis},
                {"free": "xz", "turns": "y"}, {"turns": axis}, {"pin": pin}, {"pin": pin, "turns": "z"},
                {"pin": pin, "turns": "", "angular_velocity": 20.0 * axis},
                {"motion": md.Oscillation(0.1 * RADIUS * axis, 200.0)}, {"motion": Shaking(1e-2, turns=True)},
                {"motion": md.Driven(mass=0.05, axis=axis, force=1.0)},
                {"motion": md.Servo(direction=axis, force=1.0, mass=0.05)},
                {"motion": md.Driven(inertia=1e-5, axis=axis, moment=0.01)}] + [
                {"motion": len(sim.walls) - 1}] * 4 * bool(sim.walls)
        way = ways[rng.integers(len(ways))]
        sim.set_motion(sim.ids[:1] if "pin" in way else chosen, **way)

    def _walls(self, sim, rng):
        """Give a wall another motion or surface velocity, or add or remove a plane, or a wall that carries clumps."""
        (x, y, z), (a, b, c) = self.high, self.rates[1:]
        names = [wall.name for wall in sim.walls]
        if "lid" in names:
            sim.walls.remove("lid")
        elif rng.random() < 0.3:
            sim.walls.add([md.Plane(self.high, (0, 0, -1), name="lid"), md.Cone(
                (0.5 * x, 0.5 * y, 0.0), (0, 0, 1), (2 * x, 2 * x), z, name="lid", angular_velocity=(0, 0, a))][
                    rng.integers(2)])
        else:
            ways = [{}, {"velocity": (0, 0, 0.001 * a)}, {"motion": md.Oscillation((0, 0, 0.1 * RADIUS), 300.0)},
                    {"motion": md.Servo(pressure=1e3, mass=0.02, area=0.01)}, {"motion": Shaking(0.1)},
                    {"motion": md.Servo(pressure=1e3, mass=0.02)}, {"motion": md.Driven(mass=0.05, force=Wave(9.0))},
                    {"surface_velocity": (0, 0.1 * b, 0.1 * c)}]
            sim.walls.move(int(rng.integers(len(sim.walls))), **ways[rng.integers(len(ways))])

    def disturbed(self, sim, rng, folder, left):
        """Something that must change nothing.  left : steps that may be done in it"""
        how = rng.choice(["file", "copy", "pickle", "look", "sort", "shares", "undo", "taken back"])
        if how == "file":
            functions, others = functions_of(sim), sim.forces.functions[len(self.forces):]
            sim.save(folder / "state.npz")
            sim = md.Simulation.load(folder / "state.npz", threads=int(rng.integers(1, 4)), motions=functions)
            self.add_functions(sim, others)
        elif how == "copy":
            sim = copy.deepcopy(sim)
        elif how == "pickle" and not self.compiled:
            sim = pickle.loads(pickle.dumps(sim))
        elif how == "look":
            bits(sim)
            sim.io.write_vtu(folder / "frame.vtu")
        elif how == "sort" and sim.n_clumps:
            sim.continue_from(sim.loop.sorted(), sim.loop)
        elif how == "shares":
            sim.loop.set_shares(rng.dirichlet([3.0] * sim.threads).tolist())
        elif how == "undo" and drag in sim.forces.functions and sim.loop.started.all():      # else: half a step back
            trap.set(1, KeyboardInterrupt)
            with suppress(KeyboardInterrupt):
                sim.run(1)
            assert not trap.left
        elif how == "taken back" and left:
            self.take_back(sim, rng)
        return sim

    def take_back(self, sim, rng):
        """A step, and a callback that does something and raises."""
        def call(sim):
            self.act(sim, *(action, rng.integers(1 << 30)))
            raise KeyError("said by the callback")
        action = str(rng.choice(["add", "remove", "break", "grow", "hold", "walls", "force", "clear"]))
        with suppress(KeyError):
            sim.run(1, every=1, callback=call)

    def run(self, threads=1, seed=None, folder=None):
        """Bits before and after each action and at the end. seed : of what disturbs the run, None: nothing.

        What is not disturbed is not looked at: its bits are those of copies.
        """
        sim, rng, found, flow = self.start(threads), np.random.default_rng([self.seed, 3, seed or 0]), [], self.flow()
        for last, *action in [*self.actions, (STEPS, None, 0)]:
            while sim.step_count < last:
                most = last - sim.step_count
                steps = most if seed is None else min(most, int(rng.choice([1, 2, 7, 20])))
                sim.run(steps, **({"every": Flow.every, "callback": flow} if flow else {}))
                if seed is not None and rng.random() < 0.35:
                    sim = self.disturbed(sim, rng, folder, last - sim.step_count)
            found.append(bits(copy.deepcopy(sim) if seed is None else sim))
            if action[0]:
                self.act(sim, *action)
                if seed is not None and rng.random() < 0.6:
                    sim = self.disturbed(sim, rng, folder, 0)
                found.append(bits(copy.deepcopy(sim) if seed is None else sim))
        return found


def differences(a, b):
    assert len(a) == len(b)
    return [sorted(name for name in x.keys() | y.keys() if x.get(name) != y.get(name)) for x, y in zip(a, b)]
