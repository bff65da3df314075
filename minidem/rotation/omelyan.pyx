r"""Omelyan's leapfrog: I. P. Omelyan, Phys. Rev. E 58, 1169 (1998); and with the rotation of SPIRAL.

.. math::

   \boldsymbol\omega(t + \Delta t/2) = \boldsymbol\omega(t - \Delta t/2)
   + \Delta t\, \boldsymbol I^{-1} (\boldsymbol\tau + \text{gyroscopic terms})

Each product :math:`\omega_i \omega_j` is replaced by the mean of its values at :math:`t - \Delta t/2` and
:math:`t + \Delta t/2`, solved by ``iterations`` fixed-point iterations from :math:`\boldsymbol\omega(t - \Delta t/2)`.
Then ``omelyan`` has

.. math::

   q(t + \Delta t) = \frac{(1 - a)\, q + \tfrac{\Delta t}{2}\, q\, \boldsymbol\omega(t + \Delta t/2)}{1 + a}, \quad
   a = \frac{\Delta t^2 \left|\boldsymbol\omega(t + \Delta t/2)\right|^2}{16}

and ``spiral-omelyan``

.. math::

   q(t + \Delta t) = q\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega(t + \Delta t/2))

Printed as Eqs B.10 to B.12 in the SPIRAL paper (10.1016/j.cpc.2023.109077), where B.10 multiplies once too often by
:math:`q`. The map of :math:`q` is a Cayley map and keeps the norm exactly. Three iterations are what is published and
used; they are not converged, and energy then drifts on potentials.
The angular velocity at the whole step is the first map over :math:`\Delta t/2`. The start is a half step back: of Euler
(``start=euler``), as in the published curves of ``omelyan``, or the same map over :math:`-\Delta t/2` (``start=map``),
as in those of ``spiral-omelyan``, which has no other.
"""
from minidem.core.parameters import Count
from minidem.core.quaternion cimport add_scaled_quat, multiply_vector, scale_quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, times
from minidem.rotation.formulas cimport turn_block
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport (
    MOVE, START, SYNC, Body, BodyBlock, BodyFunction, Kernels, Step, angular_acceleration, gyroscopic, over_bodies,
    role,
)

cdef enum: ITERATIONS, START_BY     # parameters, in their order
cdef enum StartBy: EULER, MAP       # its words


cdef inline void guess(Body *b, const Step *step) noexcept nogil:
    b.predicted = b.w


cdef inline Vec3 iterate(const Body *b, double h) noexcept nogil:
    """The next approximation of the angular velocity h after w, from the one in `predicted`."""
    return add_scaled(b.w, h, times(b.inverse_inertia, add_scaled(
        b.torque, 0.5, add(gyroscopic(b, b.w), gyroscopic(b, b.predicted)))))


cdef inline void iterate_step(Body *b, const Step *step) noexcept nogil:
    b.predicted = iterate(b, step.dt)


cdef inline void iterate_half_step(Body *b, const Step *step) noexcept nogil:
    b.predicted = iterate(b, 0.5 * step.dt)


cdef inline void iterate_half_step_back(Body *b, const Step *step) noexcept nogil:
    b.predicted = iterate(b, -0.5 * step.dt)


cdef inline void accept(Body *b, const Step *step) noexcept nogil:
    b.w = b.predicted


cdef inline void half_step_of_euler_back(Body *b, const Step *step) noexcept nogil:
    b.w = add_scaled(b.w, -0.5 * step.dt, angular_acceleration(b, b.w, b.torque))


cdef inline void turn_by_cayley(Body *b, const Step *step) noexcept nogil:
    cdef double a
    b.w = b.predicted
    a = step.dt * step.dt * dot(b.w, b.w) / 16.0
    b.q = scale_quat(1.0 / (1.0 + a), add_scaled_quat(
        scale_quat(1.0 - a, b.q), 0.5 * step.dt, multiply_vector(b.q, b.w)))


cdef inline int solve(int which, BodyFunction formula, int wanted, BodyBlock bodies,
                      const Step *step) noexcept nogil:
    """The iterations of a role, each over all bodies of the block, so that each is vectorised."""
    cdef int _k
    role(which, guess, wanted, bodies, step)
    for _k in range(step.integers[ITERATIONS] if wanted == which else 0):
        over_bodies(formula, bodies, step)
    return 1 << which


cdef inline int start_by_map(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    solve(START, iterate_half_step_back, wanted, bodies, step)
    return role(START, accept, wanted, bodies, step)


cdef int omelyan(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    if step.integers[START_BY] == EULER:
        role(START, half_step_of_euler_back, wanted, bodies, step)
    else:
        start_by_map(wanted, bodies, step)
    solve(MOVE, iterate_step, wanted, bodies, step)
    return (role(MOVE, turn_by_cayley, wanted, bodies, step)
            | solve(SYNC, iterate_half_step, wanted, bodies, step)
            | 1 << START)


cdef int spiral_omelyan(int wanted, BodyBlock bodies, const Step *step) noexcept nogil:
    start_by_map(wanted, bodies, step)
    solve(MOVE, iterate_step, wanted, bodies, step)
    role(MOVE, accept, wanted, bodies, step)
    if wanted == MOVE:
        turn_block(bodies.clumps, step.dt)
    return 1 << START | 1 << MOVE | solve(SYNC, iterate_half_step, wanted, bodies, step)


SCHEMES = [
    Scheme(name="omelyan", title="Omelyan 1998", equations="B.10 to B.12 of 10.1016/j.cpc.2023.109077",
           kernels=Kernels(<size_t> omelyan), keeps_norm=True,
           angular_velocity_offset=-0.5, order_q=2, order_w=2, order_q_varying=2, order_w_varying=2,
           parameters={"iterations": Count(3), "start": ("euler", "map")},
           cites=("omelyan1998algorithm", "delvalle2024spiral"), reference={
               "": ((3.4950927847e-04, 1.1436931055e-05), (5.5790787161e-03, 1.7289927981e-04)),
               "iterations=20,start=map": ((3.4924525024e-04, 1.1368366006e-05),
                                           (5.5730278654e-03, 1.7731080078e-04))}),
    Scheme(name="spiral-omelyan", title="SPIRAL with Omelyan's angular velocity", equations="7, B.10 to B.12",
           kernels=Kernels(<size_t> spiral_omelyan), keeps_norm=True, parameters={"iterations": Count(3)},
           angular_velocity_offset=-0.5, order_q=2, order_w=2, order_q_varying=2, order_w_varying=2,
           cites=("delvalle2024spiral", "omelyan1998algorithm"),
           reference={"": ((1.2205329159e-05, 1.1294205811e-05), (2.0960971242e-04, 1.7062956430e-04))}),
]
