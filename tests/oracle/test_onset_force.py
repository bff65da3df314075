"""Forces and torques of a Simulation with the onset correction against a plain loop over its contacts.

The loop forms the motion of both sphere centres of a contact from the public state, and their acceleration without the
force of this contact; the formula itself is tested in test_onset_series. The simulation corrects with velocities that
belong to the forces without corrections, which the public ones contain: half a step of the corrections is taken off.
"""
import numpy as np
import pytest
import scenes
from reference_contact import rotation_matrix

import minidem as md
from minidem.contact.onset_series import zeta_polynomials

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
    """Corrections: (force on clumps (n, 3), torque (n, 3), magnitude per contact)."""
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
        modulus = 0.75 * np.linalg.norm(force) / plain.overlap[k]**POWER / np.sqrt(radius)
        mobility = sum(1.0 / world.mass[clump] + np.cross(arm, normal) @ motion.inverse[clump] @ np.cross(arm, normal)
                       for clump, arm, _ in sides)
        found.append(HERTZ.onset_force_at(plain.overlap[k], radius, modulus, [0], POWER, ZETA, sim.dt, rate, curvature,
                                          mobility))
        for clump, arm, sign in sides:
            total[0, clump] += sign * found[-1] * normal
            total[1, clump] += np.cross(arm, sign * found[-1] * normal)
    return plain, total, found


@pytest.mark.parametrize("scheme", ["spiral", "velocity-verlet"])
@pytest.mark.parametrize("scene", [scenes.packed_rods(2, (3, 3, 4)), scenes.packed_mixture(4, (3, 3, 3))])
def test_forces_with_the_correction(scene, scheme):
    """To 1e-3 of the correction: the public angular velocity contains half a step of it, along other directions too."""
    scene = scene.changed(gravity=(0.0, 0.0, -9.81))
    sim, world, corrected = scene.simulation(38e-6, contact="hertz:onset=corrected", rotation=scheme), scene.world(), 0
    for _ in range(400):
        sim.run(2)
        plain, (force, torque), found = onset_forces(sim, world, (0.0, 0.0))
        scale = np.max(np.abs(found), initial=0.0)
        found_force = sim.force - plain.force - world.mass[:, None] * world.gravity
        assert np.allclose(found_force, force, rtol=0.0, atol=1e-3 * scale + 1e-11 * np.max(np.abs(plain.force)))
        assert np.allclose(sim.torque - plain.torque, torque, rtol=0.0,
                           atol=0.1 * (1e-3 * scale + 1e-11 * np.max(np.abs(plain.force))))
        corrected += np.count_nonzero(found)
    assert corrected > 20
