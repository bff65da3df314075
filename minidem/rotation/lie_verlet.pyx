r"""Variational Lie-Verlet: N. Bou-Rabee and J. E. Marsden, Found. Comput. Math. 9, 197 (2009).

It turns a body by the Cayley map of :math:`\Delta t\, \boldsymbol w`, and has the kinetic energy of
:math:`\boldsymbol w` as the discrete Lagrangian. Therefore

.. math::

   \boldsymbol I \boldsymbol\omega = \boldsymbol I \boldsymbol w
     \pm \tfrac{\Delta t}{2}\, \boldsymbol w \times \boldsymbol I \boldsymbol w
     + \tfrac{\Delta t^2}{4} (\boldsymbol w \cdot \boldsymbol I \boldsymbol w)\, \boldsymbol w

with + at the beginning of the step, after the half kick, and - at its end, before the next. Symplectic, symmetric in
time; it conserves the angular momentum in the lab. It stores :math:`\boldsymbol w` (midstep.pxd).
"""
from minidem.core.quaternion cimport Matrix
from minidem.core.vec3 cimport Vec3, add_scaled, dot, scale, times
from minidem.rotation.midstep cimport (
    add_dyad, after, at_pose, before, midpoint_derivative, midpoint_momentum, turned_by_cayley,
)
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, role


cdef inline Vec3 lie_momentum(const Body *b, double h, Vec3 w) noexcept nogil:
    return add_scaled(midpoint_momentum(b, h, w), 0.25 * h * h * dot(w, times(b.inertia, w)), w)


cdef inline Matrix lie_derivative(const Body *b, double h, Vec3 w) noexcept nogil:
    cdef double term = 0.25 * h * h * dot(w, times(b.inertia, w))
    cdef Matrix m = midpoint_derivative(b, h, w)
    add_dyad(&m, scale(0.5 * h * h, w), times(b.inertia, w))
    m.x.x, m.y.y, m.z.z = m.x.x + term, m.y.y + term, m.z.z + term
    return m


cdef inline void start_lie(Body *b, const Step *step) noexcept nogil:
    b.w = before(lie_momentum, lie_derivative, b, step.dt)


cdef inline void move_lie(Body *b, const Step *step) noexcept nogil:
    b.w = after(lie_momentum, lie_derivative, b, step.dt)
    b.q = turned_by_cayley(b.q, step.dt, b.w)


cdef inline void sync_lie(Body *b, const Step *step) noexcept nogil:
    b.predicted = at_pose(lie_momentum, b, step.dt)


cdef int lie_verlet(const BodyBlock *b) noexcept nogil:
    return role(START, start_lie, b) | role(MOVE, move_lie, b) | role(SYNC, sync_lie, b)


SCHEMES = [Scheme(
    name="lie-verlet", title="variational Lie-Verlet (Bou-Rabee & Marsden 2009)", kernels=Kernels(<size_t> lie_verlet),
    keeps_norm=True, symplectic=True, cites=("bourabee2009hamilton",), **LEAPFROG,
    reference={"": ((5.6283983331e-03, 9.5348461863e-04), (8.5797948632e-02, 1.4649711431e-02))})]
