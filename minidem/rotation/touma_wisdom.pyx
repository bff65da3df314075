r"""Touma and Wisdom's splitting: J. Touma and J. Wisdom, Astron. J. 107, 1189 (1994).

The kinetic energy is that of an axisymmetric top and a remainder,

.. math::

   T = \tfrac12 \left( \frac{\Pi_s^2}{I_s} + \frac{\Pi_t^2 + \Pi_r^2}{I_t} \right)
     + \tfrac12 \left( \frac{1}{I_r} - \frac{1}{I_t} \right) \Pi_r^2, \quad
   \boldsymbol\Pi = \boldsymbol I \boldsymbol\omega

Both parts are solved exactly. A rotation by an angle vector :math:`\boldsymbol\phi` of the body frame changes

.. math::

   q \leftarrow q\, \exp(\tfrac12 \boldsymbol\phi), \quad \boldsymbol\Pi \leftarrow \exp(-\boldsymbol\phi)\,
   \boldsymbol\Pi

A step is: half kick :math:`\boldsymbol\Pi \leftarrow \boldsymbol\Pi + \tfrac{\Delta t}{2} \boldsymbol\tau`; remainder
for :math:`\Delta t/2`; top for :math:`\Delta t`; remainder; half kick with the torque at the new orientation. The
remainder is a rotation by :math:`h\, (1/I_r - 1/I_t)\, \Pi_r \boldsymbol e_r`. The top is one by
:math:`h\, \boldsymbol\Pi / I_t`, about a vector that is constant in the lab, and one by
:math:`h\, (1/I_s - 1/I_t)\, \Pi_s \boldsymbol e_s`.

The axis :math:`s` is chosen for each body, so that the other two moments have the least difference of
:math:`1/I`; :math:`t` and :math:`r` follow it in cyclic order. Exact without torque for axisymmetric bodies.
Symplectic, symmetric in time; angular momentum in the lab is conserved without torque.
"""
from minidem.core.quaternion cimport Quat, multiply, rotate_back
from minidem.core.vec3 cimport Vec3, add_scaled, dot, scale, times, vec3
from minidem.rotation.formulas cimport all_turn_little, exponential_of, with_momentum
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, Body, BodyBlock, Kernels, Step, role


cdef inline double magnitude(double x) noexcept nogil:
    return x if x > 0.0 else -x


cdef inline Vec3 axis_of_symmetry(Vec3 inverse) noexcept nogil:
    """The unit vector e_s."""
    cdef double x = magnitude(inverse.y - inverse.z), y = magnitude(inverse.z - inverse.x)
    cdef double z = magnitude(inverse.x - inverse.y)
    cdef double is_z = 1.0 if z <= x and z <= y else 0.0
    cdef double is_x = 1.0 - is_z if x <= y else 0.0
    return vec3(is_x, 1.0 - is_x - is_z, is_z)


cdef inline void turn(Quat *q, Vec3 *momentum, Vec3 angle, bint little) noexcept nogil:
    cdef Quat e = exponential_of(scale(0.5, angle), little)
    q[0] = multiply(q[0], e)
    momentum[0] = rotate_back(e, momentum[0])


cdef inline Vec3 kicked(const Body *b, double h) noexcept nogil:
    return add_scaled(b.w, h, times(b.inverse_inertia, b.torque))


cdef inline void advance(Body *b, const Step *step, bint little) noexcept nogil:
    cdef Vec3 s = axis_of_symmetry(b.inverse_inertia), t = vec3(s.z, s.x, s.y), r = vec3(s.y, s.z, s.x)
    cdef double of_t = dot(t, b.inverse_inertia), excess = step.dt * (dot(s, b.inverse_inertia) - of_t)
    cdef double remainder = 0.5 * step.dt * (dot(r, b.inverse_inertia) - of_t)
    cdef Vec3 w = kicked(b, 0.5 * step.dt)
    cdef Vec3 momentum = times(b.inertia, w)
    cdef Quat q = b.q
    turn(&q, &momentum, scale(remainder * dot(r, momentum), r), little)
    q = multiply(q, exponential_of(scale(0.5 * step.dt * of_t, momentum), little))
    turn(&q, &momentum, scale(excess * dot(s, momentum), s), little)
    turn(&q, &momentum, scale(remainder * dot(r, momentum), r), little)
    b.q = q
    b.w = with_momentum(b, w, momentum)


cdef inline void move_far(Body *b, const Step *step) noexcept nogil:
    advance(b, step, False)


cdef inline void move_little(Body *b, const Step *step) noexcept nogil:
    advance(b, step, True)


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    b.w = kicked(b, 0.5 * step.dt)


cdef inline void predict(Body *b, const Step *step) noexcept nogil:
    b.predicted = kicked(b, 0.5 * step.dt)


cdef int touma_wisdom(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    if wanted == MOVE and all_turn_little(bodies, step.dt):     # chosen outside the loop over bodies
        role(MOVE, move_little, wanted, bodies, step)
    else:
        role(MOVE, move_far, wanted, bodies, step)
    return (1 << MOVE
            | role(FINISH, finish, wanted, bodies, step)
            | role(PREDICT, predict, wanted, bodies, step))


SCHEMES = [Scheme(
    name="touma-wisdom", title="Touma & Wisdom 1994", kernels=Kernels(<size_t> touma_wisdom),
    order_q=2, order_w=2, order_q_varying=2, order_w_varying=2, keeps_norm=True, symplectic=True,
    notes="axis of the symmetric part chosen for each body; torque in half kicks",
    cites=("touma1994lie",), reference={"": ((3.2991731391e-07, 0.0), (5.2787584668e-06, 0.0))})]
