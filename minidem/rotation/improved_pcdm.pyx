r"""Improved PCDM: L. Seelen, J. Padding and J. Kuipers, Acta Mech. 227, 3381 (2016).

Section 2.2, steps 2 to 4. Orientation :math:`Q` and angular velocity :math:`\boldsymbol\Omega` are known half a step
ahead of the pose; :math:`q'`, :math:`\boldsymbol\omega'` of the pose are predictions, and the torque is evaluated with
them:

.. math::

   \begin{split}
   q'(t + \Delta t) &= \exp(\tfrac{\Delta t}{4}\, Q\,
     (\boldsymbol\Omega + \tfrac{\Delta t}{4} \boldsymbol a)\, Q^*)\, Q \\
   \boldsymbol\omega'(t + \Delta t) &= \boldsymbol\Omega + \tfrac{\Delta t}{2} \boldsymbol a, \quad
     \boldsymbol a = \dot{\boldsymbol\omega}(\boldsymbol\omega'(t), \boldsymbol\tau(t)) \\
   \boldsymbol\Omega &\leftarrow \boldsymbol\Omega
     + \Delta t\, \dot{\boldsymbol\omega}(\boldsymbol\omega'(t + \Delta t), \boldsymbol\tau(t + \Delta t)) \\
   Q &\leftarrow \exp(\tfrac{\Delta t}{2}\,
     q'(t + \Delta t)\, \boldsymbol\omega'(t + \Delta t)\, q'^*(t + \Delta t))\, Q
   \end{split}

so that it is of second order for every kind of torque, at one evaluation a step. Results are given at the whole step:
:math:`q'`, :math:`\boldsymbol\omega'`, as in the paper. There the prediction uses the :math:`\boldsymbol a` of the last
correction (``predictor=reused``). With it the energy error of a free body is twice as large as with PCDM; the paper
finds them equal, and they are if :math:`\boldsymbol a` is found anew from :math:`\boldsymbol\Omega` and the last torque
(``predictor=recomputed``).

The paper does not say how :math:`\boldsymbol\Omega` and :math:`Q` begin. It must be a half step:

.. math::

   \boldsymbol\Omega = \boldsymbol\omega + \tfrac{\Delta t}{2} \boldsymbol a, \quad
   Q = q\, \exp(\tfrac{\Delta t}{4} (\boldsymbol\omega + \tfrac{\Delta t}{4} \boldsymbol a))

With :math:`\boldsymbol\Omega = \boldsymbol\omega` the scheme stays of first order for ever.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport rotate
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport turned, turned_by_lab
from minidem.rotation.registry import SECOND_ORDER, Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, START, Body, BodyBlock, Kernels, Step, angular_acceleration, role
from minidem.state.rows cimport load, load_quat, store, store_quat

cdef enum: PREDICTOR                # parameters, in their order
cdef enum Predictor: REUSED, RECOMPUTED  # its words

cdef enum Scratch:                  # first index of each stored quantity
    Q_HALF = 0                      # orientation half a step ahead of the pose
    W_HALF = 4                      # angular velocity there, body frame
    RATE = 7                        # its derivative at the pose


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 rate = angular_acceleration(b, b.w, b.torque)
    store_quat(b.scratch + Q_HALF * LANES, turned(b.q, 0.5 * step.dt, add_scaled(b.w, 0.25 * step.dt, rate)))
    store(b.scratch + W_HALF * LANES, add_scaled(b.w, 0.5 * step.dt, rate))
    store(b.scratch + RATE * LANES, rate)


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = load(b.scratch + W_HALF * LANES)
    cdef Vec3 rate = load(b.scratch + RATE * LANES)
    if step.variant == RECOMPUTED:
        rate = angular_acceleration(b, w, b.torque)
    b.q = turned(load_quat(b.scratch + Q_HALF * LANES), 0.5 * step.dt, add_scaled(w, 0.25 * step.dt, rate))
    b.w = add_scaled(w, 0.5 * step.dt, rate)


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 rate = angular_acceleration(b, b.w, b.torque)
    store_quat(b.scratch + Q_HALF * LANES,
               turned_by_lab(load_quat(b.scratch + Q_HALF * LANES), step.dt, rotate(b.q, b.w)))
    store(b.scratch + W_HALF * LANES, add_scaled(load(b.scratch + W_HALF * LANES), step.dt, rate))
    store(b.scratch + RATE * LANES, rate)


cdef int improved_pcdm(const BodyBlock *b) noexcept nogil:
    if b.step.integers[PREDICTOR] == REUSED:            # chosen outside the loop over bodies
        role(MOVE, move, b, REUSED)
    else:
        role(MOVE, move, b, RECOMPUTED)
    return role(START, start, b) | 1 << MOVE | role(FINISH, finish, b)


SCHEMES = [Scheme(
    name="improved-pcdm", title="improved PCDM (Seelen et al.)", equations="section 2.2, steps 2 to 4",
    kernels=Kernels(<size_t> improved_pcdm), keeps_norm=True,
    orientation_offset=0.5, angular_velocity_offset=0.5, **SECOND_ORDER,
    orientation_scratch=Q_HALF, angular_velocity_scratch=W_HALF, n_scratch=10,
    parameters={"predictor": ("reused", "recomputed")}, cites=("seelen2016improved",),
    meanings={"predictor": "Acceleration of the prediction: reused as published; recomputed halves the energy error."},
    reference={"": ((5.8784573649e-05, 5.6317645886e-05), (9.2203358546e-04, 8.9354282233e-04))})]
