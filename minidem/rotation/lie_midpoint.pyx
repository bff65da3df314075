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
from minidem.core.vec3 cimport Vec3, add_scaled, dot, scale, times
from minidem.rotation.formulas cimport all_turn_little, exponential_of, with_momentum
from minidem.rotation.midstep cimport add_dyad, midpoint_derivative, solved
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, Body, BodyBlock, Kernels, Step, role


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


cdef inline void turn(Body *b, double h, Vec3 w, Vec3 momentum, bint little) noexcept nogil:
    b.q = multiply(b.q, exponential_of(scale(0.5 * h, w), little))
    b.w = with_momentum(b, b.w, momentum)


cdef inline void advance(Body *b, const Step *step) noexcept nogil:
    cdef double h = 0.5 * step.dt
    cdef Vec3 w = solved(momentum, derivative, b, h, times(b.inertia, b.w))
    turn(b, h, w, momentum(b, -h, w), False)


cdef inline void advance_little(Body *b, const Step *step) noexcept nogil:
    cdef double h = 0.5 * step.dt
    cdef Vec3 w = solved(momentum_little, derivative, b, h, times(b.inertia, b.w))
    turn(b, h, w, momentum_little(b, -h, w), True)


cdef inline Vec3 kicked(const Body *b, double h) noexcept nogil:
    return add_scaled(b.w, h, times(b.inverse_inertia, b.torque))


cdef inline void kick(Body *b, const Step *step) noexcept nogil:
    b.w = kicked(b, 0.5 * step.dt)


cdef inline void predict(Body *b, const Step *step) noexcept nogil:
    b.predicted = kicked(b, 0.5 * step.dt)


cdef int lie_midpoint(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    cdef bint little = wanted == MOVE and all_turn_little(bodies, step.dt)      # chosen outside the loop over bodies
    role(MOVE, kick, wanted, bodies, step)
    if little:
        role(MOVE, advance_little, wanted, bodies, step)
        role(MOVE, advance_little, wanted, bodies, step)
    else:
        role(MOVE, advance, wanted, bodies, step)
        role(MOVE, advance, wanted, bodies, step)
    return (1 << MOVE
            | role(FINISH, kick, wanted, bodies, step)
            | role(PREDICT, predict, wanted, bodies, step))


SCHEMES = [Scheme(
    name="lie-midpoint", title="LIEMID[EA] (Krysl 2005)", kernels=Kernels(<size_t> lie_midpoint),
    order_q=2, order_w=2, order_q_varying=2, order_w_varying=2, keeps_norm=True, cites=("krysl2005momentum",),
    reference={"": ((7.5277715162e-07, 2.8233981144e-08), (1.2046206109e-05, 4.5186777294e-07))})]
