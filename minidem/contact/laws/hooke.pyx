r"""Linear spring between two spheres, or a sphere and a plane, repulsive, one stiffness for all contacts.

.. math::

   F = k d

The law of soft-sphere simulations, where the duration of a collision, :math:`\pi \sqrt{m_{\mathrm{eff}} / k}`, does not
depend on its speed: P. A. Cundall and O. D. L. Strack, Geotechnique 29, 47 (1979). Overlap :math:`d` [m], stiffness
:math:`k` [N/m]. The elastic constants of the material are not used.
"""
from minidem.contact.registry import ONSET, ContactLaw
from minidem.core.parameters import Positive

from minidem.contact.contact cimport GivenContact, OwnNumbers
from minidem.contact.law cimport LawKernels
from minidem.core.lanes cimport LANES

cdef enum: STIFFNESS                # coefficient [N/m]


cdef void force(GivenContact contact, OwnNumbers force) noexcept nogil:
    cdef int lane
    for lane in range(LANES):
        force[lane] = contact.coefficients[STIFFNESS][lane] * (contact.overlap[lane] if contact.overlap[lane] > 0.0
                                                               else 0.0)


LAWS = [ContactLaw(
    name="hooke", title="linear spring", cites=("cundall1979discrete",), power=1.0,
    kernels=LawKernels(central=<size_t> force), coefficients=lambda pair, values: (values["stiffness"],),
    meanings={"stiffness": "Stiffness k of all contacts [N/m].", "onset": ONSET},
    parameters={"stiffness": Positive, "onset": ("plain", "corrected")}, used_in="LAMMPS, LIGGGHTS, Yade, MercuryDPM")]
