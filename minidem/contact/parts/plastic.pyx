"""Normal part of `plastic=walton-braun`: a spring that is stiffer when it unloads, in place of spring and dashpot.

O. R. Walton & R. L. Braun, J. Rheol. 30, 949 (1986), doi 10.1122/1.549893:

    F_n = max(k_2 d - (k_2 - k) d_max, 0)       largest overlap d_max of this contact so far
    k_2 = k / e^2                               so that e is the restitution at any speed, of any number of contacts

The elastic energy is F_n^2 / (2 k_2). As d_max grows, k (1 - e^2) (d_max^2 - d_before^2) / 2 is dissipated. No dashpot
acts along the normal; the one of friction has the coefficient that the dashpot of the same e would have.
"""
from libc.math cimport sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    DAMPING, FRICTION_LIMIT, LOADING, STIFFNESS, LawParameters, NormalForces, OwnFriction, OwnNormal, load_of, positive,
    predicted, store_normal,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport dot


cdef inline double force_at(GivenContact contact, double largest, int lane) noexcept nogil:
    """F_n [N]; with a largest overlap of zero, which no contact has, that of the stiffer spring."""
    cdef double unloading = contact.coefficients[STIFFNESS][lane]
    return positive(unloading * (contact.overlap[lane] - (1.0 - contact.coefficients[LOADING][lane]) * largest), 0.0)


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    """own : d_max, in the first of four rows."""
    cdef NormalForces found
    cdef double lost[LANES]
    cdef double overlap, largest, part, approach
    cdef int lane
    for lane in range(LANES):
        overlap, part = contact.overlap[lane], contact.coefficients[LOADING][lane]
        largest = overlap if overlap > own[lane] else own[lane]
        lost[lane] = 0.5 * contact.coefficients[STIFFNESS][lane] * part * (1.0 - part) \
            * (largest * largest - own[lane] * own[lane]) if contact.step[lane] > 0.0 else 0.0
        own[lane] = largest
        found.force[lane], found.damping[lane] = force_at(contact, largest, lane), 0.0
        found.kept[lane] = normal.contact_radius[lane] = 1.0 if overlap > 0.0 else 0.0
        normal.old_radius[lane] = normal.keeps[lane] = 1.0
        normal.old[lane] = 1.0 if history.radius[lane] != 0.0 else 0.0
        approach = -contact.step[lane] * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
        normal.stretched[lane] = overlap / approach if normal.old[lane] == 0.0 and 0.0 < overlap < approach else 1.0
        normal.dashpot[lane] = contact.coefficients[DAMPING][lane] * sqrt(contact.mass[lane])
        normal.load[lane] = load_of(found.force[lane], parameters.values[FRICTION_LIMIT])
        store3(normal.pose_velocity, lane, predicted(load3(contact.velocity, lane), load3(history.slip, lane),
                                                     normal.old[lane]))
    store_normal(contact, history, result, &found)
    for lane in range(LANES):
        result.dissipated[0][lane] = lost[lane]


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef double force
    cdef int lane
    for lane in range(LANES):
        force = force_at(contact, own[lane], lane)
        energies.normal_energy[lane] = 0.5 * force * force / contact.coefficients[STIFFNESS][lane]
        normal.contact_radius[lane] = normal.old_radius[lane] = 1.0 if contact.overlap[lane] > 0.0 else 0.0
        normal.load[lane] = load_of(history.normal_force[lane], parameters.values[FRICTION_LIMIT])


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=1)
