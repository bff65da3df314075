r"""Fincham's leapfrog: D. Fincham, Mol. Simul. 8, 165 (1992).

Angular momentum :math:`\boldsymbol L` in the lab, half a step behind; :math:`\boldsymbol A(q)` turns the lab frame to
the body frame, :math:`\boldsymbol\tau^{\mathrm{lab}}` is the lab torque at :math:`t`:

.. math::

   \begin{split}
   \boldsymbol L(t) &= \boldsymbol L(t - \Delta t/2) + \tfrac{\Delta t}{2} \boldsymbol\tau^{\mathrm{lab}} \\
   \boldsymbol\omega &= \boldsymbol I^{-1} \boldsymbol A(q)\, \boldsymbol L(t) \\
   \boldsymbol L(t + \Delta t/2) &= \boldsymbol L(t - \Delta t/2) + \Delta t\, \boldsymbol\tau^{\mathrm{lab}} \\
   q_a &= \mathrm N(q + \tfrac{\Delta t}{4}\, q\, \boldsymbol\omega) \\
   \boldsymbol\omega(t + \Delta t/2) &= \boldsymbol I^{-1} \boldsymbol A(q_a)\, \boldsymbol L(t + \Delta t/2) \\
   q(t + \Delta t) &= \mathrm N(q + \tfrac{\Delta t}{2}\, q_a\, \boldsymbol\omega(t + \Delta t/2))
   \end{split}

``fincham`` turns :math:`\boldsymbol L(t + \Delta t/2)` to the body frame with the half-step orientation :math:`q_a`,
which makes it second order. ``fincham-published`` turns it with :math:`q(t)` and is first order: only this reproduces
the curves called Fincham in the SPIRAL paper (10.1016/j.cpc.2023.109077), whose Eqs B.4 to B.6 leave it open and print
:math:`\boldsymbol\omega(t)` for :math:`\boldsymbol\omega(t + \Delta t/2)` in the last step.
The start is
:math:`\boldsymbol L(-\Delta t/2) = \boldsymbol L(0) - \tfrac{\Delta t}{2} \boldsymbol\tau^{\mathrm{lab}}(0)`.
"""
from minidem.core.quaternion cimport Quat, add_scaled_quat, multiply_vector, normalise, rotate
from minidem.core.vec3 cimport Vec3, add_scaled, times
from minidem.rotation.formulas cimport body_rate, turned_by_euler
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, role
from minidem.state.rows cimport load, store

cdef enum: PUBLISHED = 1            # a variant


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 momentum = rotate(b.q, add_scaled(times(b.inertia, b.w), -0.5 * step.dt, b.torque))
    b.w = body_rate(b, b.q, momentum)
    store(b.scratch, momentum)


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 torque = rotate(b.q, b.torque)
    cdef Vec3 before = load(b.scratch)
    cdef Vec3 after = add_scaled(before, step.dt, torque)
    cdef Vec3 w = body_rate(b, b.q, add_scaled(before, 0.5 * step.dt, torque))
    cdef Quat middle = turned_by_euler(b.q, 0.5 * step.dt, w)
    b.w = body_rate(b, b.q if step.variant == PUBLISHED else middle, after)
    b.q = normalise(add_scaled_quat(b.q, 0.5 * step.dt, multiply_vector(middle, b.w)))
    store(b.scratch, after)


cdef inline void sync(Body *b, const Step *step) noexcept nogil:
    b.predicted = body_rate(b, b.q, add_scaled(load(b.scratch), 0.5 * step.dt, rotate(b.q, b.torque)))


cdef int fincham(const BodyBlock *b) noexcept nogil:
    return role(START, start, b) | role(MOVE, move, b) | role(SYNC, sync, b)


cdef int published(const BodyBlock *b) noexcept nogil:
    return role(START, start, b) | role(MOVE, move, b, PUBLISHED) | role(SYNC, sync, b)


SCHEMES = [
    Scheme(name="fincham", title="Fincham 1992", equations="B.4 to B.6 of 10.1016/j.cpc.2023.109077",
           kernels=Kernels(<size_t> fincham), normalises=True, n_scratch=3, **LEAPFROG,
           cites=("fincham1992leapfrog", "delvalle2024spiral"), used_in="Yade, ESyS-Particle, WooDEM",
           reference={"": ((1.8313803595e-04, 7.0203799475e-06), (2.8854391654e-03, 1.1348980079e-04))}),
    Scheme(name="fincham-published", title="Fincham as in the SPIRAL paper", equations="B.4 to B.6",
           kernels=Kernels(<size_t> published), angular_velocity_offset=-0.5, normalises=True, n_scratch=3,
           cites=("delvalle2024spiral", "fincham1992leapfrog"), notes="both rotations of L by q(t)",
           reference={"": ((4.3267290738e-03, 3.5879455582e-03), (1.7297570334e-02, 1.2220229955e-02))}),
]
