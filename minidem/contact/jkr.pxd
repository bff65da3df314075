"""Adhesive elastic contact of spheres: K. L. Johnson, K. Kendall & A. D. Roberts, Proc. R. Soc. A 324, 301 (1971).

    overlap  d = a^2/R* - sqrt(2 pi w a/E*)         contact radius a [m], work of adhesion w [J/m2]
    force    F = 4 E* a^3/(3 R*) - sqrt(8 pi w E* a^3)
    energy   U = 8/15 E* a^5/R*^2 - sqrt(32/9 pi w E* a^7)/R* + pi w a^2

The stable branch goes from tear-off at the overlap -d_c on. With s = sqrt(2 pi w/E*), the root x = sqrt(a), and
x_c = (s R*/4)^(1/3) at tear-off, overlap and force are polynomials:

    d = x^4/R* - s x        d_c = 3 x_c^4/R*        F = 4/3 E* x^3 (x^3/R* - 3/2 s)
    x = x_c (1 + h),  h^2 (6 + 4 h + h^2) = 3 (1 + d/d_c)

In units of the pull-off force 3/2 pi w R*, F is -5/9 at tear-off, -1 at x^3 = 3 x_c^3, -8/9 at touch (d = 0,
x^3 = s R*). h is found within 2e-16 of its value for every right side. Near tear-off that is the difference of nearly
equal numbers: x is the one of an overlap which differs by up to 1e-15 d_c.
"""
from libc.math cimport sqrt

from minidem.core.cube_root cimport cube_root

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef struct Jkr:            # of a contact
    double x_c              # x at tear-off
    double gap              # d_c [m]


cdef inline Jkr tear_off(double radius, double s) noexcept nogil:
    """radius : effective [m];  s : of the pair of materials [m^(1/2)], greater than 0."""
    cdef Jkr jkr
    jkr.x_c = cube_root(0.25 * s * radius)
    jkr.gap = 3.0 * (jkr.x_c * jkr.x_c) * (jkr.x_c * jkr.x_c) / radius
    return jkr


cdef inline double closer(double h, double right) noexcept nogil:
    """Halley's step for h^2 (6 + 4 h + h^2) = right."""
    cdef double excess = h * h * (6.0 + h * (4.0 + h)) - right, slope = h * (12.0 + h * (12.0 + h * 4.0))
    cdef double curvature = 12.0 + h * (24.0 + h * 12.0)
    return h - 2.0 * excess * slope / (2.0 * slope * slope - excess * curvature + 1e-100)       # 0 where right is 0


cdef inline double root_at(double overlap, const Jkr *jkr) noexcept nogil:
    """x [m^(1/2)] of an overlap [m]; beyond tear-off x_c."""
    cdef double right = 3.0 * (overlap + jkr.gap) / jkr.gap
    cdef double t = sqrt(right if right > 0.0 else 0.0)
    cdef double start = t / (sqrt(t + 2.165) + 0.9780958458269617)      # within 0.15 %: t / sqrt(6), ..., sqrt(t) - 1
    return jkr.x_c + jkr.x_c * closer(closer(start, right if right > 0.0 else 0.0), right if right > 0.0 else 0.0)


cdef inline double touch_root(const Jkr *jkr) noexcept nogil:
    """x at d = 0."""
    return 1.5874010519681994 * jkr.x_c


cdef inline double force_at(double x, double radius, double stiffness, double s) noexcept nogil:
    """F [N], repulsion positive; stiffness : 4/3 E* [Pa]."""
    cdef double cube = x * x * x
    return stiffness * cube * (cube / radius - 1.5 * s)


cdef inline double energy_at(double x, double radius, double stiffness, double s) noexcept nogil:
    """U [J], relative to separated spheres; arguments as for force_at."""
    cdef double cube = x * x * x
    return stiffness * x * cube * (0.4 * cube * cube / (radius * radius) - s * cube / radius + 0.375 * s * s)


cdef inline double pull_off_force(double radius, double stiffness, double s) noexcept nogil:
    """3/2 pi w R* [N]."""
    return 0.5625 * stiffness * s * s * radius


cdef inline double lost_at_touch(const Jkr *jkr, double radius, double stiffness, double s) noexcept nogil:
    """-U at d = 0 [J]: the force falls at once from 0 to -8/9 of the pull-off force."""
    return 0.225 * stiffness * s * s * s * radius * touch_root(jkr)


cdef inline double lost_at_tear_off(const Jkr *jkr, double radius, double stiffness, double s) noexcept nogil:
    """U at d = -d_c [J]: what the stretched contact holds as it breaks."""
    return 0.0375 * stiffness * s * s * s * radius * jkr.x_c
