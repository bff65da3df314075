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
as in the curves of ``spiral-omelyan``, which has no other.
"""
from minidem.core.parameters import Count
from minidem.core.quaternion cimport add_scaled_quat, multiply_vector, scale_quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, times
from minidem.rotation.formulas cimport start_by_euler, turn
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, gyroscopic, role, w_as_stored

cdef enum: ITERATIONS, START_BY     # parameters, in their order
cdef enum StartBy: EULER, MAP       # its words


cdef inline Vec3 iterate(const Body *b, double h) noexcept nogil:
    """The next approximation of the angular velocity h after w, from the one in `predicted`."""
    return add_scaled(b.w, h, times(b.inverse_inertia, add_scaled(
        b.torque, 0.5, add(gyroscopic(b, b.w), gyroscopic(b, b.predicted)))))


cdef inline void iterate_half_steps(Body *b, const Step *step) noexcept nogil:
    """As many half steps ahead as `step.variant` says."""
    b.predicted = iterate(b, 0.5 * step.variant * step.dt)


cdef inline void accept(Body *b, const Step *step) noexcept nogil:
    b.w = b.predicted


cdef inline void turn_by_cayley(Body *b, const Step *step) noexcept nogil:
    cdef double a
    b.w = b.predicted
    a = step.dt * step.dt * dot(b.w, b.w) / 16.0
    b.q = scale_quat(1.0 / (1.0 + a), add_scaled_quat(
        scale_quat(1.0 - a, b.q), 0.5 * step.dt, multiply_vector(b.q, b.w)))


cdef inline int solve(int which, int half_steps, const BodyBlock *b) noexcept nogil:
    """The iterations of a role, each over all bodies of the block, so that each is vectorised."""
    cdef int _k
    role(which, w_as_stored, b)
    for _k in range(b.step.integers[ITERATIONS] if b.wanted == which else 0):
        role(which, iterate_half_steps, b, half_steps)
    return 1 << which


cdef inline int start_by_map(const BodyBlock *b) noexcept nogil:
    solve(START, -1, b)
    return role(START, accept, b)


cdef int omelyan(const BodyBlock *b) noexcept nogil:
    if b.step.integers[START_BY] == EULER:
        role(START, start_by_euler, b)
    else:
        start_by_map(b)
    solve(MOVE, 2, b)
    return 1 << START | role(MOVE, turn_by_cayley, b) | solve(SYNC, 1, b)


cdef int spiral_omelyan(const BodyBlock *b) noexcept nogil:
    solve(MOVE, 2, b)
    role(MOVE, accept, b)
    return start_by_map(b) | turn(b) | solve(SYNC, 1, b)


ITERATE = {"iterations": "Iterations for the angular velocity in a step; three, as published, are not converged."}
SCHEMES = [
    Scheme(name="omelyan", title="Omelyan 1998", equations="B.10 to B.12 of 10.1016/j.cpc.2023.109077",
           kernels=Kernels(<size_t> omelyan), keeps_norm=True, **LEAPFROG,
           parameters={"iterations": Count(3), "start": ("euler", "map")},
           meanings=ITERATE | {"start": "First half step back: by euler as published, or by the map of the scheme."},
           cites=("omelyan1998algorithm", "delvalle2024spiral"), reference={
               "": ((3.4950927847e-04, 1.1436931055e-05), (5.5790787161e-03, 1.7289927981e-04)),
               "iterations=20,start=map": ((3.4924525024e-04, 1.1368366006e-05),
                                           (5.5730278654e-03, 1.7731080078e-04))}),
    Scheme(name="spiral-omelyan", title="SPIRAL with Omelyan's angular velocity", equations="7, B.10 to B.12",
           kernels=Kernels(<size_t> spiral_omelyan), keeps_norm=True, parameters={"iterations": Count(3)}, **LEAPFROG,
           meanings=ITERATE, cites=("delvalle2024spiral", "omelyan1998algorithm"),
           reference={"": ((1.2205329159e-05, 1.1294205811e-05), (2.0960971242e-04, 1.7062956430e-04))}),
]
