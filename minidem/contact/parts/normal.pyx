"""Normal parts without cohesion: HERTZ, F_e = 4/3 E* a d, contact radius a = sqrt(R* d), and HOOKE, F_e = k d.

For HOOKE the contact radius is 1, so that no stiffness depends on it. damped_normal.pxd has the formulas.
"""
from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult
from minidem.contact.damped_normal cimport describe_normal, normal_forces
from minidem.contact.law cimport Part
from minidem.contact.part cimport LawParameters, OwnFriction, OwnNormal


cdef void hertz(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                const LawParameters *parameters) noexcept nogil:
    normal_forces(True, contact, history, normal, result, parameters)


cdef void describe_hertz(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                         Energies *energies, const LawParameters *parameters) noexcept nogil:
    describe_normal(True, contact, history, normal, energies, parameters)


cdef void hooke(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                const LawParameters *parameters) noexcept nogil:
    normal_forces(False, contact, history, normal, result, parameters)


cdef void describe_hooke(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                         Energies *energies, const LawParameters *parameters) noexcept nogil:
    describe_normal(False, contact, history, normal, energies, parameters)


HERTZ = Part(forces=<size_t> hertz, describe=<size_t> describe_hertz)
HOOKE = Part(forces=<size_t> hooke, describe=<size_t> describe_hooke)
