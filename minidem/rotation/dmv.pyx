r"""DMV: kicks and the discrete free rotation of J. Moser and A. Veselov, preprocessed.

R. McLachlan and A. Zanna, Found. Comput. Math. 5, 87 (2005); E. Hairer and G. Vilmart, J. Phys. A 39, 13225 (2006).
After the kick :math:`\boldsymbol\omega \leftarrow \boldsymbol\omega + \Delta t\, \boldsymbol I^{-1} \boldsymbol\tau(t)`
the vector :math:`\boldsymbol c` (axis of the rotation times the tangent of half its angle) solves

.. math::

   c_x = (1 + c^2)\, \frac{\Delta t}{2} \frac{I_x \omega_x}{\tilde I_x}
   + \frac{\tilde I_y - \tilde I_z}{\tilde I_x}\, c_y c_z

and the same with the axes in turn; then

.. math::

   q \leftarrow \frac{q\, (1, \boldsymbol c)}{\sqrt{1 + c^2}}, \quad
   \omega_x \leftarrow \omega_x + \frac{4}{\Delta t} \frac{\tilde I_y - \tilde I_z}{I_x} \frac{c_y c_z}{1 + c^2}

With :math:`\tilde I = I` (``order=2``) this is also RATTLE, or SHAKE, for the rotation matrix, whose orthogonality is
the constraint (R. McLachlan and C. Scovel, J. Nonlinear Sci. 5, 233 (1995); A. Kol et al., J. Chem. Phys. 107, 2580
(1997)). It conserves angular momentum and energy of a free body, which moves on its true path at a
slightly wrong pace. Modified moments correct the pace (preprocessing), so that a free rotation is of
order 4 or 6:

.. math::

   \frac{1}{\tilde I_x} = \frac{1 + s_3 + s_5}{I_x} + d_3 + d_5, \quad
   s_3 = \tfrac{1}{12} j m - \tfrac16 i t, \quad d_3 = \tfrac{1}{12} j t - \tfrac16 k m

where :math:`t = \Delta t^2 \boldsymbol L \cdot \boldsymbol\omega` and :math:`m = \Delta t^2 L^2` do not change in the
step, and :math:`i, j, k` are the elementary symmetric functions of :math:`1/I_x, 1/I_y, 1/I_z`; :math:`s_5, d_5` are of
second degree in :math:`t, m`. With all orders it would be the scheme ``exact``. With a torque the order is 2,
as for the kicks (kicks.pxd).

Twelve fixed-point iterations from :math:`c_x = \Delta t I_x \omega_x / (2 \tilde I_x)`, each of which multiplies the
error by about :math:`\Delta t\, \omega`: converged to rounding for turns of a step below 0.05, to 1e-8 for 0.3. There
is no solution for turns above 1.
"""
from libc.math cimport sqrt

from minidem.core.quaternion cimport multiply, quat
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, times, vec3
from minidem.rotation.kicks cimport KICK_SCRATCH, Invariants, couplings, invariants, kicked, start_and_sync
from minidem.rotation.registry import LEAPFROG, Scheme
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Kernels, Step, products, role
from minidem.state.rows cimport store

cdef enum: ORDER                    # parameters, in their order
cdef enum Order: FOUR, SIX, TWO     # its words


cdef inline Vec3 iterate(Vec3 y, Vec3 ratio, Vec3 c) noexcept nogil:
    return add(scale(1.0 + dot(c, c), y), times(ratio, products(c)))


cdef inline Vec3 iterate_thrice(Vec3 y, Vec3 ratio, Vec3 c) noexcept nogil:
    return iterate(y, ratio, iterate(y, ratio, iterate(y, ratio, c)))


cdef inline void move(Body *b, const Step *step) noexcept nogil:
    cdef double h = step.dt, s = 1.0, d = 0.0, f, over
    cdef Vec3 w = kicked(b, h), g = couplings(b), y, e, ratio, c, after
    cdef Invariants v = invariants(b, w, h)
    if step.variant != TWO:
        s += 1.0 / 12.0 * v.jm - 1.0 / 6.0 * v.it
        d += 1.0 / 12.0 * v.jt - 1.0 / 6.0 * v.km
    if step.variant == SIX:
        s += 1.0 / 120.0 * (v.jm * v.jm - 3.0 * (v.im * v.km) + v.t * (4.0 * v.km - 0.5 * v.jt)
                            + v.it * (v.it - v.jm))
        d += 1.0 / 240.0 * (v.it * (8.0 * v.km - v.jt) - v.jm * (v.jt + v.km) - 6.0 * v.ktt)
    e = vec3(s + d * b.inertia.x, s + d * b.inertia.y, s + d * b.inertia.z)         # moments over modified ones
    f = s / (e.x * e.y * e.z)
    y = scale(0.5 * h, times(e, w))
    ratio = scale(f, times(g, times(e, e)))
    c = iterate_thrice(y, ratio, iterate_thrice(y, ratio, iterate_thrice(y, ratio, iterate_thrice(y, ratio, y))))
    over = 1.0 / (1.0 + dot(c, c))
    after = add_scaled(w, 4.0 / h * f * over, times(times(g, e), products(c)))
    over = sqrt(over)
    b.q = multiply(b.q, quat(over, over * c.x, over * c.y, over * c.z))
    b.w = scale(0.5, add(w, after))
    store(b.scratch, after)


cdef int dmv(const BodyBlock *b) noexcept nogil:
    if b.step.integers[ORDER] == TWO:                   # chosen outside the loop over bodies
        role(MOVE, move, b, TWO)
    elif b.step.integers[ORDER] == FOUR:
        role(MOVE, move, b, FOUR)
    else:
        role(MOVE, move, b, SIX)
    return start_and_sync(b) | 1 << MOVE


SCHEMES = [Scheme(
    name="dmv", title="discrete Moser-Veselov, preprocessed",
    kernels=Kernels(<size_t> dmv), keeps_norm=True, symplectic=True, n_scratch=KICK_SCRATCH,
    parameters={"order": ("4", "6", "2")}, meanings={"order": "Order of convergence of free rotation."}, **LEAPFROG,
    cites=("moser1991discrete", "hairer2006preprocessed", "mclachlan2005discrete"),
    cites_with={"order=2": ("moser1991discrete", "mclachlan1995equivariant", "kol1997symplectic")}, reference={
        "": ((6.1611681280e-07, 3.1525387894e-06), (7.9755518290e-05, 5.0639558456e-05)),
        "order=6": ((3.2992896337e-07, 3.1506146558e-06), (5.3284743967e-06, 4.9953164839e-05)),
        "order=2": ((2.8252595893e-03, 1.2949792655e-04), (4.6382665154e-02, 2.0874423908e-03))})]
