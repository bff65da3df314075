"""Clumps that are held: fixed, moved with a constant velocity, free along some axes, or turning about an axis or a pin.

HOLD of bodies.py says how. Forces move the centre along the axes of the lab that are free; along the others
the velocity stays what it is. A torque turns a clump that is free to rotate, or its component along the only axis does;
else the angular velocity stays. In both cases the three moments are equal, so that any rotation scheme keeps the axis.
About a pin the torque is that of the forces at the centre, too, the moments are those about the pin, and the velocity
of the centre follows from the rotation. A clump that a wall carries has the displacement and the turn of this wall.
"""
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.quaternion cimport Quat, rotate_back
from minidem.core.vec3 cimport Vec3, add, cross, dot, times
from minidem.state.rows cimport PINNED, ClumpBlock, ConstantBlock, HoldBlock, WrenchBlock, load, load_quat
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, hold_of, member
from minidem.walls.surface cimport WallPose

cdef const WrenchBlock *held_wrench(const StateView *state, Py_ssize_t block, const WrenchBlock *wrench,
                                    WrenchBlock *room) noexcept nogil
cdef void follow(const StateView *state, Py_ssize_t block, const double *old, double dt, const WallPose *walls,
                 Py_ssize_t n_walls) noexcept nogil
cdef void follow_rates(const HoldBlock *hold, ClumpBlock *clumps, const WallPose *walls,
                       double *velocity) noexcept nogil
cdef int carrier_of(const StateView *state, int sphere) noexcept nogil


cdef inline double held_mobility(const HoldBlock *hold, const ConstantBlock *constants, int lane, Vec3 offset, Quat q,
                                 Vec3 normal, bint turns) noexcept nogil:
    """Acceleration of a sphere at an offset along a normal, per force along it [1/kg].

    turns : with the rotation; else of the clump as a point, also at a pin.
    """
    cdef Vec3 arm = cross(add(offset, load(hold.arm + lane)), rotate_back(q, normal))
    cdef double mobility = constants.inverse_mass[lane] * dot(times(load(hold.free + lane), normal), normal)
    cdef double about = dot(rotate_back(q, load(hold.axis + lane)), arm)
    if not turns:
        return constants.inverse_mass[lane] if hold.kind[lane] == PINNED else mobility
    return mobility + hold.turns[lane] * dot(arm, times(load(constants.inverse_inertia + lane), arm)) \
        + constants.inverse_inertia[lane] * (about * about)


cdef inline double mobility_of(const StateView *state, int sphere, Vec3 normal, bint turns) noexcept nogil:
    """Acceleration along a normal of the point of the clump under a sphere, per force along it [1/kg].

    The arm to the contact point and that to the centre of the sphere differ by a vector along the normal.
    """
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ConstantBlock *constants = constants_of(state, row_of(clump))
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef Quat q = load_quat(clumps_of(state, row_of(clump)).orientation + lane)
    cdef Vec3 offset = load(member(state, row_of(sphere)) + lane), arm
    if hold != NULL:
        return held_mobility(hold, constants, lane, offset, q, normal, turns)
    if not turns:
        return constants.inverse_mass[lane]
    arm = cross(offset, rotate_back(q, normal))
    return constants.inverse_mass[lane] + dot(arm, times(load(constants.inverse_inertia + lane), arm))
