"""Forces and torques with the onset correction against a plain loop over contacts, which forms the motion of both
centres and their acceleration without this contact. The correction takes velocities before the kick by the corrections:
half a step of them is taken off the public ones."""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix

import minidem as md
from minidem.onset.onset_pass import onset_force_at
from minidem.onset.series import zeta_polynomials

HERTZ, POWER = md.contact.info("hertz").kernels, 1.5
ZETA = zeta_polynomials(POWER)


class Motion:
    """Of all clumps: velocity (n, 3), angular velocity (n, 3), both lab, and their rates without corrections."""
    def __init__(self, sim, world, plain, external):
        h, matrix = sim.dt, rotation_matrix(sim.orientation) @ world.axes
        self.world, self.inverse = world, matrix / world.inertia[:, None] @ matrix.transpose(0, 2, 1)
        force, torque = plain.force + world.mass[:, None] * world.gravity + external[0], plain.torque + external[1]
        self.velocity = sim.velocity - 0.5 * h * (sim.force - force) / world.mass[:, None]
        self.spin = sim.angular_velocity - 0.5 * h * self.turn(torque=sim.torque - torque)
        momentum = np.einsum("nij,nj->ni", np.linalg.inv(self.inverse), self.spin)
        self.acceleration = force / world.mass[:, None]
        self.spin_rate = self.turn(torque - np.cross(self.spin, momentum))

    def turn(self, torque):
        """I^-1 M."""
        return np.einsum("nij,nj->ni", self.inverse, torque)

    def of_sphere(self, clump, arm, force):
        """Velocity of a sphere's centre, and its acceleration without a force on it. arm : from the centre of mass."""
        w = self.spin[clump]
        spin_rate = self.spin_rate[clump] - self.inverse[clump] @ np.cross(arm, force)
        return self.velocity[clump] + np.cross(w, arm), (
            self.acceleration[clump] - force / self.world.mass[clump] + np.cross(spin_rate, arm)
            + np.cross(w, np.cross(w, arm)))


def onset_forces(sim, world, external):
    """Forces by the oracle, corrections on clumps (2, n, 3), force and torque, and the magnitude of each correction."""
    plain = world.forces(sim.position, sim.orientation)
    motion, centers = Motion(sim, world, plain, external), world.sphere_centers(sim.position, sim.orientation)
    total, found = np.zeros((2, len(world.mass), 3)), []
    for k, (i, j) in enumerate(zip(plain.sphere_i, plain.sphere_j)):
        force, own = plain.pair_force[k], world.owner
        normal = force / np.linalg.norm(force)
        sides = [(own[i], centers[i] - sim.position[own[i]], 1.0)]
        if j >= 0:
            sides.append((own[j], centers[j] - sim.position[own[j]], -1.0))
        motions = [motion.of_sphere(clump, arm, sign * force) for clump, arm, sign in sides]
        velocity, acceleration = np.subtract(*motions) if j >= 0 else motions[0]
        rate, curvature = -velocity @ normal, -acceleration @ normal
        radius = world.radii[i]
        if j >= 0:                                      # the centres turn about each other
            curvature -= (velocity @ velocity - rate**2) / np.linalg.norm(centers[i] - centers[j])
            radius = 1.0 / (1.0 / radius + 1.0 / world.radii[j])
        stiffness = np.linalg.norm(force) / plain.overlap[k]**POWER / np.sqrt(radius)
        mobility = sum(1.0 / world.mass[clump] + np.cross(arm, normal) @ motion.inverse[clump] @ np.cross(arm, normal)
                       for clump, arm, _ in sides)
        found.append(onset_force_at(HERTZ, plain.overlap[k], radius, [stiffness], POWER, ZETA, sim.dt, rate, curvature,
                                          mobility))
        for clump, arm, sign in sides:
            total[0, clump] += sign * found[-1] * normal
            total[1, clump] += np.cross(arm, sign * found[-1] * normal)
    return plain, total, np.array(found)


FIELD = np.array([0.3, -200.0, -900.0])                 # [m/s2]


class WeightAndWind:
    def __init__(self, mass):
        self.mass, self.last = mass[:, None], np.zeros((2, len(mass), 3))

    def __call__(self, t, x, v, q, w):
        self.last = self.mass * (FIELD - 20.0 * v), -1e-3 * w
        return self.last


@pytest.mark.parametrize("scheme, tolerance", [("spiral", 1e-6), ("velocity-verlet", 1e-6), ("improved-pcdm", 0.01)])
@pytest.mark.parametrize("forces", ["none", "gravity", "user", "two materials"])
def test_forces_of_every_step(scheme, tolerance, forces):
    """Relative to the largest correction. improved-pcdm predicts the spin without the torque at the pose."""
    scene = scenes.packed_mixture(4, (4, 4, 3), speed=10.0).changed(young=1e8, contact="hertz:onset=corrected")
    if forces == "gravity":
        scene = scene.changed(gravity=tuple(FIELD))
    if forces == "two materials":
        scene = scene.changed(materials=[md.Material(1e8, 0.3), md.Material(1e7, 0.1)] * 24)
    sim, world, external = scene.simulation(5e-5, rotation=scheme), scene.world(), WeightAndWind(scene.world().mass)
    if forces == "user":
        sim.forces.add(external)
    sizes, errors = [], []
    for _ in range(70):
        sim.run(1)
        plain, (force, torque), found = onset_forces(sim, world, external.last)
        sizes += list(np.abs(found[found != 0.0]))
        force += plain.force + world.mass[:, None] * world.gravity + external.last[0]
        torque += plain.torque + external.last[1]
        errors += [np.max(np.abs(sim.force - force)), np.max(np.abs(sim.torque - torque)) / scene.shapes[0].reach]
    assert len(sizes) > 40
    assert np.max(errors) < tolerance * np.max(sizes), (np.max(errors), np.max(sizes))


def test_new_clumps_have_the_velocities_that_they_are_given():
    """Of two balls that are put together half a step after their touch, without other forces."""
    ball, material, dt, speed = md.ClumpTemplate([(0, 0, 0)], [0.01], 1000.0), md.Material(1e8, 0.3), 1e-4, 2.0
    sim, overlap = md.Simulation(material, contact="hertz:onset=corrected", dt=dt), 0.5 * speed * dt
    sim.add_clumps(ball, [(0, 0, 0), (0.02 - overlap, 0, 0)], velocity=[(speed, 0, 0), (0, 0, 0)])
    stiffness = 4.0 / 3.0 * md.effective_modulus(material, material)
    force = stiffness * np.sqrt(0.005) * overlap**POWER
    force += onset_force_at(HERTZ, overlap, 0.005, [stiffness], POWER, ZETA, dt, speed, 0.0, 2.0 / ball.mass)
    assert sim.force[1, 0] == pytest.approx(force, rel=1e-12)
