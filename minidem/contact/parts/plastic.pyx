"""Normal part of plastic contacts: a spring that is stiffer when it unloads, in place of spring and dashpot.

`plastic=walton-braun`: O. R. Walton & R. L. Braun, J. Rheol. 30, 949 (1986), doi 10.1122/1.549893:

    F_n = max(k_2 d - (k_2 - k) d_max, 0)       largest overlap d_max of this contact so far
    k_2 = k / e^2                               so that e is the restitution at any speed, of any number of contacts

`plastic=luding`: S. Luding, Granul. Matter 10, 235 (2008), doi 10.1007/s10035-008-0099-x, eq. 4, with constant k_2: it
attracts down to -k_c d instead of 0, and along this line d_max falls, so that a contact that is pressed again follows
k_2 from there.

The elastic energy is F_n^2 / (2 k_2). As d_max grows, k (1 - e^2) (d_max^2 - d_before^2) / 2 is dissipated, and as it
falls, k_c (1 - e^2)^2 (d_before^2 - d_max^2) / (2 + 2 k_c / k_2). No dashpot acts along the normal; the one of friction
has the coefficient that the dashpot of the same e would have.
"""
from libc.math cimport sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    ADHESIVE_STIFFNESS, DAMPING, FRICTION_LIMIT, LOADING, STIFFNESS, LawParameters, NormalForces, OwnFriction,
    OwnNormal, load_of, positive, predicted, store_normal,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport dot


cdef inline double pull(GivenContact contact, bint attracts, int lane) noexcept nogil:
    """k_c d [N]"""
    return contact.coefficients[ADHESIVE_STIFFNESS][lane] * positive(contact.overlap[lane], 0.0) if attracts else 0.0


cdef inline double force_at(GivenContact contact, double largest, double pull, int lane) noexcept nogil:
    """F_n [N]; with a largest overlap of zero, which no contact has, that of the stiffer spring."""
    cdef double unloading = contact.coefficients[STIFFNESS][lane]
    cdef double spring = unloading * (contact.overlap[lane] - (1.0 - contact.coefficients[LOADING][lane]) * largest)
    return positive(spring + pull, 0.0) - pull


cdef inline double yielded(GivenContact contact, double largest, int lane) noexcept nogil:
    """d_max [m], which falls where the contact attracts as much as it can."""
    cdef double part = 1.0 - contact.coefficients[LOADING][lane]
    cdef double share = 1.0 + contact.coefficients[ADHESIVE_STIFFNESS][lane] / contact.coefficients[STIFFNESS][lane]
    cdef double least = share * positive(contact.overlap[lane], 0.0)
    return least / part if part * largest > least else largest


cdef inline void press(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                       const LawParameters *parameters, bint attracts) noexcept nogil:
    """own : d_max, in the first of four rows."""
    cdef NormalForces found
    cdef double lost[LANES]
    cdef double overlap, largest, part, approach, adhesive, after
    cdef int lane
    for lane in range(LANES):
        overlap, part = contact.overlap[lane], contact.coefficients[LOADING][lane]
        largest = overlap if overlap > own[lane] else own[lane]
        lost[lane] = 0.5 * contact.coefficients[STIFFNESS][lane] * part * (1.0 - part) \
            * (largest * largest - own[lane] * own[lane]) if contact.step[lane] > 0.0 else 0.0
        if attracts:
            adhesive, after = contact.coefficients[ADHESIVE_STIFFNESS][lane], yielded(contact, largest, lane)
            lost[lane] += 0.5 * adhesive * (1.0 - part) * (1.0 - part) * (largest * largest - after * after) \
                / (1.0 + adhesive / contact.coefficients[STIFFNESS][lane]) if contact.step[lane] > 0.0 else 0.0
            largest = after
        own[lane] = largest
        found.force[lane], found.damping[lane] = force_at(contact, largest, pull(contact, attracts, lane), lane), 0.0
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


cdef inline void tell(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                      const LawParameters *parameters, bint attracts) noexcept nogil:
    cdef double force
    cdef int lane
    for lane in range(LANES):
        force = force_at(contact, own[lane], pull(contact, attracts, lane), lane)
        energies.normal_energy[lane] = 0.5 * force * force / contact.coefficients[STIFFNESS][lane]
        normal.contact_radius[lane] = normal.old_radius[lane] = 1.0 if contact.overlap[lane] > 0.0 else 0.0
        normal.load[lane] = load_of(history.normal_force[lane], parameters.values[FRICTION_LIMIT])


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    press(contact, history, own, normal, result, parameters, False)


cdef void forces_luding(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                        const LawParameters *parameters) noexcept nogil:
    press(contact, history, own, normal, result, parameters, True)


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    tell(contact, history, own, normal, energies, parameters, False)


cdef void describe_luding(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                          Energies *energies, const LawParameters *parameters) noexcept nogil:
    tell(contact, history, own, normal, energies, parameters, True)


WALTON_BRAUN = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=1)
LUDING = Part(forces=<size_t> forces_luding, describe=<size_t> describe_luding, n_records=1)
