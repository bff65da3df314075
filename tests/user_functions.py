"""The user-defined functions of scenarios/custom_law.py and custom_integrator.py through every interface."""
import ctypes
from functools import cache

import numpy as np
import pytest
import scenes

import minidem as md

COMPILED = "numba", "ctypes", "scipy", "capsule"
POINTER = ctypes.POINTER(ctypes.c_double)
CFUNC = ctypes.CFUNCTYPE(None, *4 * [POINTER])      # of all compiled functions
GLASS = md.Material(young=1e7, poisson=0.3, restitution=0.7, name="glass")
BALL = md.ClumpTemplate([(0.0, 0.0, 0.0)], [0.05], density=2500.0)
LAW, STEP = "mine:stiffness=4e6", 2e-5                              # 60 steps per contact of two rods


def capsule(function, signature):
    """A capsule as Cython code makes it. It holds the address of the signature, which must exist as long."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.cast(function, ctypes.c_void_p), signature, None)


@cache
def functions_of(example, interface, signature=None):
    """By name, compiled once; without numba or a C compiler the test that needs them is skipped."""
    if interface == "numba":
        pytest.importorskip("numba")
    functions = example.INTERFACES["ctypes" if interface == "capsule" else interface]()
    if functions is None:
        pytest.skip("no C compiler")
    return {name: capsule(each, signature) for name, each in functions.items()} if interface == "capsule" else functions


def rods(contact=LAW, threads=1, steps=0, gravity=(0, 0, 0), **options):
    """48 rods in a box, which touch another after some 50 steps."""
    scene = scenes.packed_rods(2, (3, 4, 4), speed=5.0, spin=20.0).changed(gravity=gravity)
    sim = scene.simulation(STEP, GLASS, contact=contact, threads=threads, **options)
    sim.run(steps)
    return sim


def two_balls(contact, walls=None, pairs=None, overlap=1e-3, steps=0, material=GLASS, **motion):
    sim = md.Simulation(material, walls, contact=contact, dt=1e-5, pairs=pairs)
    sim.add_clumps(BALL, [(0, 0, 0), (0.1 - overlap, 0, 0)], **motion)
    sim.run(steps)
    return sim


def state(sim):
    return [*scenes.state_of(sim), sim.force, sim.torque, sim.contacts(), sim.loop.ledger().get("dissipated")]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(state(one), state(other), strict=True))
