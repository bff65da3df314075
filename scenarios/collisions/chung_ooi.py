"""Impacts of spheres: conditions and published points of the benchmark tests 1 to 5 of Chung and Ooi.

Y. C. Chung and J. Y. Ooi, Granul. Matter 13, 643 (2011), doi:10.1007/s10035-011-0277-0. The points of tests 4 and 5 are
read from its figures, as in the benchmarks of the Kratos DEMApplication. The sign of the spin is defined as in the
paper.
"""
from typing import NamedTuple

import numpy as np

from minidem.material import Material


class Sphere(NamedTuple):
    """A sphere of the benchmark.

    Attributes
    ----------
    material : Material
    radius : float
        [m]
    density : float
        [kg/m3]
    speed : float
        Of the impact; of test 5 its normal part [m/s].
    """

    material: Material
    radius: float
    density: float
    speed: float


GLASS = Sphere(Material(young=4.8e10, poisson=0.20, friction=0.35), 0.01, 2800.0, 10.0)     # test 1, two spheres
ALUMINIUM = Sphere(Material(young=7e10, poisson=0.3), 0.1, 2699.0, 0.2)                     # test 2, on a rigid plane
OXIDE = Sphere(Material(young=3.8e11, poisson=0.23), 2.5e-3, 4000.0, 3.9)                   # tests 3 and 4
STEEL = Sphere(Material(young=2.08e11, poisson=0.3), 1e-5, 7850.0, 5.0)                     # test 5
TEST_4 = {"restitution": 0.98, "friction": 0.092}
TEST_5 = {"restitution": 1.0, "friction": 0.3}

# Rows (angle of incidence to the normal [degrees], value after the impact); spin in rad/s, rebound angle in degrees
CURVES_4 = {
    "tangential restitution": np.array([
        (5.17, .948), (10.16, .687), (14.99, .624), (20.06, .616), (25.05, .634), (30.12, .684), (35.03, .737),
        (40.02, .781), (50, .845), (60, .893), (70, .932), (80, .966), (85, .983)]),
    "spin": np.array([
        (5, -19.3), (10, -213), (15, -377.8), (20, -510.6), (24.9, -599.4), (30, -616.5), (35, -582.3), (40, -544.8),
        (50, -457.0), (60, -357.5), (70, -246.2), (80, -126.3), (85, -63.1)]),
    "rebound angle": np.array([
        (4.9, 3.76), (10, -1.56), (14.9, -5.54), (20, -7.54), (25, -7.54), (29.9, -3.55), (35, 3.43), (39.9, 11.57),
        (49.8, 29.35), (60, 47.79), (69.7, 64.58), (79.8, 78.70), (84.8, 84.52)])}

# Rows (vt before, value after the impact), both over friction * vn; the spin times R
CURVES_5 = {
    "spin": np.array([
        (.058, -.106), (.353, -.430), (.682, -.820), (.994, -1.250), (1.341, -1.664), (1.688, -2.094), (2, -2.524),
        (2.329, -2.978), (2.988, -3.904), (3.318, -4.293), (3.994, -4.837), (5, -5.007), (6.006, -5.006),
        (10.01, -5.004)]),
    "velocity of the contact point": np.array([
        (1.009, -.747), (2, -1.533), (2.99, -2.44), (3.34, -2.69), (4.01, -2.79), (5, -2), (6, -1.013), (9.99, 3.013),
        (12.96, 6.013)])}
# The spin by finite elements
ELEMENTS_5 = np.array([
    (.318, -.187), (.595, -.406), (.890, -.665), (1.185, -.982), (1.532, -1.355), (1.896, -1.793), (2.277, -2.321),
    (2.763, -2.856), (3.301, -3.441), (3.890, -4.041), (4.688, -4.569), (5.659, -4.941), (7.029, -4.941),
    (9.040, -4.972)])
