r"""Classical Runge-Kutta of order 4 on :math:`(q, \boldsymbol\omega)`: four torques a step.

.. math::

   \dot q = \tfrac12 q\, \boldsymbol\omega, \quad
   \dot{\boldsymbol\omega} = \boldsymbol I^{-1}
   (\boldsymbol\tau - \boldsymbol\omega \times \boldsymbol I \boldsymbol\omega)

:math:`q` is normalised once a step.

The stages (1/2, 1/2, 1, 1) are the instants of the poses: after each, the loop evaluates the
torque there; the last pose is the pose of the new step, so its torque is the first of the next step.
A stage's orientation goes into the formula as it is and, normalised, to the contacts. In the
many-body loop the translation stays a leapfrog, so the whole is of order 2.
W. Kutta, Z. Math. Phys. 46, 435 (1901).
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat, add_scaled_quat, multiply_vector, normalise, scale_quat
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport four_stages
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport Body, BodyBlock, Kernels, Step, angular_acceleration
from minidem.state.rows cimport load, load_quat, store, store_quat

cdef enum Scratch:                  # first index of each stored quantity
    Q_START = 0                     # orientation at the start of the step
    W_START = 4
    Q_STAGE = 7                     # orientation of the stage, not normalised
    Q_SUM = 11                      # weighted sum of the rates so far
    W_SUM = 15


cdef inline void next_stage(Body *b, const Step *step, double weight, double ahead) noexcept nogil:
    """Rate at this stage into the sums; then the pose that lies `ahead` dt along that rate."""
    cdef Quat rate_q = scale_quat(0.5, multiply_vector(load_quat(b.scratch + Q_STAGE * LANES), b.w))
    cdef Vec3 rate_w = angular_acceleration(b, b.w, b.torque)
    cdef Quat stage = add_scaled_quat(load_quat(b.scratch + Q_START * LANES), ahead * step.dt, rate_q)
    store_quat(b.scratch + Q_SUM * LANES, add_scaled_quat(load_quat(b.scratch + Q_SUM * LANES), weight, rate_q))
    store(b.scratch + W_SUM * LANES, add_scaled(load(b.scratch + W_SUM * LANES), weight, rate_w))
    store_quat(b.scratch + Q_STAGE * LANES, stage)
    b.q = normalise(stage)
    b.w = add_scaled(load(b.scratch + W_START * LANES), ahead * step.dt, rate_w)


cdef inline void first(Body *b, const Step *step) noexcept nogil:
    store_quat(b.scratch + Q_START * LANES, b.q)
    store(b.scratch + W_START * LANES, b.w)
    store_quat(b.scratch + Q_STAGE * LANES, b.q)
    store_quat(b.scratch + Q_SUM * LANES, scale_quat(0.0, b.q))
    store(b.scratch + W_SUM * LANES, add_scaled(b.w, -1.0, b.w))
    next_stage(b, step, 1.0, 0.5)


cdef inline void second(Body *b, const Step *step) noexcept nogil:
    next_stage(b, step, 2.0, 0.5)


cdef inline void third(Body *b, const Step *step) noexcept nogil:
    next_stage(b, step, 2.0, 1.0)


cdef inline void last(Body *b, const Step *step) noexcept nogil:
    next_stage(b, step, 1.0, 0.0)
    b.q = normalise(add_scaled_quat(load_quat(b.scratch + Q_START * LANES), step.dt / 6.0,
                                    load_quat(b.scratch + Q_SUM * LANES)))
    b.w = add_scaled(load(b.scratch + W_START * LANES), step.dt / 6.0, load(b.scratch + W_SUM * LANES))


cdef int rk4(const BodyBlock *b) noexcept nogil:
    return four_stages(first, second, third, last, b)


SCHEMES = [Scheme(
    name="rk4", title="Runge-Kutta 4", equations="section 3", kernels=Kernels(<size_t> rk4),
    stages=(0.5, 0.5, 1.0, 1.0), order_q=4, order_w=4, order_q_varying=4, order_w_varying=4, normalises=True,
    n_scratch=18, cites=("delvalle2024spiral", "kutta1901beitrag"),
    reference={"": ((1.7846716792e-08, 5.9362450197e-10), (4.5677419415e-06, 1.5066808130e-07))})]
