"""A spring and a dashpot in parallel, limited in length: friction, and with couples for forces rolling resistance.

A spring is turned from the old normal to the new one by the smallest rotation, then about it with the mean spin of the
bodies; what is added in a step is turned by half of it. A spring whose stiffness shrinks with the contact radius
shrinks with it: otherwise energy is created (C. Thornton, S. J. Cummins & P. W. Cleary, Powder Technol. 233, 30 (2013),
doi 10.1016/j.powtec.2012.08.012).

If the sum of spring and dashpot exceeds the limit, it slides: the sum gets the length of the limit, the spring is what
the dashpot leaves of it, or zero if the dashpot leaves nothing. The direction of the sum turns towards that of the
motion, d(angle) = -k u / limit sin(angle) dt; adding the stretch of the step and cutting the length would be of first
order.
"""
from libc.math cimport sqrt

from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, dot, scale, sub
from minidem.state.rows cimport load, store

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef struct Change:                 # of a contact in one step
    double a_old, a                 # contact radius one step ago and now; 0: no contact
    double onset                    # fraction of the stiffness that a new contact has on average over the step
    double fresh                    # fraction of the step since the limit was zero; 1: it was not
    double turn                     # angle about the normal
    Vec3 normal, middle             # see rows.pxd

cdef struct Springs:                # of eight contacts
    double spring[3 * LANES]        # forces or couples on i
    double dashpot[3 * LANES]
    double last[3 * LANES]          # sums of both one step ago, turned into the present planes
    double limit[LANES]             # of the sums
    double compliance_old[LANES]    # 2 energy / force^2 one step ago, and now
    double compliance[LANES]
    double by_spring[LANES]         # energy dissipated [J]
    double by_dashpot[LANES]


cdef inline double reciprocal(double x) noexcept nogil:
    """1 / x for x > 0, and a number for x = 0."""
    return 1.0 / (x if x > 1e-300 else 1e-300)


cdef inline Vec3 turned(Vec3 v, Vec3 normal, Vec3 middle, double turn) noexcept nogil:
    """Into the plane of the normal, then about it by a small angle, to second order."""
    cdef Vec3 flat = add_scaled(v, -dot(v, normal), middle)
    return add(scale(1.0 - 0.5 * turn * turn, flat), scale(turn, cross(normal, flat)))


cdef inline Vec3 sliding_sum(Vec3 before, Vec3 change, double limit) noexcept nogil:
    """The sum of spring and dashpot if it slides: its length is `limit`, its direction is of second order.

    before : one step ago, turned;  change : in this step, if it did not slide.
    """
    cdef double length = sqrt(dot(before, before)), per_mean = reciprocal(0.5 * (length + limit))
    cdef double along = dot(before, change), part
    cdef Vec3 v
    part = per_mean * (length + 0.5 * per_mean * (along if along > 0.0 else 0.0))
    v = add_scaled(before, part if length > 0.0 else 1.0, change)
    return scale(limit * sqrt(reciprocal(dot(v, v))), v)


cdef inline long long stretch(Change of, double stiffness, Vec3 before, Vec3 dashpot_before, Vec3 shift,
                              Vec3 velocity, double dashpot, double limit, Springs *s, int lane) noexcept nogil:
    """The spring and the dashpot of a contact after a step, without sliding; 1 if they exceed the limit.

    The stiffness is stiffness * a.  before, dashpot_before : forces one step ago;  shift : displacement in the step;
    velocity : at the pose.  dashpot : coefficient;  limit : largest force.
    """
    cdef Vec3 old, trial, damped, both
    cdef double first = of.a_old if of.a_old > 0.0 else (of.a if of.a > 0.0 else 1.0)
    cdef double second = of.a if of.a > 0.0 else first
    cdef double twice = 2.0 * stiffness if stiffness > 0.0 else 1.0
    cdef double inverse = 1.0 / (twice * first * second * (first + second))
    cdef double compliance_old = inverse * second * (first + second), compliance = inverse * first * (first + second)
    cdef double ratio = second * (compliance_old * twice)
    cdef double mean = 2.0 / 3.0 * (second * second + second * first + first * first) * (inverse * first * second
                                                                                         * twice)
    ratio = ratio if second < first else 1.0
    mean = second if second < first else mean           # T / a of a shrinking contact changes by the shift alone
    mean = mean * of.onset if of.a_old == 0.0 else mean
    old = turned(scale(ratio if of.fresh >= 1.0 else 0.0, before), of.normal, of.middle, of.turn)
    trial = add(old, turned(scale(-stiffness * mean * of.fresh, shift), of.normal, of.middle, 0.5 * of.turn))
    damped = scale(-dashpot, add_scaled(velocity, -dot(velocity, of.normal), of.normal))
    both = add(trial, damped)
    store(s.spring + lane, trial)
    store(s.dashpot + lane, damped)
    store(s.last + lane, add(old, turned(dashpot_before, of.normal, of.middle, of.turn)))
    s.limit[lane] = limit
    s.compliance_old[lane], s.compliance[lane] = compliance_old, compliance if of.a > 0.0 else 0.0
    return <long long> (dot(both, both) > limit * limit)


cdef inline void slide(Springs *s, double *slides) noexcept nogil:
    """Springs and dashpots that exceed their limit get the sum that slides; slides : set to 1 for these, else to 0."""
    cdef Vec3 last, spring, damped, both, sliding, rest
    cdef double limit, most
    cdef bint beyond
    cdef int lane
    for lane in range(LANES):
        last, spring, damped = load(s.last + lane), load(s.spring + lane), load(s.dashpot + lane)
        limit = s.limit[lane]
        both = add(spring, damped)
        beyond = dot(both, both) > limit * limit
        sliding = sliding_sum(last, sub(both, last), limit)
        rest = sub(sliding, damped)                     # what the dashpot leaves of it
        rest = rest if dot(rest, sliding) > 0.0 else scale(0.0, rest)
        most = sqrt(dot(spring, spring) * reciprocal(dot(rest, rest)))      # sliding does not stretch the spring
        rest = scale(most if most < 1.0 else 1.0, rest)
        store(s.spring + lane, rest if beyond else spring)
        store(s.dashpot + lane, sub(sliding, rest) if beyond else damped)
        slides[lane] = 1.0 if beyond else 0.0


cdef inline void dissipate(Springs *s, const double *slides, Vec3 before, Vec3 dashpot_before, Vec3 shift,
                           int lane) noexcept nogil:
    """Energies that one contact dissipated in the step; arguments as above."""
    cdef Vec3 spring = load(s.spring + lane)
    cdef double by_spring = -0.5 * dot(add(before, spring), shift) + dot(before, before) * s.compliance_old[lane] \
        - dot(spring, spring) * s.compliance[lane]
    cdef double by_dashpot = -0.5 * dot(add(dashpot_before, load(s.dashpot + lane)), shift)
    s.by_spring[lane] = by_spring + slides[lane] * by_dashpot               # at the limit all is sliding
    s.by_dashpot[lane] = (1.0 - slides[lane]) * by_dashpot
