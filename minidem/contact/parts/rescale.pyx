"""Tangential model: dT = -k a ds while the contact grows, d(T / a) = -k ds while it shrinks; creates no energy.

The stiffness is k a: for spheres k = 8 G*. Displacement s of the contact points.
"""
from minidem.contact.law cimport Part
from minidem.contact.part cimport GivenRows
from minidem.contact.rows cimport OwnRows
from minidem.contact.spring cimport rescaled
from minidem.contact.tangential cimport describe_friction, friction_forces


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    friction_forces(rescaled, contact, history, normal, result)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    describe_friction(rescaled, contact, history, normal, result)


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
