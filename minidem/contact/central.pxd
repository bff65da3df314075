"""Evaluation of contacts of laws without history, whose forces are central: eight at a time, from the two bodies alone.

Exchanging the bodies changes the sign of the normal and no other bit. So contacts are not stored: where one is needed
again at the same pose, it is evaluated again.
"""
from libc.stdint cimport int64_t

from minidem.contact.contact cimport Contact, Row
from minidem.contact.law cimport Law
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3
from minidem.core.vectors cimport IntVector
from minidem.state.state cimport StateView

cdef enum:
    # Ints of the inner list that are tested before their contacts are evaluated. evaluate_pairs has 37 kB of forces for
    # them on its stack, and eight contacts 7 kB, which OMP_STACKSIZE may limit to 64 kB.
    PAIRS_AT_ONCE = 1024

cdef struct CentralForce:               # of one contact
    double overlap                      # [m]
    double force                        # magnitude [N], along the normal; of a law with history 0
    Vec3 normal                         # unit, from j to i


cdef CentralForce central_force(const Law *law, const StateView *state, int i, int j) noexcept nogil
cdef void load_pair(const Law *law, const StateView *state, int i, int j, Row *coefficients, int lane) noexcept nogil
cdef bint evaluate_central(const Law *law, const StateView *state, const int *pairs, Py_ssize_t first, Py_ssize_t n,
                           bint walls, int64_t *forces, IntVector *ends) noexcept nogil


cdef inline int64_t *record_of(int64_t *forces, Py_ssize_t k) noexcept nogil:
    """The record of the force on the first sphere of pair k / 2; that on the second is LANES records behind it.

    forces : records of eight pairs on their first spheres, on their second spheres, of the next eight pairs, ...
    """
    return forces + 2 * (k + k // (2 * LANES) * (2 * LANES))
