"""Onset correction: a small force within one step after a contact begins and before it ends (ONSET.md)."""
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy

from minidem.contact.contact cimport CENTRAL_COEFFICIENTS, Contact, Row
from minidem.contact.law cimport CentralFunction
from minidem.core.lanes cimport LANES

cdef enum:
    ZETA_TERMS = 12                 # of a polynomial

cdef struct OnsetConstants:         # of all contacts
    CentralFunction central         # the law
    double power                    # p of its force k d^p
    double dt                       # [s]
    double zeta[2][ZETA_TERMS]      # -zeta(-p, 1 + a), -zeta(-p - 1, 1 + a) by powers of a

cdef struct Onsets:                 # of LANES contacts
    Row overlap                     # d [m]
    Row radius                      # effective [m]
    Row coefficients[CENTRAL_COEFFICIENTS]
    double force[LANES]             # F, without correction [N]
    double mobility[LANES]          # -d'' per force of the contact [1/kg]
    double rate[LANES]              # d' at the instant of the pose, without the half kick of the correction [m/s]
    double acceleration[LANES]      # g: d'' there without the force of this contact [m/s2]


cdef inline double polynomial(const double *coefficients, double a) noexcept nogil:
    """Sum of coefficients[k] a^k."""
    cdef double value = 0.0
    cdef int k
    for k in range(ZETA_TERMS - 1, -1, -1):
        value = value * a + coefficients[k]
    return value


cdef inline void forces_at(const OnsetConstants *of_all, const Onsets *contacts, const double *outside_speed,
                           const double *kick, double *force) noexcept nogil:
    """The forces of onset_forces, for a speed u that contacts would have at this overlap without their own force.

    kick : (LANES,) change of the speed by that force in a step [m/s].
    """
    cdef double weight[LANES], a[LANES], work[LANES], bending[LANES], series[LANES]
    cdef double travel[LANES], part[LANES], whole_force[LANES], part_force[LANES]
    cdef double speed, square, touching_speed, steps, ratio, h = of_all.dt, bend = 1.0 + 0.5 * of_all.power
    cdef Contact deep
    cdef bint inside
    cdef int lane
    for lane in range(LANES):
        speed = outside_speed[lane]
        square = speed * speed - 2.0 * contacts.acceleration[lane] * contacts.overlap[lane]
        inside = (contacts.overlap[lane] > 0.0) & (square > 0.0)       # square < 0: g prevents that the contact ends
        touching_speed = sqrt(square if inside else 1.0)
        steps = 2.0 * (contacts.overlap[lane] if inside else 0.0) / ((speed + touching_speed) * h)
        ratio = max(-1.0, min(1.0, contacts.acceleration[lane] * h / touching_speed))
        a[lane] = steps if steps < 1.0 else max(0.0, min(1.0, steps - 1.0))
        weight[lane] = max(0.0, min(min(10.0 * steps, 11.0 - 10.0 * steps), 1.0)) \
            * (1.0 + 0.5 * kick[lane] / touching_speed)
        work[lane] = 1.0 - ratio * steps
        bending[lane] = bend * ratio
        travel[lane] = touching_speed * h
        part[lane] = a[lane] * travel[lane]
        series[lane] = work[lane] * polynomial(of_all.zeta[0], a[lane]) \
            + bending[lane] * polynomial(of_all.zeta[1], a[lane])
    memcpy(deep.radius, contacts.radius, sizeof(Row))
    memcpy(deep.coefficients, contacts.coefficients, sizeof(contacts.coefficients))
    memcpy(deep.overlap, travel, sizeof(travel))
    of_all.central(&deep, whole_force)
    memcpy(deep.overlap, part, sizeof(part))
    of_all.central(&deep, part_force)
    for lane in range(LANES):
        force[lane] = weight[lane] * (whole_force[lane] * series[lane]
                                      - part_force[lane] * (work[lane] + bending[lane] * a[lane]))


cdef inline void onset_forces(const OnsetConstants *of_all, const Onsets *contacts, double *force) noexcept nogil:
    """Forces (LANES,) [N] to add to the contact forces F = k d^p, along the normals; zero outside the window.

    With x = v h and a = the fraction of a step since touch, or until lift-off,
    f = w k x^p [(1 - r t) Z_p(a) + (1 + p/2) r Z_(p+1)(a)] (1 + c / 2v),   Z_s(a) = -a^s - zeta(-s, 1 + a),
    where t = a or 1 + a is the time in steps, v the normal speed at touch or lift-off, r = g h / v, w the window, c the
    kick by F + f in a step; k x^p and k (a x)^p are forces of the law itself.

    Two iterations: the first neglects the kick by f. Without the second the formula is not symmetric in time, and the
    energy drifts.
    """
    cdef double speed[LANES], kick[LANES]
    cdef double per_force
    cdef int lane
    for lane in range(LANES):
        kick[lane] = contacts.force[lane] * contacts.mobility[lane] * of_all.dt
        speed[lane] = fabs(contacts.rate[lane]) + 0.5 * kick[lane]
    forces_at(of_all, contacts, speed, kick, force)
    for lane in range(LANES):
        per_force = contacts.mobility[lane] * of_all.dt
        kick[lane] += force[lane] * per_force
        speed[lane] += force[lane] * per_force if contacts.rate[lane] < 0.0 else 0.0
    forces_at(of_all, contacts, speed, kick, force)
