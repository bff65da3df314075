r"""Hertz's law for two elastic spheres, or a sphere and a plane, repulsive.

.. math::

   F = \tfrac43 E^* \sqrt{R^*}\, d^{3/2}

H. Hertz, J. reine angew. Math. 92, 156 (1882); K. L. Johnson, Contact Mechanics (1985), Eqs 4.22 to 4.24. Overlap
:math:`d` [m], effective modulus :math:`E^*` [Pa], effective radius :math:`R^*` [m], which at a plane is :math:`R`:

.. math::

   E^* = \left(\sum \frac{1 - \nu^2}{E}\right)^{-1}, \quad R^* = \frac{R_i R_j}{R_i + R_j}
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from minidem.contact.record import ContactLaw

from minidem.contact.law cimport Contact, Law, LawKernels, over_contact, over_lanes, over_pairs
from minidem.core.vectors cimport IntVector
from minidem.state.state cimport StateView


cdef inline double force(double overlap, double radius, double modulus, const double *parameters) noexcept nogil:
    return 4.0 / 3.0 * modulus * overlap * sqrt(radius * overlap) if overlap > 0.0 else 0.0


cdef void forces(const double *overlap, const double *radius, const double *modulus, const double *parameters,
                 double *result) noexcept nogil:
    over_lanes(force, overlap, radius, modulus, parameters, result)


cdef Contact one(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    return over_contact(force, law.compliance != NULL, law, state, i, j)


cdef bint many(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n, bint walls,
               int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, False, False, law, state, pairs, first, n, walls, forces, ends)


cdef bint many_moving(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                      bint walls, int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, True, False, law, state, pairs, first, n, walls, forces, ends)


cdef bint many_mixed(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                     bint walls, int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, False, True, law, state, pairs, first, n, walls, forces, ends)


cdef bint many_mixed_moving(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                            bint walls, int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, True, True, law, state, pairs, first, n, walls, forces, ends)


LAWS = [ContactLaw(
    name="hertz", title="Hertz's law", cites=("hertz1882beruehrung",),
    equations="4.22 to 4.24 of 10.1017/CBO9781139171731",
    kernels=LawKernels(many=<size_t> many, many_moving=<size_t> many_moving, many_mixed=<size_t> many_mixed,
                       many_mixed_moving=<size_t> many_mixed_moving, one=<size_t> one, forces=<size_t> forces),
    power=1.5, parameters={"onset": ("plain", "corrected")}, reads=("young", "poisson"),
    used_in="LAMMPS, LIGGGHTS, Yade, EDEM")]
