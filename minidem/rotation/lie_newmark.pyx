r"""Explicit Lie-Newmark: J. C. Simo and L. Vu-Quoc, Comput. Methods Appl. Mech. Eng. 66, 125 (1988); P. Krysl and
L. Endres, Int. J. Numer. Methods Eng. 62, 2154 (2005).

Newmark's method with :math:`\gamma = 1/2, \beta = 0`, in the body frame:

.. math::

   \begin{split}
   q(t + \Delta t) &= q(t)\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega(t + \Delta t/2)), \quad
   \boldsymbol\omega(t + \Delta t/2) = \boldsymbol\omega(t) + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(t) \\
   \boldsymbol\omega(t + \Delta t) &= \boldsymbol\omega(t + \Delta t/2)
     + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(t + \Delta t)
   \end{split}

The second half step is implicit, because Euler's equations give
:math:`\dot{\boldsymbol\omega} = \boldsymbol I^{-1} (\boldsymbol\tau - \boldsymbol\omega \times \boldsymbol I
\boldsymbol\omega)`; Newton's method solves it (midstep.pxd). Stored is :math:`\boldsymbol\omega(t - \Delta t/2)`, and
both half steps together are :math:`\boldsymbol\omega(t + \Delta t/2) = 2 \boldsymbol\omega(t) - \boldsymbol\omega(t -
\Delta t/2)`: the midpoint rule. It conserves the energy of a free body and the magnitude of its angular momentum at the
half steps, but not the direction. Symmetric in time, not symplectic.
"""
from minidem.core.vec3 cimport Vec3, add_scaled, times
from minidem.rotation.formulas cimport start_by_euler, turn
from minidem.rotation.midstep cimport midpoint_derivative, midpoint_momentum, solved
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, angular_acceleration, role


cdef inline Vec3 at_pose(const Body *b, double h) noexcept nogil:
    return solved(midpoint_momentum, midpoint_derivative, b, h, add_scaled(times(b.inertia, b.w), 0.5 * h, b.torque))


cdef inline void advance(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = at_pose(b, step.dt)
    b.w = add_scaled(w, 0.5 * step.dt, angular_acceleration(b, w, b.torque))


cdef inline void sync(Body *b, const Step *step) noexcept nogil:
    b.predicted = at_pose(b, step.dt)


cdef int lie_newmark(const BodyBlock *b) noexcept nogil:
    role(MOVE, advance, b)
    return role(START, start_by_euler, b) | turn(b) | role(SYNC, sync, b)


SCHEMES = [Scheme(
    name="lie-newmark", title="explicit Lie-Newmark (Krysl & Endres 2005)", kernels=Kernels(<size_t> lie_newmark),
    keeps_norm=True, cites=("krysl2005explicit", "simo1988dynamics"), **LEAPFROG,
    reference={"": ((1.0097636070e-05, 1.1843028215e-05), (1.6092339792e-04, 1.8720862135e-04))})]
