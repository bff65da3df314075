"""Clumps that are held: see hold.pxd. Here are their Holds, and what the time loop does with them, block by block."""
import numpy as np

from minidem.core import quaternions
from minidem.core.checks import refuse
from minidem.state.bodies import FREE_HOLD
from minidem.templates.mass.mass_properties import quaternion

from minidem.core.quaternion cimport Quat, multiply, normalise, quat, rotate, rotate_back
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub, times
from minidem.state.rows cimport CARRIED, FREE, PINNED, load, load_quat, store, store_quat
from minidem.state.state cimport clumps_of, hold_of
from minidem.walls.surface cimport from_wall, to_wall, vector, velocity_with

FAR = 1e12          # of a pin, over a radius of gyration: rounding changes the smallest moment by 1e-6 at most


cdef const WrenchBlock *held_wrench(const StateView *state, Py_ssize_t block, const WrenchBlock *wrench,
                                    WrenchBlock *room) noexcept nogil:
    """The part of the wrenches of a block that moves its clumps, about pins; in the room if any of them is held."""
    cdef const HoldBlock *hold = hold_of(state, block)
    cdef const double *q = clumps_of(state, block).orientation
    cdef Vec3 force, torque, axis
    cdef int lane
    if hold == NULL:
        return wrench
    room[0] = wrench[0]
    for lane in range(LANES):
        if hold.kind[lane] == FREE:                     # no zero changes its sign
            continue
        force, torque = load(wrench.force + lane), load(wrench.torque + lane)
        axis = rotate_back(load_quat(q + lane), load(hold.axis + lane))
        torque = add(torque, cross(load(hold.arm + lane), rotate_back(load_quat(q + lane), force)))
        store(room.torque + lane, add_scaled(scale(hold.turns[lane], torque), dot(axis, torque), axis))
        store(room.force + lane, times(load(hold.free + lane), force))
    return room


cdef inline Quat turn_of(const WallPose *before, const WallPose *after) noexcept nogil:
    """The turn of a wall, by less than half a revolution, from one instant to another."""
    cdef Vec3 x = from_wall(after, vector(before.matrix)), y = from_wall(after, vector(before.matrix + 3))
    cdef Vec3 z = from_wall(after, vector(before.matrix + 6))           # columns of its matrix
    return normalise(quat(1.0 + x.x + y.y + z.z, y.z - z.y, z.x - x.z, x.y - y.x))


cdef void follow(const StateView *state, Py_ssize_t block, const double *old, double dt, const WallPose *walls,
                 Py_ssize_t n_walls) noexcept nogil:
    """Velocities of clumps at pins in a time in which they have turned from the orientations `old` (4, LANES); the
    same, and orientations, of clumps that walls carry. walls : n_walls poses now, behind the poses before."""
    cdef const HoldBlock *hold = hold_of(state, block)
    cdef ClumpBlock *clumps = clumps_of(state, block)
    cdef const WallPose *now
    cdef const WallPose *before
    cdef Vec3 arm, x
    cdef Quat q
    cdef int lane
    for lane in range(LANES if hold != NULL else 0):
        q, x, arm = load_quat(old + lane), load(clumps.position + lane), load(hold.arm + lane)
        if hold.kind[lane] == PINNED:
            store(clumps.velocity + lane, scale(1.0 / dt, sub(
                rotate(load_quat(clumps.orientation + lane), arm), rotate(q, arm))))
        elif hold.kind[lane] == CARRIED:
            now = walls + <int> hold.wall[lane]
            before = now - 2 * n_walls
            arm = sub(x, vector(before.position))
            x = add(sub(vector(now.position), vector(before.position)), sub(from_wall(now, to_wall(before, x)), arm))
            store(clumps.velocity + lane, scale(1.0 / dt, x))
            q = multiply(turn_of(before, now), q)
            store_quat(clumps.orientation + lane, q)
            store(clumps.angular_velocity + lane, rotate_back(q, vector(now.turning_now)))


cdef void follow_rates(const HoldBlock *hold, ClumpBlock *clumps, const WallPose *walls,
                       double *velocity) noexcept nogil:
    """Velocities (3, LANES) and `predicted` at the instant of the pose, of clumps at pins or carried by walls."""
    cdef const WallPose *wall
    cdef Quat q
    cdef int lane
    for lane in range(LANES if hold != NULL else 0):
        q = load_quat(clumps.orientation + lane)
        if hold.kind[lane] == PINNED:
            store(velocity + lane, rotate(q, cross(load(clumps.predicted + lane), load(hold.arm + lane))))
        elif hold.kind[lane] == CARRIED:
            wall = walls + <int> hold.wall[lane]
            store(velocity + lane, velocity_with(wall, load(clumps.position + lane)))
            store(clumps.predicted + lane, rotate_back(q, vector(wall.turning_now)))


def holds_of(state, clumps, free, turns, pin, wall=-1):
    """Holds of clumps (k,) of a state.

    free : (3,) bool.  turns : True, False, or the (3,) unit vector of an axis.  pin : (3,) a point in the lab, or None.
    wall : number of the one that carries them; -1: none
    """
    hold, frames = FREE_HOLD.repeat(len(clumps)), state.column("orientation")[clumps]
    if state.hold is not None:                          # of the templates
        frames = quaternions.multiply(frames, quaternions.conjugate(state.hold["frame"][clumps]))
    mass, kind, size = state.column("mass")[clumps], state.template_index[clumps], state.scale[clumps]
    arm = quaternions.rotate_back(frames, state.column("position")[clumps] - pin) if pin else np.zeros((len(clumps), 3))
    hold["free"], hold["turns"], hold["arm"] = np.where(pin is None, free, False), turns is True, arm
    own, squared = state.bodies.inertia[kind] * size[:, None] ** 5, np.sum(arm ** 2, axis=1)[:, None]
    refuse("pin", np.sqrt(squared[:, 0]), squared[:, 0] > FAR ** 2 * own.min(axis=1) / mass,
           f"a pin so many metres from a clump is more than {FAR:g} of its radii of gyration away; check the units")

    def about(axes):
        """Moments (k,) about axes (k, 3) through the pins. The sum of both matrices would round off the first."""
        return np.sum(own * axes ** 2, axis=1) + mass * np.sum(np.cross(arm, axes) ** 2, axis=1)

    hold["wall"] = 1.0 + wall
    if turns is False:
        hold["inertia"] = 1.0
    elif turns is not True:
        hold["axis"], along = turns, quaternions.rotate_back(frames, np.broadcast_to(turns, arm.shape))
        hold["inertia"] = about(along)[:, None]
    elif pin is not None:
        _, axes = np.linalg.eigh((own + mass[:, None] * squared)[:, :, None] * np.eye(3)
                                 - mass[:, None, None] * arm[:, :, None] * arm[:, None, :])
        hold["inertia"] = np.stack([about(axes[:, :, k]) for k in range(3)], axis=1)
        axes[:, :, 2] *= np.linalg.det(axes)[:, None]
        hold["frame"] = [quaternion(frame) for frame in axes]
        hold["arm"] = quaternions.rotate_back(hold["frame"], arm)
    hold["inertia"] /= size[:, None] ** 5
    return hold


def refuse_held(hold, box):
    """ValueError for clumps that are held in a periodic box that moves. hold : of a State, or None;  box : or None."""
    if hold is not None and box is not None and box.moves:
        raise ValueError("periodic: the box moves, and clumps that are held would have to move with it; let sim.deform "
                         "stop it, or free the clumps by sim.set_motion(ids)")


def motion_factors(state):
    """What energies and momenta count of each clump, as factors of (n_clumps, 3), arrays or 1.

    Three: of the translation; of the rotation; of the weight and the momentum, which a clump at a pin has.
    """
    hold = state.hold
    if hold is None:
        return 1.0, 1.0, 1.0
    turns = (hold["turns"] > 0.0) | hold["axis"].any(axis=1)
    pinned = (hold["arm"] != 0.0).any(axis=1)
    return hold["free"], turns[:, None].astype(float), np.where(pinned[:, None], 1.0 * turns[:, None], hold["free"])


def immovable(state):
    """(n_clumps,) bool, which clumps no force can move."""
    if state.hold is None:
        return np.zeros(state.n_clumps, dtype=bool)
    return ~np.hstack(motion_factors(state)[:2]).any(axis=1)


def pin_arms(state):
    """(n_clumps, 3) vectors from pins to centres of mass, lab frame [m]; zero without a pin."""
    return 0.0 if state.hold is None else quaternions.rotate(state.column("orientation"), state.hold["arm"])


def carriers(state):
    """(n_clumps,) numbers of the walls that carry the clumps, -1: none."""
    return np.full(state.n_clumps, -1) if state.hold is None else state.hold["wall"].astype(int) - 1
