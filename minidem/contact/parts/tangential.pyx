"""Friction: a spring T, stretched by the motion of the contact point, with a dashpot; |T + T_d| <= mu L.

A model is a `StretchRule`, two functions that apply it, and a line of MODELS. The stiffness is k a, with the contact
radius a: for spheres k = 8 G*. s, xi: displacement of the contact points, turned with the contact.

    rescale     dT = -k a ds while the contact grows, d(T / a) = -k ds while it shrinks; creates no energy
    mindlin     T = -k a xi; a contact that grows at a given xi gains energy, one that shrinks loses it: FRICTION.md
    linear      T = -k xi, one stiffness whatever the contact radius

xi is cut where T reaches its limit.
"""
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    CONTACT_RADIUS, DASHPOT, DASHPOT_COEFFICIENT, FRICTION, GivenRows, LOAD, POSE_VELOCITY, SPRING, TANGENTIAL_DAMPING,
    TANGENTIAL_STIFFNESS, record,
)
from minidem.contact.rows cimport COEFFICIENTS, DISSIPATED, FORCE, OwnRows, SLIDING, TANGENTIAL_ENERGY, VELOCITY
from minidem.contact.spring cimport Springs, Stretch, StretchRule, positive, rescaled, resist
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, dot
from minidem.state.rows cimport load


cdef inline Stretch displaced(double stiffness, double a_old, double a) noexcept nogil:
    cdef Stretch stretch
    cdef double first = positive(a_old, positive(a, 1.0)), second = positive(a, first)
    cdef double twice = positive(2.0 * stiffness, 1.0), inverse = 1.0 / (twice * first * second)
    stretch.compliance_old, stretch.compliance = inverse * second, inverse * first
    stretch.kept, stretch.added = second * (stretch.compliance_old * twice), second
    return stretch


cdef inline Stretch constant(double stiffness, double a_old, double a) noexcept nogil:
    cdef Stretch stretch
    stretch.kept = stretch.added = 1.0
    stretch.compliance_old = stretch.compliance = 1.0 / positive(2.0 * stiffness, 1.0)
    return stretch


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
    resist(rule, contact, contact + VELOCITY * LANES, normal + POSE_VELOCITY * LANES, record(history, SPRING),
           record(history, DASHPOT), normal, &friction, result + FORCE * LANES)
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


cdef void rescale(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                  GivenRows parameters) noexcept nogil:
    friction_forces(rescaled, contact, history, normal, result)


cdef void describe_rescale(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                           GivenRows parameters) noexcept nogil:
    describe_friction(rescaled, contact, history, normal, result)


cdef void mindlin(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                  GivenRows parameters) noexcept nogil:
    friction_forces(displaced, contact, history, normal, result)


cdef void describe_mindlin(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                           GivenRows parameters) noexcept nogil:
    describe_friction(displaced, contact, history, normal, result)


cdef void linear(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    friction_forces(constant, contact, history, normal, result)


cdef void describe_linear(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                          GivenRows parameters) noexcept nogil:
    describe_friction(constant, contact, history, normal, result)


MODELS = {"rescale": Part(forces=<size_t> rescale, describe=<size_t> describe_rescale),         # the first: default
          "mindlin": Part(forces=<size_t> mindlin, describe=<size_t> describe_mindlin),
          "linear": Part(forces=<size_t> linear, describe=<size_t> describe_linear)}
