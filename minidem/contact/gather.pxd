"""Eight contacts at the present pose, as laws and fluxes see them (contact.h)."""
from libc.string cimport memcpy

from minidem.contact.blocks cimport ContactBlock, history_of
from minidem.contact.contact cimport SideBlock, Contact, Result
from minidem.contact.law cimport Law
from minidem.core.lanes cimport LANES
from minidem.core.eight cimport load_eight, load_eight3, scale3, store_eight3
from minidem.core.vec3 cimport Vec3, vec3
from minidem.state.rows cimport load
from minidem.state.state cimport StateView


cdef bint gather_contacts(bint moves, const Law *law, const StateView *state, const int *i, const int *j, bint walls,
                          int n, Contact *contact, SideBlock *sides, double *images) noexcept nogil
cdef void load_only_pair(const Law *law, Contact *contact) noexcept nogil
cdef void load_coefficients(const Law *law, const int *pairs, Contact *contact) noexcept nogil
cdef void load_known_results(const Law *law, const ContactBlock *block, Result *result) noexcept nogil


cdef inline double *couples_of(const Law *law, const ContactBlock *block) noexcept nogil:
    """Couples (3, LANES) on the first bodies, lab [N m], written where the force is; only of a law that has couples."""
    return history_of(block) + 4 * law.n_records * LANES


cdef inline Vec3 couple_of(const Law *law, const ContactBlock *block, int lane) noexcept nogil:
    """Of one contact, zero without couples."""
    return load(couples_of(law, block) + lane) if law.has_couples else vec3(0.0, 0.0, 0.0)


cdef inline bint load_block(const Law *law, const StateView *state, const ContactBlock *block, bint walls, int n,
                            Contact *contact, SideBlock *sides, double *images) noexcept nogil:
    """Contacts of a block; the other arguments and the result as for gather_contacts. Where there is one
    material, the coefficients are loaded before."""
    cdef bint moves = law.history != NULL
    cdef bint crosses = gather_contacts(moves, law, state, block.first, block.second, walls, n, contact, sides, images)
    if moves:
        memcpy(contact.mass, block.mass, sizeof(block.mass))
        memcpy(contact.rolling_inertia, block.rolling_inertia, sizeof(block.rolling_inertia))
    if law.log_materials > 0:
        load_coefficients(law, block.materials, contact)
    if law.load_bodies != NULL:
        law.load_bodies(law, state, block.first, block.second, walls, contact)
    return crosses


cdef inline void call_central(const Law *law, const Contact *contact, double *magnitude, double *force) noexcept nogil:
    """Forces of a law without history: magnitudes (LANES,) along the normals, and vectors (3, LANES)."""
    law.central(contact, magnitude)
    store_eight3(force, scale3(load_eight(magnitude), load_eight3(contact.normal[0])))
