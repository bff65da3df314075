r"""Velocity Verlet for rotation, as in the SPIRAL paper (10.1016/j.cpc.2023.109077), Eqs B.2, B.3.

.. math::

   \begin{split}
   \boldsymbol\omega(t + \Delta t/2) &= \boldsymbol\omega(t)
     + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(\boldsymbol\omega(t), \boldsymbol\tau(t)) \\
   q(t + \Delta t) &= \mathrm N(q + \tfrac{\Delta t}{2}\, q\, \boldsymbol\omega(t + \Delta t/2)) \\
   \boldsymbol\omega(t + \Delta t) &= \boldsymbol\omega(t + \Delta t/2)
     + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(\boldsymbol\omega(t + \Delta t/2), \boldsymbol\tau(t + \Delta t))
   \end{split}

Eq. B.2 prints :math:`\boldsymbol\omega(t + \Delta t)` in the second line; only
:math:`\boldsymbol\omega(t + \Delta t/2)` reproduces the published errors.
"""
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport turned_by_euler
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, Body, BodyBlock, Kernels, Step, angular_acceleration, role


cdef inline Vec3 half_kick(const Body *b, const Step *step) noexcept nogil:
    return add_scaled(b.w, 0.5 * step.dt, angular_acceleration(b, b.w, b.torque))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    b.w = half_kick(b, step)
    b.q = turned_by_euler(b.q, step.dt, b.w)


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    b.w = half_kick(b, step)


cdef inline void predict(Body *b, const Step *step) noexcept nogil:
    b.predicted = half_kick(b, step)


cdef int velocity_verlet(const BodyBlock *b) noexcept nogil:
    return role(MOVE, move, b) | role(FINISH, finish, b) | role(PREDICT, predict, b)


SCHEMES = [Scheme(
    name="velocity-verlet", title="velocity Verlet", equations="B.2, B.3",
    kernels=Kernels(<size_t> velocity_verlet), normalises=True,
    cites=("delvalle2024spiral", "verlet1967computer"), used_in="LIGGGHTS, GranOO, EDEM, MercuryDPM",
    reference={"": ((2.6162435953e-03, 1.7217786592e-03), (2.7443466589e-02, 7.3745594136e-03))})]
