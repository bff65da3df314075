r"""DLM: A. Dullweber, B. Leimkuhler and R. McLachlan, J. Chem. Phys. 107, 5840 (1997).

A kick by the torque, and a free rotation that is split into five exact ones about the principal axes. With the angular
momentum :math:`\boldsymbol L = \boldsymbol I \boldsymbol\omega` in the body frame,

.. math::

   \boldsymbol L \leftarrow \boldsymbol L + \Delta t\, \boldsymbol\tau(t)

and for :math:`k = 1, 2, 3, 2, 1` with
:math:`h = \Delta t/2,\ \Delta t/2,\ \Delta t,\ \Delta t/2,\ \Delta t/2`

.. math::

   \theta = h\, L_k / I_k, \quad
   \boldsymbol L \leftarrow \boldsymbol R_k(\theta)^{\mathsf T} \boldsymbol L, \quad
   q \leftarrow q\, (\cos\tfrac{\theta}{2},\ \sin\tfrac{\theta}{2}\, \boldsymbol e_k)

where :math:`\boldsymbol R_k(\theta)` turns by :math:`\theta` about the axis :math:`k`. Symplectic, symmetric in time,
of second order; without torque it conserves the angular momentum in the lab frame to rounding. It is the splitting of
``no-squish`` in other variables and with another order of the axes, without an evaluation at the end of the step.
The kick at the start of a step is the second half of the last one and the first of this one (rotation/kicks.pxd).
"""
from minidem.core.quaternion cimport Quat, add_scaled_quat, quat, scale_quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, sub, times, vec3
from minidem.rotation.formulas cimport exponential_of, momentum_turns_little, move_by_size
from minidem.rotation.kicks cimport KICK_SCRATCH, kicked, start_and_sync
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport Body, BodyBlock, Kernels, Step
from minidem.state.rows cimport store


cdef inline Vec3 next_axes(Vec3 v) noexcept nogil:
    """The same vector with the axes named in turn: x is called z, y x, z y."""
    return vec3(v.y, v.z, v.x)


cdef inline Quat next_axes_of(Quat q) noexcept nogil:
    return quat(q.w, q.y, q.z, q.x)


cdef inline void turn_about_x(double h, double inverse_moment, bint little, Quat *q, Vec3 *momentum) noexcept nogil:
    """As changes of q and of the momentum: with the cosine itself, its rounding would change their norms."""
    cdef Quat e = exponential_of(vec3(0.25 * h * inverse_moment * momentum.x, 0.0, 0.0), little)
    cdef double sine = 2.0 * e.x * e.w, versine = 2.0 * e.x * e.x                   # of half the angle
    cdef double whole_sine = 2.0 * sine * (1.0 - versine), whole_versine = 2.0 * sine * sine
    q[0] = add_scaled_quat(q[0], 1.0, add_scaled_quat(scale_quat(sine, quat(-q.x, q.w, q.z, -q.y)), -versine, q[0]))
    momentum[0] = add(momentum[0], vec3(0.0, whole_sine * momentum.z - whole_versine * momentum.y,
                                        -whole_sine * momentum.y - whole_versine * momentum.z))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef bint little = step.variant
    cdef Vec3 w = kicked(b, step.dt)
    cdef Vec3 inverse = b.inverse_inertia, before = times(b.inertia, w), momentum = before
    cdef Vec3 change
    cdef Quat q = b.q
    cdef double half = 0.5 * step.dt
    turn_about_x(half, inverse.x, little, &q, &momentum)
    q, momentum = next_axes_of(q), next_axes(momentum)
    turn_about_x(half, inverse.y, little, &q, &momentum)
    q, momentum = next_axes_of(q), next_axes(momentum)
    turn_about_x(step.dt, inverse.z, little, &q, &momentum)
    q, momentum = next_axes_of(next_axes_of(q)), next_axes(next_axes(momentum))
    turn_about_x(half, inverse.y, little, &q, &momentum)
    q, momentum = next_axes_of(next_axes_of(q)), next_axes(next_axes(momentum))
    turn_about_x(half, inverse.x, little, &q, &momentum)
    b.q = q
    change = times(inverse, sub(momentum, before))      # for I (1 / I) may round to less than 1, every time
    store(b.scratch, add(w, change))
    b.w = add_scaled(w, 0.5, change)


cdef inline bint turns_little_about_all(const Body *b, const Step *step) noexcept nogil:
    return momentum_turns_little(b, times(b.inertia, kicked(b, step.dt)), step.dt)


cdef int dlm(const BodyBlock *b) noexcept nogil:
    return move_by_size(move, turns_little_about_all, b) | start_and_sync(b)


SCHEMES = [Scheme(
    name="dlm", title="DLM (Dullweber, Leimkuhler and McLachlan 1997)",
    kernels=Kernels(<size_t> dlm), keeps_norm=True, symplectic=True, n_scratch=KICK_SCRATCH,
    cites=("dullweber1997symplectic",), used_in="NAMD, OpenFOAM", **LEAPFROG,
    reference={"": ((6.3584150769e-06, 6.9511741333e-06), (1.0207445094e-04, 1.0836157364e-04))})]
