"""Damped normal force, friction and rolling resistance of eight contacts: the formulas that laws with friction share.

    normal       F_n = F_e(d) + c d', attraction before lift-off included
    tangential   spring T, stretched by the motion of the contact point, with a dashpot; |T + T_d| <= mu |F_n|
    rolling      the same with the relative rotation: a couple M, |M + M_d| <= mu_r R* |F_n|

Time levels. Springs are stretched by the velocity half a step before the pose, which is exact over the step. The
dashpots need the velocity at the pose, which leapfrog predicts by 3/2 of this velocity minus 1/2 of that of the last
step. The damping coefficient rises from zero like d^(1/4) as a contact begins, so that a sample of the force would be
of order 5/4 only: steps in which a contact begins or ends take the integral of the coefficient instead.

The limit of friction is zero where F_n changes its sign, before the lift-off of a damped contact. The springs are then
gone, and are stretched by the rest of the step only.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COEFFICIENTS, COUPLE, DISSIPATED, FORCE, MASS, MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP,
    OwnRows, RADIUS, ROLLING_ENERGY, ROLLING_INERTIA, SLIDING, SPIN, STEP, TANGENTIAL_ENERGY, VELOCITY,
)
from minidem.contact.spring cimport Change, Springs, dissipate, slide, stretch
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, sub, vec3
from minidem.state.rows cimport load, store

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef enum Coefficient:              # of a pair of materials, rows from COEFFICIENTS on
    STIFFNESS = 0                   # F_e = STIFFNESS a d, contact radius a; of linear springs a = 1
    DAMPING = 1                     # c = DAMPING sqrt(m* a)
    TANGENTIAL_STIFFNESS = 2        # times a [N/m]
    TANGENTIAL_DAMPING = 3          # tangential dashpot / c
    FRICTION = 4
    ROLLING_STIFFNESS = 5           # times a R*^2 [N m]
    ROLLING_FRICTION = 6
    ROLLING_DAMPING = 7             # fraction of the critical one

cdef enum Record:                   # of the history: three numbers, and a fourth one
    SPRING = 0                      # T on i [N]; contact radius a
    SLIP = 1                        # velocity at the contact point, half a step before the pose; normal dashpot [N]
    DASHPOT = 2                     # T_d on i [N]; F_n [N]
    ROLLING_SPRING = 3              # M on i [N m]; -
    ROLLING_RATE = 4                # relative angular velocity, half a step before the pose; -
    ROLLING_DASHPOT = 5             # M_d on i [N m]; -
    SLIDING_RECORDS = 3             # records without those of rolling

cdef enum Parameter:                # of both laws; others follow
    LIMIT_DAMPING = 0               # clip attraction

cdef struct Normal:                 # of eight contacts
    double a[LANES]                 # contact radius
    double rate[LANES]              # approach velocity at the pose
    double c[LANES]                 # damping coefficient
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


cdef inline const double *record(const double *history, int number) noexcept nogil:
    return history + 4 * LANES * number


cdef inline void store_record(double *history, int number, Vec3 v, double fourth) noexcept nogil:
    store(history + 4 * LANES * number, v)
    history[(4 * number + 3) * LANES] = fourth


cdef inline Vec3 predicted(Vec3 now, Vec3 last, double old) noexcept nogil:
    """Velocity at the pose by those half and one and a half steps before; old : 0 in a new contact, else 1."""
    return add_scaled(now, 0.5 * old, sub(now, last))


cdef inline bint find_damping(bint hertzian, const double *contact, const double *history,
                              Normal *normal) noexcept nogil:
    """Damping coefficients, approach velocities at the pose; True if a contact begins or ends in this step."""
    cdef double overlap, step, a_old
    cdef Vec3 u, u_old
    cdef long long edges = 0
    cdef int lane
    for lane in range(LANES):
        overlap, step = contact[OVERLAP * LANES + lane], contact[STEP * LANES + lane]
        u, u_old = load(contact + VELOCITY * LANES + lane), load(record(history, SLIP) + lane)
        a_old = history[(4 * SPRING + 3) * LANES + lane]
        normal.rate[lane] = -dot(predicted(u, u_old, 1.0 if a_old > 0.0 else 0.0),
                                 load(contact + NORMAL * LANES + lane))
        normal.a[lane] = contact_radius(hertzian, contact[RADIUS * LANES + lane], overlap)
        normal.c[lane] = contact[(COEFFICIENTS + DAMPING) * LANES + lane] * sqrt(contact[MASS * LANES + lane]
                                                                                 * normal.a[lane])
        normal.onset[lane] = 1.0
        edges |= <long long> ((a_old == 0.0) | (overlap + step * normal.rate[lane] <= 0.0))
    return edges != 0


cdef inline void correct_edges(bint hertzian, const double *contact, const double *history,
                               Normal *normal) noexcept nogil:
    """Means over the step where a contact begins or ends: of the damping coefficient, and of the tangential stiffness.

    The force at the pose acts from half a step before to half a step after it. The first one of a contact acts from the
    touch on, the last one until lift-off.
    """
    cdef double overlap, step, coefficient, mass, radius, half, first, last, mean, largest, approach
    cdef bint begins, ends
    cdef int lane
    for lane in range(LANES):
        overlap, step = contact[OVERLAP * LANES + lane], contact[STEP * LANES + lane]
        mass, radius = contact[MASS * LANES + lane], contact[RADIUS * LANES + lane]
        coefficient = contact[(COEFFICIENTS + DAMPING) * LANES + lane]
        begins = history[(4 * SPRING + 3) * LANES + lane] == 0.0
        ends = overlap + step * normal.rate[lane] <= 0.0
        half = 0.5 * step * normal.rate[lane]
        first, last = 0.0 if begins else overlap - half, 0.0 if ends else overlap + half
        mean = (damping_integral(hertzian, coefficient, mass, radius, last)
                - damping_integral(hertzian, coefficient, mass, radius, first)) / (2.0 * half if half != 0.0 else 1.0)
        largest = 1.5 * normal.c[lane]
        mean = mean if mean < largest else largest
        normal.c[lane] = mean if (begins and half > 0.0) or (ends and step > 0.0) else normal.c[lane]
        approach = -step * dot(load(contact + VELOCITY * LANES + lane), load(contact + MIDDLE_NORMAL * LANES + lane))
        normal.onset[lane] = (2.0 / 3.0 if hertzian else 1.0) * overlap \
            / (approach if approach > overlap else overlap) if begins and overlap > 0.0 else 1.0


cdef inline void find_normal_forces(bint hertzian, const double *contact, const double *history,
                                    double limits_damping, Normal *normal) noexcept nogil:
    """F_n = F_e + c d' of the docstrings of the laws [N], and whether it changed its sign in this step."""
    cdef double overlap, elastic, damping, force, last
    cdef long long reversed = 0
    cdef int lane
    if find_damping(hertzian, contact, history, normal):
        correct_edges(hertzian, contact, history, normal)
    for lane in range(LANES):
        overlap = contact[OVERLAP * LANES + lane]
        elastic = contact[(COEFFICIENTS + STIFFNESS) * LANES + lane] * normal.a[lane] \
            * (overlap if overlap > 0.0 else 0.0)
        damping = normal.c[lane] * normal.rate[lane]
        damping = -elastic if limits_damping > 0.0 and damping < -elastic else damping
        damping = damping if overlap > 0.0 else 0.0
        force = elastic + damping
        normal.damping[lane], normal.force[lane], normal.fresh[lane] = damping, force, 1.0
        reversed |= <long long> (force * history[(4 * DASHPOT + 3) * LANES + lane] < 0.0)
    for lane in range(LANES if reversed else 0):
        force, last = normal.force[lane], history[(4 * DASHPOT + 3) * LANES + lane]
        normal.fresh[lane] = force / (force - last) if force * last < 0.0 else 1.0


cdef inline Change change_of(const double *contact, const double *history, const Normal *normal,
                             int lane) noexcept nogil:
    """What the springs of a contact need."""
    cdef Change change
    change.a_old, change.a = history[(4 * SPRING + 3) * LANES + lane], normal.a[lane]
    change.onset, change.fresh = normal.onset[lane], normal.fresh[lane]
    change.turn = contact[STEP * LANES + lane] * contact[SPIN * LANES + lane]
    change.normal, change.middle = load(contact + NORMAL * LANES + lane), load(contact + MIDDLE_NORMAL * LANES + lane)
    return change


cdef inline long long roll(const double *contact, const double *history, const Normal *normal, Springs *rolling,
                           int lane) noexcept nogil:
    """Rolling resistance before it reaches its limit; 1 if it exceeds it."""
    cdef Change change = change_of(contact, history, normal, lane)
    cdef const double *of_pair = contact + COEFFICIENTS * LANES + lane
    cdef Vec3 w = load(contact + ANGULAR_VELOCITY * LANES + lane), w_old = load(record(history, ROLLING_RATE) + lane)
    cdef double radius = contact[RADIUS * LANES + lane]
    cdef double stiffness = of_pair[ROLLING_STIFFNESS * LANES] * (radius * radius)
    return stretch(
        change, stiffness, load(record(history, ROLLING_SPRING) + lane), load(record(history, ROLLING_DASHPOT) + lane),
        scale(contact[STEP * LANES + lane], w), predicted(w, w_old, 1.0 if change.a_old > 0.0 else 0.0),
        of_pair[ROLLING_DAMPING * LANES] * 2.0 * sqrt(contact[ROLLING_INERTIA * LANES + lane] * stiffness * change.a),
        of_pair[ROLLING_FRICTION * LANES] * radius * fabs(normal.force[lane]), rolling, lane)


cdef inline void resist_rolling(const double *contact, OwnRows history, const Normal *normal,
                                OwnRows result) noexcept nogil:
    """Couples of eight contacts, with their records and energies."""
    cdef Springs rolling
    cdef double slides[LANES]
    cdef long long any_slides = 0
    cdef int lane
    cdef Vec3 w
    for lane in range(LANES):
        slides[lane] = 0.0
        any_slides |= roll(contact, history, normal, &rolling, lane)
    if any_slides:
        slide(&rolling, slides)
    for lane in range(LANES):
        w = load(contact + ANGULAR_VELOCITY * LANES + lane)
        dissipate(&rolling, slides, load(record(history, ROLLING_SPRING) + lane),
                  load(record(history, ROLLING_DASHPOT) + lane), scale(contact[STEP * LANES + lane], w), lane)
        result[(DISSIPATED + 3) * LANES + lane] = rolling.by_spring[lane] + rolling.by_dashpot[lane]
        store(result + COUPLE * LANES + lane, add(load(rolling.spring + lane), load(rolling.dashpot + lane)))
        store_record(history + lane, ROLLING_SPRING, load(rolling.spring + lane), 0.0)
        store_record(history + lane, ROLLING_RATE, w, 0.0)
        store_record(history + lane, ROLLING_DASHPOT, load(rolling.dashpot + lane), 0.0)


cdef inline void friction_forces(bint hertzian, bint rolls, const double *contact, OwnRows history, OwnRows result,
                                 const double *parameters) noexcept nogil:
    """A `HistoryFunction` (rows.pxd); hertzian, rolls : constant at compile time."""
    cdef double slides[LANES]
    cdef const double *of_pair
    cdef double step
    cdef long long any_slides = 0
    cdef Vec3 u, u_old
    cdef Change change
    cdef Normal normal
    cdef Springs friction
    cdef int lane
    find_normal_forces(hertzian, contact, history, parameters[<int> LIMIT_DAMPING], &normal)
    for lane in range(LANES):
        of_pair = contact + COEFFICIENTS * LANES + lane
        u, u_old = load(contact + VELOCITY * LANES + lane), load(record(history, SLIP) + lane)
        change = change_of(contact, history, &normal, lane)
        slides[lane] = 0.0
        any_slides |= stretch(
            change, of_pair[TANGENTIAL_STIFFNESS * LANES], load(record(history, SPRING) + lane),
            load(record(history, DASHPOT) + lane), scale(contact[STEP * LANES + lane], u),
            predicted(u, u_old, 1.0 if change.a_old > 0.0 else 0.0),
            of_pair[TANGENTIAL_DAMPING * LANES] * normal.c[lane], of_pair[FRICTION * LANES] * fabs(normal.force[lane]),
            &friction, lane)
    if any_slides:
        slide(&friction, slides)
    if rolls:                                           # reads the contact radius of the last step
        resist_rolling(contact, history, &normal, result)
    for lane in range(LANES):
        step, u = contact[STEP * LANES + lane], load(contact + VELOCITY * LANES + lane)
        dissipate(&friction, slides, load(record(history, SPRING) + lane), load(record(history, DASHPOT) + lane),
                  scale(step, u), lane)
        result[DISSIPATED * LANES + lane] = -0.5 * step \
            * (history[(4 * SLIP + 3) * LANES + lane] + normal.damping[lane]) \
            * dot(u, load(contact + MIDDLE_NORMAL * LANES + lane))
        result[(DISSIPATED + 1) * LANES + lane] = friction.by_dashpot[lane]
        result[(DISSIPATED + 2) * LANES + lane] = friction.by_spring[lane]
        store(result + FORCE * LANES + lane, add_scaled(
            add(load(friction.spring + lane), load(friction.dashpot + lane)), normal.force[lane],
            load(contact + NORMAL * LANES + lane)))
        if not rolls:
            result[(DISSIPATED + 3) * LANES + lane] = 0.0
            store(result + COUPLE * LANES + lane, vec3(0.0, 0.0, 0.0))
        store_record(history + lane, SPRING, load(friction.spring + lane), normal.a[lane])
        store_record(history + lane, SLIP, u, normal.damping[lane])
        store_record(history + lane, DASHPOT, load(friction.dashpot + lane), normal.force[lane])


cdef inline void describe_friction(bint hertzian, bint rolls, const double *contact, const double *history,
                                   double *result) noexcept nogil:
    """Elastic energies of contacts at the pose, and whether they slide (DescriptionRow)."""
    cdef const double *of_pair
    cdef double overlap, a, stiffness, limit
    cdef Vec3 spring, total
    cdef int lane
    for lane in range(LANES):
        of_pair = contact + COEFFICIENTS * LANES + lane
        overlap = contact[OVERLAP * LANES + lane] if contact[OVERLAP * LANES + lane] > 0.0 else 0.0
        a = contact_radius(hertzian, contact[RADIUS * LANES + lane], overlap)
        result[NORMAL_ENERGY * LANES + lane] = (0.4 if hertzian else 0.5) * of_pair[STIFFNESS * LANES] * a * overlap \
            * overlap
        spring = load(record(history, SPRING) + lane)
        stiffness = 2.0 * a * of_pair[TANGENTIAL_STIFFNESS * LANES]
        result[TANGENTIAL_ENERGY * LANES + lane] = dot(spring, spring) / (stiffness if stiffness > 0.0 else 1.0)
        total = add(spring, load(record(history, DASHPOT) + lane))
        limit = of_pair[FRICTION * LANES] * history[(4 * DASHPOT + 3) * LANES + lane]
        result[SLIDING * LANES + lane] = 1.0 if dot(total, total) >= limit * limit * (1.0 - 1e-9) else 0.0
        result[ROLLING_ENERGY * LANES + lane] = 0.0
        if rolls:
            spring = load(record(history, ROLLING_SPRING) + lane)
            stiffness = 2.0 * a * of_pair[ROLLING_STIFFNESS * LANES] * contact[RADIUS * LANES + lane] \
                * contact[RADIUS * LANES + lane]
            result[ROLLING_ENERGY * LANES + lane] = dot(spring, spring) / (stiffness if stiffness > 0.0 else 1.0)
