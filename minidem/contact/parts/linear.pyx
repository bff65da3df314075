"""Tangential model: T = -k xi, with one stiffness k whatever the contact radius, and the displacement xi kept.

Displacement xi of the contact points, turned with the contact and cut where T reaches its limit.
"""
from minidem.contact.law cimport Part
from minidem.contact.part cimport GivenRows
from minidem.contact.rows cimport OwnRows
from minidem.contact.spring cimport Stretch, positive
from minidem.contact.tangential cimport describe_friction, friction_forces

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """


cdef inline Stretch linear(double stiffness, double a_old, double a) noexcept nogil:
    cdef Stretch stretch
    stretch.kept = stretch.added = 1.0
    stretch.compliance_old = stretch.compliance = 1.0 / positive(2.0 * stiffness, 1.0)
    return stretch


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    friction_forces(linear, contact, history, normal, result)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    describe_friction(linear, contact, history, normal, result)


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
