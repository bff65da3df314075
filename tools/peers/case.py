"""The experiments: rods of three touching spheres in a box, perfectly elastic, without gravity."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import minidem as md
from minidem.scenario.placement import place, random_directions

ROD_RADIUS = 0.02 * 3**0.5
ROD_CENTERS = 0.04 * np.array([[-1.0, -1.0, -1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])


@dataclass(frozen=True)
class Case:
    """Clumps of one template between the corners `low` and `high`; state as in Simulation.add_clumps."""
    name: str
    template: md.ClumpTemplate
    material: md.Material
    low: tuple
    high: tuple
    dt: float
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray

    def simulation(self):
        """A fresh minidem simulation of the case, on one thread."""
        sim = md.Simulation(material=self.material, walls=md.box(self.low, self.high), dt=self.dt, threads=1)
        sim.add_clumps(self.template, self.position, self.orientation, self.velocity, self.angular_velocity)
        return sim

    def save(self, path):
        """Write what a peer needs as .npz, in SI units and the lab frame.

        For n clumps of s spheres: position, velocity, angular_velocity (n, 3), sphere_centers (n, s, 3),
        inertia (n, 3, 3) about the centre of mass; mass and radii (s,) of a clump; young, poisson, dt;
        low and high (3,).
        """
        sim, template = self.simulation(), self.template
        n = sim.n_clumps
        principal_axes = Rotation.from_quat(sim.orientation[:, [1, 2, 3, 0]]).as_matrix() @ template.axes
        inertia = (principal_axes * template.inertia) @ principal_axes.swapaxes(1, 2)
        np.savez(path, position=sim.position, velocity=sim.velocity, angular_velocity=sim.angular_velocity,
                 sphere_centers=sim.sphere_centers().reshape(n, -1, 3), inertia=inertia, mass=template.mass,
                 radii=template.radii, young=self.material.young, poisson=self.material.poisson, dt=self.dt,
                 low=self.low, high=self.high)


def rods_in_a_box(name, number, side, seed):
    """`number` rods in a cube of `side` [m], each at 4 m/s and 4 rad/s in random directions."""
    rng = np.random.default_rng(seed)
    template = md.ClumpTemplate(ROD_CENTERS, [ROD_RADIUS] * 3, density=2500.0)
    low, high = (0.0, 0.0, 0.0), (side, side, side)
    [(position, orientation)] = place([template], [number], low, high, rng)
    return Case(name, template, md.Material(young=1e9, poisson=0.1), low, high, 38e-6, position, orientation,
                velocity=4.0 * random_directions(number, rng),
                angular_velocity=4.0 * random_directions(number, rng))


# Name: (number of rods, side of the box [m])
CASES = {"A": (30, 1.0)}


def build(name, seed):
    return rods_in_a_box(name, *CASES[name], seed)
