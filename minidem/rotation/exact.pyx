r"""Kicks and the exact free rotation between them: R. van Zon and J. Schofield, J. Comput. Phys. 225, 145 (2007);
E. Celledoni, F. Fassò, N. Säfström and A. Zanna, SIAM J. Sci. Comput. 30, 2084 (2008).

A free body's angular velocity is elliptic functions of time. Their addition theorem takes it over
:math:`\delta = \Delta t/2` to the middle of the step, in one form for all motions. With :math:`a = (I_y - I_z)/I_x`,
:math:`b = (I_z - I_x)/I_y`, :math:`c = (I_x - I_y)/I_z`, :math:`\lambda^2 = a c\, \omega_y^2 - a b\, \omega_z^2`,
:math:`k^2 \lambda^2 = a c\, \omega_y^2 - b c\, \omega_x^2`, :math:`S = \operatorname{sn}(\lambda\delta) / \lambda`,
:math:`C_n = \operatorname{cn}(\lambda\delta)`, :math:`D_n = \operatorname{dn}(\lambda\delta)` and
:math:`D(\boldsymbol\omega) = 1 - a c\, \omega_y^2 S^2`, the middle :math:`\bar{\boldsymbol\omega}` is

.. math::

   \boldsymbol{\bar\omega} = \frac{1}{D(\boldsymbol\omega)} \begin{pmatrix}
     \omega_x C_n + a\, \omega_y \omega_z S D_n \\ \omega_y C_n D_n + b\, \omega_z \omega_x S \\
     \omega_z D_n + c\, \omega_x \omega_y S C_n \end{pmatrix}

and the step's rotation, as axis times tangent of half the angle, and the angular velocity after it are

.. math::

   \boldsymbol u = S \begin{pmatrix} (1 + \kappa I_x)\, \bar\omega_x / D_n \\ (1 + \kappa I_y)\, \bar\omega_y \\
     (1 + \kappa I_z)\, \bar\omega_z / C_n \end{pmatrix}, \quad
   \boldsymbol\omega' = \boldsymbol\omega + \frac{2 S}{D(\boldsymbol{\bar\omega})} \begin{pmatrix}
     a\, \bar\omega_y \bar\omega_z D_n \\ b\, \bar\omega_z \bar\omega_x \\ c\, \bar\omega_x \bar\omega_y C_n
     \end{pmatrix}

Here :math:`\kappa`, in place of the elliptic integral of the third kind, depends on energy, angular momentum and step
alone: it is :math:`d / s` of the scheme ``dmv`` with all its terms (E. Hairer and G. Vilmart, 2006).

Everything is a series, in + - * / and square root. Where :math:`\Delta t^2 \omega^2 (1 + a^2 + b^2 + c^2) < 1/2048`,
what they omit is below rounding. A longer step is divided into 2, 4, ... parts that fulfil it, at most 65536: enough
for 700 rad. Energy and angular momentum are conserved to rounding between kicks, which make the order 2 (kicks.pxd).
"""
from libc.math cimport sqrt

from minidem.core.quaternion cimport Quat, is_small, multiply, quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, times, vec3
from minidem.rotation.kicks cimport (
    KICK_SCRATCH, Invariants, all_bodies, couplings, invariants, kicked, products, start_and_sync,
)
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, over_bodies
from minidem.state.rows cimport store


cdef inline double kappa(Invariants v) noexcept nogil:
    """The series up to h^6."""
    return (1.0 / 12.0 * v.jt - 1.0 / 6.0 * v.km) \
        + (7.0 / 720.0 * (v.it * v.jt + v.jm * v.km) + 1.0 / 180.0 * (v.it * v.km - 2.0 * (v.jm * v.jt))
           - 1.0 / 40.0 * v.ktt) \
        + (v.it * (v.it * (31.0 / 30240.0 * v.jt - 13.0 / 15120.0 * v.km)
                   + v.jm * (53.0 / 30240.0 * v.km - 1.0 / 756.0 * v.jt))
           + v.jm * v.jm * (1.0 / 3024.0 * v.jt - 11.0 / 30240.0 * v.km)
           + v.ktt * (41.0 / 10080.0 * v.jm - 1.0 / 840.0 * v.it) - 19.0 / 20160.0 * (v.t * v.jt * v.jt)
           - (1.0 / 315.0 * v.t + 1.0 / 1680.0 * v.im) * (v.km * v.km))


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
    cdef double at_start = 1.0 - both * (s * s)
    cdef double over = 1.0 / (at_start * cd)
    cdef Vec3 middle = scale(over * cd, add(times(v, vec3(cn, cd, dn)), times(e, products(v))))
    cdef double at_middle = 1.0 - g.x * g.z * (middle.y * middle.y) * (s * s)
    cdef double k = kappa(invariants(b, v, h))
    cdef Vec3 u = times(times(middle, vec3(1.0 + k * b.inertia.x, 1.0 + k * b.inertia.y, 1.0 + k * b.inertia.z)),
                        vec3(over * at_start * sc, s, over * at_start * sd))
    cdef double cosine = 1.0 / sqrt(1.0 + dot(u, u))
    b.q = multiply(b.q, quat(cosine, cosine * u.x, cosine * u.y, cosine * u.z))
    w[0] = add_scaled(v, 2.0 / at_middle, times(e, products(middle)))
    return middle


cdef inline bint series_suffice(const Body *b, Vec3 w, double h) noexcept nogil:
    cdef Vec3 g = couplings(b)
    return is_small(h * h * dot(w, w) * (1.0 + dot(g, g)))


cdef inline void move_little(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = kicked(b, step.dt)
    b.w = rotate_freely(b, &w, step.dt)
    store(b.scratch, w)


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = kicked(b, step.dt)
    cdef int k, parts = 1
    while parts < 65536 and not series_suffice(b, w, step.dt / parts):
        parts *= 2
    b.w = rotate_freely(b, &w, step.dt / parts)
    for k in range(1, parts):
        if 2 * k == parts:
            b.w = w
        rotate_freely(b, &w, step.dt / parts)
    store(b.scratch, w)


cdef int exact(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    if wanted == MOVE and all_bodies(series_suffice, bodies, step):                 # the same bits, sooner
        over_bodies(move_little, bodies, step)
    elif wanted == MOVE:
        over_bodies(move, bodies, step)
    return start_and_sync(wanted, bodies, step) | 1 << MOVE


SCHEMES = [Scheme(
    name="exact", title="exact free rotation between kicks",
    kernels=Kernels(<size_t> exact), keeps_norm=True, symplectic=True, n_scratch=KICK_SCRATCH,
    angular_velocity_offset=-0.5, order_q=2, order_w=2, order_q_varying=2, order_w_varying=2,
    cites=("vanzon2007numerical", "celledoni2008exact", "hairer2006preprocessed"),
    reference={"": ((3.2991738689e-07, 1.4273103226e-07), (5.2787583911e-06, 2.2764002062e-06))})]
