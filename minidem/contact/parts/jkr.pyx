"""Normal part with cohesion: the elastic adhesive contact of Johnson, Kendall and Roberts damped as Hertz's.

A contact begins at touch and ends at tear-off, at a gap d_c. There the force jumps, and before tear-off it behaves like
a square root. So where a contact begins or ends in a step, the force is the difference of the energies over the path,
and the damping coefficient the difference of its integral over the path. Whether it ends is predicted, as in
normal.pyx. What the jumps lose, -U at touch and U at tear-off, is dissipated by damping.

K. L. Johnson, K. Kendall & A. D. Roberts, Proc. R. Soc. A 324, 301 (1971):

    overlap  d = a^2/R* - sqrt(2 pi w a/E*)         contact radius a [m], work of adhesion w [J/m2]
    force    F = 4 E* a^3/(3 R*) - sqrt(8 pi w E* a^3)
    energy   U = 8/15 E* a^5/R*^2 - sqrt(32/9 pi w E* a^7)/R* + pi w a^2

The stable branch goes from tear-off at the overlap -d_c on. With s = sqrt(2 pi w/E*), the root x = sqrt(a), and
x_c = (s R*/4)^(1/3) at tear-off, overlap and force are polynomials:

    d = x^4/R* - s x        d_c = 3 x_c^4/R*        F = 4/3 E* x^3 (x^3/R* - 3/2 s)
    x = x_c (1 + h),  h^2 (6 + 4 h + h^2) = 3 (1 + d/d_c)

COHESION.md has the load L, and the force at touch and at tear-off. h is found within 2e-16 of its value for every right
side. Near tear-off that is the difference of nearly equal numbers: x is the one of an overlap which differs by up to
1e-15 d_c.
"""
from math import pi

import numpy as np

from libc.math cimport fabs, sqrt

from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, load3, store3
from minidem.contact.law cimport Part
from minidem.contact.part cimport (
    ADHESION, DAMPING, FRICTION_LIMIT, LawParameters, NormalForces, OwnFriction, OwnNormal, STIFFNESS, lifts_off,
    load_of, mean_over_step, predicted, restart_spring, store_normal,
)
from minidem.core.cube_root cimport cube_root
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, dot

cdef struct Adhesive:       # a contact
    double radius           # R*, effective [m]
    double stiffness        # 4/3 E* [Pa]
    double s                # of the pair of materials [m^(1/2)]; 0: without adhesion, as Hertz
    double x_c              # x at tear-off
    double gap              # d_c [m]; this and x_c without adhesion: of s = 1
    double end              # gap at which it ends [m]
    bint lasts              # in this step


cdef inline Adhesive adhesive(double radius, double stiffness, double s) noexcept nogil:
    cdef Adhesive c
    c.radius, c.stiffness, c.s = radius, stiffness, s
    c.x_c = cube_root(0.25 * (s if s > 0.0 else 1.0) * radius)
    c.gap = 3.0 * (c.x_c * c.x_c) * (c.x_c * c.x_c) / radius
    c.end = c.gap if s > 0.0 else 0.0
    return c


cdef inline double closer(double h, double right) noexcept nogil:
    """Halley's step for h^2 (6 + 4 h + h^2) = right."""
    cdef double excess = h * h * (6.0 + h * (4.0 + h)) - right, slope = h * (12.0 + h * (12.0 + h * 4.0))
    cdef double curvature = 12.0 + h * (24.0 + h * 12.0)
    return h - 2.0 * excess * slope / (2.0 * slope * slope - excess * curvature + 1e-100)       # 0 where right is 0


cdef inline double root_at(const Adhesive *c, double overlap) noexcept nogil:
    """x [m^(1/2)] of an overlap [m]; beyond tear-off x_c."""
    cdef double ratio = 3.0 * (overlap + c.gap) / c.gap, right = ratio if ratio > 0.0 else 0.0, t = sqrt(right)
    cdef double start = t / (sqrt(t + 2.165) + 0.9780958458269617)      # within 0.15 %: t / sqrt(6), ..., sqrt(t) - 1
    cdef double x = c.x_c + c.x_c * closer(closer(start, right), right)
    cdef double hertzian = sqrt(sqrt(c.radius * (overlap if overlap > 0.0 else 0.0)))
    return x if c.s > 0.0 else hertzian


cdef inline double touch_root(const Adhesive *c) noexcept nogil:
    """x at d = 0, with adhesion."""
    return 1.5874010519681994 * c.x_c


cdef inline double force_at(const Adhesive *c, double x) noexcept nogil:
    """F [N], repulsion positive."""
    cdef double cube = x * x * x
    return c.stiffness * cube * (cube / c.radius - 1.5 * c.s)


cdef inline double energy_at(const Adhesive *c, double x) noexcept nogil:
    """U [J], relative to separated spheres."""
    cdef double cube = x * x * x
    return c.stiffness * x * cube * (0.4 * cube * cube / (c.radius * c.radius) - c.s * cube / c.radius
                                     + 0.375 * c.s * c.s)


cdef inline double pull_off_force(double radius, double stiffness, double s) noexcept nogil:
    """3/2 pi w R* [N]."""
    return 0.5625 * stiffness * s * s * radius


cdef inline double lost_at_touch(const Adhesive *c) noexcept nogil:
    """-U at d = 0 [J]: the force falls at once from 0 to -8/9 of the pull-off force."""
    return 0.225 * c.stiffness * c.s * c.s * c.s * c.radius * touch_root(c)


cdef inline double lost_at_tear_off(const Adhesive *c) noexcept nogil:
    """U at d = -d_c [J]: what the stretched contact holds as it breaks."""
    return 0.0375 * c.stiffness * c.s * c.s * c.s * c.radius * c.x_c


cdef inline double root_integral(const Adhesive *c, double x) noexcept nogil:
    """Integral of x over the overlap, to a constant."""
    return x * x * (0.8 * (x * x * x) / c.radius - 0.5 * c.s)


cdef inline Adhesive contact_in(GivenContact contact, OwnFriction history, double touches, int lane) noexcept nogil:
    """touches : above 0 where a new contact would begin."""
    cdef double overlap = contact.overlap[lane]
    cdef Adhesive c = adhesive(contact.radius[lane], contact.coefficients[STIFFNESS][lane],
                               contact.coefficients[ADHESION][lane])
    c.lasts = (touches > 0.0) | ((overlap <= 0.0) & (overlap > -c.end) & (history.radius[lane] != 0.0))
    return c


cdef inline long long find_forces(GivenContact contact, OwnFriction history, OwnNormal normal, OwnResult result,
                                  NormalForces *forces, int lane) noexcept nogil:
    """Elastic force, damping coefficient, approach velocity at the pose; 1 if the contact begins or ends in this
    step."""
    cdef Adhesive c = contact_in(contact, history, result.goes_on[lane], lane)
    cdef double overlap = contact.overlap[lane], mass = contact.mass[lane]
    cdef double step = contact.step[lane], kept = history.radius[lane]
    cdef double root = root_at(&c, overlap), x = root if c.lasts else 0.0, depth = x * x * (x * x)
    cdef double elastic = force_at(&c, x) + 0.0         # never -0.0
    cdef double coefficient = contact.coefficients[DAMPING][lane] * sqrt(mass) * x
    cdef double old = 1.0 if kept != 0.0 else 0.0, first = touch_root(&c) if c.s > 0.0 else 0.0, rate
    cdef Vec3 velocity = predicted(load3(contact.velocity, lane), load3(history.slip, lane), old)
    rate = -mass * dot(velocity, load3(contact.normal, lane)) - 0.5 * step * (elastic - history.normal_force[lane])
    rate = rate / (mass + 0.5 * step * coefficient)
    coefficient *= mean_over_step(0.5 * step * rate * c.radius / (depth if depth > 1e-300 else 1e-300))
    store3(normal.pose_velocity, lane, velocity)
    normal.contact_radius[lane] = x * x
    normal.old_radius[lane] = fabs(kept) if kept != 0.0 else first * first
    normal.stretched[lane] = normal.keeps[lane] = 1.0
    normal.dashpot[lane], normal.old[lane] = coefficient, old
    forces.rate[lane], forces.elastic[lane], forces.kept[lane] = rate, elastic, x * x
    result.goes_on[lane] = 1.0 if c.lasts else 0.0
    return <long long> ((kept <= 0.0) | lifts_off(overlap + c.end, mass, step, rate, elastic + coefficient * rate))


cdef inline void correct_edge(GivenContact contact, OwnFriction history, OwnNormal normal, OwnResult result,
                              NormalForces *forces, double *lost, int lane) noexcept nogil:
    """Means over the step where a contact begins or ends, of force and damping coefficient; energy lost by the jump.

    The force at the pose acts from half a step before to half a step after it. The first one of a contact acts from the
    touch on, the last one until tear-off. If it continues after tear-off was predicted, its force acts from there.
    """
    cdef Adhesive c = contact_in(contact, history, result.goes_on[lane], lane)
    cdef double overlap = contact.overlap[lane], mass = contact.mass[lane]
    cdef double step = contact.step[lane], kept = history.radius[lane]
    cdef double half = 0.5 * step * forces.rate[lane], elastic = forces.elastic[lane]
    cdef double coefficient = normal.dashpot[lane]
    cdef double approach, first, last, per_path, most, x
    cdef bint begins = kept == 0.0 and half > 0.0 and overlap < 3.0 * half, repeats = kept < 0.0 and half < 0.0, breaks
    breaks = step > 0.0 and lifts_off(overlap + c.end, mass, step, forces.rate[lane],
                                      elastic + coefficient * forces.rate[lane])
    if c.lasts and half != 0.0 and (begins or breaks or repeats):
        first = root_at(&c, 0.0 if begins else -c.end if repeats else overlap - half)
        last = root_at(&c, -c.end if breaks else overlap + half)
        per_path = 1.0 / (2.0 * half)
        most = 2.0 * fabs(elastic) + pull_off_force(c.radius, c.stiffness, c.s)
        elastic = per_path * (energy_at(&c, last) - energy_at(&c, first))
        forces.elastic[lane] = elastic if c.s > 0.0 and fabs(elastic) < most else forces.elastic[lane]
        x = per_path * (root_integral(&c, last) - root_integral(&c, first))
        most = 1.5 * root_at(&c, overlap + fabs(half))
        x = x if x < most else most
        normal.dashpot[lane] = contact.coefficients[DAMPING][lane] * sqrt(mass) * (x if x > 0.0 else 0.0)
    forces.kept[lane] = -forces.kept[lane] if breaks else forces.kept[lane]
    if step > 0.0 and c.s > 0.0 and c.lasts and kept == 0.0:
        lost[lane] = lost_at_touch(&c)
    if step > 0.0 and c.s > 0.0 and not c.lasts and kept != 0.0:
        lost[lane] = lost_at_tear_off(&c)
        if overlap < -1e99:                            # another triangle has taken over and lost this already
            lost[lane] = -lost_at_touch(&c)
    approach = -step * dot(load3(contact.velocity, lane), load3(contact.middle_normal, lane))
    normal.stretched[lane] = overlap / (approach if approach > overlap else overlap) \
        if kept == 0.0 and overlap > 0.0 else 1.0


cdef inline double tension_of(GivenContact contact, int lane) noexcept nogil:
    """2 F_c, added to the normal force in the limits of friction [N]."""
    return 2.0 * pull_off_force(contact.radius[lane], contact.coefficients[STIFFNESS][lane],
                                contact.coefficients[ADHESION][lane])


cdef inline long long add_damping(GivenContact contact, OwnFriction history, OwnNormal normal, OwnResult result,
                                  double by_magnitude, NormalForces *forces, int lane) noexcept nogil:
    """F_n and the load of a contact; 1 if the load without magnitude changed its sign in this step."""
    cdef double lasts = result.goes_on[lane], tension = tension_of(contact, lane), force
    cdef double damping = lasts * normal.dashpot[lane] * forces.rate[lane]
    force = forces.elastic[lane] + damping
    forces.damping[lane], forces.force[lane] = damping, force
    normal.load[lane] = lasts * load_of(force + tension, by_magnitude)
    return <long long> ((force + tension) * (history.normal_force[lane] + tension) < 0.0)


cdef void forces(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, OwnResult result,
                 const LawParameters *parameters) noexcept nogil:
    cdef NormalForces found
    cdef double lost[LANES]
    cdef double tension, by_magnitude = parameters.values[FRICTION_LIMIT]
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
        restart_spring(normal, found.force[lane] + tension, history.normal_force[lane] + tension, lane)
    store_normal(contact, history, result, &found)
    for lane in range(LANES):
        result.dissipated[0][lane] += lost[lane]


cdef void describe(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal, Energies *energies,
                   const LawParameters *parameters) noexcept nogil:
    cdef Adhesive c
    cdef double x
    cdef int lane
    for lane in range(LANES):
        c = contact_in(contact, history, contact.overlap[lane], lane)
        x = root_at(&c, contact.overlap[lane]) if c.lasts else 0.0
        energies.normal_energy[lane] = energy_at(&c, x)
        normal.contact_radius[lane] = normal.old_radius[lane] = x * x
        normal.load[lane] = load_of(history.normal_force[lane] + tension_of(contact, lane),
                                    parameters.values[FRICTION_LIMIT])


def length_root(modulus, adhesion):
    """s = sqrt(2 pi w / E*) [m^(1/2)] of moduli E* [Pa] and works of adhesion w [J/m2], arrays or numbers."""
    return (2.0 * pi * adhesion / modulus) ** 0.5


def jkr_curves(overlap, double radius, double modulus, double adhesion):
    """Contact radius, force and energy on the stable branch.

    Parameters
    ----------
    overlap : (n,) array
        [m], negative for a gap; beyond tear-off the values stay as at tear-off.
    radius, modulus, adhesion : float
        Effective radius R* [m] and modulus E* [Pa], work of adhesion w [J/m2] greater than 0.

    Returns
    -------
    (n, 3) ndarray
        Contact radius [m], force [N], repulsion positive, and energy relative to separated spheres [J].
    """
    cdef Adhesive c = adhesive(radius, 4.0 / 3.0 * modulus, length_root(modulus, adhesion))
    cdef double x
    cdef double[::1] overlaps = np.ascontiguousarray(overlap, dtype=float)
    cdef double[:, ::1] values = np.empty((len(overlaps), 3))
    cdef Py_ssize_t k
    for k in range(len(overlaps)):
        x = root_at(&c, overlaps[k])
        values[k, 0], values[k, 1], values[k, 2] = x * x, force_at(&c, x), energy_at(&c, x)
    return np.asarray(values)


def jkr_limits(double radius, double modulus, double adhesion):
    """Where an adhesive contact ends, and what it costs; arguments as for `jkr_curves`.

    Returns
    -------
    dict of str to float
        gap: at which it tears off [m];  pull_off: largest attraction, 3/2 pi w R* [N];  lost_at_touch,
        lost_at_tear_off: energies [J], together 7.09 (w^5 R*^4 / E*^2)^(1/3).
    """
    cdef Adhesive c = adhesive(radius, 4.0 / 3.0 * modulus, length_root(modulus, adhesion))
    return {"gap": c.gap, "pull_off": pull_off_force(radius, c.stiffness, c.s), "lost_at_touch": lost_at_touch(&c),
            "lost_at_tear_off": lost_at_tear_off(&c)}


def sticking_speed(mass, radius, modulus, adhesion):
    """Relative speed up to which two bodies that meet head on stick, without other losses.

    C. Thornton & Z. Ning, Powder Technol. 99, 154 (1998), doi:10.1016/S0032-5910(98)00099-0; arguments as for
    `jkr_curves`, and the effective mass m* [kg].

    Returns
    -------
    float
        sqrt(14.18 / m*) (w^5 R*^4 / E*^2)^(1/6) [m/s].
    """
    limits = jkr_limits(radius, modulus, adhesion)
    return sqrt(2.0 * (limits["lost_at_touch"] + limits["lost_at_tear_off"]) / mass)


def coefficients(pair, values):
    return {ADHESION: length_root(pair["modulus"], pair["adhesion"])}


def reach(pair, values, radius):
    return 3.0 * (0.25 * length_root(pair["modulus"], pair["adhesion"])) ** (4 / 3) * radius ** (1 / 3)


EXCLUDES = {"limit_damping": "it clips attraction, and contacts with cohesion attract",
            **{name: f"{name} beside contacts with cohesion is not defined" for name in ("bonds", "liquid")}}
PART = Part(forces=<size_t> forces, describe=<size_t> describe, is_normal=True, needs=("adhesion",), excludes=EXCLUDES,
            coefficients=coefficients, reach=reach)
