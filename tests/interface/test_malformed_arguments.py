"""Wrong arguments of public functions: an exception that names the argument, or a valid result.

Every argument in turn gets every value of JUNK and every variation of its good value; what is out of range is in
REFUSED, what needs several arguments in MESSAGES.
"""
import ctypes
import inspect
from decimal import Decimal
from functools import partial
from pathlib import Path

import meshio
import numpy as np
import pytest
from reference_walls import CUBE, CUBE_FACES
from user_functions import CFUNC, POINTER, capsule

import minidem as md
from minidem import initial, shapes
from minidem.analysis.averages import mean_rate
from minidem.analysis.coarse import Fields
from minidem.contact import registry as contact_laws
from minidem.ensemble import run_ensemble
from minidem.initial import Group, Inlet, Lognormal, Mixture, RosinRammler, SieveCurve, place, place_densely, settle
from minidem.output.vtu import field_names
from minidem.rotation import registry
from minidem.scenario import Scenario, settled
from minidem.templates.triangle_mesh import TriangleMesh

ITSELF = []
ITSELF.append(ITSELF)
BAD_NUMBERS = [np.nan, np.inf, -np.inf, 0, -1, -0.0, 5e-324, -1e-300, 1e60, 1e160, -1e308, 10 ** 400, 2 ** 63, 1j,
               None, "1", "x", b"1", True, [], [1.0], Decimal("1"), np.datetime64("2000"), np.float16(65504)]
JUNK = BAD_NUMBERS + [
    "", "\0", "a b", "omelyan:", "spiral:=", "omelyan:iterations=1e9,", "omelyan:spiral;{}%\n", (), {}, {1: 2}, {1, 2},
    object(), object, len, lambda *_: None, range(3), iter([1.0, 2.0]), [[]], ITSELF, [[1, 2], [3]], ["a", "b", "c"],
    np.zeros((0, 3)), np.zeros((2, 3, 4)), np.full(3, np.nan), np.array(["a"]), np.array([None, 1]),
    np.zeros(2, dtype="f8,i4"), np.ma.masked_all(3), memoryview(b"abc"), Path("nosuch"), slice(3), NotImplemented, ...,
    Exception("x"), np.float64, np.bool_(True), np.array(2.0), np.array([1.0, 2.0, 3.0], dtype=">f4"), -2 ** 70, 1e-30]


def variations(good):
    """JUNK and, of an array, its good value with one element or its form changed."""
    yield from JUNK
    if not isinstance(good, (list, tuple, np.ndarray)) or isinstance(good[0], (md.Plane, md.Pair)):
        return
    good = np.asarray(good, dtype=float)
    for value in BAD_NUMBERS:
        for k in (0, good.size - 1):
            changed = good.astype(object)
            changed.flat[k] = value
            yield changed.tolist()
    yield from (good[..., :-1], np.concatenate([good, good[..., :1]], axis=-1), [good.tolist()], good.ravel(), good.T,
                good.astype(str), good.astype(object), *(good * factor for factor in (0.0, -1.0, 1e-200, 1e200, 1e308)))


STEEL, GLASS = md.Material(young=2e11, poisson=0.3), md.Material(young=6e10, poisson=0.2, density=7800.0)
ROD = md.ClumpTemplate([(-0.01, 0, 0), (0.01, 0, 0)], [0.01, 0.01], 7800.0)
BALL = md.ClumpTemplate([(0, 0, 0)], [0.01], 7800.0)
HALVES = md.Fragments.packed(BALL, 2)
TETRAHEDRON = shapes.platonic_mesh("tetrahedron", 1.0)


def assert_finite_run(sim):
    """A few steps leave a finite state, or raise an error with step and clump soon after the first infinity."""
    try:
        sim.run(3)
        if not all(np.isfinite(values).all() for values in (
                sim.position, sim.orientation, sim.velocity, sim.angular_velocity, sim.force, sim.torque,
                sim.energy().total, sim.linear_momentum(), sim.angular_momentum(), sim.sphere_centers, sim.time)):
            sim.run(64)
            raise AssertionError("non-finite state without an error")
    except FloatingPointError as error:
        assert "step" in str(error) and "clump" in str(error), error


def one_rod(force=None):
    sim = md.Simulation(STEEL, md.box_walls((0, 0, 0), (1, 1, 1)), dt=1e-6, threads=1)
    sim.add_clumps(ROD, [(0.8, 0.8, 0.8)])
    if force is not None:
        sim.forces.add(lambda t, x, v, q, w: force)
        assert_finite_run(sim)
    return sim


def one_ball():
    sim = md.Simulation(STEEL, dt=1e-6)
    sim.add_clumps(BALL, [(0.8, 0.8, 0.8)])
    return sim


def simulation(**arguments):
    sim = md.Simulation(**arguments)
    sim.add_clumps(ROD, [(0.5, 0.5, 0.5)], velocity=(1, 2, 3))
    assert_finite_run(sim)


def add_clumps(**arguments):
    sim = one_rod()
    try:
        sim.add_clumps(**arguments)
    except (ValueError, TypeError):
        assert sim.n_clumps == 1
        raise
    finally:
        assert_finite_run(sim)


def registered(module, registry, use, record):
    """What is accepted can be used. Errors of its own functions are passed on."""
    made = module.register(**{key: value for key, value in record.items() if value is not None})
    try:
        use(made.name)
    except Exception:       # noqa: BLE001, S110
        pass
    registry._registry.remove_own()


def register(**record):
    registered(md.rotation, registry, lambda name: md.rotation.integrate(
        name, inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(0, 0, 1), torque=(0, 0, 0), dt=1e-3,
        steps=2), record)


def register_law(**record):
    def collide(name):
        sim = md.Simulation(STEEL, contact=name, dt=1e-6)
        sim.add_clumps(BALL, [(0, 0, 0), (1.99 * BALL.radii[0], 0, 0)])
        sim.run(2)
        sim.contacts()
    registered(md.contact, contact_laws, collide, record)


CALLS = {       # name: (function, good arguments, what a message may name besides the argument)
    "template": (md.ClumpTemplate, {"centers": [(0, 0, 0), (1, 0, 0)], "radii": [1.0, 0.5], "density": 2500.0}, []),
    "template of given mass": (md.ClumpTemplate, {"centers": [(0, 0, 0), (1, 0, 0)], "radii": [1.0, 0.5], "mass": 1.0,
                                                  "center_of_mass": (0, 0, 0), "inertia": np.eye(3)},
                               ["mass", "center_of_mass", "inertia"]),
    "template of one value": (lambda density: md.ClumpTemplate(density, density, density), {"density": 1.0},
                              ["centers", "radii"]),
    "material": (md.Material, {"young": 1e9, "poisson": 0.1, "density": 2500.0, "restitution": 0.5, "friction": 0.3,
                               "rolling_friction": 0.1, "adhesion": 0.1, "bridge_volume": 0.0,
                               "static_friction": 0.4, "name": "glass"}, []),
    "pair": (md.Pair, {"a": STEEL, "b": GLASS, "restitution": 0.5, "friction": 0.3, "rolling_friction": 0.1,
                       "adhesion": 0.1}, []),
    "rayleigh_step": (STEEL.rayleigh_step, {"radius": 0.01, "density": 2500.0}, []),
    "p_wave_step": (STEEL.p_wave_step, {"radius": 0.01, "density": 2500.0}, []),
    "effective_modulus": (md.effective_modulus, {"first": STEEL, "second": STEEL}, []),
    "effective_shear_modulus": (md.effective_shear_modulus, {"first": STEEL, "second": GLASS}, []),
    "plane": (md.Plane, {"point": (0, 0, 0), "normal": (0, 0, 1), "material": None}, []),
    "box_walls": (md.box_walls, {"low": (0, 0, 0), "high": (1, 1, 1), "material": STEEL}, []),
    "integrate": (md.rotation.integrate, {
        "name": "spiral", "inertia": (1, 2, 3), "orientation": (1, 0, 0, 0),
        "angular_velocity": [(1, 2, 3), (0, 1, 0)], "torque": (1, 0, 0), "dt": 1e-3, "steps": 9,
        "start": True, "sync": True, "record_every": 4}, ["rotation", "inertia", "orientation", "angular_velocity"]),
    "rod": (shapes.rod, {"length": 1.0, "radius": 0.1, "spheres": 5, "density": 2500.0}, []),
    "fibre": (shapes.fibre, {"length": 1.0, "radius": 0.1, "spheres": 5, "bend": 1.0, "density": 2500.0}, []),
    "revolution": (shapes.surface_of_revolution,
                   {"profile": [(0, 0), (1, 1), (2, 0)], "spheres": 1, "density": 1.0}, []),
    "platonic_mesh": (shapes.platonic_mesh, {"kind": "cube", "edge": 1.0}, []),
    "mesh": (TriangleMesh, {"vertices": TETRAHEDRON.vertices, "triangles": TETRAHEDRON.triangles}, ["mesh"]),
    "info": (md.rotation.info, {"name": "spiral"}, ["rotation"]),
    "cite": (md.cite, {"simulation": md.Simulation(STEEL, dt=1e-6)}, []),
    "simulation": (simulation, {
        "material": STEEL, "walls": md.box_walls((0, 0, 0), (1, 1, 1)), "rotation": "omelyan:iterations=2", "dt": 1e-6,
        "gravity": (0, 0, -9.81), "threads": 1, "pairs": [md.Pair(STEEL, GLASS)]}, ["clump"]),
    "clumps": (add_clumps, {
        "template": ROD, "position": [(0.3, 0.3, 0.3), (0.5, 0.5, 0.5)], "orientation": [(1, 0, 0, 0), (0, 0, 1, 0)],
        "velocity": [(1, 0, 0), (0, 1, 0)], "angular_velocity": (0, 0, 3), "material": GLASS}, ["orientation"]),
    "run": (lambda steps: one_rod().run(steps), {"steps": 2}, []),
    "callback": (lambda every, callback: one_rod().run(4, every=every, callback=callback),
                 {"every": 2, "callback": print}, []),
    "run_until": (lambda t: one_rod().run_until(t), {"t": 1e-6}, []),
    "add_force": (lambda function: one_rod().forces.add(function), {"function": None}, []),
    "force": (lambda force: one_rod(force=(force, (0, 0, 0))), {"force": [(0, 0, 1)]}, ["user force"]),
    "torque": (lambda torque: one_rod(force=((0, 0, 0), torque)), {"torque": [(0, 0, 1)]}, ["user force"]),
    "wrench": (lambda wrench: one_rod(force=wrench), {"wrench": None}, ["user force"]),
    "angular_momentum": (lambda about: one_rod().angular_momentum(about), {"about": (0, 0, 0)}, []),
    "save": (lambda path: one_rod().save(path), {"path": ""}, []),
    "load": (md.Simulation.load, {"path": ""}, []),
    "write_vtu": (lambda path: one_rod().io.write_vtu(path), {"path": ""}, []),
    "fields": (field_names, {"fields": "velocity,clump"}, []),
    "to_file": (ROD.to_file, {"path": ""}, []),
    "from_file": (md.ClumpTemplate.from_file, {"path": ""}, []),
    "from_mesh": (md.ClumpTemplate.from_mesh, {"path": ""}, []),
    "register": (register, {"name": "mine", "move": lambda *_: None, **dict.fromkeys([
        "start", "finish", "predict", "title", "doi", "stages", "n_scratch", "angular_velocity_offset"])}, None),
    "register_law": (register_law, {"name": "mine", "force": lambda *_: None, **dict.fromkeys([
        "describe", "records", "couples", "coefficients", "reads", "reads_of_pairs", "parameters", "title", "power",
        "scale"])}, None),
}
FURTHER = {     # the same, of functions that get the values of REFUSED alone
    "cylinder": (md.Cylinder, {
        "point": (0, 0, 0), "axis": (0, 0, 1), "radius": 1.0, "velocity": (1, 0, 0), "angular_velocity": (0, 0, 1),
        "center": (0, 0, 0), "motion": None, "material": STEEL, "surface_velocity": (1, 0, 0),
        "surface_angular_velocity": (0, 0, 1)}, []),
    "servo": (md.Servo, {"direction": (0, 0, 1), "force": 1.0, "mass": 1.0}, []),
    "driven": (md.Driven, {"mass": 1.0, "axis": (0, 0, 1), "force": 1.0, "damping": 1.0}, []),
    "flap": (md.Driven, {"inertia": 1.0, "axis": (0, 0, 1), "about": (0, 0, 0), "moment": 1.0}, []),
    "cone": (md.Cone, {"point": (0, 0, 0), "axis": (0, 0, 1), "radii": (0, 1), "height": 1.0}, ["without area"]),
    "oscillation": (md.Oscillation, {"amplitude": (0, 0, 1), "frequency": 1.0, "phase": 0.5}, []),
    "mesh wall": (md.MeshWall, {"surface": (CUBE, CUBE_FACES), "scale": 1.0, "feature_angle": 0.5},
                  ["points", "triangles", "path"]),
    "periodic box": (md.PeriodicBox, {
        "low": (0, 0, 0), "high": (1, 1, 1), "axes": (True, True, True), "shear": ("x", "y", 1.0),
        "rates": (0, 0, 1.0)}, ["periodic", "rate"]),
    "pressure": (md.Pressure, {"pressure": 1.0, "time": 1.0, "damping": 1.0}, []),
    "stress": (lambda **box: one_rod().stress(**box), {"low": (0, 0, 0), "high": (1, 1, 1), "volume": None}, []),
    "wall_force": (lambda wall: one_rod().walls.force(wall), {"wall": 0}, []),
    "lognormal": (Lognormal, {"median": 1e-3, "sigma": 0.3, "low": 5e-4, "high": 2e-3, "by": "mass"}, []),
    "rosin_rammler": (RosinRammler, {"size": 1e-3, "exponent": 2.0, "low": 5e-4, "high": 2e-3}, []),
    "sieve curve": (SieveCurve, {"points": [(1e-3, 0.0), (2e-3, 0.5), (4e-3, 1.0)]}, []),
    "passing": (initial.passing, {"grains": [1.0, 2.0], "sieves": [1.5], "by": "mass"}, []),
    "mixture": (Mixture, {"templates": [ROD, BALL], "shares": [1.0, 2.0], "sizes": None, "by": "mass"}, []),
    **{how.__name__: (how, {
        "templates": [BALL], "numbers": [5], "low": (0, 0, 0), "high": (1, 1, 1), "rng": np.random.default_rng(1),
        "scales": [np.ones(5)], "periodic": None}, ["low, high"]) for how in (place, place_densely)},
    "inlet": (Inlet, {
        "template": ROD, "low": (0, 0, 0), "high": (1, 1, 1), "rate": 9.0, "velocity": (0, 0, -1),
        "angular_velocity": (1, 0, 0), "every": 10, "seed": 1, "number": 5, "material": STEEL}, []),
    "poured": (partial(Inlet, BALL, (0, 0, 0), (1, 1, 1)), {"mass_rate": 1.0}, []),
    "outlet": (initial.Outlet, {"low": (0, 0, 0), "high": (1, 1, 1), "name": "hole"}, []),
    "add_bonds": (lambda **given: bonds(**given), {"tensile": 1e6, "shear": 1e6}, []),
    "add_field": (lambda **given: field(**given), {"values": 1.0}, []),
    "settled_bed": (initial.settled_bed, {
        "template": BALL, "number": 3, "low": (0, 0, 0), "high": (1, 1), "material": STEEL, "dt": 1e-5,
        "mass": None, "periodic": (False, True)}, []),
    "settle": (settle, {"groups": [Group(BALL, np.zeros((1, 3)), (1, 0, 0, 0), STEEL)], "walls": [], "dt": 1e-5}, []),
    "mean_rate": (mean_rate, {"times": [0, 1, 2], "totals": [0, 3, 5], "blocks": 2}, []),
    "coarse fields": (Fields, {"low": (0, 0, 0), "high": (1, 1, 1), "cells": (2, 2, 2), "width": 0.1}, []),
    "frames": (md.Frames, {"folder": "frames", "name": "run", "fields": None}, []),
    "fragments": (md.Fragments, {"parent": BALL, "templates": HALVES.templates[0], "positions": HALVES.offsets,
                                 "orientations": (1, 0, 0, 0), "scales": HALVES.scales}, ["density", "densities"]),
    "packed": (md.Fragments.packed, {"parent": BALL, "n": 2, "sizes": 1.0, "template": None, "seed": 0},
               ["density", "scale", "template"]),
    "replace": (lambda **given: one_ball().replace(**given), {
        "ids": [0], "fragments": HALVES, "orientation": (1, 0, 0, 0), "material": None, "overlap": 0.1}, []),
    "set_scale": (lambda **given: one_ball().set_scale(**given), {"ids": [0], "scale": [1.1]}, []),
    "trajectory": (md.Trajectory, {"path": "a.csv", "clumps": [1]}, []),
    "scaled clumps": (add_clumps, {"template": ROD, "position": [(0.3, 0.3, 0.3), (0.5, 0.5, 0.5)],
                                   "scale": [1.0, 0.9]}, []),
}
REFUSED = {     # name in CALLS or FURTHER: {argument: values out of its range}
    "template": {"centers": [[], np.zeros((0, 3)), [(0, 0, 0)] * 3], "radii": [[1, 0], [1, -1]], "density": [0, -1]},
    "material": {"young": [0, -1, 1e-70], "poisson": [-1, 0.51], "density": [0], "restitution": [0, 1.01],
                 "friction": [-0.1], "rolling_friction": [-0.1], "adhesion": [-0.1], "bridge_volume": [-1e-9],
                 "static_friction": [-0.1, 1e-3],
                 "name": [3]},
    "pair": {"b": [3, STEEL], "restitution": [0, 1.01], "friction": [-0.1], "adhesion": [-1]},
    "rayleigh_step": {"radius": [0, -1], "density": [0, -1]},
    "plane": {"normal": [(0, 0, 0)], "material": ["steel"], "angular_velocity": [(0, 1, 0)], "center": [(1, 2)],
              "motion": [3]},
    "box_walls": {"high": [(1, 0, 1), (1, 1, -1)]},
    "cylinder": {"axis": [(0, 0, 0)], "radius": [0, -1], "angular_velocity": [(0, 1, 1)], "center": [(1, 0, 0)]},
    "oscillation": {"frequency": [0, -1]},
    "servo": {"direction": [(0, 0, 0)], "force": [np.nan], "mass": [0.0], "damping": [-1.0]},
    "cone": {"axis": [(0, 0, 0)], "radii": [(0, -1), (0, 0), 1.0], "height": [-1.0]},
    "mesh wall": {"scale": [0, -1], "feature_angle": [20.0], "surface": [
        "", CUBE, (CUBE[:, :2], CUBE_FACES), (CUBE * [1, np.nan, 1], CUBE_FACES), (CUBE * 1e61, CUBE_FACES),
        (CUBE, CUBE_FACES + 1), (CUBE, -CUBE_FACES), (CUBE, CUBE_FACES + 0.0), (CUBE, CUBE_FACES[:, :2]),
        (CUBE, [[0, 0, 1], [0, 1, 1]])]},
    "rod": {"spheres": [1, 2 ** 40], "length": [0.1]}, "fibre": {"bend": [7.0]}, "platonic_mesh": {"kind": ["ball"]},
    "revolution": {"profile": [[(0, 1)], [(0, 1), (1, -1)], [(0, 0), (1, 1), (0, 0)], [(0, 1e15), (1, 1), (2, 0)],
                               [(0, 1), (1e40, 1)], [(0, 1), (1, 1), (1, 0.5), (-1, 0.5)]]},
    "integrate": {"name": ["runge"], "inertia": [(1, 0, 1)], "orientation": [(0, 0, 0, 0)], "dt": [0, -1],
                  "steps": [-1, 1.5, 10 ** 30], "start": ["no"], "record_every": [0],
                  "torque": [lambda t, q, w: (0, 1), lambda t, q, w: (0, np.inf, 1)]},
    "simulation": {"dt": [0, -1e-6, 1e-80, [1e-6]], "threads": [0, 1.5, True, 10 ** 9],
                   "gravity": [(0, 0), (0, 0, 1e80)],
                   "walls": [[1], md.Plane((0, 0, 0), (0, 0, 1)), [md.Plane((0, 0, 0), (0, 0, 1)), STEEL]],
                   "pairs": [md.Pair(STEEL, GLASS), [md.Pair(STEEL, GLASS), md.Pair(GLASS, STEEL)], [GLASS]],
                   "rotation": ["runge", "spiral:inner=x", "rk4:n=3", "omelyan:iterations=0"]},
    "clumps": {"position": [(0.5, 0.5), [(1, 2, 3), (1, 2)], [(0.8, 0.8, 0.8)] * 2, [(7, 0.5, 0.5), (0.5, 0.5, 0.5)]],
               "orientation": [(0, 0, 0, 0), (1, 0, 0), [(1, 0, 0, 0)] * 3], "velocity": [(1, 2), [(1, 2, 3)] * 3]},
    "scaled clumps": {"scale": [0.0, -2.0, [1.0, -1.0], [1.0] * 3, 1e-80]},
    "run": {"steps": [-1, 1.5, True, "3"]}, "callback": {"every": [0], "callback": [3]}, "run_until": {"t": [-1, 1e40]},
    "periodic box": {"high": [(1, 1, 0)], "axes": [(True, 1, False), (True, False), "xyz", (False,) * 3],
                     "shear": [("x", "x", 1.0), ("x", 1.0), ("x", "y", 1e300)], "rates": [(0, 1), (0, -1e300, 0)]},
    "pressure": {"pressure": [0], "time": [0], "damping": [-1]},
    "stress": {"high": [(1, 0, 1), None], "low": [(0, 0)], "volume": [1.0]}, "wall_force": {"wall": [6, -1, 0.5]},
    "lognormal": {"median": [0, -1], "sigma": [-1], "by": ["volume"], "low": [-1.0, 3e-3]},
    "rosin_rammler": {"size": [-1], "exponent": [0, np.nan], "low": [3e-3]},
    "sieve curve": {"points": [[(1e-3, 0.0)], [(1e-3, 0.1), (2e-3, 1.0)], [(1e-3, 0.0), (2e-3, 100.0)],
                               [(2e-3, 0.0), (1e-3, 1.0)], [(1, 0), (2, 0.5), (3, 0.4), (4, 1)], [1e-3, 2e-3]]},
    "passing": {"grains": [[], [1, -1]], "sieves": [1.0], "by": ["area"]},
    "mixture": {"templates": [BALL], "shares": [[1.0], [-1.0, 1.0], [0.0, 0.0]], "by": ["size"],
                "sizes": [4e-3, [Lognormal(1e-3, 0.3)]]},
    **{how: {"templates": [BALL, [0.1]], "numbers": [5, [5, 6], [2.5]], "high": [(1, 1, 0), (1, np.nan, 1)],
             "rng": [1, None], "scales": [0.5, [[1.0] * 4 + [0.0]], [[1.0]]], "periodic": [True, "x"]}
       for how in ("place", "place_densely")},
    "inlet": {"high": [(0, 1, 1)], "rate": [0, -1, None], "every": [0], "seed": [-1], "number": [1.5, -1]},
    "poured": {"mass_rate": [0, -1, None]},
    "mean_rate": {"times": [[0, 2, 1], [0, 1, 1], 3], "totals": [[0, 1]], "blocks": [1, 3]},
    "outlet": {"high": [(1, 0, 1)], "name": [3]}, "frames": {"name": ["a/b", 3], "fields": ["speed"]},
    "trajectory": {"path": ["a.xyz"], "clumps": [[0.5], [3, 0, 3], [-1], 3]},
    "coarse fields": {"low": [(-1e300, 0, 0), (0, 0)], "high": [(1, -1, 1)], "cells": [(1, 2), (1, 0, 2), (1, 1.5, 2)],
                      "width": [1e300, -0.1, (0.1, 0.1)]},
    "fragments": {"parent": [3], "templates": [BALL, [], [BALL]], "positions": [[], np.ones((2, 3)), [(0, 0)]],
                  "orientations": [(0, 0, 0, 0)], "scales": [0.0, [1.0], 1.0]},
    "packed": {"parent": [3], "n": [1, 2.0], "sizes": [[1.0], 0.0], "template": [3], "seed": [-1]},
    "replace": {"ids": [[1], [0, 0], 0], "fragments": [BALL, None], "orientation": [(0, 0, 0, 0), (1, 2)],
                "material": ["glass", GLASS], "overlap": [-1.0, 2.0]},
    "set_scale": {"ids": [[1], [0, 0], 0], "scale": [0.0, [1.0, 2.0], -1.0, 1e80]},
    "add_bonds": {"pairs": [[(0.0, 1.0)], [0, 1], -1.0], "young": [0.0], "radius": [[1, 1, 1], -1.0, 1e200],
                  "tensile": [[1e6], "strong", [1e6, np.nan], np.nan, 1e-300], "damping": [-1.0],
                  "shear": [[[1, 2], [3, 4]], [[1], [1, 2]], 0.0], "stiffness_ratio": [0.0, 1e200]},
    "add_field": {"name": ["a b", "velocity"], "components": [9, 8], "capacity": ["big", [1, 2], 0.0, 1e300],
                  "values": [[[1, 2], [3]], [1, 2], np.nan], "new": [[[1], [2, 3]]],
                  "walls": ["warm", [1.0], np.inf]},
    "settled_bed": {"number": [0, None], "high": [(1, 1, 1)], "fraction": [0], "seed": ["x"], "mass": [1.0],
                    "periodic": [True, (True, 1), (True,) * 3]},
    "settle": {"groups": [[], [Group(BALL, "here", (1, 0, 0, 0), STEEL)]], "softer": [0.0], "slower": [0],
               "gravity": [-9.81], "dt": [0.0],
               "periodic": [True, md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True,) * 3, rates=(0, 0, 1.0))]},
    "register": {"name": ["spiral", "", "a:b", "a,b", "a b", "a\n"], "move": [3], "finish": ["x"], "n_scratch": [-1],
                 "stages": [(), (2.0,)], "angular_velocity_offset": ["half", np.inf]},
    "register_law": {"name": ["hertz", "", "a:b"], "force": [3], "describe": ["x"], "records": [0, 17, "x"],
                     "couples": [1], "coefficients": [1.0], "scale": [1.0, "x"],
                     "reads": [("youn",)], "reads_of_pairs": ["friction"],
                     "reads_with": [("mode=wet",), {"mood=wet": ("friction",)}, {"mode=wet": "friction"}],
                     "needs": [("mode=wet",), {"mood=wet": ("friction",)}, {"mode=wet": "friction"}],
                     "power": [0.0, "x"], "parameters": [{"x": "word"}, {f"p{k}": 1.0 for k in range(33)}]},
}
FLAGS = [       # public functions with arguments that are True or False
    (function, partial(call or function, *arguments)) for function, arguments, call in (
        (md.Cylinder, ((0, 0, 0), (0, 0, 1), 1.0), None), (md.Frames, ("frames",), None),
        (md.PeriodicBox, ((0, 0, 0), (1, 1, 1)), partial(md.PeriodicBox, axes=(True,) * 3)),
        (initial.Outlet, ((0, 0, 0), (1, 1, 1)), None),
        (Scenario, ("name", "description"), None), (md.Pair, (STEEL, GLASS), None),
        (Scenario.run_into, ("out",), Scenario("name", "description", study=print).run_into),
        (md.Simulation.fields.add, (), lambda **flags: one_rod().fields.add("T", 1.0, **flags)),
        (md.Simulation.coordination_number, (), lambda **flags: one_rod().coordination_number(**flags)),
        (md.Simulation.deform, (), lambda **flags: md.Simulation(
            STEEL, dt=1e-6, periodic=((0, 0, 0), (1, 1, 1), (True,) * 3)).deform(**flags)),
        (md.Simulation.energy, (), lambda **flags: one_rod().energy(**flags)),
        (md.Simulation.stress, (), lambda **flags: one_rod().stress(**flags)),
        (md.Table, ("table.csv",), None), (md.Trajectory, ("trajectory.csv",), None),
        (TriangleMesh, (TETRAHEDRON.vertices, TETRAHEDRON.triangles), None), (TriangleMesh.read, ("body.stl",), None),
        (md.ClumpTemplate.from_mesh, (TETRAHEDRON,), None), (run_ensemble, ("math:sqrt", {"x": [1]}, "study"), None),
        (md.rotation.integrate, ("spiral", (1, 2, 3), (1, 0, 0, 0), (1, 2, 3), (0, 0, 0), 1e-3, 2), None),
        (md.contact.register, ("mine", lambda *_: None), None), (settled, ("bed", lambda report: one_rod()), None),
        (md.show, (), lambda **flags: md.show(one_rod(), **flags)))]
DAYS = 1e-3, 2.0 ** 53          # steps or seconds between these are no detectable mistake: the run would last for days


def is_long_run(argument, value):
    try:
        return argument in ("steps", "t") and DAYS[0] < float(value) < DAYS[1]
    except (TypeError, ValueError, OverflowError):
        return False


def all_finite(thing):
    """Whether all numbers in the public attributes of a result are finite."""
    if isinstance(thing, (float, np.ndarray)):
        return bool(np.isfinite(thing).all())
    if isinstance(thing, (list, tuple)):
        return all(map(all_finite, thing))
    attributes = vars(thing) if hasattr(thing, "__dict__") else {}
    return all(all_finite(value) for name, value in attributes.items() if not name.startswith("_"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, argument", [(name, argument) for name in CALLS for argument in CALLS[name][1]])
def test_refused_or_valid(name, argument, here):
    function, good, others = CALLS[name]
    for value in variations(good[argument]):
        if is_long_run(argument, value) or (name == "callback" and callable(value)):
            continue
        arguments = good | {argument: value}
        try:
            result = function(**arguments)
            assert name in ("info", "cite") or all_finite(result), repr(value)
        except OSError as error:
            assert error.filename, repr(value)
        except FloatingPointError as error:
            assert "step" in str(error), repr(value)
        except (ValueError, TypeError) as error:
            named = [argument, "check the units", str(value), *(others or [])]
            assert callable(value) or others is None or any(words in str(error) for words in named), (value, error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, argument", [(name, argument) for name in REFUSED for argument in REFUSED[name]])
def test_out_of_range(name, argument):
    """Refused before anything is done, and the message names the argument, or what it is made of."""
    function, good, others = (CALLS | FURTHER)[name]
    before = md.contact.available(), md.rotation.available()
    for value in REFUSED[name][argument]:
        with pytest.raises((ValueError, OSError)) as error:
            function(**good | {argument: value})
        named = [argument, *(others or []), "built-in"]
        assert any(word in str(error.value) for word in named), (value, error.value)
    assert (md.contact.available(), md.rotation.available()) == before


NO_SIGNATURE = b"void (int)"            # a capsule holds its address
NOTHING = CFUNC(lambda *pointers: None)
FOREIGN = {     # files of other programs, and what a message says that they are
    "grains.data": ("a data file of LAMMPS", "grains\n\n1 atoms\n\n0 1 xlo xhi\n\nAtoms\n\n1 1 .1 2500 0 0 0\n"),
    "grains.dump": ("a dump of LAMMPS", "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n"),
    "grains.xyz": ("an xyz file", "2\nradius is the last column\nA 0 0 0 .1\nA 1 0 0 .1\n"),
    "grains.vtk": ("a VTK file", "# vtk DataFile Version 3.0\ngrains\nASCII\n")}


def box(**motion):
    return md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True, True, True), **motion)


SLAB = (0, 0, 0), (1, 1, 1), (True, False, True)


def row(steps=0, **options):
    sim = md.Simulation(STEEL, **{"contact": "hertz-mindlin:bonds=parallel", "dt": 1e-7, "threads": 1} | options)
    sim.add_clumps(BALL, [(0.5 + 0.01999 * k, 0.5, 0.5) for k in range(3)])
    sim.fields.add("heat", 300.0)
    sim.run(steps)
    return sim


def bonds(**arguments):
    return row().bonds.add(**{"pairs": 1e-3, "young": 1e7} | arguments)


def field(**arguments):
    sim = row()
    sim.fields.add(**{"name": "T"} | arguments)
    return sim


def alone():
    return md.Simulation(STEEL, contact="hertz-mindlin", dt=1e-7)


def with_flux(function):
    sim = row()
    sim.fields.add_flux(function)
    sim.run(1)


def with_force(function, steps=9):
    sim = row()
    sim.forces.add(function)
    sim.run(steps)


def sheared(rate, steps=1):
    row(steps, periodic=box(shear=("x", "y", rate)))


def loaded(motions, **options):
    row(**options).save("saved.npz")
    return md.Simulation.load("saved.npz", motions=motions)


def coarse(high=(1, 1, 1), cells=(1, 1, 1), width=0.1, **options):
    return Fields((0, 0, 0), high, cells, width, **options)


def measured():
    fields = coarse()
    fields.measure(row())
    return fields


def stays(t):
    return (0, 0, 0), (0, 0, 0)


def idle(bodies, dt, stage):
    pass


def becomes_infinite(t, x, v, q, w):
    return np.where(t > 4.5e-7, np.inf, 0.0 * x), 0.0 * x


MESSAGES = [        # (call, what its message says)
    (lambda: row().deform(rates=(0, 0, -1)), ["deform: the simulation has no periodic box; give periodic="]),
    (lambda: row(periodic=box(shear=("x", "y", 1.0))).deform(shear=("x", "z", 1.0)),
     ["shear = ('x', 'z', 1.0): the box was sheared along x", "along y; give the same axes"]),
    (lambda: row(periodic=box()).deform(rates=(1, 2)), ["rates = (1, 2): give one for each axis"]),
    *((lambda pairs=pairs: bonds(pairs=pairs), [words]) for pairs, words in (
        ([[0, 1], [1]], "pairs = [[0, 1], [1]]: rows of different lengths"), ([(0, 3)], "there is no sphere 3"),
        ([(0, 0)], "belong to one clump"), ([(0, 1), (1, 0)], "given twice"), ([(0, 2)], "larger bond_range"))),
    (lambda: row(contact="hertz-mindlin").bonds.add([(0, 1)], young=1e7), ["take one with bonds=parallel"]),
    (lambda: [sim.bonds.add([(0, 1)], young=1e7) for sim in 2 * [row()]], ["have a bond"]),
    (lambda: field(name="heat"), ["name = 'heat'", "there is a field of this name"]),
    (lambda: row().fields.__setitem__("heat", [[1], [2, 3]]), ["values = [[1], [2, 3]]: rows of different lengths"]),
    (lambda: row().fields["heart"], ["name = 'heart': there is no such field", "did you mean 'heat'?"]),
    (lambda: field(values=np.zeros(3)).add_clumps(BALL, (0, 0, 0)), ["'T' has no value for new clumps"]),
    (lambda: field(values=1.0, walls=300.0), ["walls = 300.0: the simulation has no walls; leave walls out"]),
    (lambda: row(contact="hertz-mindlin").io.write_lammps("rods"), ["fields cannot be given to LAMMPS: heat"]),
    (lambda: alone().fields["heat"], ["no such field; known are none"]),
    (lambda: alone().fields.add_flux(lambda contacts: None), ["no field"]),
    (lambda: row(contact="hertz").fields.add_flux(lambda contacts: None), ["'hertz' keeps no records"]),
    (lambda: row().fields.add_flux(lambda: None), ["takes"]),
    (lambda: Lognormal(0.01, sigma=1e3), ["sigma=1000.0", "default low", "is 0 m; give low, or a narrower curve"]),
    (lambda: RosinRammler(0.01, exponent=1e-3), ["exponent=0.001", "give low, or a narrower curve"]),
    (lambda: with_flux(lambda c: c.rates["heat"].__setitem__(slice(None), np.ones(3))),
     ["(3,)", "fields and rates: 'heat' of shape (8, 2)"]),
    (lambda: with_flux(lambda c: c.rates["heart"]), ["heart", "fields and rates: 'heat' of shape (8, 2)"]),
    (lambda: with_flux(lambda c: c.overlaps), ["EightContacts has no 'overlaps'", "did you mean 'overlap'?"]),
    (lambda: with_flux(lambda c: setattr(c, "rates", 1.0)), ["rates: give the arrays one by one, as in rates['heat']"]),
    (lambda: sheared(lambda: 1.0), ["rate of shear = ", "it is called with (t)"]),
    (lambda: sheared(lambda t: "fast"), ["the function of a rate returned something else than a finite number"]),
    (lambda: box(rates=(0, 0, lambda: 1.0)), ["rates[2] = ", "it is called with (t)"]),
    (lambda: box(rates=(md.Pressure, 0, 0)), ["rates[0] = ", "it is called with (t)", "missing a required argument"]),
    (lambda: row(periodic=box()).deform(shear=("x", "y", lambda: 1.0)), ["it is called with (t)"]),
    *((lambda ids=ids: row().remove_clumps(ids), ["ids", words]) for ids, words in (
        ([[1], [2, 3]], "ids = [[1], [2, 3]]: rows of different lengths"), ([2, 100], "is no clump with the id 100"),
        ([-1], "no clump with the id -1"), ([1, 2, 1], "1 is given 2 times"), *((wrong, "give a list") for wrong in (
            3, [[1]], [1.0], [True, False], "a", None)))),
    (lambda: settle([Group(BALL, "here", (1, 0, 0, 0), STEEL)], [], 1e-5), ["groups[0].position = 'here'"]),
    (lambda: coarse(cells=(10 ** 4,) * 3), ["cells = [10000, 10000, 10000]", "2e+05 GB"]),
    (lambda: coarse(cells=(10 ** 15, 1, 1)), ["cells = [1000000000000000, 1, 1]", "GB"]),
    (lambda: coarse(clumps=3), ["clumps = 3: give a function of (simulation)"]),
    (lambda: coarse(clumps=lambda sim: "all").measure(row()), ["result of clumps = ", "not real numbers"]),
    (lambda: loaded({"box": stays}), ["motions['box']: give a number of a wall, of which there are 0, or 'periodic'"]),
    (lambda: loaded({"box": stays}, periodic=box(shear=("x", "y", 1.0))), ["motions['box']", "or 'periodic'"]),
    (lambda: loaded([stays]), ["motions = [", "give a dict, number of a wall -> function"]),
    (lambda: loaded({"periodic": box(shear=("x", "y", 2.0))}, periodic=box(shear=("x", "y", 1.0))),
     ["motions['periodic'] = PeriodicBox", "the box that was saved", "sim.deform changes its motion"]),
    (lambda: loaded({"periodic": box(shear=("x", "y", 2.0))}, periodic=box(shear=("x", "y", lambda t: 1.0))),
     ["motions['periodic'] = PeriodicBox", "'function'"]),
    (lambda: loaded({"periodic": None}, periodic=box(shear=("x", "y", lambda t: 1.0))), ["motions['periodic'] = None"]),
    *((lambda read=read, file=file: read(file), [file, kind, "md.read_particles("])
      for file, (kind, _) in FOREIGN.items()
      for read in (md.ClumpTemplate.from_file, md.Simulation.load, md.Simulation.read_lammps)),
    (lambda: md.Simulation.read_lammps("."), ["folder = '.'", "there is no start.npz in it", "md.read_particles("]),
    (lambda: md.Simulation.read_lammps("nosuch"), ["folder = 'nosuch': there is no such folder"]),
    (lambda: md.Simulation.load("arrays.npz"), ["arrays.npz: an .npz file with x, but not a minidem checkpoint"]),
    (lambda: md.Simulation.load("nosuch.npz"), ["path = 'nosuch.npz': there is no such file in /"]),
    *((lambda read=read: read("nosuch.stl"), ["FileNotFoundError", "path = 'nosuch.stl': there is no such file in /"])
      for read in (md.ClumpTemplate.from_file, md.ClumpTemplate.from_mesh, md.MeshWall)),
    (lambda: md.ClumpTemplate.from_file("frames"),
     ["IsADirectoryError", "path = ", "this is a folder; give ", " of one clump of MercuryDPM"]),
    (lambda: BALL.to_file("foreign.csv", "mercurydpm"),
     ["NotADirectoryError", "path: this is a file; give the name of a folder"]),
    (lambda: md.ClumpTemplate([(0, 0, 0)], [1e-9]).to_file("dust", "mercurydpm"),
     ["inertia[0] = ", "MercuryDPM reads numbers from 1.18e-38"]),
    (lambda: BALL.to_file("dust", "yade"), ["style = 'yade': give one of 'csv', 'lammps', 'liggghts'"]),
    (lambda: row().energy.total, ["energy is a method, which has no 'total'; call it first: energy().total"]),
    (lambda: row().energy().lasting, ["sim.energy(shadow=True)"]),
    (lambda: row().stress.shape, ["call it first: stress().shape"]),
    (lambda: with_force(becomes_infinite), ["step 5 (time 5e-07 s), becomes_infinite: force of a user force[0, 0]"]),
    (lambda: with_force(lambda t, x, v, q, w: None), ["step 0", "<lambda>", "a user force returned None"]),
    (lambda: row().remove_clumps([0], outlet=3), ["outlet = 3: give a name, or None"]),
    (lambda: row().save("saved.npz") or md.Simulation.load("saved.npz", forces="keep"),
     ["forces = 'keep': give 'expect'", "or 'drop'"]),
    # periodic boxes
    (lambda: row(periodic=3), ["periodic = 3: give (low (3,), high (3,), (True, False, True))"]),
    (lambda: row(dt=1e-3, periodic=box(rates=(md.Pressure(1.0, 9e-3), 0, 0))),
     ["time = 0.009 of md.Pressure is below 10 steps", "give 0.01 or more"]),
    *((lambda rate=rate: sheared(lambda t: rate), ["the function of a rate returned something else than a finite"])
      for rate in (np.inf, 1e300)),
    *((lambda wall=wall: row(walls=[wall], periodic=SLAB), ["walls[0] = ", f"the same along the periodic axis {axis}"])
      for wall, axis in ((md.Plane((0, 0, 0), (1, 0, 0)), "x"), (md.Plane((0, 0, 0), (0, 1, 1)), "z"),
                         (md.Plane((0, 0, 0), (0, 1, 0), angular_velocity=(0, 2, 0)), "x"))),
    *((lambda wall=wall: row(walls=[wall], periodic=md.PeriodicBox((0, 0, 0), (1, 1, 1), axes=(True, True, False),
                                                                   shear=("x", "y", 1.0))),
       ["not the same along the axis", "which moves"])
      for wall in (md.Plane((0, 0, 0), (0, 1, 0)), md.Cylinder((0.5, 0.5, 0.5), (0, 0, 1), 0.2))),
    (lambda: row(periodic=box()).add_clumps(BALL, [(0.002, 0.2, 0.2), (0.99, 0.2, 0.2)]), ["overlaps", "by 0.008 m"]),
    (lambda: row(periodic=((0, 0, 0), (1, 1, 0.05), (True,) * 3)).add_clumps(BALL, [(0.1, 0.2, 0.02)], scale=1.3),
     ["not more than four radii of the largest sphere of the template, 0.052 m"]),
    (lambda: row(periodic=SLAB).stress(), ["volume = None: walls and periodic axes do not enclose a box"]),
    (lambda: row(periodic=SLAB).stress(low=(0, 0, 0), high=(1.2, 1, 0.5)), ["high[0] = 1.2: stay within the perio"]),
    (lambda: Inlet(BALL, (0, 0, 0.2), (1, 1, 1.5), rate=5e7)(row(10, periodic=box())),
     ["high[2] = 1.5: stay within the periodic box"]),
    # walls and their motions
    *((lambda wall=wall: row(walls=[md.Plane((0, 0, 0), (0, 0, 1)), wall], contact="hertz:onset=corrected"),
       ["walls[1] = ", "onset correction", "needs planes at rest; take onset=plain"])
      for wall in (md.Cylinder((0, 0, 0), (0, 0, 1), 9.0), md.MeshWall((CUBE, CUBE_FACES)),
                   md.Plane((0, 0, 0), (0, 0, 1), velocity=(0, 0, 1)))),
    *((lambda wall=wall, turn=turn: row(10, walls=[wall(motion=lambda t: ((0, 0, 0), np.multiply(t, turn)))]),
       ["turns about another axis than its axis of symmetry; give a MeshWall"]) for wall, turn in (
        (partial(md.Plane, (0, 0, 0), (0, 0, 1)), (0.1, 0, 0)),
        (partial(md.Cylinder, (0, 0, 0), (0, 0, 1), 9.0), (0.1, 0, 0)),
        (partial(md.Cylinder, (0, 0, 0), (0, 0, 1), 9.0, center=(1, 0, 0)), (0, 0, 0.1)))),
    *((lambda answer=answer: row(walls=[md.Plane((0, 0, 0), (0, 0, 1), motion=lambda t: answer)]),
       ["motion of a wall", " at t = ", words]) for answer, words in (
        *((wrong, "return a tuple (displacement") for wrong in (None, 3, [(0, 0, 0)] * 2)),
        (((0, 0, np.nan), (0, 0, 0)), "nan"), (((0, 0), (0, 0)), "shape (2, 2)"))),
    (lambda: md.Cone((0, 0, 0), (0, 0, 1), (1, 1), 0.0), ["a surface without area"]),
    *((lambda row=row: alone().walls.overlap([row]), ["spheres"]) for row in ((0, 0, 0), (0, 0, 0, np.nan))),
    # inlets
    (lambda: Inlet(BALL, (0, 0, 0), (0.1, 0.1, 0.1), rate=1.0, every=2)(row(3)), ["every = 2: the simulation is at "]),
    (lambda: Inlet(BALL, (0, 0, 0), (0.019, 0.1, 0.1), rate=1e9, every=3)(row(3)),
     ["low, high: the template, of bounding radius", "does not fit"]),
    # files of results
    (lambda: md.Trajectory("foreign.csv", append=True)(row()), ["foreign.csv", "its columns are not time,clump"]),
    (lambda: md.Table("foreign.csv", {"other": len}, append=True)(row()), ["its columns are not time,other"]),
    (lambda: md.Table("a.csv")["total"], ["no such column before the first call"]),
    (lambda: md.Frames("frames", append=True)(row()), ["not a series of frames"]),
    *((lambda columns=columns: md.Table("a.csv", columns)(row()), words) for columns, *words in (
        ({}, "columns = {}: give a dict of names to functions"), ([1], "columns = [1]: give a dict"),
        ({"a": 1.0}, "columns[('a',)] = 1.0: give a function"), ({"a,b": len}, "the name 'a,b' is not a text without"),
        ({"time": len}, "'time' is the first column"), ({("a", "a"): len}, "given twice"),
        ({"a": lambda: 1.0}, "columns[('a',)] = ", "it is called with (simulation)"),
        ({"a": lambda sim: (1.0, 2.0)}, "the function of a at 0 s has shape (2,); give shape (1,)"),
        ({"a": lambda sim: "x"}, "the function of a at 0 s = array(['x']"))),
    *((lambda value=value: md.Frames("out", extra={"own": lambda sim: value})(row()), ["result of extra['own']", words])
      for value, words in ((np.zeros(2), "has shape (2,); give shape (3,) or (3, 3)"), (None, "None has shape"),
                           (np.zeros((3, 2)), "has shape (3, 2)"), ([(1, 2), (3,), (4, 5)], "rows of different"),
                           (["a"] * 3, "not real numbers; give real numbers of shape (3,)"))),
    (lambda: md.Frames("out", extra={"heat": lambda sim: np.ones(3)})(row()),
     ["extra['heat']: ", "field of this name already; give another name"]),
    *((lambda extra=extra: md.Frames("out", extra=extra), words) for extra, *words in (
        ({"velocity": np.zeros_like}, "name 'velocity' cannot be used; ", "other than radius, clump"),
        ({"a b": np.zeros_like}, "name 'a b' cannot"), ({1: np.zeros_like}, "name 1 cannot"),
        ({"own": np.zeros(4)}, "extra['own'] = array", "give a function of (simulation)"),
        ({"own": lambda: 1}, "extra['own'] = ", "it is called with (simulation)"),
        (["own"], "extra = ['own']: give a dict of names to functions"))),
    *((lambda write=write, name=name: getattr(row().io, write)(name),
       [f"path = '{name}': give a name that ends in .vtu"])
      for write in ("write_vtu", "write_contacts", "write_bonds") for name in ("a.vtk", "a.VTU", "a", "a.vtu.gz")),
    (lambda: row().io.write_contacts("a.vtu", between="walls"), ["between = 'walls': give one of 'clumps', 'spheres'"]),
    (lambda: row().io.write_vtu("a.vtu", fields="clump,speed"), ["fields: 'speed' is unknown",
                                                                 "radius, clump, velocity"]),
    # user forces
    (lambda: with_force(lambda t, x, v, q, w: np.zeros((2, 3, 3))),
     ["user force returned", "return a tuple (force (n, 3), torque (n, 3))"]),
    (lambda: with_force(lambda t, x, v, q, w: ([0, 0], [0, 0, 0])), ["force of a user force", "(2,)"]),
    (lambda: with_force(lambda t, x, v, q, w: (0.0 * x, [0, 0, 1e80])), ["torque of a user force", "units"]),
    (lambda: with_force(lambda t, x, v, q, w: (np.ma.masked_greater(v, -1.0), w)),
     ["force of a user force has masked elements"]),
    (lambda: with_force(ctypes.CFUNCTYPE(None, *3 * [POINTER])(lambda *pointers: None)),
     ["function: ", "restype None and argtypes", "for void (const double *time, "]),
    (lambda: with_force(capsule(ctypes.CDLL(None).labs, NO_SIGNATURE)),
     ["function: the capsule is named 'void (int)'; its name must be"]),
    (lambda: row().forces.add(lambda t, x, v, q, w, *, random: (v, w)), ["random = "]),
    (lambda: row().forces.add(lambda t, x, v, q, w: (v, w), random=3), ["random = "]),
    (lambda: with_force(3), ["function = 3: give a Python function, a numba cfunc, a ctypes function"]),
    *((lambda wrong=wrong: row().forces.add(NOTHING, wrong), ["parameters"]) for wrong in ("abc", [[1.0]], [np.nan])),
    (lambda: row().add_clumps(BALL, np.ma.masked_greater([[0.7, 0.5, 0.5]], 0.6)), ["position has masked elements"]),
    # functions that cannot be called
    (lambda: row().run(1, every=1, callback=lambda: None), ["callback = ", "(simulation)", "too many"]),
    (lambda: row().run(1, every=1, callback=place), ["callback = ", "(simulation)", "missing"]),
    (lambda: row().forces.add(lambda t, x, v: None), ["function = ", "w), and takes (t, x, v)", "too many"]),
    (lambda: row().forces.add(becomes_infinite, [1.0]), ["function = ", "(t, x, v, q, w, p0)", "too many"]),
    *((lambda law=law: md.contact.register("no", **{"force": lambda contacts: None} | law), words) for law, *words in (
        ({"parameters": {"k": 1.0}}, "force = ", "(contacts, k)", "too many"),
        ({"describe": lambda: 1}, "describe = ", "(contacts)", "too many"),
        ({"coefficients": lambda pair: ()}, "coefficients = ", "(pair, values)", "too many"))),
    (lambda: md.rotation.register("no", lambda bodies, dt: None), ["move = ", "(bodies, dt, stage)", "too many"]),
    *((lambda given=given, offset=offset: md.rotation.register("no", idle, **given, **{offset: -0.5}),
       [f"{offset} = -0.5: ", f"needs {missing}, too"]) for offset in ("angular_velocity_offset", "orientation_offset")
      for given, missing in (({}, "start and sync"), ({"start": idle}, "sync"), ({"sync": idle}, "start"))),
    (lambda: md.Plane((0, 0, 0), (0, 0, 1), motion=lambda: None), ["motion = ", "(t), and takes ()", "too many"]),
    (lambda: md.rotation.integrate("spiral", (1, 2, 3), (1, 0, 0, 0), (0, 0, 1), lambda t: 0, 0.1, 1),
     ["torque = ", "(t, q, w)", "too many"]),
    # contact laws
    *((lambda contact=contact, scheme=scheme: row(contact=contact, rotation=scheme), words)
      for contact, scheme, *words in (
        ("herz", "spiral", "contact is 'herz', did you mean 'hertz'? It must be one of: hertz, hertz-mindlin, "),
        ("hooke", "spiral", "contact 'hooke': stiffness is missing"),
        ("hooke:stiffness=-1", "spiral", "stiffness is '-1', must be a positive number"),
        ("hooke:stiffness=1e300", "spiral", "stiffness is '1e300', must be a positive number, from 1e-60 to 1e+60"),
        ("hertz-mindlin:rolling_damping=1e300", "spiral", "rolling_damping is '1e300', must be a number from 0 on, up"),
        ("hertz:onset=yes", "spiral", "onset is 'yes', must be one of plain, corrected"),
        ("hertz:stiffness=1e6", "spiral", "contact 'hertz' has no parameter 'stiffness' (parameters: onset)"),
        (3, "spiral", "contact is 3, must be one of"),
        ("hertz-mindlim", "spiral", ", did you mean 'hertz-mindlin'"), ("hertz", "omelian", ", did you mean 'omelyan'"),
        ("hooke:stifness=1", "spiral", ", did you mean 'stiffness'"),
        ("hertz:onset=corrected", "rk4", "one force evaluation per step, and 'rk4' has 4"),
        ("hertz-mindlin:tangential=linear", "spiral", "tangential_stiffness=none", "tangential_stiffness=NUMBER"),
        ("hertz-mindlin:tangential=mindlin,tangential_stiffness=1e5", "spiral", "tangential=mindlin", "=linear needs"),
        ("hertz-mindlin:tangential=spring", "spiral", "rescale, mindlin, linear"),
        ("hertz-mindlin:mass=bodies", "spiral", "shared, single, clump"),
        ("hertz-mindlin:tangential_stiffness=-1", "spiral", "positive number"),
        ("hertz-mindlin:cohesion=jkr,limit_damping=yes", "spiral", "limit_damping = yes", "leave one out"),
        ("hooke-coulomb:stiffness=1e5,cohesion=jkr", "spiral", "cohesion"),
        ("hooke-coulomb:stiffness=1e5,plastic=walton-braun,limit_damping=yes", "spiral", "limit_damping", "leave one"),
        ("hertz-mindlin:bonds=parallel,cohesion=jkr", "spiral", "leave one out"),
        ("hertz-mindlin:liquid=willett,cohesion=dmt", "spiral", "liquid", "leave one out"),
        ("hertz-mindlin:liquid=willett,cohesion=jkr", "spiral", "liquid", "leave one out"),
        ("hertz-mindlin:liquid=willett,contact_angle=90", "spiral", "contact_angle", "radians"),
        ("hertz-mindlin:cohesion=glue", "spiral", "glue"))),
    # misspelt names, and functions of other objects
    (lambda: md.Simulation(STEEL, gravty=(0, 0, 1), dt=1e-5), ["TypeError", "'gravty', did you mean 'gravity'?"]),
    (lambda: row().run(5, evry=5), ["TypeError", "'evry', did you mean 'every'?"]),
    (lambda: md.Material(yung=1e7, poisson=0.3), ["TypeError", "'yung', did you mean 'young'?"]),
    (lambda: md.Plane((0, 0, 0), (0, 0, 1), velocty=(0, 0, 1)), ["TypeError", "'velocty', did you mean 'velocity'?"]),
    (lambda: SieveCurve([(1e-3, 0.0), (2e-3, 1.0)], bye="mass"), ["TypeError", "'bye', did you mean 'by'?"]),
    (lambda: row().positions, ["a Simulation has no attribute 'positions', did you mean 'position'?"]),
    (lambda: row().show(), ["AttributeError", "no attribute 'show'; call md.show(sim)"]),
    (lambda: row().view(), ["AttributeError", "call md.view(sim), or run with callback=md.Live(), which follows"]),
    (lambda: with_flux(lambda c: 1.0), ["flux returned 1.0", "contacts.rates[name][:] = "]),
    # coarse-grained fields
    (lambda: coarse(high=(1, 0, 1), cells=(2, 2, 2)), ["cells[1] = 2: along an axis with low = high there is one"]),
    (lambda: coarse(high=(1, 0, 1), width=(0.1, 0, 0)), ["width[1] = 0.0: give a length above 0, or 0 for no"]),
    (lambda: coarse(high=(1, 1, 2)).measure(row(periodic=box())), ["high[2] = 2.0: stay within the periodic box"]),
    (lambda: coarse(width=(0.1, 0.2, 0.2)).measure(row(periodic=box())),
     ["width[1] = 0.2: the kernel reaches 3 widths, at most half", "sixth of"]),
    (lambda: coarse().write_csv("fields.csv"), ["samples = 0: no field yet; call measure(sim)"]),
    (lambda: measured().write_vti("fields.vtu"), [".vti"]), (lambda: measured().write_csv("fields.txt"), [".csv"]),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call, words", MESSAGES)
def test_messages(call, words, here):
    for name, (_, text) in FOREIGN.items():
        Path(name).write_text(text)
    np.savez("arrays.npz", x=np.zeros(3))
    Path("foreign.csv").write_text("time,x\n0.0,1.0\n" * 40)
    Path("frames").mkdir()
    Path("frames/frames.pvd").write_text("no series")
    with pytest.raises((ValueError, OSError, AttributeError, KeyError, TypeError)) as error:
        call()
    assert all(word in f"{type(error.value).__name__}: {error.value}" for word in words), error.value
    assert "no" not in md.contact.available() + md.rotation.available() and not Path("dust").exists()


def test_a_function_that_returns_what_it_should_assign(own, own_law):
    own_law("mine", lambda contacts: 1e4 * contacts.overlap[:, None] * contacts.normal)
    with pytest.raises(ValueError, match=r"force returned array.*return nothing, and assign .*contacts.force = "):
        row(contact="mine").run(1)
    own("of-mine", lambda bodies, dt, stage: bodies.q)
    with pytest.raises(ValueError, match=r"move returned array.*return nothing, and change bodies.q"):
        row(rotation="of-mine").run(1)


@pytest.mark.parametrize("function, call", FLAGS)
def test_a_word_is_no_flag(function, call, here):
    meshio.write_points_cells("body.stl", TETRAHEDRON.vertices, [("triangle", TETRAHEDRON.triangles)])
    flags = [one.name for one in inspect.signature(function).parameters.values() if one.annotation in (bool, "bool")]
    assert flags
    for flag in flags:
        for value in "no", 0, None:
            with pytest.raises(ValueError, match=f"{flag} = {value!r}: give True or False"):
                call(**{flag: value})


@pytest.mark.parametrize("make, name", [(md.Servo, "mass"), (md.Simulation, "dt"), (md.MeshWall, "surface")])
def test_what_is_required_has_no_default(make, name):
    assert inspect.signature(make).parameters[name].default is inspect.Parameter.empty
