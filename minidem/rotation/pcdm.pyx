r"""PCDM: predictor-corrector direct multiplication, F. Zhao and B. van Wachem, Acta Mech. 224, 3091 (2013).

.. math::

   \begin{split}
   \boldsymbol\omega_1 &= \boldsymbol\omega
     + \tfrac{\Delta t}{4} \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau), \quad
     \boldsymbol\omega_2 = \boldsymbol\omega
     + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau)
     \qquad \text{(Eq. 57, body frame)} \\
   q' &= \exp(\tfrac{\Delta t}{4}\, q\, \boldsymbol\omega_1\, q^*)\, q
     \qquad \text{(Eqs 58, 59)} \\
   q(t + \Delta t) &= \exp(\tfrac{\Delta t}{2}\, q'\, \boldsymbol\omega_2\, q'^*)\, q
     \qquad \text{(Eqs 60, 61)} \\
   \boldsymbol\omega(t + \Delta t) &= \boldsymbol\omega
     + \Delta t\, \dot{\boldsymbol\omega}(\boldsymbol\omega_2, \boldsymbol\tau)
     \qquad \text{(Eq. 62)}
   \end{split}

:math:`\boldsymbol\tau` is the torque of :math:`t`, also in the last line: the paper evaluates forces at whole steps
only. With a torque that varies the scheme is therefore of first order, as Seelen et al. noticed (``improved-pcdm``).
The paper's sphere under a growing torque (Table 2) comes out with the torque of :math:`t + \Delta t` in place
of the torque of :math:`t`.
"""
from minidem.core.quaternion cimport Quat, rotate
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport turned, turned_by_lab
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, angular_acceleration, role


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 acceleration = angular_acceleration(b, b.w, b.torque)
    cdef Vec3 quarter = add_scaled(b.w, 0.25 * step.dt, acceleration)
    cdef Vec3 half = add_scaled(b.w, 0.5 * step.dt, acceleration)
    cdef Quat middle = turned(b.q, 0.5 * step.dt, quarter)
    b.q = turned_by_lab(b.q, step.dt, rotate(middle, half))
    b.w = add_scaled(b.w, step.dt, angular_acceleration(b, half, b.torque))


cdef int pcdm(const BodyBlock *b) noexcept nogil:
    return role(MOVE, move, b)


SCHEMES = [Scheme(
    name="pcdm", title="PCDM (Zhao and van Wachem)", equations="55 to 63", kernels=Kernels(<size_t> pcdm),
    keeps_norm=True, order_q=2, order_w=2, cites=("zhao2013novel",),
    reference={"": ((2.3351518919e-05, 2.3096211825e-05), (3.7358291895e-04, 3.6516126548e-04))})]
