"""Normal parts without cohesion: F_n = F_e(d) + c d' and the load L of FRICTION.md.

HERTZ has F_e = 4/3 E* a d with the contact radius a = sqrt(R* d). HOOKE has F_e = k d, and a contact radius of 1, so
that no stiffness depends on it.

Semi-implicit damping: the approach velocity at the pose is extrapolated from the last two half steps, and corrected by
half a step of F_n minus the last F_n, over m*. F_n is linear in that velocity, so both follow in closed form. The
coefficient c is its mean over the overlaps of the step: by a series, and where the contact begins or ends in the step,
by the integral. Whether it ends is predicted; if it continues nevertheless, the damping until lift-off has acted and is
not repeated. Where F_n changes its sign, springs are zero, and are stretched by the rest of the step only.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    DAMPING, FRICTION_LIMIT, LIMIT_DAMPING, LawParameters, NormalForces, OwnFriction, OwnNormal, STIFFNESS, lifts_off,
    load_of, mean_over_step, predicted, restart_spring, store_normal,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot


cdef inline double contact_radius(bint hertzian, double radius, double overlap) noexcept nogil:
    if hertzian:
        return sqrt(radius * (overlap if overlap > 0.0 else 0.0))
    return 1.0 if overlap > 0.0 else 0.0


cdef inline double damping_integral(bint hertzian, double damping, double mass, double radius,
                                    double overlap) noexcept nogil:
    """Integral of the damping coefficient over the overlap, from zero."""
    cdef double d = overlap if overlap > 0.0 else 0.0
    return (0.8 if hertzian else 1.0) * damping * sqrt(mass * contact_radius(hertzian, radius, d)) * d


cdef inline long long find_damping(bint hertzian, GivenContact contact, OwnFriction history, OwnNormal normal,
                                   NormalForces *forces, int lane) noexcept nogil:
    """Elastic force, damping coefficient, approach velocity at the pose; 1 if the contact begins or ends in this
    step."""
    cdef double overlap = contact.overlap[lane], mass = contact.mass[lane]
    cdef double step = contact.step[lane], kept = history.radius[lane]
    cdef double a = contact_radius(hertzian, contact.radius[lane], overlap)
    cdef double deep = overlap if overlap > 0.0 else 0.0
    cdef double elastic = contact.coefficients[STIFFNESS][lane] * a * deep
    cdef double c = contact.coefficients[DAMPING][lane] * sqrt(mass * a)
    cdef double old = 1.0 if kept != 0.0 else 0.0, half_step = 0.5 * step, rate, inverse
    cdef Vec3 velocity = predicted(load3(contact.velocity, lane), load3(history.slip, lane), old)
    rate = -mass * dot(velocity, load3(contact.normal, lane)) - half_step * (elastic - history.normal_force[lane])
    if hertzian:                                        # two quotients by one division
        deep = deep if deep > 1e-150 else 1e-150
        inverse = 1.0 / (deep * (mass + half_step * c))
        rate = rate * inverse
        c *= mean_over_step(half_step * rate)
        rate = rate * deep
    else:
        rate = rate / (mass + half_step * c)
    store3(normal.pose_velocity, lane, velocity)
    normal.contact_radius[lane] = a
    normal.old_radius[lane] = fabs(kept) if hertzian else 1.0
    normal.stretched[lane] = normal.keeps[lane] = 1.0
    normal.dashpot[lane], normal.old[lane] = c, old
    forces.rate[lane], forces.elastic[lane], forces.kept[lane] = rate, elastic, a
    return <long long> ((overlap > 0.0) & ((kept <= 0.0) | lifts_off(overlap, mass, step, rate, elastic + c * rate)))


cdef inline void correct_edges(bint hertzian, GivenContact contact, OwnFriction history, OwnNormal normal,
                               NormalForces *forces) noexcept nogil:
    """Mean of the damping coefficient over the step where a contact begins or ends, and the fraction of the step since
    the touch.

    The force at the pose acts from half a step before to half a step after it. The first one of a contact acts from the
    touch on, the last one until lift-off. If it continues after lift-off was predicted, damping acts from there.
    """
    cdef double overlap, step, coefficient, mass, radius, kept, rate, half, first, last, mean, largest, approach, c
    cdef bint begins, ends, repeats
    cdef int lane
    for lane in range(LANES):
        overlap, step = contact.overlap[lane], contact.step[lane]
        mass, radius = contact.mass[lane], contact.radius[lane]
        coefficient, c = contact.coefficients[DAMPING][lane], normal.dashpot[lane]
        kept, rate = history.radius[lane], forces.rate[lane]
        half = 0.5 * step * rate
        begins, repeats = kept == 0.0, kept < 0.0 and half < 0.0
        ends = lifts_off(overlap, mass, step, rate, forces.elastic[lane] + c * rate)
        first, last = 0.0 if begins or repeats else overlap - half, 0.0 if ends else overlap + half
        mean = (damping_integral(hertzian, coefficient, mass, radius, last)
                - damping_integral(hertzian, coefficient, mass, radius, first)) / (2.0 * half if half != 0.0 else 1.0)
        largest = 1.5 * coefficient * sqrt(mass * contact_radius(hertzian, radius, overlap + fabs(half)))
        mean = mean if mean < largest else largest
        mean = mean if mean > 0.0 else 0.0
        normal.dashpot[lane] = mean if (begins and half > 0.0) or (ends and step > 0.0) or repeats else c
        forces.kept[lane] = -forces.kept[lane] if ends else forces.kept[lane]
        approach = -step * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
        normal.stretched[lane] = overlap / (approach if approach > overlap else overlap) \
            if begins and overlap > 0.0 else 1.0


cdef inline long long add_damping(GivenContact contact, OwnFriction history, OwnNormal normal, double most,
                                  double by_magnitude, NormalForces *forces, int lane) noexcept nogil:
    """F_n and the load of a contact; 1 if F_n changed its sign in this step.

    most : of the attraction by the dashpot, relative to F_e.
    """
    cdef double elastic = forces.elastic[lane], least = -most * elastic
    cdef double damping = normal.dashpot[lane] * forces.rate[lane], force
    damping = damping if damping > least else least
    damping = damping if contact.overlap[lane] > 0.0 else 0.0
    force = elastic + damping
    forces.damping[lane], forces.force[lane] = damping, force
    normal.load[lane] = load_of(force, by_magnitude)
    return <long long> (force * history.normal_force[lane] < 0.0)


cdef inline void normal_forces(bint hertzian, GivenContact contact, OwnFriction history, OwnNormal normal,
                               OwnResult result, const LawParameters *parameters) noexcept nogil:
    """A `PartFunction`: F_n = F_e + c d' of the docstrings of the laws; hertzian : constant at compile time."""
    cdef NormalForces forces
    cdef double most = 1.0 if parameters.values[LIMIT_DAMPING] > 0.0 else 1e300
    cdef double by_magnitude = parameters.values[FRICTION_LIMIT]
    cdef long long edges = 0, reversed = 0
    cdef int lane
    for lane in range(LANES):
        edges |= find_damping(hertzian, contact, history, normal, &forces, lane)
    if edges:
        correct_edges(hertzian, contact, history, normal, &forces)
    for lane in range(LANES):
        reversed |= add_damping(contact, history, normal, most, by_magnitude, &forces, lane)
    for lane in range(LANES if reversed else 0):
        restart_spring(normal, forces.force[lane], history.normal_force[lane], lane)
    store_normal(contact, history, result, &forces)


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef double overlap, a
    cdef int lane
    for lane in range(LANES):
        overlap = contact.overlap[lane] if contact.overlap[lane] > 0.0 else 0.0
        a = contact_radius(not parameters.linear, contact.radius[lane], overlap)
        energies.normal_energy[lane] = (0.5 if parameters.linear else 0.4) * a * overlap * overlap \
            * contact.coefficients[STIFFNESS][lane]
        normal.contact_radius[lane] = normal.old_radius[lane] = a
        normal.load[lane] = load_of(history.normal_force[lane], parameters.values[FRICTION_LIMIT])


cdef void hertz(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                const LawParameters *parameters) noexcept nogil:
    normal_forces(True, contact, history, normal, result, parameters)


cdef void hooke(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                const LawParameters *parameters) noexcept nogil:
    normal_forces(False, contact, history, normal, result, parameters)


HERTZ = Part(forces=<size_t> hertz, describe=<size_t> describe, is_normal=True)
HOOKE = Part(forces=<size_t> hooke, describe=<size_t> describe, is_normal=True, linear=True)
