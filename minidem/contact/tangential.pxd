"""Friction: a spring T, stretched by the motion of the contact point, with a dashpot; |T + T_d| <= mu L.

The three lines of `forces` and `describe` of a file in parts/ and its `StretchRule` are a tangential model.
"""
from minidem.contact.friction_records cimport (
    DASHPOT, FRICTION, SPRING, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS, record, record_of,
)
from minidem.contact.part cimport CONTACT_RADIUS, DASHPOT_COEFFICIENT, GivenRows, LOAD, POSE_VELOCITY
from minidem.contact.rows cimport COEFFICIENTS, DISSIPATED, FORCE, OwnRows, SLIDING, TANGENTIAL_ENERGY, VELOCITY
from minidem.contact.spring cimport Springs, Stretch, StretchRule, resist
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, dot
from minidem.state.rows cimport load

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """


cdef inline void friction_forces(StretchRule rule, GivenRows contact, OwnRows history, OwnRows normal,
                                 OwnRows result) noexcept nogil:
    """A `PartFunction`; rule : constant at compile time."""
    cdef Springs friction
    cdef const double *of_pair = contact + COEFFICIENTS * LANES
    cdef int lane
    for lane in range(LANES):
        friction.stiffness[lane] = of_pair[TANGENTIAL_STIFFNESS * LANES + lane]
        friction.coefficient[lane] = of_pair[TANGENTIAL_DAMPING * LANES + lane] \
            * normal[DASHPOT_COEFFICIENT * LANES + lane]
        friction.limit[lane] = of_pair[FRICTION * LANES + lane] * normal[LOAD * LANES + lane]
    resist(rule, contact, contact + VELOCITY * LANES, normal + POSE_VELOCITY * LANES, record_of(history, SPRING),
           record_of(history, DASHPOT), normal, &friction, result + FORCE * LANES)
    for lane in range(LANES):
        result[(DISSIPATED + 1) * LANES + lane] = friction.by_dashpot[lane]
        result[(DISSIPATED + 2) * LANES + lane] = friction.by_spring[lane]


cdef inline void describe_friction(StretchRule rule, GivenRows contact, OwnRows history, OwnRows normal,
                                   OwnRows result) noexcept nogil:
    """Likewise: the energy of the spring, and whether the contact slides."""
    cdef const double *of_pair = contact + COEFFICIENTS * LANES
    cdef double a, limit
    cdef Stretch stretch
    cdef Vec3 spring, total
    cdef int lane
    for lane in range(LANES):
        a, limit = normal[CONTACT_RADIUS * LANES + lane], of_pair[FRICTION * LANES + lane] * normal[LOAD * LANES + lane]
        stretch = rule(of_pair[TANGENTIAL_STIFFNESS * LANES + lane], a, a)
        spring = load(record(history, SPRING) + lane)
        total = add(spring, load(record(history, DASHPOT) + lane))
        result[TANGENTIAL_ENERGY * LANES + lane] = dot(spring, spring) * stretch.compliance
        result[SLIDING * LANES + lane] = 1.0 if dot(total, total) >= limit * limit * (1.0 - 1e-9) else 0.0
