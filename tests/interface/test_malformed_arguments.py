"""Whatever is passed to the public functions: a clear exception that names the argument, or a sound result.

`python -m pytest -s -m slow tests/interface/test_malformed_arguments.py tests/interface/test_malformed_files.py`
throws ten thousand cases at them and at files, and says how many were refused.
"""
import numpy as np
from hypothesis import strategies as st
from malformed import junk, malformed, refused, refused_or, spoilt

import minidem as md
from minidem import shapes
from minidem.templates.triangle_mesh import TriangleMesh

STEEL = md.Material(young=2e11, poisson=0.3)
ROD = md.ClumpTemplate([(-0.01, 0, 0), (0.01, 0, 0)], [0.01, 0.01], 7800.0)
TRIANGLES = shapes.platonic_mesh("tetrahedron", 1.0)

# function, good arguments
TABLE = {
    "template": (md.ClumpTemplate, {"centers": [(0, 0, 0), (1, 0, 0)], "radii": [1.0, 0.5], "density": 2500.0}),
    "material": (md.Material, {"young": 1e9, "poisson": 0.1}),
    "rayleigh": (STEEL.rayleigh_step, {"radius": 0.01, "density": 2500.0}),
    "p_wave": (STEEL.p_wave_step, {"radius": 0.01, "density": 2500.0}),
    "modulus": (md.effective_modulus, {"first": STEEL, "second": STEEL}),
    "plane": (md.Plane, {"point": (0, 0, 0), "normal": (0, 0, 1), "material": None}),
    "box": (md.box, {"low": (0, 0, 0), "high": (1, 1, 1), "material": STEEL}),
    "integrate": (md.rotation.integrate, {
        "name": "spiral", "inertia": (1, 2, 3), "orientation": (1, 0, 0, 0),
        "angular_velocity": [(1, 2, 3), (0, 1, 0)], "torque": (1, 0, 0), "dt": 1e-3, "steps": 9,
        "start": True, "sync": True, "record_every": 4}),
    "rod": (shapes.rod, {"length": 1.0, "radius": 0.1, "spheres": 5, "density": 2500.0}),
    "fibre": (shapes.fibre, {"length": 1.0, "radius": 0.1, "spheres": 5, "bend": 1.0, "density": 2500.0}),
    "revolution": (shapes.surface_of_revolution, {"profile": [(0, 0), (1, 1), (2, 0)], "spheres": 3, "density": 1.0}),
    "platonic": (shapes.platonic_mesh, {"kind": "cube", "edge": 1.0}),
    "mesh": (TriangleMesh, {"vertices": TRIANGLES.vertices, "triangles": TRIANGLES.triangles}),
    "info": (md.rotation.info, {"name": "spiral"}),
    "cite": (md.cite, {"simulation": md.Simulation(STEEL, dt=1e-6)}),
}
# what messages may name instead: the scheme by what it is, the mesh, arrays that disagree on the number of bodies
ALIASES = {"mesh": ["mesh"], "info": ["rotation"],
           "integrate": ["rotation", "inertia", "orientation", "angular_velocity"]}


def one_wrong(table):
    """(entry, argument, all arguments) with that one spoilt."""
    @st.composite
    def draw_one(draw):
        entry = draw(st.sampled_from(sorted(table)))
        good = table[entry][1]
        argument = draw(st.sampled_from(sorted(good)))
        return entry, argument, good | {argument: draw(spoilt(good[argument]))}
    return draw_one()


def all_finite(thing):
    """Are all numbers in the attributes of a result finite?"""
    if isinstance(thing, (float, np.ndarray)):
        return bool(np.isfinite(thing).all())
    if isinstance(thing, (list, tuple)):
        return all(map(all_finite, thing))
    return all(map(all_finite, vars(thing).values())) if hasattr(thing, "__dict__") else True


@malformed(20, case=one_wrong(TABLE))
def test_functions(folder, case):
    entry, argument, arguments = case
    own = callable(arguments[argument])         # a function of the user's, which may raise what it likes
    names = [] if own else [argument, "check the units", *ALIASES.get(entry, [])]
    result = refused_or(lambda: TABLE[entry][0](**arguments), *names)
    if entry not in ("info", "cite"):
        assert all_finite(result), result


@malformed(5, arguments=st.dictionaries(st.sampled_from(["centers", "radii", "density", "bogus"]), junk()))
def test_several_wrong_at_once(folder, arguments):
    refused_or(lambda: md.ClumpTemplate(**arguments))


SOON = 64       # steps within which a state that is not finite must end a run


def sound(sim):
    """Steps of it keep everything finite, or end soon after the first infinity, saying where."""
    try:
        sim.run(3)
        if not all(np.isfinite(values).all() for values in (
                sim.position, sim.orientation, sim.velocity, sim.angular_velocity, sim.force, sim.torque,
                sim.energy().total, sim.linear_momentum(), sim.angular_momentum(), sim.sphere_centers(), sim.time)):
            sim.run(SOON)
            raise AssertionError("not finite, and it runs")
    except FloatingPointError as error:
        assert "step" in str(error) and "clump" in str(error), error


SIMULATION = {"simulation": (None, {
    "material": STEEL, "walls": md.box((0, 0, 0), (1, 1, 1)), "rotation": "omelyan:iterations=2", "dt": 1e-6,
    "gravity": (0, 0, -9.81), "threads": 1})}
CLUMPS = {"clumps": (None, {
    "template": ROD, "position": [(0.3, 0.3, 0.3), (0.5, 0.5, 0.5)], "orientation": [(1, 0, 0, 0), (0, 0, 1, 0)],
    "velocity": [(1, 0, 0), (0, 1, 0)], "angular_velocity": (0, 0, 3)})}


@malformed(10, case=one_wrong(SIMULATION))
def test_simulation(folder, case):
    entry, argument, arguments = case
    sim = refused_or(lambda: md.Simulation(**arguments), argument)
    if sim is not None:
        refused_or(lambda: (sim.add_clumps(ROD, [(0.5, 0.5, 0.5)], velocity=(1, 2, 3)), sound(sim)), "clump")


@malformed(10, case=one_wrong(CLUMPS))
def test_clumps(folder, case):
    """Refused ones leave everything as it was."""
    entry, argument, arguments = case
    sim = md.Simulation(STEEL, md.box((0, 0, 0), (1, 1, 1)), dt=1e-6, threads=1)
    sim.add_clumps(ROD, [(0.8, 0.8, 0.8)])
    # the number of positions says how many clumps there are: with another one, the other arguments are wrong
    if refused_or(lambda: sim.add_clumps(**arguments), argument, *["orientation"] * (argument == "position")) is None:
        assert sim.n_clumps == 1
    sound(sim)


def driven(answer):
    """A simulation with a user force that answers that."""
    sim = md.Simulation(STEEL, dt=1e-6)
    sim.add_clumps(ROD, [(0.3, 0.3, 0.3)])
    sim.add_force(lambda t, x, v, q, w: answer)
    return sim


CALLS = {       # of a simulation with a clump: argument, good value, call
    "run": ("steps", 2, lambda sim, value: sim.run(value)),
    "every": ("every", 2, lambda sim, value: sim.run(4, value, len)),
    "callback": ("callback", print, lambda sim, value: sim.run(4, 2, value)),
    "run_until": ("t", 1e-6, lambda sim, value: sim.run_until(value)),
    "add_force": ("function", None, lambda sim, value: sim.add_force(value)),
    "force": ("user force", [(0, 0, 1)], lambda sim, value: sound(driven((value, (0, 0, 0))))),
    "torque": ("user force", [(0, 0, 1)], lambda sim, value: sound(driven(((0, 0, 0), value)))),
    "both": ("user force", None, lambda sim, value: sound(driven(value))),
    "about": ("about", (0, 0, 0), lambda sim, value: sim.angular_momentum(value)),
    "save": ("path", "", lambda sim, value: sim.save(value)),
    "load": ("path", "", lambda sim, value: md.Simulation.load(value)),
    "write_vtu": ("path", "", lambda sim, value: sim.write_vtu(value)),
    "to_file": ("path", "", lambda sim, value: ROD.to_file(value)),
    "from_file": ("path", "", lambda sim, value: md.ClumpTemplate.from_file(value)),
    "from_mesh": ("path", "", lambda sim, value: md.ClumpTemplate.from_mesh(value)),
}


@st.composite
def calls(draw):
    name = draw(st.sampled_from(sorted(CALLS)))
    argument, good, _ = CALLS[name]
    own = argument in ("path", "callback", "function")
    bad = junk().filter(lambda value: not callable(value)) if own else spoilt(good)
    return name, draw(bad.filter(lambda value: not (argument in ("steps", "t") and is_long_run(value))))


def is_long_run(value):
    """Days of steps, or seconds of time, which are no mistake that could be found."""
    try:
        return 1e-3 < float(value) < 2.0 ** 53
    except (TypeError, ValueError, OverflowError):
        return False


@malformed(5, case=calls())
def test_methods(folder, case):
    name, value = case
    argument, _, call = CALLS[name]
    sim = md.Simulation(STEEL, dt=1e-6)
    sim.add_clumps(ROD, [(0.3, 0.3, 0.3)])
    refused_or(lambda: call(sim, value), argument, str(value))


FIELDS = ["start", "finish", "sync", "predict", "title", "doi", "stages", "n_scratch", "parameters", "orders",
          "angular_velocity_offset", "orientation_scratch", "angular_velocity_scratch", "kernels", "bogus"]


@malformed(5, name=st.one_of(st.just("mine"), spoilt("mine")), move=st.one_of(st.just(lambda *_: None), junk()),
           record=st.dictionaries(st.sampled_from(FIELDS), junk(), max_size=2))
def test_register(folder, name, move, record):
    """A scheme that is taken can be used: what its functions then raise is passed on."""
    from minidem.rotation import registry
    scheme = refused_or(lambda: md.rotation.register(name, move, **record))
    if scheme is not None:
        how = dict(inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(0, 0, 1), torque=(0, 0, 0), dt=1e-3,
                   steps=2)
        try:
            md.rotation.integrate(name, **how)
        except Exception:       # noqa: S110 - whatever the functions that were given raise
            pass
        registry._schemes.pop(name)
        registry._registered.discard(name)


@malformed(5, name=st.sampled_from(["position", "velocity", "orientation", "angular_velocity", "force", "time",
                                    "step_count", "n_clumps", "threads", "dt", "gravity", "material", "walls",
                                    "rotation", "templates"]),
           value=junk())
def test_setters(folder, name, value):
    """The state is changed by running alone: no attribute can be set."""
    sim = md.Simulation(STEEL, dt=1e-6)
    try:
        setattr(sim, name, value)
    except AttributeError as error:
        refused.append(str(error))
        assert name in str(error)
    else:
        raise AssertionError(f"{name} was set")
