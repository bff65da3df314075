"""Normal parts without cohesion: HERTZ, F_e = 4/3 E* a d, contact radius a = sqrt(R* d), and HOOKE, F_e = k d.

For HOOKE the contact radius is 1, so that no stiffness depends on it. damped_normal.pxd has the formulas.
"""
from minidem.contact.damped_normal cimport describe_normal, normal_forces
from minidem.contact.law cimport Part
from minidem.contact.part cimport GivenRows
from minidem.contact.rows cimport OwnRows


cdef void hertz(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                GivenRows parameters) noexcept nogil:
    normal_forces(True, contact, history, normal, result, parameters)


cdef void describe_hertz(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                         GivenRows parameters) noexcept nogil:
    describe_normal(True, contact, history, normal, result, parameters)


cdef void hooke(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                GivenRows parameters) noexcept nogil:
    normal_forces(False, contact, history, normal, result, parameters)


cdef void describe_hooke(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                         GivenRows parameters) noexcept nogil:
    describe_normal(False, contact, history, normal, result, parameters)


HERTZ = Part(forces=<size_t> hertz, describe=<size_t> describe_hertz)
HOOKE = Part(forces=<size_t> hooke, describe=<size_t> describe_hooke)
