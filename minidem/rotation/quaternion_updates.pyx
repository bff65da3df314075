r"""Four ways to update a quaternion: section 3 of F. Zhao and B. van Wachem, Acta Mech. 224, 3091 (2013).

``euler-quaternion`` (Eqs 31, 32):

.. math::

   q(t + \Delta t) = \mathrm N(q + \tfrac{\Delta t}{2}\, q\, \boldsymbol\omega)

``walton-braun`` (Eqs 33 to 39):

.. math::

   q(t + \Delta t) = \mathrm N(f\, q\, b\, b), \quad
   b = (1, \tfrac{\Delta t}{4} \boldsymbol\omega(t + \Delta t/2)), \quad
   f = \frac{\left|b\right|^2}{1 + 2\, \left|\tfrac{\Delta t}{4} \boldsymbol\omega(t + \Delta t/2)\right|^2}

``scalar-factor`` (Eqs 40 to 45):

.. math::

   q(t + \Delta t) = \left(q + \tan\left|\boldsymbol s\right|\,
   q\, \frac{\boldsymbol s}{\left|\boldsymbol s\right|}\right)\, \cos\left|\boldsymbol s\right|, \quad
   \boldsymbol s = \tfrac{\Delta t}{2} \boldsymbol\omega

``direct-multiplication`` (Eqs 49, 50):

.. math::

   q(t + \Delta t) = q\, \exp(\tfrac{\Delta t}{2} \boldsymbol\omega)

Printed with :math:`\boldsymbol\omega` in the lab on the left of :math:`q`; with :math:`\boldsymbol\omega` of the body,
which is the same vector turned by the :math:`q` of the step's start, it stands on the right. After its normalisation
``walton-braun`` is the Cayley map, the exact solution of Eqs 33 and 34, which keeps the norm by itself;
``scalar-factor`` is ``direct-multiplication`` up to rounding, and for a half angle of exactly :math:`\pi/2` fails.
Eq. 48 lacks :math:`\Delta t` in the angle.

The paper leaves open how :math:`\boldsymbol\omega` is found. Here

.. math::

   \boldsymbol\omega(t + \Delta t) = \boldsymbol\omega
   + \Delta t\, \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau)

and, for ``walton-braun``,

.. math::

   \boldsymbol\omega(t + \Delta t/2) = \boldsymbol\omega
   + \tfrac{\Delta t}{2} \dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau)

The others turn with :math:`\boldsymbol\omega(t)`, or with :math:`\boldsymbol\omega(t + \Delta t)` if ``omega=new``. All
are of first order. Table 2 of the paper (sphere under a torque that grows as :math:`\exp(t)`) comes out only with
``omega=new``, and with the torque of :math:`t + \Delta t` in place of the torque of :math:`t`.
"""
from minidem.core.quaternion cimport (
    Quat, add_scaled_quat, exponential, multiply, multiply_vector, normalise, quat, scale_quat,
)
from minidem.core.vec3 cimport Vec3, add_scaled, dot, scale, vec3
from minidem.rotation.formulas cimport turned, turned_by_euler
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, BodyFunction, Kernels, Step, angular_acceleration, role

cdef enum: OMEGA                    # parameters, in their order
cdef enum Omega: OLD, NEW           # its words


cdef inline void kick(Body *b, const Step *step) noexcept nogil:
    b.w = add_scaled(b.w, step.dt, angular_acceleration(b, b.w, b.torque))


cdef inline void turn_with_euler(Body *b, const Step *step) noexcept nogil:
    b.q = turned_by_euler(b.q, step.dt, b.w)


cdef inline void turn_by_tangent(Body *b, const Step *step) noexcept nogil:
    cdef Quat e = exponential(scale(0.5 * step.dt, b.w))               # (cos|s|, s sin|s| / |s|)
    cdef Vec3 tangent = vec3(e.x / e.w, e.y / e.w, e.z / e.w)
    b.q = scale_quat(e.w, add_scaled_quat(b.q, 1.0, multiply_vector(b.q, tangent)))


cdef inline void turn_directly(Body *b, const Step *step) noexcept nogil:
    b.q = turned(b.q, step.dt, b.w)


cdef inline void move_by_cayley(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 acceleration = angular_acceleration(b, b.w, b.torque)
    cdef Vec3 v = scale(0.25 * step.dt, add_scaled(b.w, 0.5 * step.dt, acceleration))
    cdef Quat beta = quat(1.0, v.x, v.y, v.z)
    cdef double f = (1.0 + dot(v, v)) / (1.0 + 2.0 * dot(v, v))
    b.q = normalise(multiply(b.q, scale_quat(f, multiply(beta, beta))))
    b.w = add_scaled(b.w, step.dt, acceleration)


cdef inline int move(BodyFunction turn, const BodyBlock *b) noexcept nogil:
    """Turn with the old angular velocity, or with the new one (omega=new)."""
    if b.step.integers[OMEGA] == OLD:
        role(MOVE, turn, b)
        return role(MOVE, kick, b)
    role(MOVE, kick, b)
    return role(MOVE, turn, b)


cdef int euler(const BodyBlock *b) noexcept nogil:
    return move(turn_with_euler, b)


cdef int scalar_factor(const BodyBlock *b) noexcept nogil:
    return move(turn_by_tangent, b)


cdef int direct(const BodyBlock *b) noexcept nogil:
    return move(turn_directly, b)


cdef int walton_braun(const BodyBlock *b) noexcept nogil:
    return role(MOVE, move_by_cayley, b)


OPTION = {"parameters": {"omega": ("old", "new")},
          "meanings": {"omega": "Angular velocity of the rotation: old from the start of the step, new from its end."}}
SCHEMES = [
    Scheme(name="euler-quaternion", title="Euler quaternion", equations="31, 32", cites=("zhao2013novel",),
           kernels=Kernels(<size_t> euler), normalises=True, **OPTION,
           reference={"": ((1.7110296907e-02, 3.5235535149e-03), (8.4388861848e-02, 1.6104835095e-02))}),
    Scheme(name="walton-braun", title="Walton and Braun", equations="33 to 39", cites=("zhao2013novel",),
           kernels=Kernels(<size_t> walton_braun), normalises=True,
           reference={"": ((3.9286374828e-03, 3.5235535149e-03), (1.5838673113e-02, 1.6104835095e-02))}),
    Scheme(name="scalar-factor", title="scalar factor (Kleppmann)", equations="40 to 45",
           cites=("zhao2013novel", "kleppmann2007simulation"),
           kernels=Kernels(<size_t> scalar_factor), keeps_norm=True, **OPTION,
           reference={"": ((1.5704683791e-02, 3.5235535149e-03), (6.2684767725e-02, 1.6104835095e-02))}),
    Scheme(name="direct-multiplication", title="direct multiplication", equations="49, 50", cites=("zhao2013novel",),
           kernels=Kernels(<size_t> direct), keeps_norm=True, **OPTION,
           reference={"": ((1.5704683791e-02, 3.5235535149e-03), (6.2684767725e-02, 1.6104835095e-02))}),
]
