r"""Kicks and the exact free rotation between them: R. van Zon and J. Schofield, J. Comput. Phys. 225, 145 (2007);
E. Celledoni, F. Fassò, N. Säfström and A. Zanna, SIAM J. Sci. Comput. 30, 2084 (2008).

After the kick (kicks.pxd) the angular velocity is elliptic functions of time. Their addition theorem takes it over
:math:`\delta = \Delta t/2` to the middle of the step, in one form for all motions. Let :math:`a = (I_y - I_z)/I_x`,
:math:`b = (I_z - I_x)/I_y`, :math:`c = (I_x - I_y)/I_z`, :math:`\lambda^2 = a c\, \omega_y^2 - a b\, \omega_z^2`,
:math:`k^2 \lambda^2 = a c\, \omega_y^2 - b c\, \omega_x^2`, :math:`S = \operatorname{sn}(\lambda\delta) / \lambda`,
:math:`C = \operatorname{cn}(\lambda\delta)`, :math:`D = \operatorname{dn}(\lambda\delta)` and
:math:`\boldsymbol e = (a S D, b S, c S C)`. With :math:`\circ` for products component by component and
:math:`\boldsymbol\pi(\boldsymbol\omega) = (\omega_y \omega_z, \omega_z \omega_x, \omega_x \omega_y)`, the middle, the
step's rotation as axis times tangent of half the angle, and the end are

.. math::

   \begin{split}
   \bar{\boldsymbol\omega} &= \frac{(C, C D, D) \circ \boldsymbol\omega
     + \boldsymbol e \circ \boldsymbol\pi(\boldsymbol\omega)}{1 - a c\, \omega_y^2 S^2} \\
   \boldsymbol u &= S\, (1/D, 1, 1/C)
     \circ (\bar{\boldsymbol\omega} + \kappa \boldsymbol I \bar{\boldsymbol\omega}), \quad
   \boldsymbol\omega' = \boldsymbol\omega
     + \frac{2\, \boldsymbol e \circ \boldsymbol\pi(\bar{\boldsymbol\omega})}{1 - a c\, \bar\omega_y^2 S^2}
   \end{split}

Here :math:`\kappa`, in place of the elliptic integral of the third kind, depends on energy, angular momentum and step
alone: :math:`(d_3 + d_5 + \dots) / (1 + s_3 + s_5 + \dots)` of ``dmv`` (E. Hairer and G. Vilmart, 2006).

Everything is a series, in + - * / and square root. While :math:`\Delta t^2 \omega^2 (1 + a^2 + b^2 + c^2) < 1/1024`,
what they omit is below rounding. Longer steps are divided into parts that fulfil it, up to 1024, enough for 18 rad.
In longer ones errors grow unnoticed: 3e-13, 3e-11 and 1e-8 of an orientation at 60, 100 and 200 rad.
"""
from libc.math cimport sqrt

from minidem.core.quaternion cimport is_small, multiply, quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, times, vec3
from minidem.rotation.kicks cimport KICK_SCRATCH, couplings, equal, invariants, kappa, kicked, start_and_sync
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, all_bodies, products, role
from minidem.state.rows cimport load, store


cdef inline Vec3 rotate_freely(Body *b, Vec3 *w, double h) noexcept nogil:
    """Over h; returns the angular velocity in the middle."""
    cdef Vec3 g = couplings(b), v = w[0]
    cdef double d = 0.5 * h, both = g.x * g.z * v.y * v.y
    cdef double p = d * d * (both - g.x * g.y * v.z * v.z)                          # (lambda d)^2, (k lambda d)^2
    cdef double r = d * d * (both - g.y * g.z * v.x * v.x)
    cdef double pp = p * p, pr = p * r, rr = r * r
    cdef double s = d * (1.0 - 1.0 / 6.0 * (p + r) + 1.0 / 120.0 * (pp + 14.0 * pr + rr)
                         - 1.0 / 5040.0 * ((p + r) * (pp + 134.0 * pr + rr)))
    cdef double cn = 1.0 - p * (1.0 / 2.0 - 1.0 / 24.0 * (p + 4.0 * r) + 1.0 / 720.0 * (pp + 44.0 * pr + 16.0 * rr))
    cdef double dn = 1.0 - r * (1.0 / 2.0 - 1.0 / 24.0 * (r + 4.0 * p) + 1.0 / 720.0 * (rr + 44.0 * pr + 16.0 * pp))
    cdef double sc = s * cn, sd = s * dn, cd = cn * dn
    cdef Vec3 e = times(g, vec3(sd, s, sc))
    cdef double at_start = 1.0 - both * (s * s), over = 1.0 / (at_start * cd)
    cdef Vec3 middle = scale(over * cd, add(times(v, vec3(cn, cd, dn)), times(e, products(v))))
    cdef double at_middle = 1.0 - g.x * g.z * (middle.y * middle.y) * (s * s)
    cdef double k = kappa(invariants(b, v, h))
    cdef Vec3 u = times(times(middle, vec3(1.0 + k * b.inertia.x, 1.0 + k * b.inertia.y, 1.0 + k * b.inertia.z)),
                        vec3(over * at_start * sc, s, over * at_start * sd))
    cdef double cosine = 1.0 / sqrt(1.0 + dot(u, u))
    b.q = multiply(b.q, quat(cosine, cosine * u.x, cosine * u.y, cosine * u.z))
    w[0] = add_scaled(v, 2.0 / at_middle, times(e, products(middle)))
    return middle


cdef inline double size(const Body *b, Vec3 w, double h) noexcept nogil:
    cdef Vec3 g = couplings(b)
    return 0.5 * h * h * dot(w, w) * (1.0 + dot(g, g))


cdef inline bint series_suffice(const Body *b, const Step *step) noexcept nogil:
    return is_small(size(b, kicked(b, step.dt), step.dt))


cdef inline void move_little(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = kicked(b, step.dt)
    b.w = rotate_freely(b, &w, step.dt)
    store(b.scratch, w)


cdef inline void kick(Body *b, const Step *step) noexcept nogil:
    """`predicted` becomes the number of parts, twice."""
    cdef Vec3 w = kicked(b, step.dt)
    cdef double big = 6755399441055744.0                    # added and subtracted, it leaves a whole number
    cdef double more = (sqrt(2048.0 * size(b, w, step.dt)) - 0.501 + big) - big
    cdef double parts = 1.0 + min(1023.0, max(0.0, more))   # 1 if `more` is not a number
    b.w, b.predicted = vec3(0.0, 0.0, 0.0), vec3(parts, parts, 0.0)
    store(b.scratch, w)


cdef inline void rotate_part(Body *b, const Step *step) noexcept nogil:
    """If none is left, over no time, which changes nothing. `w` becomes the one in the middle of the step."""
    cdef double parts = b.predicted.x, left = b.predicted.y, now = 1.0 - equal(left, 0.0)
    cdef Vec3 w = load(b.scratch)
    cdef Vec3 middle = rotate_freely(b, &w, now * (step.dt / parts))
    b.w = add_scaled(add_scaled(b.w, equal(2.0 * left, parts + 1.0), middle), equal(2.0 * left, parts + 2.0), w)
    b.predicted.y = left - now
    store(b.scratch, w)


cdef inline bint is_done(const Body *b, const Step *step) noexcept nogil:
    return b.predicted.y == 0.0


cdef int exact(const BodyBlock *b) noexcept nogil:
    if b.wanted == MOVE and all_bodies(series_suffice, b):                          # the same bits, sooner
        role(MOVE, move_little, b)
    elif b.wanted == MOVE:
        role(MOVE, kick, b)
        while not all_bodies(is_done, b):
            role(MOVE, rotate_part, b)
    return start_and_sync(b) | 1 << MOVE


SCHEMES = [Scheme(
    name="exact", title="exact free rotation between kicks",
    kernels=Kernels(<size_t> exact), keeps_norm=True, symplectic=True, n_scratch=KICK_SCRATCH,
    cites=("vanzon2007numerical", "celledoni2008exact", "hairer2006preprocessed"), **LEAPFROG,
    reference={"": ((3.2991738689e-07, 1.4273103226e-07), (5.2787583911e-06, 2.2764002062e-06))})]
