"""Normal part with cohesion: the elastic adhesive contact of Johnson, Kendall and Roberts (jkr.pxd), damped as Hertz's.

A contact begins at touch and ends at tear-off, at a gap d_c. There the force jumps, and before tear-off its slope is
that of a root: where a contact begins or ends in a step, the force is the difference of the energies over the path, and
the damping coefficient that of its integral. Whether it ends is predicted, as in damped_normal.pxd. What the jumps
lose, -U at touch and U at tear-off, is dissipated by damping.

L = max(F_n + 2 F_c, 0) with the pull-off force F_c (C. Thornton, J. Phys. D 24, 1942 (1991), doi
10.1088/0022-3727/24/11/007), or |F_n + 2 F_c| with friction_limit=magnitude.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.damped_normal cimport (
    NormalForces, lifts_off, load_of, mean_over_step, restart_spring, store_normal,
)
from minidem.contact.friction_records cimport (
    ADHESION, DAMPING, DASHPOT, FRICTION_LIMIT, SLIP, SPRING, STIFFNESS, predicted, record,
)
from minidem.contact.jkr cimport (
    Jkr, energy_at, force_at, lost_at_tear_off, lost_at_touch, pull_off_force, root_at, tear_off, touch_root,
)
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    CONTACT_RADIUS, DASHPOT_COEFFICIENT, GivenRows, KEEPS, LOAD, OLD, OLD_RADIUS, POSE_VELOCITY, STRETCHED,
)
from minidem.contact.rows cimport (
    COEFFICIENTS, DISSIPATED, GOES_ON, MASS, MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP, OwnRows, RADIUS, STEP,
    VELOCITY,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot
from minidem.state.rows cimport load, store

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef struct Adhesive:           # of a contact
    Jkr jkr
    double radius               # R* [m]
    double stiffness            # 4/3 E* [Pa]
    double s                    # 0: without adhesion, as Hertz
    double gap                  # at which it ends [m]
    bint lasts                  # in this step


cdef inline Adhesive adhesive_contact(GivenRows contact, GivenRows history, double touches, int lane) noexcept nogil:
    """touches : above 0 where a new contact would begin."""
    cdef Adhesive c
    cdef double overlap = contact[OVERLAP * LANES + lane]
    cdef const double *of_pair = contact + COEFFICIENTS * LANES + lane
    c.radius, c.stiffness, c.s = contact[RADIUS * LANES + lane], of_pair[STIFFNESS * LANES], of_pair[ADHESION * LANES]
    c.jkr = tear_off(c.radius, c.s if c.s > 0.0 else 1.0)
    c.gap = c.jkr.gap if c.s > 0.0 else 0.0
    c.lasts = (touches > 0.0) | ((overlap <= 0.0) & (overlap > -c.gap)
                                 & (history[(4 * SPRING + 3) * LANES + lane] != 0.0))
    return c


cdef inline double root_of(const Adhesive *c, double overlap) noexcept nogil:
    """Square root of the contact radius [m^(1/2)]."""
    cdef double hertzian = sqrt(sqrt(c.radius * (overlap if overlap > 0.0 else 0.0)))
    cdef double adhesive = root_at(overlap, &c.jkr)
    return adhesive if c.s > 0.0 else hertzian


cdef inline double root_integral(const Adhesive *c, double x) noexcept nogil:
    """Integral of x over the overlap, to a constant."""
    return x * x * (0.8 * (x * x * x) / c.radius - 0.5 * c.s)


cdef inline long long find_forces(GivenRows contact, GivenRows history, OwnRows normal, OwnRows result,
                                  NormalForces *forces, int lane) noexcept nogil:
    """Elastic force, damping coefficient, approach velocity at the pose; 1 if the contact begins or ends in this
    step."""
    cdef Adhesive c = adhesive_contact(contact, history, result[GOES_ON * LANES + lane], lane)
    cdef double overlap = contact[OVERLAP * LANES + lane], mass = contact[MASS * LANES + lane]
    cdef double step = contact[STEP * LANES + lane], kept = history[(4 * SPRING + 3) * LANES + lane]
    cdef double root = root_of(&c, overlap), x = root if c.lasts else 0.0, depth = x * x * (x * x)
    cdef double elastic = force_at(x, c.radius, c.stiffness, c.s) + 0.0         # never -0.0
    cdef double coefficient = contact[(COEFFICIENTS + DAMPING) * LANES + lane] * sqrt(mass) * x
    cdef double old = 1.0 if kept != 0.0 else 0.0, first = touch_root(&c.jkr) if c.s > 0.0 else 0.0, rate
    cdef Vec3 velocity = predicted(load(contact + VELOCITY * LANES + lane), load(record(history, SLIP) + lane), old)
    rate = -mass * dot(velocity, load(contact + NORMAL * LANES + lane)) \
        - 0.5 * step * (elastic - history[(4 * DASHPOT + 3) * LANES + lane])
    rate = rate / (mass + 0.5 * step * coefficient)
    coefficient *= mean_over_step(0.5 * step * rate * c.radius / (depth if depth > 1e-300 else 1e-300))
    store(normal + POSE_VELOCITY * LANES + lane, velocity)
    normal[CONTACT_RADIUS * LANES + lane] = x * x
    normal[OLD_RADIUS * LANES + lane] = fabs(kept) if kept != 0.0 else first * first
    normal[STRETCHED * LANES + lane] = normal[KEEPS * LANES + lane] = 1.0
    normal[DASHPOT_COEFFICIENT * LANES + lane], normal[OLD * LANES + lane] = coefficient, old
    forces.rate[lane], forces.elastic[lane], forces.kept[lane] = rate, elastic, x * x
    result[GOES_ON * LANES + lane] = 1.0 if c.lasts else 0.0
    return <long long> ((kept <= 0.0) | lifts_off(overlap + c.gap, mass, step, rate, elastic + coefficient * rate))


cdef inline void correct_edge(GivenRows contact, GivenRows history, OwnRows normal, OwnRows result,
                              NormalForces *forces, double *lost, int lane) noexcept nogil:
    """Means over the step where a contact begins or ends, of force and damping coefficient; energy lost by the jump.

    The force at the pose acts from half a step before to half a step after it. The first one of a contact acts from the
    touch on, the last one until tear-off. If it goes on after tear-off was predicted, its force from there on acts.
    """
    cdef Adhesive c = adhesive_contact(contact, history, result[GOES_ON * LANES + lane], lane)
    cdef double overlap = contact[OVERLAP * LANES + lane], mass = contact[MASS * LANES + lane]
    cdef double step = contact[STEP * LANES + lane], kept = history[(4 * SPRING + 3) * LANES + lane]
    cdef double half = 0.5 * step * forces.rate[lane], elastic = forces.elastic[lane]
    cdef double coefficient = normal[DASHPOT_COEFFICIENT * LANES + lane]
    cdef double approach, first, last, per_path, most, x
    cdef bint begins = kept == 0.0 and half > 0.0 and overlap < 3.0 * half, repeats = kept < 0.0 and half < 0.0, breaks
    breaks = step > 0.0 and lifts_off(overlap + c.gap, mass, step, forces.rate[lane],
                                      elastic + coefficient * forces.rate[lane])
    if c.lasts and half != 0.0 and (begins or breaks or repeats):
        first = root_of(&c, 0.0 if begins else -c.gap if repeats else overlap - half)
        last = root_of(&c, -c.gap if breaks else overlap + half)
        per_path = 1.0 / (2.0 * half)
        most = 2.0 * fabs(elastic) + pull_off_force(c.radius, c.stiffness, c.s)
        elastic = per_path * (energy_at(last, c.radius, c.stiffness, c.s)
                              - energy_at(first, c.radius, c.stiffness, c.s))
        forces.elastic[lane] = elastic if c.s > 0.0 and fabs(elastic) < most else forces.elastic[lane]
        x = per_path * (root_integral(&c, last) - root_integral(&c, first))
        most = 1.5 * root_of(&c, overlap + fabs(half))
        x = x if x < most else most
        normal[DASHPOT_COEFFICIENT * LANES + lane] = contact[(COEFFICIENTS + DAMPING) * LANES + lane] * sqrt(mass) \
            * (x if x > 0.0 else 0.0)
    forces.kept[lane] = -forces.kept[lane] if breaks else forces.kept[lane]
    if step > 0.0 and c.s > 0.0 and c.lasts and kept == 0.0:
        lost[lane] = lost_at_touch(&c.jkr, c.radius, c.stiffness, c.s)
    if step > 0.0 and c.s > 0.0 and not c.lasts and kept != 0.0:
        lost[lane] = lost_at_tear_off(&c.jkr, c.radius, c.stiffness, c.s)
        if overlap < -1e99:                            # another triangle goes on with it, which has lost this before
            lost[lane] = -lost_at_touch(&c.jkr, c.radius, c.stiffness, c.s)
    approach = -step * dot(load(contact + VELOCITY * LANES + lane), load(contact + MIDDLE_NORMAL * LANES + lane))
    normal[STRETCHED * LANES + lane] = overlap / (approach if approach > overlap else overlap) \
        if kept == 0.0 and overlap > 0.0 else 1.0


cdef inline double tension_of(GivenRows contact, int lane) noexcept nogil:
    """2 F_c, added to the normal force in the limits of friction [N]."""
    cdef const double *of_pair = contact + COEFFICIENTS * LANES + lane
    return 2.0 * pull_off_force(contact[RADIUS * LANES + lane], of_pair[STIFFNESS * LANES], of_pair[ADHESION * LANES])


cdef inline long long add_damping(GivenRows contact, GivenRows history, OwnRows normal, OwnRows result,
                                  double by_magnitude, NormalForces *forces, int lane) noexcept nogil:
    """F_n and the load of a contact; 1 if the load without magnitude changed its sign in this step."""
    cdef double lasts = result[GOES_ON * LANES + lane], tension = tension_of(contact, lane), force
    cdef double damping = lasts * normal[DASHPOT_COEFFICIENT * LANES + lane] * forces.rate[lane]
    force = forces.elastic[lane] + damping
    forces.damping[lane], forces.force[lane] = damping, force
    normal[LOAD * LANES + lane] = lasts * load_of(force + tension, by_magnitude)
    return <long long> ((force + tension) * (history[(4 * DASHPOT + 3) * LANES + lane] + tension) < 0.0)


cdef void forces(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                 GivenRows parameters) noexcept nogil:
    cdef NormalForces found
    cdef double lost[LANES]
    cdef double tension, by_magnitude = parameters[<int> FRICTION_LIMIT]
    cdef long long edges = 0, reversed = 0
    cdef int lane
    for lane in range(LANES):
        lost[lane] = 0.0
        edges |= find_forces(contact, history, normal, result, &found, lane)
    for lane in range(LANES if edges else 0):
        correct_edge(contact, history, normal, result, &found, lost, lane)
    for lane in range(LANES):
        reversed |= add_damping(contact, history, normal, result, by_magnitude, &found, lane)
    for lane in range(LANES if reversed else 0):
        tension = tension_of(contact, lane)
        restart_spring(normal, found.force[lane] + tension, history[(4 * DASHPOT + 3) * LANES + lane] + tension, lane)
    store_normal(contact, history, result, &found)
    for lane in range(LANES):
        result[DISSIPATED * LANES + lane] += lost[lane]


cdef void describe(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                   GivenRows parameters) noexcept nogil:
    cdef Adhesive c
    cdef double x
    cdef int lane
    for lane in range(LANES):
        c = adhesive_contact(contact, history, contact[OVERLAP * LANES + lane], lane)
        x = root_of(&c, contact[OVERLAP * LANES + lane]) if c.lasts else 0.0
        result[NORMAL_ENERGY * LANES + lane] = energy_at(x, c.radius, c.stiffness, c.s)
        normal[CONTACT_RADIUS * LANES + lane] = x * x
        normal[LOAD * LANES + lane] = load_of(history[(4 * DASHPOT + 3) * LANES + lane] + tension_of(contact, lane),
                                              parameters[<int> FRICTION_LIMIT])


PART = Part(forces=<size_t> forces, describe=<size_t> describe)
