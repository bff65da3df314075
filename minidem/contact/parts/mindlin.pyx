"""Tangential model: T = -k a xi, with the displacement xi kept and cut where T reaches its limit.

The stiffness is k a: for spheres k = 8 G*. The displacement xi of the contact points is turned with the contact. A
contact that grows at a given xi gains energy, one that shrinks loses it: FRICTION.md.
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


cdef inline Stretch displaced(double stiffness, double a_old, double a) noexcept nogil:
    cdef Stretch stretch
    cdef double first = positive(a_old, positive(a, 1.0)), second = positive(a, first)
    cdef double twice = positive(2.0 * stiffness, 1.0), inverse = 1.0 / (twice * first * second)
    stretch.compliance_old, stretch.compliance = inverse * second, inverse * first
    stretch.kept, stretch.added = second * (stretch.compliance_old * twice), second
    return stretch


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    friction_forces(displaced, contact, history, normal, result)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    describe_friction(displaced, contact, history, normal, result)


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
