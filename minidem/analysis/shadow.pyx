# distutils: extra_compile_args = -O2
"""Shadow Hamiltonian of the leapfrog in contacts.

While contacts neither begin nor end, the leapfrog conserves H + dt^2 [U_free / 12 - F.M^-1.F / 24] + O(dt^4) instead
of H, with velocities at the whole step (E. Hairer, C. Lubich, G. Wanner, Acta Numerica 12, 399 (2003), section 4, doi
10.1017/S0962492902000144). U_free is the second time derivative of the elastic energy along the motion without forces;
F.M^-1.F is the sum of force^2 / m and torque.I^-1.torque over the clumps. With the force F = k d^p at the overlap d,
U_free is the sum of F (p d'^2 / d + d'') over the contacts; d'' is due to the rotation of the clumps and, between
spheres, of the line of their centres. The gravitational energy is linear in the position and has no such term.
This expansion does not hold at the first and the last sample of a contact, within a step of the kink of its force.
There the contact has changed the kinetic energy by one half kick, F d' dt / 2, with its onset correction, if any:
elastic energy minus half kick take the place of the expansion. At other samples the half kick of a correction is left
out.

Peak-to-peak values of the energy within an oblique collision of two rods, relative to the initial energy, at a hundred
steps per contact: total 1.7e-4, lasting 4e-8 with spiral, spiral-omelyan, omelyan, no-squish, fincham; lasting 1e-6
with velocity-verlet and fincham-published, 6e-6 with pfc4, of order dt by the scheme. rk4 and improved-pcdm have other
terms of order dt^2, which remain (5e-5, 2e-4), all other schemes errors of order dt, 2e-3 to 3e-2, of both energies.
"""
from libc.math cimport fabs

from minidem.core.lanes cimport lane_of, row_of
from minidem.core.quaternion cimport Quat, rotate
from minidem.core.vec3 cimport Vec3, add, cross, dot, sub, times, vec3
from minidem.state.rows cimport ClumpBlock, ConstantBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport State, StateView, clumps_of, constants_of, wrench_of

cdef struct Motion:
    Vec3 velocity               # [m/s]
    Vec3 acceleration           # [m/s2]


cdef inline Motion free_motion(const StateView *state, unsigned int slot, const double *centre, const double *velocity,
                               const double *body_rate) noexcept nogil:
    """Motion of the centre of a sphere of the clump in a slot, without force and torque; lab frame."""
    cdef const ClumpBlock *clumps = clumps_of(state, row_of(slot))
    cdef const ConstantBlock *constants = constants_of(state, row_of(slot))
    cdef int lane = lane_of(slot)
    cdef Quat q = load_quat(clumps.orientation + lane)
    cdef Vec3 spin = vec3(body_rate[0], body_rate[1], body_rate[2])
    cdef Vec3 gyroscopic = cross(times(load(constants.inertia + lane), spin), spin)
    cdef Vec3 rate = rotate(q, spin)
    cdef Vec3 change = rotate(q, times(load(constants.inverse_inertia + lane), gyroscopic))
    cdef Vec3 arm = sub(vec3(centre[0], centre[1], centre[2]), load(clumps.position + lane))
    cdef Vec3 turning = cross(rate, arm)
    cdef Motion motion
    motion.velocity = add(vec3(velocity[0], velocity[1], velocity[2]), turning)
    motion.acceleration = add(cross(change, arm), cross(rate, turning))
    return motion


cdef double squared_forces(const StateView *state, const int[::1] clump_slot, Vec3 gravity) noexcept nogil:
    """F.M^-1.F of all clumps, without the constant share of gravity alone."""
    cdef double total = 0.0
    cdef Py_ssize_t k
    cdef const WrenchBlock *wrench
    cdef const ConstantBlock *constants
    cdef int lane
    cdef Vec3 force, torque
    for k in range(clump_slot.shape[0]):
        wrench, lane = wrench_of(state, row_of(clump_slot[k])), lane_of(clump_slot[k])
        constants = constants_of(state, row_of(clump_slot[k]))
        force, torque = load(wrench.force + lane), load(wrench.torque + lane)
        total += (dot(force, force) * constants.inverse_mass[lane] - constants.mass[lane] * dot(gravity, gravity)
                  + dot(torque, times(load(constants.inverse_inertia + lane), torque)))
    return total


def shadow_terms(contacts, State state, const double[:, ::1] velocity, const double[:, ::1] body_rate,
                 const double[:, ::1] image, gravity, double dt, double power):
    """Terms of order dt^2 of the shadow Hamiltonian [J]; 0 without contacts. Forces must be known.

    contacts : structured array of CONTACT;  velocity (n, 3) lab and body_rate (n, 3) principal frame, of all clumps at
    the whole step;  image (n_contacts, 3) lab, of the images of the second spheres that touch, relative to these;
    power : exponent p of the overlap in the force.

    Forces of users enter F.M^-1.F, but their potential is unknown: the oscillation that they cause remains.
    """
    cdef const int[:] clump_i = contacts["clump_i"], clump_j = contacts["clump_j"]
    cdef const int[:] sphere_i = contacts["sphere_i"], sphere_j = contacts["sphere_j"]
    cdef const double[:] overlap = contacts["overlap"], energy = contacts["energy"]
    cdef const double[:, :] normals = contacts["normal"], forces = contacts["force"]
    cdef const int[::1] clump_slot = state.clump_slot, sphere_slot = state.sphere_slot
    cdef const StateView *view = &state.view
    cdef double kicks = 0.0, elastic = 0.0, rate, second, force, half_kick
    cdef Py_ssize_t k
    cdef const double *a
    cdef const double *b
    cdef Motion motion, other
    cdef Vec3 normal, between
    for k in range(overlap.shape[0]):
        normal = vec3(normals[k, 0], normals[k, 1], normals[k, 2])
        a = view.spheres + 4 * <Py_ssize_t> sphere_slot[sphere_i[k]]
        motion = free_motion(view, clump_slot[clump_i[k]], a, &velocity[clump_i[k], 0], &body_rate[clump_i[k], 0])
        second = 0.0
        if sphere_j[k] >= 0:
            b = view.spheres + 4 * <Py_ssize_t> sphere_slot[sphere_j[k]]
            other = free_motion(view, clump_slot[clump_j[k]], b, &velocity[clump_j[k], 0], &body_rate[clump_j[k], 0])
            motion.velocity = sub(sub(motion.velocity, other.velocity), vec3(image[k, 0], image[k, 1], image[k, 2]))
            motion.acceleration = sub(motion.acceleration, other.acceleration)
            between = cross(normal, motion.velocity)
            second = -dot(between, between) / (a[3] + b[3] - overlap[k])
        rate = -dot(normal, motion.velocity)
        second -= dot(normal, motion.acceleration)
        half_kick = 0.5 * dt * fabs(rate) * dot(normal, vec3(forces[k, 0], forces[k, 1], forces[k, 2]))
        if overlap[k] < dt * fabs(rate):
            kicks += half_kick - energy[k]
        else:
            force = (power + 1.0) * energy[k] / overlap[k]
            kicks -= half_kick - 0.5 * dt * fabs(rate) * force              # of the onset correction
            elastic += force * (power * rate * rate / overlap[k] + second)
    if overlap.shape[0] == 0:
        return 0.0
    return kicks + dt * dt * (
        elastic / 12.0 - squared_forces(view, clump_slot, vec3(gravity[0], gravity[1], gravity[2])) / 24.0)
