"""Normal part: F_e = k d; the contact radius is 1, so that no stiffness depends on it."""
from minidem.contact.damped_normal cimport describe_normal, normal_forces
from minidem.contact.law cimport Part
from minidem.contact.part cimport GivenRows
from minidem.contact.rows cimport OwnRows


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    normal_forces(False, contact, history, normal, result, parameters)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    describe_normal(False, contact, history, normal, result, parameters)


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
