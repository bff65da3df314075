r"""NO_SQUISH: T. F. Miller III et al., J. Chem. Phys. 116, 8649 (2002); the rotation of LAMMPS ``fix rigid/nve``.

Hamiltonian splitting for the orientation :math:`q` and its conjugate momentum
:math:`p = 2 q\, (0, \boldsymbol I \boldsymbol\omega)`, with the torque :math:`\boldsymbol\tau` in the body frame and
:math:`\boldsymbol e_k` the unit vector along principal axis :math:`k`. Half kick:

.. math::

   p \leftarrow p + \Delta t\, q\, (0, \boldsymbol\tau(t))

For :math:`k = 3, 2, 1, 2, 3` with
:math:`h = \Delta t/2,\ \Delta t/2,\ \Delta t,\ \Delta t/2,\ \Delta t/2` and :math:`P_k q = q\, \boldsymbol e_k`:

.. math::

   z = \frac{h\, p \cdot P_k q}{4 I_k}, \quad
   q \leftarrow \cos(z)\, q + \sin(z)\, P_k q, \quad
   p \leftarrow \cos(z)\, p + \sin(z)\, P_k p

Half kick, and the angular velocity:

.. math::

   p \leftarrow p + \Delta t\, q\, (0, \boldsymbol\tau(t + \Delta t)), \quad
   \boldsymbol\omega = \tfrac12 \boldsymbol I^{-1} (q^* p)

Symplectic, symmetric in time, of second order. It conserves the norm of :math:`q` and, without torque, the angular
momentum in the lab frame to rounding. The energy of a conservative system oscillates and does not drift.
"""
from minidem.core.quaternion cimport (
    Quat, add_scaled_quat, conjugate, exponential, multiply, multiply_vector, quat, scale_quat,
)
from minidem.core.vec3 cimport Vec3, scale, times, vec3
from minidem.rotation.formulas cimport predict_with_push
from minidem.rotation.registry import SECOND_ORDER, Scheme
from minidem.rotation.scheme cimport FINISH, MOVE, PREDICT, START, Body, BodyBlock, Kernels, Step, role
from minidem.state.rows cimport load_quat, store_quat


cdef inline Quat permuted(int k, Quat q) noexcept nogil:
    """P_k q"""
    if k == 1:
        return quat(-q.x, q.w, q.z, -q.y)
    if k == 2:
        return quat(-q.y, -q.z, q.w, q.x)
    return quat(-q.z, q.y, -q.x, q.w)


cdef inline void turn_about(int k, double h, double inverse_moment, Quat *q, Quat *p) noexcept nogil:
    """cos z q + sin z P_k q, and the same of p, as q + (sin z P_k q - 2 sin^2(z/2) q).

    With cos z itself, its rounding would change the norms of q and p alike in every step.
    """
    cdef Quat pq = permuted(k, q[0]), pp = permuted(k, p[0])
    cdef double projection = p.w * pq.w + p.x * pq.x + p.y * pq.y + p.z * pq.z
    cdef Quat e = exponential(vec3(0.125 * h * projection * inverse_moment, 0.0, 0.0))    # (cos z/2, sin z/2, 0, 0)
    cdef double sine = 2.0 * e.x * e.w, versine = 2.0 * e.x * e.x
    q[0] = add_scaled_quat(q[0], 1.0, add_scaled_quat(scale_quat(sine, pq), -versine, q[0]))
    p[0] = add_scaled_quat(p[0], 1.0, add_scaled_quat(scale_quat(sine, pp), -versine, p[0]))


cdef inline Quat kicked(const Body *b, double h) noexcept nogil:
    """p after the torque has acted for a time h."""
    return add_scaled_quat(load_quat(b.scratch), 2.0 * h, multiply_vector(b.q, b.torque))


cdef inline Vec3 body_rate(const Body *b, Quat p) noexcept nogil:
    cdef Quat twice = multiply(conjugate(b.q), p)
    return times(b.inverse_inertia, scale(0.5, vec3(twice.x, twice.y, twice.z)))


cdef inline void start(Body *b, const Step *step) noexcept nogil:
    store_quat(b.scratch, scale_quat(2.0, multiply_vector(b.q, times(b.inertia, b.w))))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Quat q = b.q, p = kicked(b, 0.5 * step.dt)
    turn_about(3, 0.5 * step.dt, b.inverse_inertia.z, &q, &p)
    turn_about(2, 0.5 * step.dt, b.inverse_inertia.y, &q, &p)
    turn_about(1, step.dt, b.inverse_inertia.x, &q, &p)
    turn_about(2, 0.5 * step.dt, b.inverse_inertia.y, &q, &p)
    turn_about(3, 0.5 * step.dt, b.inverse_inertia.z, &q, &p)
    b.q = q
    b.w = body_rate(b, p)
    store_quat(b.scratch, p)


cdef inline void finish(Body *b, const Step *step) noexcept nogil:
    cdef Quat p = kicked(b, 0.5 * step.dt)
    b.w = body_rate(b, p)
    store_quat(b.scratch, p)


cdef int no_squish(const BodyBlock *b) noexcept nogil:
    return role(START, start, b) | role(MOVE, move, b) | role(FINISH, finish, b) | role(PREDICT, predict_with_push, b)


SCHEMES = [Scheme(
    name="no-squish", title="NO_SQUISH (Miller et al. 2002)",
    kernels=Kernels(<size_t> no_squish), keeps_norm=True, symplectic=True, n_scratch=4, **SECOND_ORDER,
    used_in="LAMMPS", cites=("miller2002symplectic",))]
