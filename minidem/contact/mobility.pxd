"""Effective mass and rolling inertia of a contact, taken once when it begins.

1 / m* = sum over both bodies of 1 / m + (r x n) . I^-1 (r x n): the change of the approach velocity per impulse along
the normal, for the arm r from the centre of mass to the contact point. With it the dashpot of a law gives a single
contact of two rigid bodies of any shape the restitution of the material; several contacts that act together damp more
(FRICTION.md). Of spheres it is m_i m_j / (m_i + m_j). With `mass=clump` the second term is left out, as in other codes.
"""
from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.quaternion cimport rotate_back
from minidem.core.vec3 cimport Vec3, cross, dot, times
from minidem.state.rows cimport ConstantBlock, load, load_quat
from minidem.state.state cimport StateView, clump_of, clumps_of, constants_of, member


cdef inline double inverse_mass_of(const StateView *state, int sphere) noexcept nogil:
    """Of the clump of a sphere [1/kg]."""
    cdef int clump = clump_of(state, sphere)
    return constants_of(state, row_of(clump)).inverse_mass[lane_of(clump)]


cdef inline double mobility(const StateView *state, int sphere, Vec3 normal) noexcept nogil:
    """Acceleration along a normal of the point of the clump under a sphere, per force along it [1/kg].

    The arm to the contact point and that to the centre of the sphere differ by a vector along the normal.
    """
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const ConstantBlock *constants = constants_of(state, row_of(clump))
    cdef Vec3 arm = cross(load(member(state, row_of(sphere)) + lane),
                          rotate_back(load_quat(clumps_of(state, row_of(clump)).orientation + lane), normal))
    return constants.inverse_mass[lane] + dot(arm, times(load(constants.inverse_inertia + lane), arm))
