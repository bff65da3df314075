"""Clumps that are held: see hold.pxd. Here are their Holds, and what the time loop does with them, block by block."""
import numpy as np

from minidem.core import quaternions
from minidem.state.layout import FREE_HOLD
from minidem.templates.mass.mass_properties import quaternion

from minidem.core.quaternion cimport rotate
from minidem.core.vec3 cimport add_scaled, scale, sub
from minidem.state.rows cimport FREE, ClumpBlock, store


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


cdef void follow_pins(const StateView *state, Py_ssize_t block, const double *old, double dt) noexcept nogil:
    """Velocities of clumps at pins in a time in which they have turned from the orientations `old` (4, LANES)."""
    cdef const HoldBlock *hold = hold_of(state, block)
    cdef ClumpBlock *clumps = clumps_of(state, block)
    cdef Vec3 arm
    cdef int lane
    for lane in range(LANES if hold != NULL else 0):
        if hold.kind[lane] == PINNED:
            arm = load(hold.arm + lane)
            store(clumps.velocity + lane, scale(1.0 / dt, sub(
                rotate(load_quat(clumps.orientation + lane), arm), rotate(load_quat(old + lane), arm))))


cdef void follow_rates(const HoldBlock *hold, const double *orientation, const double *rate,
                       double *velocity) noexcept nogil:
    """Velocities (3, LANES) of clumps at pins from their angular velocities (3, LANES), principal frames."""
    cdef int lane
    for lane in range(LANES if hold != NULL else 0):
        if hold.kind[lane] == PINNED:
            store(velocity + lane, rotate(load_quat(orientation + lane), cross(
                load(rate + lane), load(hold.arm + lane))))


def template_frames(state):
    """(n_clumps, 4) rotations from the principal axes of the templates to the lab."""
    orientation = state.column("orientation")
    if state.hold is None:
        return orientation
    return quaternions.multiply(orientation, quaternions.conjugate(state.hold["frame"]))


def holds_of(state, clumps, free, turns, pin):
    """Holds of clumps (k,) of a state.

    free : (3,) bool.  turns : True, False, or the (3,) unit vector of an axis.  pin : (3,) a point in the lab, or None.
    """
    hold, frames = FREE_HOLD.repeat(len(clumps)), template_frames(state)[clumps]
    mass, kind, size = state.column("mass")[clumps], state.template_index[clumps], state.scale[clumps]
    arm = quaternions.rotate_back(frames, state.column("position")[clumps] - pin) if pin else np.zeros((len(clumps), 3))
    hold["free"], hold["turns"], hold["arm"] = np.where(pin is None, free, False), turns is True, arm
    moments = (state.bodies.inertia[kind] * size[:, None] ** 5)[:, :, None] * np.eye(3)
    moments += mass[:, None, None] * (np.sum(arm ** 2, axis=1)[:, None, None] * np.eye(3) - arm[:, :, None]
                                      * arm[:, None, :])
    if turns is False:
        hold["inertia"] = 1.0
    elif turns is not True:
        hold["axis"], along = turns, quaternions.rotate_back(frames, np.broadcast_to(turns, arm.shape))
        hold["inertia"] = np.einsum("ni,nij,nj->n", along, moments, along)[:, None]
    elif pin is not None:
        hold["inertia"], axes = np.linalg.eigh(moments)
        axes[:, :, 2] *= np.linalg.det(axes)[:, None]
        hold["frame"] = [quaternion(frame) for frame in axes]
        hold["arm"] = quaternions.rotate_back(hold["frame"], arm)
    return hold


def refuse_held(hold, box):
    """ValueError for clumps that are held in a periodic box that moves. hold : of a State, or None;  box : or None."""
    if hold is not None and box is not None and box.moves:
        raise ValueError("periodic: the box moves, and clumps that are held would have to move with it; let sim.deform "
                         "stop it, or free the clumps by sim.set_motion(ids)")


def shares(state):
    """What energies and momenta count of each clump, as factors that may be multiplied by (n_clumps, 3).

    Three: of the translation; of the rotation; of the weight and the momentum, which a clump at a pin has.
    """
    hold = state.hold
    if hold is None:
        return np.ones((1, 3)), np.ones((1, 1)), np.ones((1, 3))
    turns = (hold["turns"] > 0.0) | hold["axis"].any(axis=1)
    pinned = (hold["arm"] != 0.0).any(axis=1)
    return hold["free"], turns[:, None].astype(float), np.where(pinned[:, None], 1.0 * turns[:, None], hold["free"])


def immovable(state):
    """(n_clumps,) bool, which clumps no force can move."""
    return np.zeros(state.n_clumps, dtype=bool) if state.hold is None else ~np.hstack(shares(state)[:2]).any(axis=1)


def pin_arms(state):
    """(n_clumps, 3) vectors from pins to centres of mass, lab frame [m]; zero without a pin."""
    return 0.0 if state.hold is None else quaternions.rotate(state.column("orientation"), state.hold["arm"])


def drives(state):
    """Whether a held clump may do work: it moves along an axis, or turns, as no force changes it."""
    if state.hold is None:
        return False
    _, rotation, weight = shares(state)
    return bool((state.column("velocity")[weight == 0.0] != 0.0).any()
                or (state.column("angular_velocity")[rotation[:, 0] == 0.0] != 0.0).any())
