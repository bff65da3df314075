"""Rolling resistance: the elastic-plastic spring-dashpot model (EPSD, model C) of Ai et al. 2011; FRICTION.md.

A couple M, stretched by the relative rotation, with a dashpot M_d; |M + M_d| <= mu_r R* L.
"""
from libc.math cimport sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    LawParameters, OwnFriction, OwnNormal, ROLLING_DAMPING, ROLLING_FRICTION, ROLLING_STIFFNESS, Stretch,
    predicted,
)
from minidem.contact.spring cimport Springs, resist, rescaled
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot

cdef struct RollingHistory:         # three records; one number of each is not used
    Row spring[4]                   # M on i [N m]
    Row rate[4]                     # relative angular velocity, half a step before the pose [rad/s]
    Row dashpot[4]                  # M_d on i [N m]


cdef inline double stiffness_of(GivenContact contact, int lane) noexcept nogil:
    """Times the contact radius: k_r [N m]."""
    return contact.coefficients[ROLLING_STIFFNESS][lane] * (contact.radius[lane] * contact.radius[lane])


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    cdef RollingHistory *rolling = <RollingHistory *> own
    cdef Springs springs
    cdef Row velocity[3]
    cdef Vec3 w
    cdef int lane
    for lane in range(LANES):
        w = load3(contact.angular_velocity, lane)
        store3(velocity, lane, predicted(w, load3(rolling.rate, lane), normal.old[lane]))
        store3(rolling.rate, lane, w)
        springs.stiffness[lane] = stiffness_of(contact, lane)
        springs.coefficient[lane] = contact.coefficients[ROLLING_DAMPING][lane] * 2.0 * sqrt(
            contact.rolling_inertia[lane] * springs.stiffness[lane] * normal.contact_radius[lane])
        springs.limit[lane] = contact.coefficients[ROLLING_FRICTION][lane] * contact.radius[lane] * normal.load[lane]
    resist(rescaled, contact, contact.angular_velocity, velocity, rolling.spring, rolling.dashpot, normal, &springs,
           result.couple)
    for lane in range(LANES):
        result.dissipated[3][lane] = springs.by_spring[lane] + springs.by_dashpot[lane]


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef const RollingHistory *rolling = <const RollingHistory *> own
    cdef Stretch stretch
    cdef Row stiffness
    cdef int lane
    for lane in range(LANES):
        stiffness[lane] = stiffness_of(contact, lane)
    rescaled(contact, stiffness, normal, &stretch)
    for lane in range(LANES):
        energies.rolling_energy[lane] = dot(load3(rolling.spring, lane), load3(rolling.spring, lane)) \
            * stretch.compliance[lane]


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=sizeof(RollingHistory) // (4 * sizeof(Row)),
            has_couples=True)
