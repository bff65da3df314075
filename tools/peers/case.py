"""The experiments: initial states of minidem's scenarios, and what a peer has to know of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scenario_modules import scenario_module

from minidem.core.quaternions import multiply, rotate
from minidem.validation import chess_box


@dataclass(frozen=True)
class Case:
    """An experiment, with the number of timed steps and of steps before them that suit its size.

    simulation(seed, clumps) makes a minidem simulation of its initial state, on one thread; clumps: folder of
    sphere files for chess pieces, or None for the project's own. Cases of one family differ in size alone.
    """
    family: str
    description: str
    clumps: int
    simulation: Callable
    steps: int
    warmup: int


def rods(script, number):
    """The initial state of a scenario with so many rods."""
    def simulation(seed, clumps):
        scenario = scenario_module(script).SCENARIO
        return scenario.build(scenario.parse(["--rods", str(number), "--seed", str(seed), "--threads", "1"]))
    return simulation


def chess(seed, clumps):
    return chess_box.simulation(seed=seed, clumps=clumps, threads=1)


DILUTE, CHESS, DENSE = "dilute rods", "chess pieces", "dense rods"


def dense(number):
    """The case of so many rods in a crowd, with steps for tenths of a second, but a hundred at least."""
    steps = max(100, 5_000_000 // number)
    return Case(DENSE, f"{number:_} rods of 3 spheres, solid fraction 0.3".replace("_", " "), number,
                rods("dense_rods", number), steps, steps // 5)


CASES = {
    "A": Case(DILUTE, "30 rods of 3 spheres in a box of 1 m", 30, rods("rods_in_box", 30), 400_000, 1000),
    "B": Case(CHESS, "32 chess pieces of 100 spheres in a box of 0.5 m", 32, chess, 50_000, 5000),
    "C": dense(10_000),
    "D": dense(100_000),
    "E": Case(DILUTE, "10 000 rods of 3 spheres, as dilute as in A", 10_000, rods("rods_in_box", 10_000), 2000, 500),
    "F": dense(333_000),
}


def clump_state(sim):
    """What a peer needs to know of a simulation, a dictionary of arrays in SI units and the lab frame.

    Per clump: position, velocity, angular_momentum (n, 3), the latter two also half a step earlier, with
    "_before" (for codes whose velocities stand there), mass (n,), inertia (n, 3, 3) about its centre,
    principal_orientation (n, 4), a quaternion w x y z from the template's principal axes to the lab.
    Per sphere, clump by clump: sphere_center (m, 3), sphere_radius, sphere_clump (m,).
    Per wall: wall_point, wall_normal (k, 3).  For all: young, poisson, dt.
    """
    templates, kind = sim.templates, sim.template_index
    principal = multiply(sim.orientation, np.array([template.orientation for template in templates])[kind])
    axes = rotate(principal[:, None], np.eye(3)).swapaxes(1, 2)
    moments = np.array([template.inertia for template in templates])[kind] * sim.scale[:, None] ** 5
    inertia = (axes * moments[:, None, :]) @ axes.swapaxes(1, 2)
    angular_momentum = np.einsum("nij,nj->ni", inertia, sim.angular_velocity)
    half_step = 0.5 * sim.dt
    return {"position": sim.position, "principal_orientation": principal,
            "mass": sim.mass, "inertia": inertia, "velocity": sim.velocity,
            "velocity_before": sim.velocity - half_step * sim.force / sim.mass[:, None],
            "angular_momentum": angular_momentum,
            "angular_momentum_before": angular_momentum - half_step * sim.torque,
            "sphere_center": sim.sphere_centers(), "sphere_radius": sim.sphere_radii,
            "sphere_clump": sim.sphere_clump,
            "wall_point": np.array([wall.point for wall in sim.walls]),
            "wall_normal": np.array([wall.normal for wall in sim.walls]),
            "young": sim.material.young, "poisson": sim.material.poisson, "dt": sim.dt}


def box_of(sim):
    """Corners low, high (3,) of the box that six walls make; RuntimeError for other walls."""
    planes = {(int(np.argmax(np.abs(wall.normal))), float(np.sum(wall.normal))): wall for wall in sim.walls}
    if len(sim.walls) != 6 or set(planes) != {(axis, sign) for axis in range(3) for sign in (1.0, -1.0)}:
        raise RuntimeError("the walls are not those of a box, which this peer needs")
    low, high = ([planes[axis, sign].point[axis] for axis in range(3)] for sign in (1.0, -1.0))
    return np.array(low), np.array(high)
