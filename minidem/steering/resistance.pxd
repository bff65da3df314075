"""Resistances of contacts to the motion of walls and box: these have masses for which the step resolves them."""
from libc.math cimport sqrt

from minidem.contact.blocks cimport ContactBlock, history_of
from minidem.contact.law cimport Law
from minidem.contact.part cimport (
    DAMPING, FRICTION, FrictionHistory, STIFFNESS, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS,
)
from minidem.core.eight cimport Eight, Eight3, dot3, eight_of, eight_where, load_eight, store_eight
from minidem.core.lanes cimport LANES

cdef extern from "core/eight.h" nogil:
    Eight magnitude "MINIDEM_MAGNITUDE"(Eight x)

cdef enum:
    RESISTANCE_UNIT = 1 << 24       # unit of the sums of resistances / unit of energies

cdef extern from *:
    const double LEAST_LENGTH "1e-150"      # [m]


cdef inline Eight root(Eight x) noexcept nogil:
    cdef double row[LANES]
    cdef int lane
    store_eight(row, x)
    for lane in range(LANES):
        row[lane] = sqrt(row[lane])
    return load_eight(row)


cdef inline Eight coefficients(const Law *law, const ContactBlock *block, int k) noexcept nogil:
    cdef double row[LANES]
    cdef int lane
    if law.log_materials == 0:
        return eight_of(law.coefficients[k])
    for lane in range(LANES):
        row[lane] = law.coefficients[block.materials[lane] * law.n_coefficients + k]
    return load_eight(row)


cdef inline void find_resistances(const Law *law, const ContactBlock *block, Eight3 force, Eight overlap,
                                  Eight *along, Eight *across) noexcept nogil:
    """Resistances of contacts to displacements along and across their normals, see `md.Pressure` [N/m].

    They are c / dt + k / 4, with the dashpot c and the spring k: by the coefficients of a law with friction, and by the
    force of a law without history. Those of bonds and laws of the user are unknown: take the stiffest spring and the
    strongest dashpot which the step resolves.

    force : on the first bodies [N].  overlap : [m].
    """
    cdef Eight mass = load_eight(block.mass), radius, dashpot, rate = eight_of(1.0 / law.dt)
    if law.history == NULL:
        along[0] = eight_of(0.25 * law.power) * root(dot3(force, force)) / (overlap + eight_of(LEAST_LENGTH))
        across[0] = eight_of(0.0)
    elif law.parameters.parts[0].forces == NULL or law.rare_records > 0:
        along[0] = across[0] = eight_of(1.25) * mass * (rate * rate)
    else:
        radius = magnitude(load_eight((<const FrictionHistory *> history_of(block)).radius))
        dashpot = coefficients(law, block, DAMPING) * root(mass * radius) * rate
        along[0] = dashpot + eight_of(0.25 * law.power) * coefficients(law, block, STIFFNESS) * radius
        across[0] = eight_where(
            coefficients(law, block, FRICTION), dashpot * coefficients(law, block, TANGENTIAL_DAMPING)
            + eight_of(0.25) * coefficients(law, block, TANGENTIAL_STIFFNESS) * radius)
