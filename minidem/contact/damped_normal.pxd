"""Damped normal force of eight contacts: F_n = F_e(d) + c d', attraction before lift-off included.

The dashpot needs the approach velocity at the pose; leapfrog has that half a step before. Extrapolated over the last
two steps, it contains the forces of the last pose. The contact replaces its own part, the last normal force, by the
present one, which changes the velocity by half a step of the difference over m*. The dashpot is linear, so that the
velocity and the force follow in closed form.

The coefficient c rises from zero like d^(1/4) as a contact begins. Sampled by whole steps, that leaves an error of
order 5/4. Its mean over the overlaps of the step is taken instead: by a series, and where the contact begins or ends in
the step, by the integral. Whether it ends is predicted; if it goes on nevertheless, the damping until lift-off has
acted and is not repeated.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.friction_records cimport (
    DAMPING, DASHPOT, SLIP, SPRING, STIFFNESS, predicted, record,
)
from minidem.contact.rows cimport COEFFICIENTS, MASS, MIDDLE_NORMAL, NORMAL, OVERLAP, RADIUS, STEP, VELOCITY
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot
from minidem.state.rows cimport load

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef struct Normal:                 # of eight contacts
    double a[LANES]                 # contact radius
    double kept[LANES]              # the same for the record; negative if the damping until lift-off has acted
    double rate[LANES]              # approach velocity at the pose
    double c[LANES]                 # damping coefficient
    double elastic[LANES]           # F_e [N]
    double damping[LANES]           # c * rate: normal dashpot [N]
    double force[LANES]             # F_n [N]
    double onset[LANES]             # see Change
    double fresh[LANES]


cdef inline double contact_radius(bint hertzian, double radius, double overlap) noexcept nogil:
    if hertzian:
        return sqrt(radius * (overlap if overlap > 0.0 else 0.0))
    return 1.0 if overlap > 0.0 else 0.0


cdef inline double damping_integral(bint hertzian, double damping, double mass, double radius,
                                    double overlap) noexcept nogil:
    """Integral of the damping coefficient over the overlap, from zero."""
    cdef double d = overlap if overlap > 0.0 else 0.0
    return (0.8 if hertzian else 1.0) * damping * sqrt(mass * contact_radius(hertzian, radius, d)) * d


cdef inline double mean_over_step(double overlap, double half) noexcept nogil:
    """Mean of d^(1/4) over overlap +- half, divided by its value at overlap: a series, within 1 % at half = overlap."""
    cdef double part = half / (overlap if overlap > 1e-300 else 1e-300)
    part = part * part
    part = part if part < 1.0 else 1.0
    return 1.0 - part * (1.0 / 32.0 + 77.0 / 10240.0 * part)


cdef inline bint lifts_off(const double *contact, const Normal *normal, int lane) noexcept nogil:
    """Whether the contact will have ended at the next pose, by its own force."""
    cdef double step = contact[STEP * LANES + lane], rate = normal.rate[lane]
    cdef double force = normal.elastic[lane] + normal.c[lane] * rate
    return contact[MASS * LANES + lane] * (contact[OVERLAP * LANES + lane] + step * rate) <= 0.5 * step * step * force


cdef inline bint find_damping(bint hertzian, const double *contact, const double *history,
                              Normal *normal) noexcept nogil:
    """Elastic forces, damping coefficients, approach velocities at the pose; True if a contact begins or ends in this
    step."""
    cdef double overlap, half_step, mass, kept, change, rate
    cdef Vec3 u, u_old
    cdef long long edges = 0
    cdef int lane
    for lane in range(LANES):
        overlap, mass = contact[OVERLAP * LANES + lane], contact[MASS * LANES + lane]
        half_step = 0.5 * contact[STEP * LANES + lane]
        u, u_old = load(contact + VELOCITY * LANES + lane), load(record(history, SLIP) + lane)
        kept = history[(4 * SPRING + 3) * LANES + lane]
        normal.a[lane] = contact_radius(hertzian, contact[RADIUS * LANES + lane], overlap)
        normal.kept[lane], normal.onset[lane] = normal.a[lane], 1.0
        normal.elastic[lane] = contact[(COEFFICIENTS + STIFFNESS) * LANES + lane] * normal.a[lane] \
            * (overlap if overlap > 0.0 else 0.0)
        normal.c[lane] = contact[(COEFFICIENTS + DAMPING) * LANES + lane] * sqrt(mass * normal.a[lane])
        rate = -dot(predicted(u, u_old, 1.0 if kept != 0.0 else 0.0), load(contact + NORMAL * LANES + lane))
        change = normal.elastic[lane] - history[(4 * DASHPOT + 3) * LANES + lane]
        normal.rate[lane] = (mass * rate - half_step * change) / (mass + half_step * normal.c[lane])
        if hertzian:
            normal.c[lane] *= mean_over_step(overlap, half_step * normal.rate[lane])
        edges |= <long long> ((kept <= 0.0) | lifts_off(contact, normal, lane))
    return edges != 0


cdef inline void correct_edges(bint hertzian, const double *contact, const double *history,
                               Normal *normal) noexcept nogil:
    """Means over the step where a contact begins or ends: of the damping coefficient, and of the tangential stiffness.

    The force at the pose acts from half a step before to half a step after it. The first one of a contact acts from the
    touch on, the last one until lift-off. If it goes on after lift-off was predicted, damping acts from there on.
    """
    cdef double overlap, step, coefficient, mass, radius, kept, half, first, last, mean, largest, approach
    cdef bint begins, ends, repeats
    cdef int lane
    for lane in range(LANES):
        overlap, step = contact[OVERLAP * LANES + lane], contact[STEP * LANES + lane]
        mass, radius = contact[MASS * LANES + lane], contact[RADIUS * LANES + lane]
        coefficient = contact[(COEFFICIENTS + DAMPING) * LANES + lane]
        kept = history[(4 * SPRING + 3) * LANES + lane]
        half = 0.5 * step * normal.rate[lane]
        begins, ends, repeats = kept == 0.0, lifts_off(contact, normal, lane), kept < 0.0 and half < 0.0
        first, last = 0.0 if begins or repeats else overlap - half, 0.0 if ends else overlap + half
        mean = (damping_integral(hertzian, coefficient, mass, radius, last)
                - damping_integral(hertzian, coefficient, mass, radius, first)) / (2.0 * half if half != 0.0 else 1.0)
        largest = 1.5 * coefficient * sqrt(mass * contact_radius(hertzian, radius, overlap + fabs(half)))
        mean = mean if mean < largest else largest
        mean = mean if mean > 0.0 else 0.0
        normal.c[lane] = mean if (begins and half > 0.0) or (ends and step > 0.0) or repeats else normal.c[lane]
        normal.kept[lane] = -normal.a[lane] if ends else normal.a[lane]
        approach = -step * dot(load(contact + VELOCITY * LANES + lane), load(contact + MIDDLE_NORMAL * LANES + lane))
        normal.onset[lane] = (2.0 / 3.0 if hertzian else 1.0) * overlap \
            / (approach if approach > overlap else overlap) if begins and overlap > 0.0 else 1.0


cdef inline double load_of(double force, double by_magnitude) noexcept nogil:
    """L of the limits mu L of friction and mu_r R* L of rolling resistance [N], of a normal force."""
    return force if force > 0.0 else -force * by_magnitude + 0.0        # never -0.0


cdef inline void find_normal_forces(bint hertzian, const double *contact, const double *history,
                                    double limits_damping, Normal *normal) noexcept nogil:
    """F_n = F_e + c d' of the docstrings of the laws [N], and whether it changed its sign in this step."""
    cdef double elastic, damping, force, last
    cdef long long reversed = 0
    cdef int lane
    if find_damping(hertzian, contact, history, normal):
        correct_edges(hertzian, contact, history, normal)
    for lane in range(LANES):
        elastic = normal.elastic[lane]
        damping = normal.c[lane] * normal.rate[lane]
        damping = -elastic if limits_damping > 0.0 and damping < -elastic else damping
        damping = damping if contact[OVERLAP * LANES + lane] > 0.0 else 0.0
        force = elastic + damping
        normal.damping[lane], normal.force[lane], normal.fresh[lane] = damping, force, 1.0
        reversed |= <long long> (force * history[(4 * DASHPOT + 3) * LANES + lane] < 0.0)
    for lane in range(LANES if reversed else 0):
        force, last = normal.force[lane], history[(4 * DASHPOT + 3) * LANES + lane]
        normal.fresh[lane] = force / (force - last) if force * last < 0.0 else 1.0
