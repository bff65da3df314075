r"""PFC4 and MercuryDPM: rotation matrices, as in the SPIRAL paper (10.1016/j.cpc.2023.109077).

Eqs B.16 to B.18. Angular velocity :math:`\boldsymbol\omega` in the lab, half a step behind; :math:`\boldsymbol J` the
inertia in the lab at :math:`t`; :math:`\boldsymbol A` turns the lab frame to the body frame, its rows are the body's
axes in the lab:

.. math::

   \begin{split}
   \boldsymbol\omega_0 &= \boldsymbol\omega(t - \Delta t/2) \\
   \boldsymbol\omega_{n+1} &= \boldsymbol\omega_0 + \Delta t\, \boldsymbol J^{-1}
     (\boldsymbol\tau - \boldsymbol\omega_n \times \boldsymbol J \boldsymbol\omega_n) \\
   \boldsymbol\omega(t + \Delta t/2) &= \boldsymbol\omega_3 \\
   \boldsymbol a &\leftarrow \boldsymbol a + \Delta t\, \boldsymbol\omega(t + \Delta t/2) \times \boldsymbol a
     \qquad \text{for every row } \boldsymbol a \text{ of } \boldsymbol A
   \end{split}

then Gram-Schmidt over the columns of :math:`\boldsymbol A`.

Three iterations, as published. The order of Gram-Schmidt is not printed: over the rows it misses the published curves
by a factor of two. First order. The start is half a step of Euler back; the angular velocity at the whole step comes
from the same iterations over :math:`\Delta t/2`.

Neither :math:`\boldsymbol\omega` in the lab nor :math:`\boldsymbol A` needs to be stored. :math:`\boldsymbol\omega` is
in the body frame of the pose, where :math:`\boldsymbol J` is diagonal. :math:`\boldsymbol A` is made of the orientation
:math:`q`, and turned back into one without a branch: :math:`4 q q^{\mathsf T}` is linear in :math:`\boldsymbol A`, so
that applied to the old :math:`q` it gives the new one, up to its length. The length cannot vanish, for the turn from
the old :math:`\boldsymbol A` to the new one stays below :math:`\pi`: seen from the old :math:`\boldsymbol A`,
Gram-Schmidt is applied to the matrix :math:`\boldsymbol 1 - \Delta t\, \boldsymbol\omega \times`; its leading minors 1,
:math:`1 + (\Delta t\, \omega_z)^2` and :math:`1 + (\Delta t\, \left|\boldsymbol\omega\right|)^2` are positive, so are
the minors of the result :math:`\boldsymbol P`, so :math:`P_{xx}` and :math:`P_{zz}` are, and the trace of
:math:`\boldsymbol P` is above -1.
"""
from minidem.core.quaternion cimport Quat, normalise, quat, rotate, rotate_back
from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, norm, scale, vec3
from minidem.rotation.formulas cimport start_by_euler
from minidem.rotation.registry import Scheme
from minidem.rotation.scheme cimport MOVE, START, SYNC, Body, BodyBlock, Kernels, Step, angular_acceleration, role


cdef inline Vec3 iterated(const Body *b, double h) noexcept nogil:
    """Angular velocity h after w, in the body frame of the pose."""
    cdef Vec3 w = add_scaled(b.w, h, angular_acceleration(b, b.w, b.torque))
    w = add_scaled(b.w, h, angular_acceleration(b, w, b.torque))
    return add_scaled(b.w, h, angular_acceleration(b, w, b.torque))


cdef inline Vec3 advanced_axis(Quat q, Vec3 axis, double h, Vec3 w) noexcept nogil:
    """A row of A after the step."""
    cdef Vec3 row = rotate(q, axis)
    return add_scaled(row, h, cross(w, row))


cdef inline Vec3 unit(Vec3 a) noexcept nogil:
    return scale(1.0 / norm(a), a)


cdef inline Quat orientation(Vec3 a, Vec3 b, Vec3 c, Quat old) noexcept nogil:
    """N(4 q q^T old), q being the orientation with the columns a, b, c of A."""
    return normalise(quat(
        (1.0 + a.x + b.y + c.z) * old.w + (c.y - b.z) * old.x + (a.z - c.x) * old.y + (b.x - a.y) * old.z,
        (c.y - b.z) * old.w + (1.0 + a.x - b.y - c.z) * old.x + (a.y + b.x) * old.y + (a.z + c.x) * old.z,
        (a.z - c.x) * old.w + (a.y + b.x) * old.x + (1.0 - a.x + b.y - c.z) * old.y + (b.z + c.y) * old.z,
        (b.x - a.y) * old.w + (a.z + c.x) * old.x + (b.z + c.y) * old.y + (1.0 - a.x - b.y + c.z) * old.z))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef Vec3 w = rotate(b.q, iterated(b, step.dt))
    cdef Vec3 x = advanced_axis(b.q, vec3(1.0, 0.0, 0.0), step.dt, w)
    cdef Vec3 y = advanced_axis(b.q, vec3(0.0, 1.0, 0.0), step.dt, w)
    cdef Vec3 z = advanced_axis(b.q, vec3(0.0, 0.0, 1.0), step.dt, w)
    cdef Vec3 first = unit(vec3(x.x, y.x, z.x))
    cdef Vec3 second = vec3(x.y, y.y, z.y)
    second = unit(add_scaled(second, -dot(first, second), first))
    b.q = orientation(first, second, cross(first, second), b.q)
    b.w = rotate_back(b.q, w)


cdef inline void sync(Body *b, const Step *step) noexcept nogil:
    b.predicted = iterated(b, 0.5 * step.dt)


cdef int pfc4(const BodyBlock *b) noexcept nogil:
    return role(START, start_by_euler, b) | role(MOVE, move, b) | role(SYNC, sync, b)


SCHEMES = [Scheme(
    name="pfc4", title="PFC4, MercuryDPM", equations="B.16 to B.18",
    kernels=Kernels(<size_t> pfc4), angular_velocity_offset=-0.5,
    normalises=True, cites=("delvalle2024spiral", "ostanin2024rigid"), used_in="MercuryDPM",
    reference={"": ((1.2115014933e-01, 2.2265596560e-02), (3.9974306635e-01, 1.0622922874e-01))})]
