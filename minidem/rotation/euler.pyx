"""Direct Euler, as in the SPIRAL paper (10.1016/j.cpc.2023.109077), Eq. B.1.

    w(t + dt) = w + dt wdot(w, M(t)),   q(t + dt) = N(q + dt/2 q w(t + dt))
"""
from minidem.core.quaternion cimport add_scaled_quat, multiply_vector, normalise
from minidem.core.vec3 cimport add_scaled
from minidem.rotation.record import Scheme
from minidem.rotation.scheme cimport Body, Step, angular_acceleration, kernels, over_bodies


cdef inline void move_one(Body *b, const Step *step) noexcept nogil:
    b.w = add_scaled(b.w, step.dt, angular_acceleration(b, b.w, b.torque))
    b.q = normalise(add_scaled_quat(b.q, 0.5 * step.dt, multiply_vector(b.q, b.w)))


cdef void move(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    over_bodies(move_one, block, torque, fixed, step)


SCHEMES = [Scheme(
    name="euler", title="direct Euler", doi="10.1016/j.cpc.2023.109077", equations="B.1",
    kernels=kernels(NULL, move, NULL, NULL, NULL), normalises=True)]
