r"""Touma and Wisdom's splitting: J. Touma and J. Wisdom, Astron. J. 107, 1189 (1994).

The kinetic energy is split into the energy of an axisymmetric top and a remainder,

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
from minidem.core.vec3 cimport Vec3, dot, scale, times, vec3
from minidem.rotation.formulas cimport (
    exponential_of, move_by_size, pushed, second_half_kick, turns_little_after_push, with_momentum,
)
from minidem.rotation.registry import SECOND_ORDER, Scheme
from minidem.rotation.scheme cimport Body, BodyBlock, Kernels, Step


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


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef bint little = step.variant
    cdef Vec3 s = axis_of_symmetry(b.inverse_inertia), t = vec3(s.z, s.x, s.y), r = vec3(s.y, s.z, s.x)
    cdef double of_t = dot(t, b.inverse_inertia), excess = step.dt * (dot(s, b.inverse_inertia) - of_t)
    cdef double remainder = 0.5 * step.dt * (dot(r, b.inverse_inertia) - of_t)
    cdef Vec3 w = pushed(b, 0.5 * step.dt)
    cdef Vec3 momentum = times(b.inertia, w)
    cdef Quat q = b.q
    turn(&q, &momentum, scale(remainder * dot(r, momentum), r), little)
    q = multiply(q, exponential_of(scale(0.5 * step.dt * of_t, momentum), little))
    turn(&q, &momentum, scale(excess * dot(s, momentum), s), little)
    turn(&q, &momentum, scale(remainder * dot(r, momentum), r), little)
    b.q = q
    b.w = with_momentum(b, w, momentum)


cdef int touma_wisdom(const BodyBlock *b) noexcept nogil:
    return move_by_size(move, turns_little_after_push, b) | second_half_kick(b)


SCHEMES = [Scheme(
    name="touma-wisdom", title="Touma & Wisdom 1994", kernels=Kernels(<size_t> touma_wisdom),
    keeps_norm=True, symplectic=True, **SECOND_ORDER,
    notes="axis of the symmetric part chosen for each body; torque in half kicks",
    cites=("touma1994lie",), reference={"": ((3.2991731391e-07, 0.0), (5.2787584668e-06, 0.0))})]
