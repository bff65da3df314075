r"""Johnson's algorithm: S. M. Johnson et al., Int. J. Numer. Methods Eng. 74, 1303 (2008).

Angular momentum :math:`\boldsymbol L` in the lab, held while :math:`q` is advanced by one step of the classical
Runge-Kutta method; as printed in the SPIRAL paper (10.1016/j.cpc.2023.109077), Eqs B.13 to B.15:

.. math::

   \dot q = \tfrac12 q\, \boldsymbol\omega, \quad
   \boldsymbol\omega = \boldsymbol I^{-1} \boldsymbol A(q)\, \boldsymbol L

:math:`q` is normalised once a step; then

.. math::

   \boldsymbol L \leftarrow \boldsymbol L + \Delta t\, \boldsymbol\tau^{\mathrm{lab}}

:math:`\boldsymbol A(q)` turns the lab frame to the body frame, :math:`\boldsymbol\tau^{\mathrm{lab}}` is the lab
torque. B.14 prints :math:`\boldsymbol\omega(t)` in all four stages; only :math:`\boldsymbol\omega` found anew from the
:math:`q` of each stage reproduces the published curves.

``johnson`` takes :math:`\boldsymbol A` at the normalised :math:`q` of each stage, and
:math:`\boldsymbol L \leftarrow \boldsymbol L + \Delta t\, \boldsymbol\tau^{\mathrm{lab}}(t)`, as printed in B.15.
``johnson-published`` is what the curves called Johnson need: :math:`\boldsymbol A(q)` quadratic in the :math:`q` of the
stage, which is not of unit length, forth and back, so that :math:`\boldsymbol\omega` carries a factor
:math:`\left|q\right|^4`; and the torque turned to the lab by the new :math:`q`. That factor matters from
:math:`\Delta t` = 1e-3 s on in the paper's test.
Fourth order without torque, first order with; Johnson's predictor-corrector for :math:`\boldsymbol L`, which would
need two evaluations of the torque, is in neither.
"""
from minidem.core.quaternion cimport (
    Quat, add_scaled_quat, conjugate, multiply, multiply_vector, norm_squared, normalise, rotate, scale_quat,
)
from minidem.core.vec3 cimport Vec3, add_scaled, times, vec3
from minidem.rotation.formulas cimport body_rate, start_in_lab
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, START, Body, BodyBlock, Kernels, Step, role
from minidem.state.rows cimport load, store


cdef inline Quat rate(const Body *b, Quat q, bint normalised) noexcept nogil:
    """Derivative of q at a stage, twice."""
    cdef Vec3 momentum = load(b.scratch)
    cdef Quat p
    if normalised:
        return multiply_vector(q, body_rate(b, normalise(q), momentum))
    # (q (I^-1 (q* L q)) q*) q, the last two factors being |q|^2
    p = multiply(multiply_vector(conjugate(q), momentum), q)
    return scale_quat(norm_squared(q), multiply_vector(q, times(b.inverse_inertia, vec3(p.x, p.y, p.z))))


cdef inline Quat runge_kutta(const Body *b, double h, bint normalised) noexcept nogil:
    cdef Quat k1 = rate(b, b.q, normalised)
    cdef Quat k2 = rate(b, add_scaled_quat(b.q, 0.25 * h, k1), normalised)
    cdef Quat k3 = rate(b, add_scaled_quat(b.q, 0.25 * h, k2), normalised)
    cdef Quat k4 = rate(b, add_scaled_quat(b.q, 0.5 * h, k3), normalised)
    cdef Quat total = add_scaled_quat(add_scaled_quat(k1, 1.0, k4), 2.0, add_scaled_quat(k2, 1.0, k3))
    return normalise(add_scaled_quat(b.q, h / 12.0, total))


cdef inline void push(Body *b, const Step *step, Quat q) noexcept nogil:
    """L + dt M; q turns M from the body to the lab."""
    store(b.scratch, add_scaled(load(b.scratch), step.dt, rotate(q, b.torque)))
    b.w = body_rate(b, b.q, load(b.scratch))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Quat old = b.q
    b.q = runge_kutta(b, step.dt, True)
    push(b, step, old)


cdef inline void move_published(Body *b, const Step *step) noexcept nogil:
    b.q = runge_kutta(b, step.dt, False)


cdef inline void finish_published(Body *b, const Step *step) noexcept nogil:
    push(b, step, b.q)


cdef inline void predict_published(Body *b, const Step *step) noexcept nogil:
    """The angular velocity after `finish`, if the torque were still the last one."""
    b.predicted = add_scaled(body_rate(b, b.q, load(b.scratch)), step.dt, times(b.inverse_inertia, b.torque))


cdef int johnson(const BodyBlock *b) noexcept nogil:
    return role(START, start_in_lab, b) | role(MOVE, move, b)


cdef int published(const BodyBlock *b) noexcept nogil:
    return (role(START, start_in_lab, b) | role(MOVE, move_published, b)
            | role(FINISH, finish_published, b) | role(PREDICT, predict_published, b))


SCHEMES = [
    Scheme(name="johnson", title="Johnson et al. 2008", equations="B.13 to B.15 of 10.1016/j.cpc.2023.109077",
           kernels=Kernels(<size_t> johnson), normalises=True, n_scratch=3,
           cites=("johnson2008quaternion", "delvalle2024spiral"), used_in="PFC7",
           reference={"": ((1.4008869331e-02, 1.3702468815e-03), (5.5379195245e-02, 5.4620843948e-03))}),
    Scheme(name="johnson-published", title="Johnson as in the SPIRAL paper", equations="B.13 to B.15",
           kernels=Kernels(<size_t> published), normalises=True, n_scratch=3,
           cites=("delvalle2024spiral", "johnson2008quaternion"),
           notes="stages not normalised, torque rotated by the new orientation",
           reference={"": ((1.3358046172e-02, 4.5678531242e-04), (5.2743303134e-02, 1.8288483898e-03))}),
]
