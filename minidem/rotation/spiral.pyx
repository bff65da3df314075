r"""SPIRAL, leapfrog form: C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024).

.. math::

   \begin{split}
   \boldsymbol\omega(t + \Delta t/2) &= S(\boldsymbol\omega(t - \Delta t/2), \boldsymbol\tau(t), \Delta t)
     \qquad \text{(Eqs 9, 10)} \\
   q(t + \Delta t) &= q(t)\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega(t + \Delta t/2))
     \qquad \text{(Eq. 7)}
   \end{split}

:math:`S` integrates Euler's equations with the torque held, by SSPRK3 as published, or (``inner=rk4``) by the
classical fourth-order method: SSPRK3 is not symmetric in time, and its energy error drifts on potentials; with ``rk4``
the drift is no longer seen, for a third more work.
The start is :math:`S` over :math:`-\Delta t/2`, the angular velocity at the whole step :math:`S` over
:math:`\Delta t/2`.
"""
from minidem.core.vec3 cimport Vec3
from minidem.rotation.formulas cimport rk4, ssprk3, turn
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, role

cdef enum: INNER                    # parameters, in their order
cdef enum Inner: SSPRK3, RK4        # its words


cdef inline Vec3 flow(const Body *b, const Step *step, double h) noexcept nogil:
    return ssprk3(b, h) if step.variant == SSPRK3 else rk4(b, h)


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    b.w = flow(b, step, -0.5 * step.dt)


cdef inline void advance(Body *b, const Step *step) noexcept nogil:
    b.w = flow(b, step, step.dt)


cdef inline void sync(Body *b, const Step *step) noexcept nogil:
    b.predicted = flow(b, step, 0.5 * step.dt)


cdef inline int with_inner(int inner, const BodyBlock *b) noexcept nogil:
    role(MOVE, advance, b, inner)
    return role(START, start, b, inner) | turn(b) | role(SYNC, sync, b, inner)


cdef int spiral(const BodyBlock *b) noexcept nogil:
    if b.step.integers[INNER] == SSPRK3:                # chosen outside the loop over bodies
        return with_inner(SSPRK3, b)
    return with_inner(RK4, b)


SCHEMES = [Scheme(
    name="spiral", title="SPIRAL, leapfrog", equations="7, 9, 10",
    kernels=Kernels(<size_t> spiral), keeps_norm=True,
    angular_velocity_offset=-0.5, order_q=2, order_w=3, order_q_varying=2, order_w_varying=2,
    parameters={"inner": ("ssprk3", "rk4")},
    meanings={"inner": "Method for the angular velocity: ssprk3 as published; with rk4 the energy does not drift."},
    cites=("delvalle2024spiral", "shu1988efficient"), used_in="Yade, GeoTaichi",
    cites_with={"inner=rk4": ("delvalle2024spiral", "kutta1901beitrag")},
    reference={"": ((2.8506485582e-06, 1.2738396125e-07), (5.1012597653e-05, 7.955229647e-06))})]
