"""Rolling resistance: the elastic-plastic spring-dashpot model (EPSD, model C) of Ai et al. 2011; FRICTION.md.

A couple M, stretched by the relative rotation, with a dashpot M_d; |M + M_d| <= mu_r R* L.
"""
from libc.math cimport sqrt

from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    CONTACT_RADIUS, GivenRows, LOAD, OLD, ROLLING_DAMPING, ROLLING_FRICTION, ROLLING_STIFFNESS, predicted, record,
    store_record,
)
from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COEFFICIENTS, COUPLE, DISSIPATED, OwnRows, RADIUS, ROLLING_ENERGY, ROLLING_INERTIA,
)
from minidem.contact.spring cimport Springs, Stretch, resist, rescaled
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot
from minidem.state.rows cimport load, store

cdef enum:                          # three numbers, and a fourth one
    SPRING = 0                      # M on i [N m]; -
    RATE = 1                        # relative angular velocity, half a step before the pose; -
    DASHPOT = 2                     # M_d on i [N m]; -
    RECORDS = 3

cdef inline double stiffness_of(GivenRows contact, int lane) noexcept nogil:
    """Times the contact radius: k_r [N m]."""
    return contact[(COEFFICIENTS + ROLLING_STIFFNESS) * LANES + lane] \
        * (contact[RADIUS * LANES + lane] * contact[RADIUS * LANES + lane])


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    cdef Springs rolling
    cdef const double *of_pair = contact + COEFFICIENTS * LANES
    cdef double velocity[3 * LANES]
    cdef Vec3 w
    cdef int lane
    for lane in range(LANES):
        w = load(contact + ANGULAR_VELOCITY * LANES + lane)
        store(velocity + lane, predicted(w, load(record(own, RATE) + lane), normal[OLD * LANES + lane]))
        store_record(own + lane, RATE, w, 0.0)
        rolling.stiffness[lane] = stiffness_of(contact, lane)
        rolling.coefficient[lane] = of_pair[ROLLING_DAMPING * LANES + lane] * 2.0 * sqrt(
            contact[ROLLING_INERTIA * LANES + lane] * rolling.stiffness[lane] * normal[CONTACT_RADIUS * LANES + lane])
        rolling.limit[lane] = of_pair[ROLLING_FRICTION * LANES + lane] * contact[RADIUS * LANES + lane] \
            * normal[LOAD * LANES + lane]
    resist(rescaled, contact, contact + ANGULAR_VELOCITY * LANES, velocity, record(own, SPRING),
           record(own, DASHPOT), normal, &rolling, result + COUPLE * LANES)
    for lane in range(LANES):
        result[(DISSIPATED + 3) * LANES + lane] = rolling.by_spring[lane] + rolling.by_dashpot[lane]


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    cdef double a
    cdef Stretch stretch
    cdef Vec3 spring
    cdef int lane
    for lane in range(LANES):
        a, spring = normal[CONTACT_RADIUS * LANES + lane], load(record(own, SPRING) + lane)
        stretch = rescaled(stiffness_of(contact, lane), a, a)
        result[ROLLING_ENERGY * LANES + lane] = dot(spring, spring) * stretch.compliance


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=RECORDS, has_couples=True)
