"""PCDM: predictor-corrector direct multiplication, F. Zhao and B. van Wachem, Acta Mech. 224, 3091 (2013).

    w1 = w + dt/4 wdot(w, M),   w2 = w + dt/2 wdot(w, M)              Eq. 57, body frame
    q' = exp(dt/4 q w1 q*) q                                          Eqs 58, 59
    q(t + dt) = exp(dt/2 q' w2 q'*) q                                 Eqs 60, 61
    w(t + dt) = w + dt wdot(w2, M)                                    Eq. 62

M is the torque of t, also in the last line: the paper evaluates forces at whole steps only. With
a torque that varies the scheme is therefore of first order, as Seelen et al. noticed
(improved-pcdm). The paper's sphere under a growing torque (Table 2) comes out with the torque of
t + dt for that of t.
"""
from minidem.core.quaternion cimport Quat, rotate
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport turned, turned_by_lab
from minidem.rotation.record import Scheme
from minidem.rotation.scheme cimport MOVE, Body, Kernels, Step, angular_acceleration, role


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 acceleration = angular_acceleration(b, b.w, b.torque)
    cdef Vec3 quarter = add_scaled(b.w, 0.25 * step.dt, acceleration)
    cdef Vec3 half = add_scaled(b.w, 0.5 * step.dt, acceleration)
    cdef Quat middle = turned(b.q, 0.5 * step.dt, quarter)
    b.q = turned_by_lab(b.q, step.dt, rotate(middle, half))
    b.w = add_scaled(b.w, step.dt, angular_acceleration(b, half, b.torque))


cdef int pcdm(int wanted, double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    return role(MOVE, move, wanted, block, torque, fixed, step)


SCHEMES = [Scheme(
    name="pcdm", title="PCDM (Zhao and van Wachem)", equations="55 to 63", kernels=Kernels(<size_t> pcdm),
    keeps_norm=True, order_q=2, order_w=2, cites=("zhao2013novel",),
    reference={"": ((2.3351518919e-05, 2.3096211825e-05), (3.7358291895e-04, 3.6516126548e-04))})]
