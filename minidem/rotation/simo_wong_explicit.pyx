r"""The explicit algorithm of J. C. Simo and K. K. Wong, Int. J. Numer. Methods Eng. 31, 19 (1991).

.. math::

   \begin{split}
   \boldsymbol\Theta &= \Delta t\, (\boldsymbol\omega + \tfrac{\Delta t}{2} \boldsymbol a), \quad
   q(t + \Delta t) = q\, \exp(\tfrac12 \boldsymbol\Theta) \\
   \boldsymbol I \boldsymbol\omega(t + \Delta t) &= \exp(-\boldsymbol\Theta)\,
     (\boldsymbol I \boldsymbol\omega + \tfrac{\Delta t}{2} \boldsymbol\tau)
     + \tfrac{\Delta t}{2} \boldsymbol\tau(t + \Delta t) \\
   \boldsymbol a(t + \Delta t) &= (\boldsymbol\omega(t + \Delta t) - \boldsymbol\omega(t)) / \Delta t
   \end{split}

and :math:`\boldsymbol a = \dot{\boldsymbol\omega}` at the start. Angular momentum in the lab is conserved without
torque; energy is not. Here :math:`\gamma = 1`: the angular acceleration :math:`\boldsymbol a` is that of half a step
ago, which a jump of the torque does not make oscillate. But in collisions the energy drifts, by the third power of the
step: 2 % in 10 s for thirty asymmetric clumps and 19 us, where ``spiral`` has 6e-6.
"""
from minidem.core.quaternion cimport Quat, exponential, multiply, rotate_back
from minidem.core.vec3 cimport Vec3, add_scaled, scale, sub, times
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport (
    FINISH, MOVE, PREDICT, START, Body, BodyBlock, Kernels, Step, angular_acceleration, role,
)
from minidem.state.rows cimport load, store


cdef inline Vec3 kicked(const Body *b, double h) noexcept nogil:
    return add_scaled(b.w, h, times(b.inverse_inertia, b.torque))


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    store(b.scratch, angular_acceleration(b, b.w, b.torque))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Quat turn = exponential(scale(0.5 * step.dt, add_scaled(b.w, 0.5 * step.dt, load(b.scratch))))
    store(b.scratch, b.w)
    b.q = multiply(b.q, turn)
    b.w = times(b.inverse_inertia, rotate_back(turn, add_scaled(times(b.inertia, b.w), 0.5 * step.dt, b.torque)))


cdef inline void predict(Body *b, const Step *step) noexcept nogil:
    b.predicted = kicked(b, 0.5 * step.dt)


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    b.w = kicked(b, 0.5 * step.dt)
    store(b.scratch, scale(1.0 / step.dt, sub(b.w, load(b.scratch))))


cdef int simo_wong_explicit(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    return (role(START, start, wanted, bodies, step)
            | role(MOVE, move, wanted, bodies, step)
            | role(FINISH, finish, wanted, bodies, step)
            | role(PREDICT, predict, wanted, bodies, step))


SCHEMES = [Scheme(
    name="simo-wong-explicit", title="Simo & Wong 1991, explicit", kernels=Kernels(<size_t> simo_wong_explicit),
    order_q=2, order_w=2, order_q_varying=2, order_w_varying=2, keeps_norm=True, n_scratch=3,
    cites=("simo1991unconditionally",),
    reference={"": ((3.2653210406e-05, 3.4909357567e-05), (5.0588012629e-04, 5.4193149777e-04))})]
