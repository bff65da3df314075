"""Friction: a spring T, stretched by the motion of the contact point, with a dashpot; |T + T_d| <= mu L.

A model is a `StretchRule` (part.pxd) and a line of MODELS. The stiffness is k a, with the contact radius a: for spheres
k = 8 G*. s, xi: displacement of the contact points, turned with the contact.

    rescale     dT = -k a ds while the contact grows, d(T / a) = -k ds while it shrinks; creates no energy
    mindlin     T = -k a xi; a contact that grows at a given xi gains energy, one that shrinks loses it: FRICTION.md
    linear      T = -k xi, one stiffness whatever the contact radius

xi is cut where T reaches its limit. Parameters of a model of its own, `model(rule, name=default)`, become parameters of
the laws; the rule reads them as contact.coefficients[MODEL], [MODEL + 1] and so on.
"""
from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    FRICTION, GivenNormal, LawParameters, OwnFriction, OwnNormal, OwnStretch, Stretch, TANGENTIAL_DAMPING,
    TANGENTIAL_STIFFNESS,
)
from minidem.contact.spring cimport Springs, positive, rescaled, resist
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, dot


cdef void rescale(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    rescaled(contact, stiffness, normal, stretch)


cdef void mindlin(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    cdef double first, second, twice, inverse
    cdef int lane
    for lane in range(LANES):
        first = positive(normal.old_radius[lane], positive(normal.contact_radius[lane], 1.0))
        second, twice = positive(normal.contact_radius[lane], first), positive(2.0 * stiffness[lane], 1.0)
        inverse = 1.0 / (twice * first * second)
        stretch.compliance_old[lane], stretch.compliance[lane] = inverse * second, inverse * first
        stretch.kept[lane], stretch.added[lane] = second * (stretch.compliance_old[lane] * twice), second


cdef void linear(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        stretch.kept[lane] = stretch.added[lane] = 1.0
        stretch.compliance_old[lane] = stretch.compliance[lane] = 1.0 / positive(2.0 * stiffness[lane], 1.0)


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    cdef Springs friction
    cdef int lane
    for lane in range(LANES):
        friction.stiffness[lane] = contact.coefficients[TANGENTIAL_STIFFNESS][lane]
        friction.coefficient[lane] = contact.coefficients[TANGENTIAL_DAMPING][lane] * normal.dashpot[lane]
        friction.limit[lane] = contact.coefficients[FRICTION][lane] * normal.load[lane]
    resist(parameters.rule, contact, contact.velocity, normal.pose_velocity, history.spring, history.dashpot, normal,
           &friction, result.force)
    for lane in range(LANES):
        result.dissipated[1][lane], result.dissipated[2][lane] = friction.by_dashpot[lane], friction.by_spring[lane]


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    """The energy of the spring, and whether the contact slides."""
    cdef Stretch stretch
    cdef Vec3 spring, total
    cdef double limit
    cdef int lane
    parameters.rule(contact, contact.coefficients[TANGENTIAL_STIFFNESS], normal, &stretch)
    for lane in range(LANES):
        limit = contact.coefficients[FRICTION][lane] * normal.load[lane]
        spring = load3(history.spring, lane)
        total = add(spring, load3(history.dashpot, lane))
        energies.tangential_energy[lane] = dot(spring, spring) * stretch.compliance[lane]
        energies.sliding[lane] = 1.0 if dot(total, total) >= limit * limit * (1.0 - 1e-9) else 0.0


def model(size_t rule, **parameters):
    """A part with this rule. parameters : of its own, name to default."""
    return Part(forces=<size_t> forces, describe=<size_t> describe, rule=rule, parameters=parameters)


MODELS = {"rescale": model(<size_t> rescale), "mindlin": model(<size_t> mindlin), "linear": model(<size_t> linear)}
