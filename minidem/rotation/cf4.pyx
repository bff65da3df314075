r"""Commutator-free method of order 4: E. Celledoni, A. Marthinsen and B. Owren, Future Gener. Comput. Syst. 19, 341
(2003): four torques a step, no normalisation.

With :math:`k_i = \tfrac{\Delta t}{2} \boldsymbol\omega_i` of the stages, all vectors of the body,

.. math::

   \begin{split}
   q_2 &= q \exp(\tfrac12 k_1), \quad q_3 = q \exp(\tfrac12 k_2), \quad q_4 = q_2 \exp(k_3 - \tfrac12 k_1) \\
   q(t + \Delta t) &= q \exp\left(\tfrac{1}{12} (3 k_1 + 2 k_2 + 2 k_3 - k_4)\right)
     \exp\left(\tfrac{1}{12} (-k_1 + 2 k_2 + 2 k_3 + 3 k_4)\right)
   \end{split}

:math:`\boldsymbol\omega` follows the classical method of Runge and Kutta (lie_rk4.pxd). In the many-body loop the
translation stays a leapfrog, so the whole is of order 2, as with ``rk4``.
"""
from minidem.core.vec3 cimport Vec3, add, add_scaled, scale
from minidem.rotation.formulas cimport four_stages, turned
from minidem.rotation.lie_rk4 cimport N_SCRATCH, W_1, W_2, W_3, first, last_w, next_w, stage_w, turned_from_start
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport Body, BodyBlock, Kernels, Step


cdef inline void second(Body *b, const Step *step) noexcept nogil:
    b.q = turned_from_start(b, 0.5 * step.dt, b.w)
    next_w(b, step, W_2, 2.0, 0.5)


cdef inline void third(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w_1 = stage_w(b, W_1)
    b.q = turned(turned_from_start(b, 0.5 * step.dt, w_1), step.dt, add_scaled(b.w, -0.5, w_1))
    next_w(b, step, W_3, 2.0, 1.0)


cdef inline void last(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w_1 = stage_w(b, W_1), middle = scale(2.0, add(stage_w(b, W_2), stage_w(b, W_3)))
    b.q = turned(turned_from_start(b, step.dt / 12.0, add_scaled(add_scaled(middle, 3.0, w_1), -1.0, b.w)),
                 step.dt / 12.0, add_scaled(add_scaled(middle, 3.0, b.w), -1.0, w_1))
    last_w(b, step)


cdef int cf4(const BodyBlock *b) noexcept nogil:
    return four_stages(first, second, third, last, b)


SCHEMES = [Scheme(
    name="cf4", title="commutator-free, order 4 (Celledoni et al. 2003)", kernels=Kernels(<size_t> cf4),
    stages=(0.5, 0.5, 1.0, 1.0), order_q=4, order_w=4, order_q_varying=4, order_w_varying=4, keeps_norm=True,
    n_scratch=N_SCRATCH, cites=("celledoni2003commutator", "kutta1901beitrag"),
    reference={"": ((7.5215026684e-10, 5.9362473998e-10), (1.9436416036e-07, 1.5066808071e-07))})]
