r"""Linear spring between two spheres, or a sphere and a plane, repulsive, one stiffness for all contacts.

.. math::

   F = k d

The law of soft-sphere simulations, where the duration of a collision, :math:`\pi \sqrt{m_{\mathrm{eff}} / k}`, does not
depend on its speed: P. A. Cundall and O. D. L. Strack, Geotechnique 29, 47 (1979). Overlap :math:`d` [m], stiffness
:math:`k` [N/m]. The elastic constants of the material are not used.
"""
from libc.stdint cimport int64_t

from minidem.contact.record import ContactLaw
from minidem.core.parameters import Positive

from minidem.contact.law cimport Contact, Law, LawKernels, over_contact, over_lanes, over_pairs
from minidem.core.vectors cimport IntVector
from minidem.state.state cimport StateView

cdef enum: STIFFNESS                # parameters, in the order of the record


cdef inline double force(double overlap, double radius, double modulus, const double *parameters) noexcept nogil:
    return parameters[STIFFNESS] * (overlap if overlap > 0.0 else 0.0)


cdef void forces(const double *overlap, const double *radius, const double *modulus, const double *parameters,
                 double *result) noexcept nogil:
    over_lanes(force, overlap, radius, modulus, parameters, result)


cdef Contact one(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    return over_contact(force, False, law, state, i, j)


cdef bint many(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n, bint walls,
               int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, False, False, law, state, pairs, first, n, walls, forces, ends)


cdef bint many_moving(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                      bint walls, int64_t *forces, IntVector *ends) noexcept nogil:
    return over_pairs(force, True, False, law, state, pairs, first, n, walls, forces, ends)


LAWS = [ContactLaw(
    name="hooke", title="linear spring", cites=("cundall1979discrete",), power=1.0,
    kernels=LawKernels(many=<size_t> many, many_moving=<size_t> many_moving, one=<size_t> one, forces=<size_t> forces),
    parameters={"stiffness": Positive, "onset": ("plain", "corrected")}, used_in="LAMMPS, LIGGGHTS, Yade, MercuryDPM")]
