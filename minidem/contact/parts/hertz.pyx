"""Normal part: F_e = 4/3 E* a d, contact radius a = sqrt(R* d), of Hertz."""
from minidem.contact.damped_normal cimport describe_normal, normal_forces
from minidem.contact.law cimport Part
from minidem.contact.part cimport GivenRows
from minidem.contact.rows cimport OwnRows


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    normal_forces(True, contact, history, normal, result, parameters)


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    describe_normal(True, contact, history, normal, result, parameters)


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
