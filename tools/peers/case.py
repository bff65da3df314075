"""The experiments: initial states of scenarios/rods_in_box.py, and the file that brings them to a peer."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.path.append(str(Path(__file__).parents[2] / "scenarios"))
import rods_in_box  # noqa: E402


@dataclass(frozen=True)
class Case:
    """Options of the scenario, with the number of timed steps and of steps before them that suit its size."""
    description: str
    options: tuple
    steps: int
    warmup: int

    def simulation(self, seed):
        """A fresh minidem simulation of the case, on one thread."""
        scenario = rods_in_box.SCENARIO
        return scenario.build(scenario.parse([*self.options, "--seed", str(seed), "--threads", "1"]))


CASES = {
    "A": Case("30 rods of 3 spheres in a box of 1 m", ("--rods", "30", "--box", "1"), 400_000, 1000),
    "C": Case("10 000 rods of 3 spheres in a box of 3 m", ("--rods", "10000", "--box", "3"), 1000, 100),
}


def write_state(sim, path):
    """Write what a peer needs to know of a simulation as .npz, in SI units and the lab frame.

    Per clump: position, velocity, angular_velocity (n, 3), mass (n,), inertia (n, 3, 3) about its centre.
    Per sphere: sphere_center (m, 3), sphere_radius, sphere_clump (m,).
    Per wall: wall_point, wall_normal (k, 3).  For all: young, poisson, dt.
    """
    templates = [sim.templates[k] for k in sim.template_index]
    rotation = Rotation.from_quat(sim.orientation[:, [1, 2, 3, 0]]).as_matrix()
    axes = rotation @ np.array([template.axes for template in templates])
    moments = np.array([template.inertia for template in templates])
    np.savez(path, position=sim.position, velocity=sim.velocity, angular_velocity=sim.angular_velocity,
             mass=[template.mass for template in templates],
             inertia=(axes * moments[:, None, :]) @ axes.swapaxes(1, 2),
             sphere_center=sim.sphere_centers(), sphere_radius=sim.sphere_radii,
             sphere_clump=sim.sphere_clump,
             wall_point=[wall.point for wall in sim.walls], wall_normal=[wall.normal for wall in sim.walls],
             young=sim.material.young, poisson=sim.material.poisson, dt=sim.dt)
