r"""Direct Euler, as in the SPIRAL paper (10.1016/j.cpc.2023.109077), Eq. B.1.

.. math::

   \begin{split}
   \boldsymbol\omega(t + \Delta t) &= \boldsymbol\omega
     + \Delta t\, \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau(t)) \\
   q(t + \Delta t) &= \mathrm N(q + \tfrac{\Delta t}{2}\, q\, \boldsymbol\omega(t + \Delta t))
   \end{split}
"""
from minidem.core.vec3 cimport add_scaled
from minidem.rotation.formulas cimport turned_by_euler
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, angular_acceleration, role


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    b.w = add_scaled(b.w, step.dt, angular_acceleration(b, b.w, b.torque))
    b.q = turned_by_euler(b.q, step.dt, b.w)


cdef int euler(const BodyBlock *b) noexcept nogil:
    return role(MOVE, move, b)


SCHEMES = [Scheme(
    name="euler", title="direct Euler", equations="B.1", kernels=Kernels(<size_t> euler), normalises=True,
    cites=("delvalle2024spiral",), used_in="MFiX, EDEM, Blaze-DEMGPU, MUSEN",
    reference={"": ((1.4328144657e-02, 3.5235535149e-03), (4.3249148334e-02, 1.6104835095e-02))})]
