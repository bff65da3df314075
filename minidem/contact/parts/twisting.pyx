"""Twisting resistance of `twisting=marshall`: a spring with a dashpot that opposes rotation about the normal.

J. S. Marshall, J. Comput. Phys. 228, 1541 (2009), doi 10.1016/j.jcp.2008.10.020, of a circle of contact with the radius
a that sticks or slides as a whole:

    stiffness   k_Q = k_t a^2 / 2       k_t of friction [N/m]; its dashpot has the coefficient c_t a^2 / 2
    limit       2/3 a mu L

a^2 = R* d without cohesion. As with `rescale`, the couple does not follow a stiffness that grows, and shrinks with one
that shrinks, so that no energy is created. The rule of the limit is that of springs.pyx. Energies count as rolling.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    FRICTION, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS, LawParameters, OwnFriction, OwnNormal, Stretch, positive,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport add_scaled, dot

cdef struct TwistingHistory:        # one record
    Row spring                      # Q on i about the normal [N m]
    Row rate                        # of rotation about the normal, half a step before the pose [rad/s]
    Row dashpot                     # Q_d on i [N m]
    Row square                      # a^2 [m2]


cdef inline double square_of(bint linear, GivenContact contact, OwnNormal normal, int lane) noexcept nogil:
    """a^2 [m2]; the contact radius of linear springs is 1."""
    cdef double a = normal.contact_radius[lane]
    return a * contact.radius[lane] * positive(contact.overlap[lane], 0.0) if linear else a * a


cdef inline void twist(bint linear, GivenContact contact, OwnNumbers own, OwnNormal normal, OwnResult result,
                       const LawParameters *parameters) noexcept nogil:
    """A `PartFunction`; linear : constant at compile time."""
    cdef TwistingHistory *old = <TwistingHistory *> own
    cdef Stretch stretch
    cdef double square, k, k_old, turn, rate, trial, damped, both, limit, spring, dashpot, by_spring, by_dashpot
    cdef bint slides
    cdef int lane
    parameters.rule(contact, contact.coefficients[TANGENTIAL_STIFFNESS], normal, &stretch)
    for lane in range(LANES):
        square, rate = square_of(linear, contact, normal, lane), dot(
            load3(contact.angular_velocity, lane), load3(contact.middle_normal, lane))
        k, k_old = 0.25 * square / stretch.compliance[lane], 0.25 * old.square[lane] / stretch.compliance_old[lane]
        turn = contact.step[lane] * rate
        trial = old.spring[lane] * normal.keeps[lane] * (k / positive(k_old, 1.0) if k < k_old else 1.0) \
            - normal.stretched[lane] * turn * (k if k < k_old else 0.5 * (k + k_old))
        damped = -0.5 * square * contact.coefficients[TANGENTIAL_DAMPING][lane] * normal.dashpot[lane] \
            * (rate + 0.5 * normal.old[lane] * (rate - old.rate[lane]))
        limit = 2.0 / 3.0 * sqrt(square) * contact.coefficients[FRICTION][lane] * normal.load[lane]
        both = trial + damped
        slides = fabs(both) > limit
        both = both if not slides else limit if both > 0.0 else -limit
        spring = both - damped                          # what the dashpot leaves of it, but not longer than before
        spring = spring if spring * both > 0.0 else 0.0
        spring = spring if fabs(spring) < fabs(trial) else trial
        spring = spring if slides else trial
        dashpot = both - spring
        by_spring = 0.5 * (old.spring[lane] * old.spring[lane] / positive(k_old, 1.0)
                           - spring * spring / positive(k, 1.0)) - 0.5 * (old.spring[lane] + spring) * turn
        by_dashpot = -0.5 * (old.dashpot[lane] + dashpot) * turn
        result.dissipated[3][lane] += by_spring + by_dashpot
        store3(result.couple, lane, add_scaled(load3(result.couple, lane), both, load3(contact.normal, lane)))
        old.spring[lane], old.rate[lane], old.dashpot[lane], old.square[lane] = spring, rate, dashpot, square


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    if parameters.linear:
        twist(True, contact, own, normal, result, parameters)
    else:
        twist(False, contact, own, normal, result, parameters)


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef TwistingHistory *old = <TwistingHistory *> own
    cdef Stretch stretch
    cdef int lane
    parameters.rule(contact, contact.coefficients[TANGENTIAL_STIFFNESS], normal, &stretch)
    for lane in range(LANES):
        energies.rolling_energy[lane] += 2.0 * old.spring[lane] * old.spring[lane] * stretch.compliance[lane] \
            / positive(square_of(parameters.linear, contact, normal, lane), 1.0)


PART = Part(forces=<size_t> forces, describe=<size_t> describe, n_records=1, has_couples=True, needs=("friction",))
