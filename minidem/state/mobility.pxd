"""How far a force moves a sphere of a clump, which may be held (HOLD of bodies.py)."""
from minidem.core.lanes cimport lane_of, row_of
from minidem.core.quaternion cimport rotate_back
from minidem.core.vec3 cimport Vec3, add, cross, dot, times
from minidem.state.rows cimport FREE, PINNED, ConstantBlock, HoldBlock, load, load_quat
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, hold_of, member


cdef inline Vec3 turning_of(const StateView *state, int sphere, Vec3 normal) noexcept nogil:
    """Torque on a clump, body frame, about its centre or pin, per force along the normal under one of its spheres [m].

    The arm to the contact point and that to the centre of the sphere differ by a vector along the normal.
    """
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef Vec3 offset = load(member(state, row_of(sphere)) + lane)
    if hold != NULL:
        offset = add(offset, load(hold.arm + lane))
    return cross(offset, rotate_back(load_quat(clumps_of(state, row_of(clump)).orientation + lane), normal))


cdef inline double response(const StateView *state, int sphere, Vec3 normal, Vec3 turning, Vec3 force,
                            Vec3 torque) noexcept nogil:
    """Acceleration along a normal of the point of a clump under a sphere by a force and a torque.

    turning, torque : see turning_of.  force : lab
    """
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ConstantBlock *constants = constants_of(state, row_of(clump))
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef Vec3 inverse = load(constants.inverse_inertia + lane), axis
    if hold == NULL or hold.kind[lane] == FREE:
        return constants.inverse_mass[lane] * dot(normal, force) + dot(turning, times(inverse, torque))
    axis = rotate_back(load_quat(clumps_of(state, row_of(clump)).orientation + lane), load(hold.axis + lane))
    return constants.inverse_mass[lane] * dot(times(load(hold.free + lane), normal), force) \
        + hold.turns[lane] * dot(turning, times(inverse, torque)) + inverse.x * (dot(axis, turning) * dot(axis, torque))


cdef inline double mobility_of(const StateView *state, int sphere, Vec3 normal, bint turns) noexcept nogil:
    """Acceleration along a normal of the point of the clump under a sphere, per force along it [1/kg].

    turns : with the rotation; else of the clump as a point, also at a pin.
    """
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ConstantBlock *constants = constants_of(state, row_of(clump))
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef bint held = hold != NULL and hold.kind[lane] != FREE
    cdef Vec3 turning
    if not turns:
        return constants.inverse_mass[lane] * (dot(times(load(hold.free + lane), normal), normal)
                                               if held and hold.kind[lane] != PINNED else 1.0)
    turning = turning_of(state, sphere, normal)
    if held:
        return response(state, sphere, normal, turning, normal, turning)
    return constants.inverse_mass[lane] + dot(turning, times(load(constants.inverse_inertia + lane), turning))


cdef inline int carrier_of(const StateView *state, int sphere) noexcept nogil:
    """Number of the wall that carries the clump of a sphere; -1: none."""
    cdef int clump = clump_of(state, sphere)
    return -1 if state.holds == NULL else <int> hold_of(state, row_of(clump)).wall[lane_of(clump)]
