"""Damped normal force, friction and rolling resistance of eight contacts: the formulas that laws with friction share.

    normal       F_n = F_e(d) + c d', attraction before lift-off included
    tangential   spring T, stretched by the motion of the contact point, with a dashpot; |T + T_d| <= mu L
    rolling      the same with the relative rotation: a couple M, |M + M_d| <= mu_r R* L

Time levels. Springs are stretched by the velocity half a step before the pose, which is exact over the step. The
dashpots have the velocity at the pose: the normal one as in damped_normal.pxd, the others extrapolated, 3/2 of this
velocity minus 1/2 of that of the last step.

L = max(F_n, 0): while the damped force attracts, before lift-off, there is no friction. With friction_limit=magnitude
L = |F_n|. Either is zero where F_n changes its sign. The springs are then gone, and are stretched by the rest of the
step only.
"""
from libc.math cimport fabs, sqrt

from minidem.contact.damped_normal cimport Normal, contact_radius, find_normal_forces, load_of
from minidem.contact.friction_records cimport (
    DASHPOT, FRICTION, FRICTION_LIMIT, LIMIT_DAMPING, ROLLING_DAMPING, ROLLING_DASHPOT, ROLLING_FRICTION, ROLLING_RATE,
    ROLLING_SPRING, ROLLING_STIFFNESS, SLIP, SPRING, STIFFNESS, TANGENTIAL_DAMPING, TANGENTIAL_STIFFNESS, predicted,
    record, store_record,
)
from minidem.contact.rows cimport (
    ANGULAR_VELOCITY, COEFFICIENTS, COUPLE, DISSIPATED, FORCE, MIDDLE_NORMAL, NORMAL, NORMAL_ENERGY, OVERLAP, OwnRows,
    RADIUS, ROLLING_ENERGY, ROLLING_INERTIA, SLIDING, SPIN, STEP, TANGENTIAL_ENERGY, VELOCITY,
)
from minidem.contact.spring cimport Change, Springs, dissipate, slide, stretch
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3
from minidem.state.rows cimport load, store

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """


cdef inline Change change_of(const double *contact, const double *history, const Normal *normal,
                             int lane) noexcept nogil:
    """What the springs of a contact need."""
    cdef Change change
    change.a_old, change.a = fabs(history[(4 * SPRING + 3) * LANES + lane]), normal.a[lane]
    change.onset, change.fresh = normal.onset[lane], normal.fresh[lane]
    change.turn = contact[STEP * LANES + lane] * contact[SPIN * LANES + lane]
    change.normal, change.middle = load(contact + NORMAL * LANES + lane), load(contact + MIDDLE_NORMAL * LANES + lane)
    return change


cdef inline long long roll(const double *contact, const double *history, const Normal *normal, double by_magnitude,
                           Springs *rolling, int lane) noexcept nogil:
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
        of_pair[ROLLING_FRICTION * LANES] * radius * load_of(normal.force[lane], by_magnitude), rolling, lane)


cdef inline void resist_rolling(const double *contact, OwnRows history, const Normal *normal,
                                double by_magnitude, OwnRows result) noexcept nogil:
    """Couples of eight contacts, with their records and energies."""
    cdef Springs rolling
    cdef double slides[LANES]
    cdef long long any_slides = 0
    cdef int lane
    cdef Vec3 w
    for lane in range(LANES):
        slides[lane] = 0.0
        any_slides |= roll(contact, history, normal, by_magnitude, &rolling, lane)
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
    cdef double step, by_magnitude = parameters[<int> FRICTION_LIMIT]
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
            of_pair[TANGENTIAL_DAMPING * LANES] * normal.c[lane],
            of_pair[FRICTION * LANES] * load_of(normal.force[lane], by_magnitude), &friction, lane)
    if any_slides:
        slide(&friction, slides)
    if rolls:                                           # reads the contact radius of the last step
        resist_rolling(contact, history, &normal, by_magnitude, result)
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
        store_record(history + lane, SPRING, load(friction.spring + lane), normal.kept[lane])
        store_record(history + lane, SLIP, u, normal.damping[lane])
        store_record(history + lane, DASHPOT, load(friction.dashpot + lane), normal.force[lane])


cdef inline void describe_friction(bint hertzian, bint rolls, const double *contact, const double *history,
                                   double *result, const double *parameters) noexcept nogil:
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
        limit = of_pair[FRICTION * LANES] * load_of(
            history[(4 * DASHPOT + 3) * LANES + lane], parameters[<int> FRICTION_LIMIT])
        result[SLIDING * LANES + lane] = 1.0 if dot(total, total) >= limit * limit * (1.0 - 1e-9) else 0.0
        result[ROLLING_ENERGY * LANES + lane] = 0.0
        if rolls:
            spring = load(record(history, ROLLING_SPRING) + lane)
            stiffness = 2.0 * a * of_pair[ROLLING_STIFFNESS * LANES] * contact[RADIUS * LANES + lane] \
                * contact[RADIUS * LANES + lane]
            result[ROLLING_ENERGY * LANES + lane] = dot(spring, spring) / (stiffness if stiffness > 0.0 else 1.0)
