"""Onset correction: a small force within one step after a contact begins and before it ends (ONSET.md)."""
from libc.math cimport fabs, sqrt

from minidem.contact.law cimport ZETA_TERMS, Law
from minidem.core.lanes cimport LANES

cdef struct Onsets:                 # of LANES contacts
    double overlap[LANES]           # d [m]
    double radius[LANES]            # effective radius [m]
    double modulus[LANES]           # effective modulus [Pa]
    double rate[LANES]              # d' at the instant of the pose [m/s]
    double acceleration[LANES]      # g: d'' there without the force of this contact [m/s2]


cdef inline double polynomial(const double *coefficients, double a) noexcept nogil:
    """Sum of coefficients[k] a^k."""
    cdef double value = 0.0
    cdef int k
    for k in range(ZETA_TERMS - 1, -1, -1):
        value = value * a + coefficients[k]
    return value


cdef inline void onset_forces(const Law *law, const Onsets *contacts, double *force) noexcept nogil:
    """Forces (LANES,) [N] to add to those of contacts F = k d^p, along their normals; zero outside the window.

    With x = v h and a = the fraction of a step since touch, or until lift-off,
    f = w k x^p [(1 - r a) Z_p(a) + (1 + p/2) r Z_(p+1)(a)],   Z_s(a) = -a^s - zeta(-s, 1 + a),   r = g h / v,
    where v is the normal speed at touch or lift-off, w the window; k x^p and k (a x)^p are forces of the law itself.
    """
    cdef double weight[LANES], a[LANES], ratio[LANES], series[LANES]
    cdef double travel[LANES], part[LANES], whole_force[LANES], part_force[LANES]
    cdef double speed, square, touching_speed, steps, h = law.dt, half_power = 0.5 * law.power
    cdef bint inside
    cdef int lane
    for lane in range(LANES):
        speed = fabs(contacts.rate[lane])
        square = speed * speed - 2.0 * contacts.acceleration[lane] * contacts.overlap[lane]
        inside = (contacts.overlap[lane] > 0.0) & (square > 0.0)       # square < 0: g prevents that the contact ends
        touching_speed = sqrt(square if inside else 1.0)
        steps = 2.0 * (contacts.overlap[lane] if inside else 0.0) / ((speed + touching_speed) * h)
        weight[lane] = max(0.0, min(min(10.0 * steps, 11.0 - 10.0 * steps), 1.0))
        a[lane] = steps if steps < 1.0 else max(0.0, min(1.0, steps - 1.0))
        ratio[lane] = max(-1.0, min(1.0, contacts.acceleration[lane] * h / touching_speed))
        travel[lane] = touching_speed * h
        part[lane] = a[lane] * travel[lane]
        series[lane] = (1.0 - ratio[lane] * a[lane]) * polynomial(law.zeta[0], a[lane]) \
            + (1.0 + half_power) * ratio[lane] * polynomial(law.zeta[1], a[lane])
    law.forces(travel, contacts.radius, contacts.modulus, law.parameters, whole_force)
    law.forces(part, contacts.radius, contacts.modulus, law.parameters, part_force)
    for lane in range(LANES):
        force[lane] = weight[lane] * (whole_force[lane] * series[lane]
                                      - part_force[lane] * (1.0 + half_power * ratio[lane] * a[lane]))
