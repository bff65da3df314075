r"""Richardson extrapolation of Euler's method: LAMMPS, ``fix nve/asphere``; LIGGGHTS, ``fix nve/superquadric``.

The angular momentum :math:`\boldsymbol L` in the lab is constant between two half kicks. With :math:`N` for the
normalised quaternion and :math:`\boldsymbol\omega(q) = q\, \boldsymbol I^{-1} (q^* \boldsymbol L\, q)\, q^*`,

.. math::

   \begin{split}
   \boldsymbol L &\leftarrow \boldsymbol L + \tfrac{\Delta t}{2} \boldsymbol M(t) \\
   q_1 &= N\!\left(q + \tfrac{\Delta t}{2} \boldsymbol\omega(q)\, q\right) \\
   q_{1/2} &= N\!\left(q + \tfrac{\Delta t}{4} \boldsymbol\omega(q)\, q\right), \quad
   q_2 = N\!\left(q_{1/2} + \tfrac{\Delta t}{4} \boldsymbol\omega(q_{1/2})\, q_{1/2}\right) \\
   q(t + \Delta t) &= N(2 q_2 - q_1), \quad
   \boldsymbol L \leftarrow \boldsymbol L + \tfrac{\Delta t}{2} \boldsymbol M(t + \Delta t)
   \end{split}

The same in the body frame of :math:`t`, in which :math:`q = 1`, is used here. Angular momentum in the lab is conserved
without torque; energy is not.
"""
from minidem.core.quaternion cimport Quat, add_scaled_quat, multiply, normalise, quat, rotate_back, scale_quat
from minidem.core.vec3 cimport Vec3, times
from minidem.rotation.formulas cimport body_rate, pushed, second_half_kick, turned_by_euler, with_momentum
from minidem.rotation.registry import SECOND_ORDER, Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, role


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = pushed(b, 0.5 * step.dt)
    cdef Vec3 momentum = times(b.inertia, w)
    cdef Quat once = turned_by_euler(quat(1.0, 0.0, 0.0, 0.0), step.dt, w)
    cdef Quat half = turned_by_euler(quat(1.0, 0.0, 0.0, 0.0), 0.5 * step.dt, w)
    cdef Quat twice = turned_by_euler(half, 0.5 * step.dt, body_rate(b, half, momentum))
    cdef Quat turn = normalise(add_scaled_quat(scale_quat(2.0, twice), -1.0, once))
    b.q = normalise(multiply(b.q, turn))
    b.w = with_momentum(b, w, rotate_back(turn, momentum))


cdef int richardson(const BodyBlock *b) noexcept nogil:
    return role(MOVE, move, b) | second_half_kick(b)


SCHEMES = [Scheme(
    name="richardson", title="Richardson extrapolation, as in LAMMPS", kernels=Kernels(<size_t> richardson),
    normalises=True, used_in="LAMMPS, LIGGGHTS", cites=("thompson2022lammps",), **SECOND_ORDER,
    reference={"": ((7.0784812991e-04, 2.3783064756e-05), (1.1307063665e-02, 3.8421342262e-04))})]
