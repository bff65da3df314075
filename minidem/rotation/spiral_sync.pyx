r"""SPIRAL, not as a leapfrog: C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024), appendix A.

.. math::

   \begin{split}
   q(t + \Delta t) &= q\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega)\,
     \exp(\tfrac{\Delta t^2}{4} \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau))
     \qquad \text{(Eqs A.2, A.3; form=product)} \\
   q(t + \Delta t) &= q\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega
     + \tfrac{\Delta t^2}{4} \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau))
     \qquad \text{(Eq. A.1; form=sum)} \\
   \boldsymbol\omega(t + \Delta t) &= S(\boldsymbol\omega, \boldsymbol\tau(t), \Delta t)
     \qquad \text{(Eqs 9, 10)}
   \end{split}

everything on the right at :math:`t`. :math:`S` integrates Euler's equations with the torque held, by SSPRK3. The
published curves belong to the product. Splitting the exponential of A.1 in two loses half a commutator, of order
:math:`\Delta t^3`, so that the sum has the smaller error (eight times in the paper's test) for half the exponentials.
Both hold :math:`\boldsymbol\tau(t)` for the whole step: first order for a torque that varies.
"""
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport ssprk3, turned
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, angular_acceleration, role

cdef enum: FORM                     # parameters, in their order
cdef enum Form: PRODUCT, SUM        # its words


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 acceleration = angular_acceleration(b, b.w, b.torque)
    if step.variant == PRODUCT:
        b.q = turned(turned(b.q, step.dt, b.w), 0.5 * step.dt * step.dt, acceleration)
    else:
        b.q = turned(b.q, step.dt, add_scaled(b.w, 0.5 * step.dt, acceleration))
    b.w = ssprk3(b, step.dt)


cdef int spiral_sync(const BodyBlock *b) noexcept nogil:
    if b.step.integers[FORM] == PRODUCT:              # chosen outside the loop over bodies
        return role(MOVE, move, b, PRODUCT)
    return role(MOVE, move, b, SUM)


SCHEMES = [Scheme(
    name="spiral-sync", title="SPIRAL, synchronous", equations="A.1 to A.3, 9, 10",
    kernels=Kernels(<size_t> spiral_sync), keeps_norm=True, order_q=2, order_w=3,
    meanings={"form": "Product of two exponentials as published, or exponential of a sum, more exact."},
    parameters={"form": ("product", "sum")}, cites=("delvalle2024spiral", "shu1988efficient"), reference={
        "": ((1.4275839311e-05, 1.2790654287e-07), (2.1726173692e-04, 8.1209378031e-06)),
        "form=sum": ((1.8302775206e-06, 1.2790654287e-07), (2.3893743625e-05, 8.1209378031e-06))})]
