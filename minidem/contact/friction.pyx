"""A law with friction: the sum of its parts (part.pxd), chosen by the values of its parameters."""
from minidem.contact.parts.words import ROLLING, TANGENTIAL

from libc.string cimport memset

from minidem.contact.friction_records cimport FRICTION_RECORDS
from minidem.contact.law cimport MAX_LAW_PARAMETERS, LawKernels
from minidem.contact.part cimport NORMAL_ROWS, PartCall
from minidem.contact.rows cimport DESCRIPTION_ROWS, DISSIPATED
from minidem.core.lanes cimport LANES


cdef inline const PartCall *parts_of(const double *parameters) noexcept nogil:
    """The parts of the law with these parameters, see Law."""
    return <const PartCall *> (<void **> (parameters + <int> MAX_LAW_PARAMETERS) + 1)


cdef void forces(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    cdef double normal[NORMAL_ROWS * LANES]
    cdef const PartCall *part = parts_of(parameters)
    memset(result, 0, <int> (DISSIPATED + 4) * LANES * sizeof(double))
    while part.forces != NULL:
        part.forces(contact, history, history + 4 * LANES * part.first, normal, result, parameters)
        part += 1


cdef void describe(const double *contact, double *history, double *result, const double *parameters) noexcept nogil:
    cdef double normal[NORMAL_ROWS * LANES]
    cdef const PartCall *part = parts_of(parameters)
    memset(result, 0, <int> DESCRIPTION_ROWS * LANES * sizeof(double))
    while part.forces != NULL:
        part.describe(contact, history, history + 4 * LANES * part.first, normal, result, parameters)
        part += 1


def friction_kernels(normal, values):
    """LawKernels of a normal part and those that the parameters choose; values : of the parameters, by name."""
    parts = (normal, TANGENTIAL[values["tangential"]], ROLLING[values["rolling"]])
    return LawKernels(history=<size_t> forces, describe=<size_t> describe, n_records=FRICTION_RECORDS,
                      parts=tuple(part for part in parts if part is not None))
