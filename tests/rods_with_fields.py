"""Rods with temperatures that collide in a box."""
from functools import cache

import numpy as np
import pytest

import minidem as md
from minidem.contact import columns

MATERIAL = md.Material(young=1e7, poisson=0.3, restitution=0.7, friction=0.4)
ROD = md.shapes.rod(0.03, 0.01, 3, density=2500.0)
POINTERS = "void(CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))"


def conduction(contacts, conductivity):
    temperature = contacts.fields["temperature"]
    width = 2.0 * np.sqrt(contacts.radius * np.maximum(contacts.overlap, 0.0))
    heat = conductivity * width * (temperature[:, 1] - temperature[:, 0])
    contacts.rates["temperature"][:] = np.column_stack([heat, -heat])


@cache
def compiled_conduction():
    numba = pytest.importorskip("numba")
    @numba.cfunc(POINTERS)
    def flux(contact, result, rates, parameters):
        rows, rate = numba.carray(contact, (columns.VALUES + 2, 8)), numba.carray(rates, (2, 8))
        for k in range(8):
            width = 2.0 * np.sqrt(rows[columns.RADIUS, k] * max(rows[columns.OVERLAP, k], 0.0))
            rate[0, k] = parameters[0] * width * (rows[columns.VALUES + 1, k] - rows[columns.VALUES, k])
            rate[1, k] = -rate[0, k]
    return flux


def box_of_rods(n=60, flux=None, conductivity=1e6, threads=1, **changes):
    layers = -(-n // 16)
    settings = dict(contact="hertz-mindlin", dt=2e-5, gravity=(0, 0, -9.81), threads=threads)
    sim = md.Simulation(MATERIAL, md.box_walls((0, 0, 0), (0.13, 0.13, 0.034 * layers + 0.4)), **settings | changes)
    rng = np.random.default_rng(3)
    places = np.stack(np.meshgrid(*2 * [0.032 * np.arange(4)], 0.034 * np.arange(layers), indexing="ij"),
                      axis=-1).reshape(-1, 3)[:n] + 0.0165
    sim.add_clumps(ROD, places, velocity=rng.normal(0.0, 1.0, places.shape))
    sim.fields.add("temperature", rng.uniform(300.0, 400.0, len(places)), capacity=800.0, per_mass=True, new=350.0)
    if flux is not None:
        sim.fields.add_flux(flux, [conductivity])
    return sim


def same(a, b):
    return np.array_equal(a.fields["temperature"], b.fields["temperature"]) and np.array_equal(a.position, b.position)
