r"""Explicit midpoint Lie algorithm, LIEMID[EA]: P. Krysl, Int. J. Numer. Methods Eng. 63, 2171 (2005).

Without torque, the body turns for a time :math:`h` about its angular velocity at :math:`h/2`, with the angular momentum
constant in the lab:

.. math::

   \boldsymbol\Theta = h\, \boldsymbol I^{-1} \exp(-\tfrac12 \boldsymbol\Theta)\, \boldsymbol I \boldsymbol\omega, \quad
   q \leftarrow q\, \exp(\tfrac12 \boldsymbol\Theta), \quad
   \boldsymbol I \boldsymbol\omega \leftarrow \exp(-\boldsymbol\Theta)\, \boldsymbol I \boldsymbol\omega

A step consists of a half kick :math:`\boldsymbol I \boldsymbol\omega \leftarrow \boldsymbol I \boldsymbol\omega +
\tfrac{\Delta t}{2} \boldsymbol\tau`, two such turns with :math:`h = \Delta t/2`, and a half kick with the torque at the
new orientation: a forward step, with the torque at its beginning, and a backward step, with that at its end. The
implicit equation is solved by three iterations (midstep.pxd). Symmetric in time, not symplectic; angular
momentum in the lab is conserved without torque.
"""
from minidem.core.quaternion cimport Matrix, exponential, little_exponential, multiply, rotate
from minidem.core.vec3 cimport Vec3, dot, scale, times
from minidem.rotation.formulas cimport (
    exponential_of, finish_with_push, second_half_kick, turns_little_after_push, with_momentum,
)
from minidem.rotation.midstep cimport add_dyad, midpoint_derivative, solved
from minidem.rotation.registry import SECOND_ORDER, Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, all_bodies, role


cdef inline Vec3 momentum(const Body *b, double h, Vec3 w) noexcept nogil:
    """exp(h/2 w) I w"""
    return rotate(exponential(scale(0.25 * h, w)), times(b.inertia, w))


cdef inline Vec3 momentum_little(const Body *b, double h, Vec3 w) noexcept nogil:
    """The same bits for bodies that turn little."""
    return rotate(little_exponential(scale(0.25 * h, w)), times(b.inertia, w))


cdef inline Matrix derivative(const Body *b, double h, Vec3 w) noexcept nogil:
    """Of I w + h/2 w x I w + h^2/8 w x (w x I w), the beginning of the series."""
    cdef Vec3 momentum = times(b.inertia, w)
    cdef double c = 0.125 * h * h
    cdef double a = c * dot(w, momentum), s = c * dot(w, w)
    cdef Matrix m = midpoint_derivative(b, h, w)
    add_dyad(&m, scale(2.0 * c, w), momentum)
    add_dyad(&m, scale(-2.0 * c, momentum), w)
    m.x.x, m.y.y, m.z.z = m.x.x + a - s * b.inertia.x, m.y.y + a - s * b.inertia.y, m.z.z + a - s * b.inertia.z
    return m


cdef inline void advance(Body *b, const Step *step) noexcept nogil:
    cdef double h = 0.5 * step.dt
    cdef Vec3 before = times(b.inertia, b.w), w, after
    if step.variant:
        w = solved(momentum_little, derivative, b, h, before)
        after = momentum_little(b, -h, w)
    else:
        w = solved(momentum, derivative, b, h, before)
        after = momentum(b, -h, w)
    b.q = multiply(b.q, exponential_of(scale(0.5 * h, w), step.variant))
    b.w = with_momentum(b, b.w, after)


cdef int lie_midpoint(const BodyBlock *b) noexcept nogil:
    cdef bint little = b.wanted == MOVE and all_bodies(turns_little_after_push, b)
    role(MOVE, finish_with_push, b)
    if little:
        role(MOVE, advance, b, True)
        role(MOVE, advance, b, True)
    else:
        role(MOVE, advance, b, False)
        role(MOVE, advance, b, False)
    return 1 << MOVE | second_half_kick(b)


SCHEMES = [Scheme(
    name="lie-midpoint", title="LIEMID[EA] (Krysl 2005)", kernels=Kernels(<size_t> lie_midpoint),
    keeps_norm=True, cites=("krysl2005momentum",), **SECOND_ORDER,
    reference={"": ((7.5277715162e-07, 2.8233981144e-08), (1.2046206109e-05, 4.5186777294e-07))})]
