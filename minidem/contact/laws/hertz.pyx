r"""Hertz's law for two elastic spheres, or a sphere and a plane, repulsive.

.. math::

   F = \tfrac43 E^* \sqrt{R^*}\, d^{3/2}

H. Hertz, J. reine angew. Math. 92, 156 (1882); K. L. Johnson, Contact Mechanics (1985), Eqs 4.22 to 4.24. Overlap
:math:`d` [m], effective modulus :math:`E^*` [Pa], effective radius :math:`R^*` [m], which at a plane is :math:`R`:

.. math::

   E^* = \left(\sum \frac{1 - \nu^2}{E}\right)^{-1}, \quad R^* = \frac{R_i R_j}{R_i + R_j}
"""
from libc.math cimport sqrt

from minidem.contact.registry import ONSET, ContactLaw

from minidem.contact.contact cimport GivenContact, OwnNumbers
from minidem.contact.law cimport LawKernels
from minidem.core.lanes cimport LANES

cdef enum: STIFFNESS                # coefficient: 4/3 E* [Pa]


cdef void force(GivenContact contact, OwnNumbers force) noexcept nogil:
    cdef double d
    cdef int lane
    for lane in range(LANES):
        d = contact.overlap[lane] if contact.overlap[lane] > 0.0 else 0.0
        force[lane] = contact.coefficients[STIFFNESS][lane] * d * sqrt(contact.radius[lane] * d)


LAWS = [ContactLaw(
    name="hertz", title="Hertz's law", cites=("hertz1882beruehrung",),
    equations="4.22 to 4.24 of 10.1017/CBO9781139171731", kernels=LawKernels(central=<size_t> force),
    coefficients=lambda pair, values: (4.0 / 3.0 * pair["modulus"],),
    power=1.5, parameters={"onset": ("plain", "corrected")}, meanings={"onset": ONSET}, reads=("young", "poisson"),
    used_in="LAMMPS, LIGGGHTS, Yade, EDEM")]
