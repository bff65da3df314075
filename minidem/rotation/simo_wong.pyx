r"""Energy and momentum: J. C. Simo and K. K. Wong, Int. J. Numer. Methods Eng. 31, 19 (1991); M. A. Austin,
P. S. Krishnaprasad and L.-S. Wang, J. Comput. Phys. 107, 105 (1993).

``simo-wong`` is the implicit algorithm with :math:`\beta/\gamma = 1/2`. Without torque

.. math::

   \boldsymbol\Theta = \tfrac{\Delta t}{2} (\boldsymbol\omega(t) + \boldsymbol\omega(t + \Delta t)), \quad
   \boldsymbol I \boldsymbol\omega(t + \Delta t)
     = \exp(-\boldsymbol\Theta)\, \boldsymbol I \boldsymbol\omega(t), \quad
   q(t + \Delta t) = q(t)\, \exp(\tfrac12 \boldsymbol\Theta)

With the mean :math:`\boldsymbol w = \boldsymbol\Theta / \Delta t` this is, in closed form,

.. math::

   \boldsymbol I \boldsymbol\omega = \boldsymbol I \boldsymbol w
     \pm \kappa \tfrac{\Delta t}{2}\, \boldsymbol w \times \boldsymbol I \boldsymbol w, \quad
   \kappa = \frac{\tan(\Delta t |\boldsymbol w| / 2)}{\Delta t |\boldsymbol w| / 2}

with + at :math:`t` and - at :math:`t + \Delta t`. ``austin`` has :math:`\kappa = 1`, the midpoint rule for the angular
momentum of the body, and turns by the Cayley map in place of the exponential. Both conserve the energy of a free body
and its angular momentum in the lab to rounding. They are symmetric in time but not symplectic: the energy of
bodies that a potential turns wanders off slowly.

The papers evaluate the torque within the implicit equation. Here it acts in half kicks between free steps, so that one
evaluation suffices, and :math:`\boldsymbol w` is stored (midstep.pxd). For :math:`\Delta t |\boldsymbol w| < \pi/2`;
the implicit equation is solved by a fixed number of iterations: ``simo-wong`` loses 2e-12, 6e-8 and 3e-5 of the energy
of a free body in a step of 0.5, 1 and 1.5 rad, ``austin`` nothing.
"""
from minidem.core.quaternion cimport Matrix, cosine_series, sinc_series
from minidem.core.vec3 cimport Vec3, dot
from minidem.rotation.formulas cimport turn
from minidem.rotation.midstep cimport after, at_pose, before, midpoint_derivative, midpoint_momentum, turned_by_cayley
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, role


cdef inline double stretched(double h, Vec3 w) noexcept nogil:
    """kappa h"""
    cdef double t = 0.25 * h * h * dot(w, w)
    return h * sinc_series(t) / cosine_series(t)


cdef inline Vec3 momentum(const Body *b, double h, Vec3 w) noexcept nogil:
    return midpoint_momentum(b, stretched(h, w), w)


cdef inline Matrix derivative(const Body *b, double h, Vec3 w) noexcept nogil:
    """With kappa held."""
    return midpoint_derivative(b, stretched(h, w), w)


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    b.w = before(momentum, derivative, b, step.dt)


cdef inline void advance(Body *b, const Step *step) noexcept nogil:
    b.w = after(momentum, derivative, b, step.dt)


cdef inline void sync(Body *b, const Step *step) noexcept nogil:
    b.predicted = at_pose(momentum, b, step.dt)


cdef inline void start_austin(Body *b, const Step *step) noexcept nogil:
    b.w = before(midpoint_momentum, midpoint_derivative, b, step.dt)


cdef inline void move_austin(Body *b, const Step *step) noexcept nogil:
    b.w = after(midpoint_momentum, midpoint_derivative, b, step.dt)
    b.q = turned_by_cayley(b.q, step.dt, b.w)


cdef inline void sync_austin(Body *b, const Step *step) noexcept nogil:
    b.predicted = at_pose(midpoint_momentum, b, step.dt)


cdef int simo_wong(const BodyBlock *b) noexcept nogil:
    role(MOVE, advance, b)
    return role(START, start, b) | turn(b) | role(SYNC, sync, b)


cdef int austin(const BodyBlock *b) noexcept nogil:
    return role(START, start_austin, b) | role(MOVE, move_austin, b) | role(SYNC, sync_austin, b)


KICKED = LEAPFROG | {"keeps_norm": True, "notes": "torque in half kicks between free steps"}
SCHEMES = [
    Scheme(name="simo-wong", title="Simo & Wong 1991, implicit", kernels=Kernels(<size_t> simo_wong),
           cites=("simo1991unconditionally",), **KICKED,
           reference={"": ((3.2004796907e-05, 3.5637401743e-05), (5.1366046261e-04, 5.6724024994e-04))}),
    Scheme(name="austin", title="Austin, Krishnaprasad & Wang 1993", kernels=Kernels(<size_t> austin),
           cites=("austin1993almost",), **KICKED,
           reference={"": ((1.4115813509e-03, 1.1225640368e-05), (2.2342908122e-02, 1.7503952693e-04))}),
]
