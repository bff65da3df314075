"""Springs with dashpots, whose sum is limited: friction, and rolling resistance, with couples for forces: FRICTION.md.

A spring T is turned from the old normal to the new one by the smallest rotation, then about it with the mean spin of
the bodies; what is added in a step is turned by half of it. Springs are stretched by the velocity half a step before
the pose, which is exact over the step. Dashpots have the velocity at the pose.

If the sum of spring and dashpot exceeds the limit, it slides: the sum gets the length of the limit, the spring is what
the dashpot leaves of it, or zero if the dashpot leaves nothing. The sum turns towards the direction of the
motion, d(angle) = -k u / limit sin(angle) dt; adding the stretch of the step and cutting the length would be of first
order.

A tangential model says how the stiffness k a follows the contact radius a. It is a `StretchRule` (part.pxd) and a line
of MODELS. Parameters of its own, `model(rule, name=default)`, become parameters of the laws; the rule reads them as
contact.coefficients[MODEL], [MODEL + 1] and so on.

With `sliding=static` a contact that sticks has a larger limit than one that slides. Where the sum reaches it, it drops
to the limit of sliding in the same step; the contact sticks again as soon as the sum is below that one.
"""
import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcpy

from minidem.contact.contact cimport (
    Energies, GivenContact, OwnNumbers, OwnResult, OwnRows, Row, load3, store3,
)
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    FRICTION, GivenNormal, LawParameters, MOBILISED_DAMPING, MODEL, OwnFriction, OwnNormal, OwnStretch, ROLLING_DAMPING,
    ROLLING_FRICTION, ROLLING_STIFFNESS, STATIC_FRICTION, Stretch, StretchRule, TANGENTIAL_DAMPING,
    TANGENTIAL_STIFFNESS, flat, most_across, positive, predicted, turned,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub, vec3

cdef struct Springs:                # of eight contacts
    Row stiffness                   # given: of the rule
    Row coefficient                 # of the dashpot
    Row limit                       # of the sums of spring and dashpot
    Row by_spring                   # energy dissipated [J]
    Row by_dashpot
    Row spring[3]                   # forces or couples on i
    Row dashpot[3]
    Row kept                        # of the springs of the last step
    Row slides                      # 1: at the limit, else 0
    Row longest                     # square of the length that a sliding spring may have
    Stretch stretch

cdef struct SlidingHistory:         # one record
    Row slides                      # 1: the contact has slid in this step
    Row unused[3]

cdef struct RollingHistory:         # three records; their fourth numbers are the couple on i beyond the limit [N m]
    Row spring[4]                   # M on i [N m]
    Row rate[4]                     # relative angular velocity, half a step before the pose [rad/s]
    Row dashpot[4]                  # M_d on i [N m]

cdef struct ConstantHistory:        # two records; one number of each is not used
    Row couple[4]                   # M on i [N m]
    Row rate[4]                     # as of RollingHistory


cdef void rescale(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    """dT = -k a ds while a grows, d(T / a) = -k ds while it shrinks: otherwise energy is created.

    C. Thornton, S. J. Cummins & P. W. Cleary, Powder Technol. 233, 30 (2013), doi 10.1016/j.powtec.2012.08.012.
    The mean of a over a step is the mean of sqrt(d) over an overlap d.
    """
    cdef double a_old, a, first, second, both, twice, inverse
    cdef int lane
    for lane in range(LANES):
        a_old, a = normal.old_radius[lane], normal.contact_radius[lane]
        first, both = positive(a_old, positive(a, 1.0)), positive(a_old + a, 1.0)
        second, twice = positive(a, first), positive(2.0 * stiffness[lane], 1.0)
        inverse = 1.0 / (twice * first * second * both)
        stretch.compliance_old[lane], stretch.compliance[lane] = inverse * second * both, inverse * first * both
        stretch.kept[lane] = second * (stretch.compliance_old[lane] * twice) if a < a_old else 1.0
        stretch.added[lane] = second if a < a_old else 2.0 / 3.0 * (second * second + second * a_old + a_old * a_old) \
            * (inverse * first * second * twice)


cdef void mindlin(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    cdef double first, second, twice, inverse
    cdef int lane
    for lane in range(LANES):
        first = positive(normal.old_radius[lane], positive(normal.contact_radius[lane], 1.0))
        second, twice = positive(normal.contact_radius[lane], first), positive(2.0 * stiffness[lane], 1.0)
        inverse = 1.0 / (twice * first * second)
        stretch.compliance_old[lane], stretch.compliance[lane] = inverse * second, inverse * first
        stretch.kept[lane], stretch.added[lane] = second * (stretch.compliance_old[lane] * twice), second


cdef void mindlin_rescale(GivenContact contact, const double *stiffness, GivenNormal normal,
                          OwnStretch stretch) noexcept nogil:
    """T = -k a xi as of mindlin; where a shrinks, xi shrinks with it, also what the step adds.

    At the end of a contact the force stays, as of the other rules, so that it slides to its limit of zero.
    """
    cdef double a_old, a
    cdef int lane
    mindlin(contact, stiffness, normal, stretch)
    for lane in range(LANES):
        a_old, a = normal.old_radius[lane], normal.contact_radius[lane]
        stretch.kept[lane] *= a / a_old if 0.0 < a < a_old else 1.0
        stretch.added[lane] *= 2.0 * a / (a + a_old) if 0.0 < a < a_old else 1.0


cdef void mindlin_force(GivenContact contact, const double *stiffness, GivenNormal normal,
                        OwnStretch stretch) noexcept nogil:
    """dT = -k a ds, with the mean of a over the step."""
    cdef double a_old, a
    cdef int lane
    mindlin(contact, stiffness, normal, stretch)
    for lane in range(LANES):
        a_old, a = normal.old_radius[lane], normal.contact_radius[lane]
        stretch.kept[lane] = 1.0
        stretch.added[lane] = 2.0 / 3.0 * (a * a + a * a_old + a_old * a_old) / positive(a + a_old, 1.0)


cdef void linear(GivenContact contact, const double *stiffness, GivenNormal normal, OwnStretch stretch) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        stretch.kept[lane] = stretch.added[lane] = 1.0
        stretch.compliance_old[lane] = stretch.compliance[lane] = 1.0 / positive(2.0 * stiffness[lane], 1.0)


cdef inline double reciprocal(double x) noexcept nogil:
    """1 / x for x > 0, and a number for x = 0."""
    return 1.0 / (x if x > 1e-300 else 1e-300)


cdef inline Vec3 sliding_sum(Vec3 before, Vec3 change, double limit) noexcept nogil:
    """The sum of spring and dashpot if it slides: its length is `limit`, its direction is of second order.

    before : one step ago, turned;  change : in this step, if it did not slide.
    """
    cdef double length = sqrt(dot(before, before)), per_mean = reciprocal(0.5 * (length + limit))
    cdef double along = dot(before, change), part
    cdef Vec3 v
    part = per_mean * (length + 0.5 * per_mean * (along if along > 0.0 else 0.0))
    v = add_scaled(before, part if length > 0.0 else 1.0, change)
    return scale(limit / positive(sqrt(dot(v, v)), 1.0), v)


cdef inline long long stretch_spring(GivenContact contact, const Row *motion, const Row *velocity,
                                     const Row *old_spring, GivenNormal normal, Springs *s, int lane) noexcept nogil:
    """The spring and the dashpot of a contact after a step, without sliding; 1 if they exceed the limit."""
    cdef Vec3 direction = load3(contact.normal, lane), middle = load3(contact.middle_normal, lane)
    cdef double step = contact.step[lane], turn = step * contact.spin[lane], limit = s.limit[lane]
    cdef double kept = s.stretch.kept[lane] * normal.keeps[lane]
    cdef double part = step * normal.stretched[lane] * (1.0 - 0.125 * turn * turn)
    cdef double added = -s.stiffness[lane] * s.stretch.added[lane] * part
    cdef Vec3 old = scale(kept, load3(old_spring, lane)), stretched = scale(added, load3(motion, lane))
    cdef Vec3 v = load3(velocity, lane), trial, damped, both
    trial = turned(old, stretched, direction, middle, turn)
    damped = scale(-s.coefficient[lane], add_scaled(v, -dot(v, direction), direction))
    both = add(trial, damped)
    store3(s.spring, lane, trial)
    store3(s.dashpot, lane, damped)
    s.kept[lane], s.slides[lane] = kept, 0.0
    return <long long> (dot(both, both) > limit * limit)


cdef inline void drop_limits(Springs *s, const double *sliding) noexcept nogil:
    """Springs and dashpots that exceed their limit get that of sliding."""
    cdef Vec3 both
    cdef int lane
    for lane in range(LANES):
        both = add(load3(s.spring, lane), load3(s.dashpot, lane))
        s.limit[lane] = sliding[lane] if dot(both, both) > s.limit[lane] * s.limit[lane] else s.limit[lane]


cdef inline void slide(GivenContact contact, const Row *old_spring, const Row *old_dashpot, Springs *s) noexcept nogil:
    """Springs and dashpots that exceed their limit get the sum that slides."""
    cdef Vec3 direction, middle, last, spring, damped, both, sliding, rest
    cdef double limit, turn
    cdef bint beyond
    cdef long long stretches = 0
    cdef int lane
    for lane in range(LANES):
        direction, middle = load3(contact.normal, lane), load3(contact.middle_normal, lane)
        turn = contact.step[lane] * contact.spin[lane]
        last = flat(add_scaled(load3(old_dashpot, lane), s.kept[lane], load3(old_spring, lane)), direction, middle)
        last = add_scaled(scale(1.0 - 0.5 * turn * turn, last), turn, cross(direction, last))
        spring, damped, limit = load3(s.spring, lane), load3(s.dashpot, lane), s.limit[lane]
        both = add(spring, damped)
        beyond = dot(both, both) > limit * limit
        sliding = sliding_sum(last, sub(both, last), limit)
        rest = sub(sliding, damped)                     # what the dashpot leaves of it
        rest = rest if dot(rest, sliding) > 0.0 else vec3(0.0, 0.0, 0.0)
        stretches |= <long long> (beyond & (dot(rest, rest) > dot(spring, spring)))
        s.longest[lane] = dot(spring, spring) if beyond else 1e300
        store3(s.spring, lane, rest if beyond else spring)
        store3(s.dashpot, lane, sub(sliding, rest) if beyond else damped)
        s.slides[lane] = 1.0 if beyond else 0.0
    if stretches:
        shorten(s)


cdef inline void shorten(Springs *s) noexcept nogil:
    """Sliding does not stretch a spring: the dashpot gets what exceeds its length."""
    cdef Vec3 spring, rest
    cdef double part
    cdef int lane
    for lane in range(LANES):
        spring = load3(s.spring, lane)
        part = sqrt(s.longest[lane] * reciprocal(dot(spring, spring)))
        rest = scale(part if part < 1.0 else 1.0, spring)
        store3(s.spring, lane, rest)
        store3(s.dashpot, lane, add(load3(s.dashpot, lane), sub(spring, rest)))


cdef inline void resist(StretchRule rule, GivenContact contact, const Row *motion, const Row *velocity,
                        OwnRows old_spring, OwnRows old_dashpot, GivenNormal normal, Springs *s,
                        OwnRows force, const double *sliding) noexcept nogil:
    """Springs and dashpots of eight contacts after a step, their history, and the energies that they dissipated.

    motion, velocity : three rows, half a step before the pose and at the pose.
    old_spring, old_dashpot : three rows of the history, replaced.  force : three rows, to which their sum is added.
    sliding : limits (LANES,) that replace the given ones where these are exceeded; a constant NULL: they are the same.
    """
    cdef Vec3 before, spring, damped, shift
    cdef double by_spring, by_dashpot
    cdef long long any_slides = 0
    cdef int lane
    rule(contact, s.stiffness, normal, &s.stretch)
    for lane in range(LANES):
        any_slides |= stretch_spring(contact, motion, velocity, old_spring, normal, s, lane)
    if any_slides and sliding != NULL:
        drop_limits(s, sliding)
    if any_slides:
        slide(contact, old_spring, old_dashpot, s)
    for lane in range(LANES):
        before, spring, damped = load3(old_spring, lane), load3(s.spring, lane), load3(s.dashpot, lane)
        shift = scale(contact.step[lane], load3(motion, lane))
        by_spring = -0.5 * dot(add(before, spring), shift) + dot(before, before) * s.stretch.compliance_old[lane] \
            - dot(spring, spring) * s.stretch.compliance[lane]
        by_dashpot = -0.5 * dot(add(load3(old_dashpot, lane), damped), shift)
        s.by_spring[lane] = by_spring + s.slides[lane] * by_dashpot         # at the limit all is sliding
        s.by_dashpot[lane] = (1.0 - s.slides[lane]) * by_dashpot
        store3(old_spring, lane, spring)
        store3(old_dashpot, lane, damped)
        store3(force, lane, add(load3(force, lane), add(spring, damped)))


cdef inline void spring_energies(StretchRule rule, GivenContact contact, const double *stiffness, GivenNormal normal,
                                 const Row *spring, double *energy) noexcept nogil:
    """Elastic energies (LANES,) [J] of springs, three rows of a history."""
    cdef Stretch stretch
    cdef int lane
    rule(contact, stiffness, normal, &stretch)
    for lane in range(LANES):
        energy[lane] = dot(load3(spring, lane), load3(spring, lane)) * stretch.compliance[lane]


cdef inline void resist_sliding(bint sticks, GivenContact contact, OwnFriction history, OwnNumbers own,
                                OwnNormal normal, OwnResult result, const LawParameters *parameters) noexcept nogil:
    """A `PartFunction`; sticks : a constant, whether contacts that stick have a limit of their own."""
    cdef SlidingHistory *last = <SlidingHistory *> own
    cdef Springs springs
    cdef double sliding[LANES]
    cdef double square
    cdef long long heavy = 0
    cdef int lane
    for lane in range(LANES):
        square = contact.radius[lane] * contact.radius[lane]
        heavy |= <long long> (contact.mass[lane] * square > most_across(contact, lane))
        springs.stiffness[lane] = contact.coefficients[TANGENTIAL_STIFFNESS][lane]
        springs.coefficient[lane] = contact.coefficients[TANGENTIAL_DAMPING][lane] * normal.dashpot[lane]
        springs.limit[lane] = contact.coefficients[FRICTION][lane] * normal.load[lane]
    for lane in range(LANES if heavy else 0):
        square = contact.mass[lane] * contact.radius[lane] * contact.radius[lane]
        springs.coefficient[lane] *= sqrt(min(1.0, most_across(contact, lane) / positive(square, 1.0)))
    for lane in range(LANES if sticks else 0):
        sliding[lane] = springs.limit[lane]
        springs.limit[lane] = contact.coefficients[STATIC_FRICTION][lane] * normal.load[lane] \
            if last.slides[lane] == 0.0 else sliding[lane]
    resist(parameters.rule, contact, contact.velocity, normal.pose_velocity, history.spring, history.dashpot, normal,
           &springs, result.force, sliding if sticks else NULL)
    for lane in range(LANES if sticks else 0):
        last.slides[lane] = springs.slides[lane]
    for lane in range(LANES):
        result.dissipated[1][lane], result.dissipated[2][lane] = springs.by_dashpot[lane], springs.by_spring[lane]


cdef void friction(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                   const LawParameters *parameters) noexcept nogil:
    resist_sliding(False, contact, history, own, normal, result, parameters)


cdef void static_friction(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                          OwnResult result, const LawParameters *parameters) noexcept nogil:
    resist_sliding(True, contact, history, own, normal, result, parameters)


cdef void describe_friction(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                            Energies *energies, const LawParameters *parameters) noexcept nogil:
    """The energy of the spring, and whether the contact slides."""
    cdef Vec3 total
    cdef double limit
    cdef int lane
    spring_energies(parameters.rule, contact, contact.coefficients[TANGENTIAL_STIFFNESS], normal, history.spring,
                    energies.tangential_energy)
    for lane in range(LANES):
        limit = contact.coefficients[FRICTION][lane] * normal.load[lane]
        total = add(load3(history.spring, lane), load3(history.dashpot, lane))
        energies.sliding[lane] = 1.0 if dot(total, total) >= limit * limit * (1.0 - 1e-9) else 0.0


cdef void describe_static(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                          Energies *energies, const LawParameters *parameters) noexcept nogil:
    describe_friction(contact, history, own, normal, energies, parameters)
    memcpy(energies.sliding, (<SlidingHistory *> own).slides, sizeof(Row))


cdef inline double rolling_stiffness(GivenContact contact, int lane) noexcept nogil:
    """Times the contact radius: k_r [N m]."""
    return contact.coefficients[ROLLING_STIFFNESS][lane] * (contact.radius[lane] * contact.radius[lane])


cdef void rolling(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                  const LawParameters *parameters) noexcept nogil:
    cdef RollingHistory *couple = <RollingHistory *> own
    cdef Springs springs
    cdef Row velocity[3]
    cdef Vec3 w
    cdef int lane
    for lane in range(LANES):
        w = load3(contact.angular_velocity, lane)
        store3(velocity, lane, predicted(w, load3(couple.rate, lane), normal.old[lane]))
        store3(couple.rate, lane, w)
        springs.stiffness[lane] = rolling_stiffness(contact, lane)
        springs.coefficient[lane] = contact.coefficients[ROLLING_DAMPING][lane] * 2.0 * sqrt(
            contact.rolling_inertia[lane] * springs.stiffness[lane] * normal.contact_radius[lane])
        springs.limit[lane] = contact.coefficients[ROLLING_FRICTION][lane] * contact.radius[lane] * normal.load[lane]
    resist(rescale, contact, contact.angular_velocity, velocity, couple.spring, couple.dashpot, normal, &springs,
           result.couple, NULL)
    for lane in range(LANES):
        result.dissipated[3][lane] = springs.by_spring[lane] + springs.by_dashpot[lane]
    if parameters.values[MOBILISED_DAMPING] > 0.0:
        add_excess(contact, couple, velocity, &springs, parameters.values[MOBILISED_DAMPING], result)


cdef void add_excess(GivenContact contact, RollingHistory *couple, const Row *velocity, const Springs *s, double part,
                     OwnResult result) noexcept nogil:
    """Add a part of the dashpots to couples at the limit.  velocity : three rows, at the pose."""
    cdef Vec3 v, normal, last, excess
    cdef int lane
    for lane in range(LANES):
        v, normal = load3(velocity, lane), load3(contact.normal, lane)
        excess = scale(-part * s.slides[lane] * s.coefficient[lane], add_scaled(v, -dot(v, normal), normal))
        last = vec3(couple.spring[3][lane], couple.rate[3][lane], couple.dashpot[3][lane])
        result.dissipated[3][lane] -= 0.5 * contact.step[lane] * dot(
            add(last, excess), load3(contact.angular_velocity, lane))
        couple.spring[3][lane], couple.rate[3][lane], couple.dashpot[3][lane] = excess.x, excess.y, excess.z
        store3(result.couple, lane, add(load3(result.couple, lane), excess))


cdef void describe_rolling(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                           Energies *energies, const LawParameters *parameters) noexcept nogil:
    cdef Row stiffness
    cdef int lane
    for lane in range(LANES):
        stiffness[lane] = rolling_stiffness(contact, lane)
    spring_energies(rescale, contact, stiffness, normal, (<RollingHistory *> own).spring, energies.rolling_energy)


cdef void constant_rolling(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                           OwnResult result, const LawParameters *parameters) noexcept nogil:
    """A couple of the size of the limit against the rotation at the pose, or less: what stops it within some ten steps.

    J. Ai, J.-F. Chen, J. M. Rotter & J. Y. Ooi, Powder Technol. 206, 269 (2011), doi 10.1016/j.powtec.2010.09.030,
    model A. Without the second rule the couple would change its sign in each step when the rotation has ended.
    """
    cdef ConstantHistory *last = <ConstantHistory *> own
    cdef Vec3 w, v, direction, couple
    cdef double limit, most
    cdef int lane
    for lane in range(LANES):
        w, direction = load3(contact.angular_velocity, lane), load3(contact.normal, lane)
        v = predicted(w, load3(last.rate, lane), normal.old[lane])
        v = add_scaled(v, -dot(v, direction), direction)
        limit = contact.coefficients[ROLLING_FRICTION][lane] * contact.radius[lane] * normal.load[lane] \
            * reciprocal(sqrt(dot(v, v)))
        most = 0.1 * contact.rolling_inertia[lane] * reciprocal(contact.step[lane])
        couple = scale(-(limit if limit < most else most), v)
        result.dissipated[3][lane] = -0.5 * contact.step[lane] * dot(add(load3(last.couple, lane), couple), w)
        store3(result.couple, lane, add(load3(result.couple, lane), couple))
        store3(last.couple, lane, couple)
        store3(last.rate, lane, w)


def model(size_t rule, **parameters):
    """A tangential model. parameters : of its own, name to default."""
    return Part(rule=rule, parameters=parameters, reads=tuple(parameters), coefficients=lambda pair, values: {
        <int> MODEL + k: values[name] for k, name in enumerate(parameters)})


MODELS = {"rescale": model(<size_t> rescale), "mindlin": model(<size_t> mindlin), "linear": model(<size_t> linear),
          "mindlin-rescale": model(<size_t> mindlin_rescale), "mindlin-force": model(<size_t> mindlin_force)}
COULOMB = Part(forces=<size_t> friction, describe=<size_t> describe_friction)
STATIC = Part(forces=<size_t> static_friction, describe=<size_t> describe_static, n_records=1,
              needs=("static_friction",), coefficients=lambda pair, values: {
                  STATIC_FRICTION: np.maximum(pair["static_friction"], pair["friction"])})
ROLLING = Part(forces=<size_t> rolling, describe=<size_t> describe_rolling,
               n_records=sizeof(RollingHistory) // (4 * sizeof(Row)), has_couples=True, needs=("rolling_friction",),
               reads=("rolling_damping", "mobilised_damping"))
CONSTANT_ROLLING = Part(forces=<size_t> constant_rolling, n_records=sizeof(ConstantHistory) // (4 * sizeof(Row)),
                        has_couples=True, needs=("rolling_friction",))
