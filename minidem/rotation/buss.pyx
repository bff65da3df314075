r"""Buss's algorithm, in quaternions: S. R. Buss, J. Comput. Phys. 164, 377 (2000).

Angular momentum :math:`\boldsymbol L` in the lab. As printed in the SPIRAL paper (10.1016/j.cpc.2023.109077) and used
by PFC7, everything on the right at :math:`t`:

.. math::

   \begin{split}
   \boldsymbol\omega &= \boldsymbol I^{-1} \boldsymbol L, \quad
     \dot{\boldsymbol\omega} = \boldsymbol I^{-1} (\boldsymbol\tau - \boldsymbol\omega \times \boldsymbol L)
     \qquad \text{(Eq. B.7)} \\
   \bar{\boldsymbol\omega} &= \boldsymbol\omega + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}
     + c\,\Delta t^2\, \dot{\boldsymbol\omega} \times \boldsymbol\omega
     \qquad \text{(Eq. B.8)} \\
   q(t + \Delta t) &= \exp(\tfrac{\Delta t}{2} \bar{\boldsymbol\omega})\, q, \quad
     \boldsymbol L(t + \Delta t) = \boldsymbol L + \Delta t\, \boldsymbol\tau
     \qquad \text{(Eq. B.9)}
   \end{split}

There all vectors are in the lab frame; in the body frame of :math:`t`, used here, they obey the same equations, and the
exponential stands on the right of :math:`q`. :math:`c = 1/12` is the coefficient of the Magnus expansion (``buss``).
The curves called Buss in the SPIRAL paper are reproduced by :math:`c = 1/16` only (``buss-published``). The last
equation makes both first order, although :math:`\boldsymbol L` is exact without torque.
"""
from minidem.core.quaternion cimport rotate
from minidem.core.vec3 cimport Vec3, add_scaled, cross
from minidem.rotation.formulas cimport body_rate, start_in_lab, turned
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, START, Body, BodyBlock, Kernels, Step, angular_acceleration, role
from minidem.state.rows cimport load, store


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    """step.variant : 1 / c"""
    cdef double c = 1.0 / step.variant
    cdef Vec3 wdot = angular_acceleration(b, b.w, b.torque)
    cdef Vec3 mean = add_scaled(add_scaled(b.w, 0.5 * step.dt, wdot), c * step.dt * step.dt, cross(wdot, b.w))
    cdef Vec3 momentum = add_scaled(load(b.scratch), step.dt, rotate(b.q, b.torque))
    b.q = turned(b.q, step.dt, mean)
    b.w = body_rate(b, b.q, momentum)
    store(b.scratch, momentum)


cdef int buss(const BodyBlock *b) noexcept nogil:
    return role(START, start_in_lab, b) | role(MOVE, move, b, 12)


cdef int published(const BodyBlock *b) noexcept nogil:
    return role(START, start_in_lab, b) | role(MOVE, move, b, 16)


SCHEMES = [
    Scheme(name="buss", title="Buss 2000", equations="B.7 to B.9 of 10.1016/j.cpc.2023.109077",
           kernels=Kernels(<size_t> buss), keeps_norm=True, n_scratch=3,
           cites=("buss2000accurate", "delvalle2024spiral"), used_in="PFC7",
           reference={"": ((4.6159072161e-04, 4.3316175017e-04), (1.5436012008e-03, 1.4458699170e-03))}),
    Scheme(name="buss-published", title="Buss as in the SPIRAL paper", equations="B.7 to B.9",
           kernels=Kernels(<size_t> published), keeps_norm=True, n_scratch=3,
           cites=("delvalle2024spiral", "buss2000accurate"), notes="1/16 for 1/12 in Eq. B.8",
           reference={"": ((4.6756074018e-04, 4.3904152263e-04), (1.6382333661e-03, 1.5394040663e-03))}),
]
