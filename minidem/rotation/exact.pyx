r"""Kicks and the exact free rotation between them: R. van Zon and J. Schofield, J. Comput. Phys. 225, 145 (2007);
E. Celledoni, F. Fassò, N. Säfström and A. Zanna, SIAM J. Sci. Comput. 30, 2084 (2008).

After the kick (kicks.pxd), a body with two equal moments :math:`I_1` and one of :math:`I_3` about its axis
:math:`\boldsymbol n` precesses steadily about its angular momentum (L. Landau and E. Lifshitz, Mechanics, § 33). With
:math:`\lambda = (I_3 - I_1)\, \omega_3 / I_1`,

.. math::

   q(t + \Delta t) = q(t)\, \exp(\tfrac{\Delta t}{2 I_1} \boldsymbol I \boldsymbol\omega)\,
     \exp(-\tfrac{\Delta t}{2} \lambda \boldsymbol n)

and in the body frame the angular velocity turns about :math:`\boldsymbol n` by :math:`\lambda \Delta t`, by half of it
to the middle. If all moments are equal, :math:`\lambda = 0`. Rounded moments of a template that should be equal are
(mass_properties.py); so kernels look for equal bits, and nothing but its own moments decides how a body is rotated.

With three different moments the angular velocity is elliptic functions of time. Their addition theorem takes it over
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

Everything then is a series, without division or root. While
:math:`\Delta t^2 \omega^2 (1 + a^2 + b^2 + c^2) < 1/1024`, what they omit is below rounding. Longer steps are divided
into parts that fulfil it, up to 1024, enough for 18 rad. In longer ones errors grow unnoticed: 3e-13, 3e-11 and 1e-8 of
an orientation at 60, 100 and 200 rad.
"""
from libc.math cimport sqrt

from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat, is_small, multiply, quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, times, vec3
from minidem.rotation.formulas cimport exponential_of
from minidem.rotation.kicks cimport KICK_SCRATCH, couplings, equal, invariants, kappa, kicked, start_and_sync
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport (
    MOVE, Body, BodyBlock, Kernels, Step, all_bodies, body_of, differences, products, role,
)
from minidem.state.rows cimport load, store


cdef enum:                      # kinds of bodies: the axis of the moment that differs, X if none does
    X, Y, Z, ASYMMETRIC
    MIXED                       # of a block
    LONG = 16                   # of `kinds`

cdef struct Motion:             # a free rotation
    Quat turn
    Vec3 middle                 # angular velocities
    Vec3 end


cdef inline double kind_of(const Body *b) noexcept nogil:
    cdef Vec3 d = differences(b)
    return 0.0 if d.x == 0.0 else 1.0 if d.y == 0.0 else 2.0 if d.z == 0.0 else 3.0


cdef inline Vec3 cyclic(Vec3 v, double first) noexcept nogil:
    """From this component on."""
    return vec3(v.x if first == X else v.y if first == Y else v.z, v.y if first == X else v.z if first == Y else v.x,
                v.z if first == X else v.x if first == Y else v.y)


cdef inline Motion of_top(const Body *b, Vec3 w, double h, double axis, bint little) noexcept nogil:
    """With two or three equal moments. little : `exponential_of`"""
    cdef double back = 0.0 if axis == X else 3.0 - axis
    cdef Vec3 v = cyclic(w, axis), half = scale(0.5 * h, v)
    cdef double angle = half.x * cyclic(couplings(b), axis).z
    cdef Quat turn = exponential_of(vec3(angle, 0.0, 0.0), little)
    cdef Quat p = exponential_of(vec3(half.x + angle, half.y, half.z), little)
    cdef double c = turn.w, s = turn.x
    cdef Vec3 middle = vec3(v.x, c * v.y - s * v.z, c * v.z + s * v.y)
    cdef Vec3 u = cyclic(vec3(c * p.x - s * p.w, c * p.y - s * p.z, c * p.z + s * p.y), back)
    cdef Motion m
    m.turn = quat(c * p.w + s * p.x, u.x, u.y, u.z)
    m.middle = cyclic(middle, back)
    m.end = cyclic(vec3(v.x, v.y - 2.0 * s * middle.z, v.z + 2.0 * s * middle.y), back)
    return m


cdef inline double near_one(double x) noexcept nogil:
    """1 / (1 - x), for a small x."""
    cdef double xx = x * x
    return 1.0 + (x + xx * ((1.0 + x) + xx))


cdef inline Motion of_any(const Body *b, Vec3 v, double h) noexcept nogil:
    """With any moments, over a time so short that `series_suffice`."""
    cdef Vec3 g = couplings(b)
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
    cdef double over = near_one(1.0 - cd), k = kappa(invariants(b, v, h))
    cdef Motion m
    m.middle = scale(near_one(both * (s * s)), add(times(v, vec3(cn, cd, dn)), times(e, products(v))))
    cdef Vec3 u = times(times(m.middle, vec3(1.0 + k * b.inertia.x, 1.0 + k * b.inertia.y, 1.0 + k * b.inertia.z)),
                        vec3(over * sc, s, over * sd))
    cdef double t = dot(u, u)
    cdef double cosine = 1.0 - t * (1.0 / 2.0 - t * (3.0 / 8.0 - t * (
        5.0 / 16.0 - t * (35.0 / 128.0 - t * (63.0 / 256.0)))))
    m.turn = quat(cosine, cosine * u.x, cosine * u.y, cosine * u.z)
    m.end = add_scaled(v, 2.0 * near_one(g.x * g.z * (m.middle.y * m.middle.y) * (s * s)),
                       times(e, products(m.middle)))
    return m


cdef inline Motion rotate_freely(Body *b, Vec3 w, double h, int kind, bint little) noexcept nogil:
    """kind : of the block"""
    cdef Motion m, other
    if kind == ASYMMETRIC:
        m = of_any(b, w, h)
    elif kind == MIXED:
        m, other = of_top(b, w, h, kind_of(b), little), of_any(b, w, h)
        if kind_of(b) == ASYMMETRIC:
            m = other
    else:
        m = of_top(b, w, h, kind, little)
    b.q = multiply(b.q, m.turn)
    return m


cdef inline double size(const Body *b, Vec3 w, double h) noexcept nogil:
    cdef Vec3 g = couplings(b)
    return 0.5 * h * h * dot(w, w) * (1.0 + dot(g, g))


cdef inline int kinds(const BodyBlock *b) noexcept nogil:
    """Bits 1 << kind of its bodies; besides LONG if a series does not suffice."""
    cdef Body body
    cdef long long found = 0                            # as wide as a double, so that the loop vectorises
    cdef double kind
    cdef int lane
    for lane in range(LANES):
        body = body_of(b, lane)
        kind = kind_of(&body)
        found |= <long long> (1 if kind == X else 2 if kind == Y else 4 if kind == Z else 8)
        found |= <long long> (0 if is_small(size(&body, kicked(&body, b.step.dt), b.step.dt)) else LONG)
    return found


cdef inline void move_little(Body *b, const Step *step) noexcept nogil:
    """step.variant : kind of the block"""
    cdef Motion m = rotate_freely(b, kicked(b, step.dt), step.dt, step.variant, True)
    b.w = m.middle
    store(b.scratch, m.end)


cdef inline void kick(Body *b, const Step *step) noexcept nogil:
    """`predicted` becomes the number of parts, twice; one for a top."""
    cdef Vec3 w = kicked(b, step.dt)
    cdef double big = 6755399441055744.0                    # added and subtracted, it leaves a whole number
    cdef double more = (sqrt(2048.0 * size(b, w, step.dt)) - 0.501 + big) - big
    cdef double parts = 1.0 + min(1023.0, max(0.0, more))   # 1 if `more` is not a number
    parts = parts if kind_of(b) == ASYMMETRIC else 1.0
    b.w, b.predicted = vec3(0.0, 0.0, 0.0), vec3(parts, parts, 0.0)
    store(b.scratch, w)


cdef inline void rotate_part(Body *b, const Step *step) noexcept nogil:
    """If none is left, over no time, which changes nothing. `w` becomes the one in the middle of the step."""
    cdef double parts = b.predicted.x, left = b.predicted.y, now = 1.0 - equal(left, 0.0)
    cdef Motion m = rotate_freely(b, load(b.scratch), now * (step.dt / parts), step.variant, False)
    b.w = add_scaled(add_scaled(b.w, equal(2.0 * left, parts + 1.0), m.middle), equal(2.0 * left, parts + 2.0), m.end)
    b.predicted.y = left - now
    store(b.scratch, m.end)


cdef inline bint is_done(const Body *b, const Step *step) noexcept nogil:
    return b.predicted.y == 0.0


cdef inline void forget(Body *b, const Step *step) noexcept nogil:
    """`predicted`, which depends on the other bodies of the block, is in files."""
    b.predicted = vec3(0.0, 0.0, 0.0)


cdef inline int move(const BodyBlock *b) noexcept nogil:
    """All variants give a body the same bits."""
    cdef int found = kinds(b)
    if found == 1 << X:
        return role(MOVE, move_little, b, X)
    if found == 1 << Z:
        return role(MOVE, move_little, b, Z)
    if found == 1 << ASYMMETRIC:
        return role(MOVE, move_little, b, ASYMMETRIC)
    if found < LONG:
        return role(MOVE, move_little, b, MIXED)
    role(MOVE, kick, b)
    while not all_bodies(is_done, b):
        if found == LONG + (1 << ASYMMETRIC):
            role(MOVE, rotate_part, b, ASYMMETRIC)
        else:
            role(MOVE, rotate_part, b, MIXED)
    return role(MOVE, forget, b)


cdef int exact(const BodyBlock *b) noexcept nogil:
    if b.wanted == MOVE:
        move(b)
    return start_and_sync(b) | 1 << MOVE


SCHEMES = [Scheme(
    name="exact", title="exact free rotation between kicks",
    kernels=Kernels(<size_t> exact), keeps_norm=True, symplectic=True, n_scratch=KICK_SCRATCH,
    cites=("vanzon2007numerical", "celledoni2008exact", "hairer2006preprocessed"), **LEAPFROG,
    reference={"": ((3.2991738689e-07, 1.4273103226e-07), (5.2787583911e-06, 2.2764002062e-06))})]
