"""Improved PCDM: L. Seelen, J. Padding and J. Kuipers, Acta Mech. 227, 3381 (2016).

Section 2.2, steps 2 to 4. Orientation Q and angular velocity W are known half a step ahead of the
pose; q', w' of the pose are predictions, and the torque is evaluated with them:

    q'(t + dt) = exp(dt/4 Q (W + dt/4 a) Q*) Q,   w'(t + dt) = W + dt/2 a,   a = wdot(w'(t), M(t))
    W = W + dt wdot(w'(t + dt), M(t + dt)),   Q = exp(dt/2 q' w' q'*) Q

so that it is of second order for every kind of torque, at one evaluation a step. Results are given
at the whole step: q', w', as in the paper. There the prediction uses the a of the last correction
(predictor=reused). With it the energy error of a free body is twice that of PCDM; the paper finds
them equal, and they are if a is found anew from W and the last torque (predictor=recomputed).

The paper does not say how W and Q begin. It must be a half step, W = w + dt/2 a and
Q = q exp(dt/4 (w + dt/4 a)): with W = w the scheme stays of first order for ever.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport rotate
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.rotation.formulas cimport turned, turned_by_lab
from minidem.rotation.record import Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, START, Body, Kernels, Step, angular_acceleration, role
from minidem.state.rows cimport load, load_quat, store, store_quat

cdef enum: PREDICTOR                # parameters, in the order of the record
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


cdef inline void predict_pose(Body *b, const Step *step, Vec3 rate) noexcept nogil:
    cdef Vec3 w = load(b.scratch + W_HALF * LANES)
    b.q = turned(load_quat(b.scratch + Q_HALF * LANES), 0.5 * step.dt, add_scaled(w, 0.25 * step.dt, rate))
    b.w = add_scaled(w, 0.5 * step.dt, rate)


cdef inline void move_reused(Body *b, const Step *step) noexcept nogil:
    predict_pose(b, step, load(b.scratch + RATE * LANES))


cdef inline void move_recomputed(Body *b, const Step *step) noexcept nogil:
    predict_pose(b, step, angular_acceleration(b, load(b.scratch + W_HALF * LANES), b.torque))


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 rate = angular_acceleration(b, b.w, b.torque)
    store_quat(b.scratch + Q_HALF * LANES,
               turned_by_lab(load_quat(b.scratch + Q_HALF * LANES), step.dt, rotate(b.q, b.w)))
    store(b.scratch + W_HALF * LANES, add_scaled(load(b.scratch + W_HALF * LANES), step.dt, rate))
    store(b.scratch + RATE * LANES, rate)


cdef int improved_pcdm(int wanted, double *block, const double *torque, const double *fixed,
                       const Step *step) noexcept nogil:
    if step.integers[PREDICTOR] == REUSED:            # chosen outside the loop over bodies
        role(MOVE, move_reused, wanted, block, torque, fixed, step)
    else:
        role(MOVE, move_recomputed, wanted, block, torque, fixed, step)
    return (role(START, start, wanted, block, torque, fixed, step)
            | role(FINISH, finish, wanted, block, torque, fixed, step)
            | 1 << MOVE)


SCHEMES = [Scheme(
    name="improved-pcdm", title="improved PCDM (Seelen et al.)", equations="section 2.2, steps 2 to 4",
    kernels=Kernels(<size_t> improved_pcdm), keeps_norm=True,
    orientation_offset=0.5, angular_velocity_offset=0.5,
    orientation_scratch=Q_HALF, angular_velocity_scratch=W_HALF, n_scratch=10,
    order_q=2, order_w=2, order_q_varying=2, order_w_varying=2,
    parameters={"predictor": ("reused", "recomputed")}, cites=("seelen2016improved",),
    reference={"": ((5.8784573649e-05, 5.6317645886e-05), (9.2203358546e-04, 8.9354282233e-04))})]
