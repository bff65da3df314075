r"""Runge-Kutta-Munthe-Kaas method of order 4, with two commutators: H. Munthe-Kaas, Appl. Numer. Math. 29, 115 (1999):
four torques a step, no normalisation.

With :math:`k_i = \tfrac{\Delta t}{2} \boldsymbol\omega_i` of the stages, all vectors of the body,

.. math::

   \begin{split}
   q_2 &= q \exp(\tfrac12 k_1), \quad q_3 = q \exp(\tfrac12 k_2 + \tfrac14 k_1 \times k_2), \quad q_4 = q \exp(k_3) \\
   q(t + \Delta t) &= q \exp\left(\tfrac16 (k_1 + 2 k_2 + 2 k_3 + k_4) + \tfrac16 k_1 \times k_4\right)
   \end{split}

The commutators are cross products, with the signs of the body frame, doubled because :math:`k` are half angles.
:math:`\boldsymbol\omega` follows the classical method of Runge and Kutta (lie_rk4.pxd). In the many-body loop the
translation stays a leapfrog, so the whole is of order 2, as with ``rk4``.
"""
from minidem.core.vec3 cimport Vec3, add, add_scaled, cross, scale
from minidem.rotation.formulas cimport four_stages
from minidem.rotation.lie_rk4 cimport N_SCRATCH, W_1, W_2, W_3, first, last_w, next_w, stage_w, turned_from_start
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport Body, BodyBlock, Kernels, Step


cdef inline void second(Body *b, const Step *step) noexcept nogil:
    b.q = turned_from_start(b, 0.5 * step.dt, add_scaled(b.w, 0.25 * step.dt, cross(stage_w(b, W_1), b.w)))
    next_w(b, step, W_2, 2.0, 0.5)


cdef inline void third(Body *b, const Step *step) noexcept nogil:
    b.q = turned_from_start(b, step.dt, b.w)
    next_w(b, step, W_3, 2.0, 1.0)


cdef inline void last(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w_1 = stage_w(b, W_1), middle = scale(2.0, add(stage_w(b, W_2), stage_w(b, W_3)))
    b.q = turned_from_start(b, step.dt / 6.0, add_scaled(
        add(middle, add(w_1, b.w)), 0.5 * step.dt, cross(w_1, b.w)))
    last_w(b, step)


cdef int munthe_kaas(const BodyBlock *b) noexcept nogil:
    return four_stages(first, second, third, last, b)


SCHEMES = [Scheme(
    name="munthe-kaas", title="Runge-Kutta-Munthe-Kaas, order 4", kernels=Kernels(<size_t> munthe_kaas),
    stages=(0.5, 0.5, 1.0, 1.0), order_q=4, order_w=4, order_q_varying=4, order_w_varying=4, keeps_norm=True,
    n_scratch=N_SCRATCH, cites=("munthekaas1999high", "kutta1901beitrag"),
    reference={"": ((9.6521386577e-10, 5.9362473998e-10), (2.5031513750e-07, 1.5066808071e-07))})]
