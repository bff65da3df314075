"""Grains of shear_flow.py, compression.py and triaxial.py: spheres or rods of several sizes, and boxes of them.

Diameters, of spheres of the same volume, are evenly spread from 0.8 to 1 of the largest, so that spheres do not
crystallise. Pressures are 10^-4 of Young's modulus or less, for which contacts are nearly rigid.
"""

import argparse
import math
from typing import NamedTuple

import numpy as np

import minidem as md
from minidem.analysis.averages import block_mean
from minidem.initial import place_densely
from minidem.scenario import at_least, positive

DIAMETER, DENSITY, SMALLEST = 1e-3, 2500.0, 0.8             # [m], of the largest; [kg/m3]; smallest / largest
PRESSURE, YOUNG, POISSON = 1e3, 1e7, 0.3                    # [Pa], [Pa]
LARGEST_ASPECT, LOOSE = 5.0, 0.3                            # of rods; solid fraction of a placement
STEP, ROD_STEP = 0.2, 0.15                                  # / Rayleigh step; rods have more contacts


def aspect_ratio(text):
    """Type of an option: a number from 1 to LARGEST_ASPECT."""
    value = positive(text)
    if not 1.0 <= value <= LARGEST_ASPECT:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to {LARGEST_ASPECT:g}")
    return value


def add_study_options(group, count, quick_count, seeds):
    """--count and --seeds of a study of several samples of each kind."""
    group.add_argument("--count", type=at_least(100), metavar="N",
                       default=lambda options: quick_count if options.quick else count,
                       help=f"grains of a sample (default: {count}; with --quick {quick_count})")
    group.add_argument("--seeds", type=at_least(2), metavar="N", default=lambda options: 2 if options.quick else seeds,
                       help=f"samples of each kind (default: {seeds}; with --quick 2)")


def sample_mean(values):
    """Mean of independent samples, with its standard error."""
    return block_mean(values, len(values))


def grain(aspect):
    """A rod with round ends; without its bumps it has the volume of a sphere of DIAMETER. Spheres 2/3 radii apart.

    ValueError for an aspect ratio, length / diameter, that is not from 1 (a sphere) to 5.
    """
    if not 1.0 <= aspect <= LARGEST_ASPECT:
        raise ValueError(f"--aspect: {aspect:g} is not from 1 to {LARGEST_ASPECT:g}")
    radius = 0.5 * DIAMETER / (1.5 * aspect - 0.5) ** (1 / 3)
    spheres = 1 + math.ceil(3.0 * (aspect - 1.0) - 1e-9)
    return md.shapes.rod(2.0 * radius * aspect, radius, spheres, DENSITY)


def material(friction, restitution):
    return md.Material(YOUNG, POISSON, restitution=restitution, friction=friction)


def scales(count):
    """Evenly spread, so that their mean volume does not depend on a seed."""
    return np.linspace(SMALLEST, 1.0, count)


def mean_diameter(aspect, count):
    """Diameter of a sphere of the mean volume [m]."""
    return (6.0 / np.pi * grain(aspect).volume * np.mean(scales(count) ** 3)) ** (1 / 3)


def time_unit(aspect, count, pressure=PRESSURE):
    """Inertial number 1 has the rate 1 / time_unit: d sqrt(density / pressure) with the mean diameter [s]."""
    return mean_diameter(aspect, count) * math.sqrt(DENSITY / pressure)


def step_of(aspect, restitution=0.5):
    """Part of the Rayleigh step of the smallest sphere [s], less for restitutions below 0.5, as dashpots need it."""
    loss = -math.log(min(restitution, 0.5)) / math.pi
    dashpot = math.log(2.0) / math.pi / loss * math.sqrt((1.0 + loss ** 2) / (1.0 + (math.log(2.0) / math.pi) ** 2))
    part = STEP if aspect == 1.0 else ROD_STEP
    return part * dashpot * material(0.0, 1.0).rayleigh_step(SMALLEST * grain(aspect).radii[0], DENSITY)


class Sample(NamedTuple):
    """Grains at rest in a box."""

    template: md.ClumpTemplate
    scale: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def simulation(self, material, dt, motion, **options):
        """Simulate these grains; motion : arguments of md.PeriodicBox;  options : of md.Simulation."""
        box = md.PeriodicBox(self.low, self.high, axes=(True, True, True), **motion)
        sim = md.Simulation(material, dt=dt, periodic=box, **options)
        sim.add_clumps(self.template, self.position, self.orientation, scale=self.scale)
        return sim

    def moved(self, sim):
        """The same grains where they are in a simulation whose box is not tilted."""
        return self._replace(position=sim.wrapped_position, orientation=sim.orientation, low=sim.box.low,
                             high=sim.box.high)


def placed(aspect, count, seed, fraction=LOOSE, shape=(1.0, 1.0, 1.0)):
    """A Sample placed at random, in a box of this solid fraction, at most LOOSE, and of this shape."""
    template, rng = grain(aspect), np.random.default_rng(seed)
    scale = rng.permutation(scales(count))
    low = np.zeros(3)
    high = np.array(shape) * (template.volume * np.sum(scale ** 3) / fraction / np.prod(shape)) ** (1 / 3)
    [(position, orientation)] = place_densely([template], [count], low, high, rng)
    return Sample(template, scale, position, orientation, low, high)
