"""The Yade script of tools/compare_peers.py; `yade -j1 -n -x yade_clumps.py state.npz job.json result.json`.

Reads the initial state, builds the same clumps, contact law and walls in Yade, runs the steps, and writes the
time per step, the energies and the positions after the warm-up. For a fair comparison:

- A plane is Yade's `Wall` with `hertzian=True`, which gives R* = R. Without it a wall counts as a sphere of the
  same radius (R* = R/2), and a facet as one of twice the radius (R* = 2R/3).
- Mass, centre of mass and inertia are minidem's. Yade sums over the spheres, which counts overlaps twice; the
  spheres get densities for which its sums are right.
- Yade integrates the angular momentum and derives the angular velocity from it: a clump with only `angVel` set
  starts without rotation.
- Velocities and angular momenta belong to half a step before the positions.
- No friction, damping, energy tracker or output: the cheapest setup of Yade for this law.
"""

import json
import sys
import time

import numpy
import yade


def rotation_matrix(orientation):
    """Matrix of a Yade quaternion: its columns are the rotated unit vectors."""
    return numpy.array([orientation * yade.Vector3(*axis) for axis in numpy.eye(3)]).T


def build_walls(state):
    material = material_of(state)
    for point, normal in zip(state["wall_point"], state["wall_normal"]):
        axis = int(numpy.argmax(numpy.abs(normal)))     # Yade's walls are normal to an axis
        sense = int(numpy.sign(normal[axis]))           # and push to this side
        yade.O.bodies.append(yade.utils.wall(float(point[axis]), axis, sense=sense, material=material))


def member_masses(arms, radii, mass, inertia):
    """Masses (m,) of the spheres of a clump for which Yade's sums give the mass, centre of mass and inertia (3, 3).

    arms (m, 3): sphere centres relative to the centre of mass. The solution nearest to masses in proportion to
    the volumes.
    """
    size = numpy.abs(arms).max() + radii.max()                  # makes the equations dimensionless
    upper = numpy.triu_indices(3)
    tensors = numpy.eye(3) * (numpy.sum(arms ** 2, axis=1) + 0.4 * radii ** 2)[:, None, None]
    tensors = tensors - arms[:, :, None] * arms[:, None, :]
    sums = numpy.vstack([numpy.ones(len(radii)), arms.T / size, tensors[:, upper[0], upper[1]].T / size ** 2])
    wanted = numpy.concatenate([[mass], numpy.zeros(3), inertia[upper] / size ** 2])
    by_volume = mass * radii ** 3 / numpy.sum(radii ** 3)
    return by_volume + numpy.linalg.lstsq(sums, wanted - sums @ by_volume, rcond=None)[0]


def material_of(state, **density):
    return yade.FrictMat(young=float(state["young"]), poisson=float(state["poisson"]), frictionAngle=0.0,
                         **density)


def build_clumps(state):
    """Append every clump with minidem's mass properties and motion; return Yade's clump bodies."""
    clumps = []
    ends = numpy.searchsorted(state["sphere_clump"], numpy.arange(len(state["mass"]) + 1))
    for index, inertia in enumerate(state["inertia"]):
        members = slice(ends[index], ends[index + 1])
        centers, radii = state["sphere_center"][members], state["sphere_radius"][members]
        masses = member_masses(centers - state["position"][index], radii, state["mass"][index], inertia)
        densities = masses / (4 / 3 * numpy.pi * radii ** 3)
        materials = [material_of(state, density=float(density)) for density in densities]
        spheres = [yade.utils.sphere(tuple(center), float(radius), material=material)
                   for center, radius, material in zip(centers, radii, materials)]
        clump_id, _ = yade.O.bodies.appendClumped(spheres)
        body = yade.O.bodies[clump_id]
        axes = rotation_matrix(body.state.ori)          # principal axes in the order of Yade
        body.state.mass = float(state["mass"][index])
        body.state.inertia = tuple(numpy.diag(axes.T @ inertia @ axes))
        body.state.vel = tuple(state["velocity_before"][index])
        body.state.angMom = tuple(state["angular_momentum_before"][index])
        clumps.append(body)
    return clumps


def build_engines(settings):
    yade.O.engines = [
        yade.ForceResetter(),
        yade.InsertionSortCollider([yade.Bo1_Sphere_Aabb(), yade.Bo1_Wall_Aabb()], **settings),
        yade.InteractionLoop(
            [yade.Ig2_Sphere_Sphere_ScGeom(), yade.Ig2_Wall_Sphere_ScGeom(hertzian=True)],
            [yade.Ip2_FrictMat_FrictMat_MindlinPhys()],
            [yade.Law2_ScGeom_MindlinPhys_HertzWithLinearShear()]),
        yade.NewtonIntegrator(damping=0, gravity=(0, 0, 0)),
    ]


def momenta(clumps):
    """Linear and angular momenta (n, 3), half a step before the positions."""
    return (numpy.array([body.state.mass * body.state.vel for body in clumps]),
            numpy.array([body.state.angMom for body in clumps]))


def total_energy(clumps):
    """Kinetic, rotational and elastic energy [J] at the time of the positions.

    Runs one step. The momenta before and after it belong to half a step before and after the time of the
    positions, so their means belong to that time, like the contacts that the step evaluates.
    """
    axes = [rotation_matrix(body.state.ori) for body in clumps]
    before = momenta(clumps)
    yade.O.step()
    linear, angular = (0.5 * (old + new) for old, new in zip(before, momenta(clumps)))
    kinetic = 0.5 * sum(p @ p / body.state.mass for p, body in zip(linear, clumps))
    rotational = 0.5 * sum((A.T @ L) ** 2 @ (1 / numpy.array(body.state.inertia))
                           for A, L, body in zip(axes, angular, clumps))
    elastic = sum(0.4 * contact.phys.kno * contact.geom.penetrationDepth ** 2.5   # integral of kno d^(3/2)
                  for contact in yade.O.interactions if contact.geom.penetrationDepth > 0)
    return float(kinetic + rotational + elastic)


def seconds_for(steps):
    """Wall time of `steps` steps.  `O.run(wait=True)` checks every 40 ms, this loop every 1 ms."""
    begin = time.perf_counter()
    yade.O.run(steps)
    while yade.O.running:
        time.sleep(1e-3)
    return time.perf_counter() - begin


def main(state_file, job_file, result_file):
    with numpy.load(state_file) as stored:
        state = dict(stored)
    with open(job_file) as file:
        job = json.load(file)
    build_walls(state)
    clumps = build_clumps(state)
    build_engines(job["settings"])
    yade.O.dt = float(state["dt"])

    energy_initial = total_energy(clumps)               # the first step of the warm-up
    if job["warmup"] > 1:                               # O.run(0) does not return
        yade.O.run(job["warmup"] - 1, wait=True)
    position = [list(body.state.pos) for body in clumps]
    seconds = seconds_for(job["steps"])
    result = {"version": yade.config.version, "us_per_step": 1e6 * seconds / job["steps"],
              "energy_initial": energy_initial, "energy_final": total_energy(clumps), "position": position}
    with open(result_file, "w") as file:
        json.dump(result, file)


main(*sys.argv[1:])
