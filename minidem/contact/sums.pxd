"""Sums of the forces on spheres, as integers, and their reduction to the wrenches of clumps."""
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from minidem.contact.blocks cimport ContactBlock
from minidem.contact.contact cimport Contact, SideBlock
from minidem.contact.contacts cimport Contacts
from minidem.contact.fixed_point cimport add_side
from minidem.contact.law cimport Law
from minidem.core.eight cimport (
    Eight, Eight3, add3, cross3, eight_of, load_eight, load_eight3, scale3, store_eight3,
)
from minidem.core.lanes cimport LANES, row_of
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView

cdef void reset_sums(Contacts *contacts, bint packed, Py_ssize_t n_foreign) noexcept nogil
cdef void add_central(Contacts *contacts, const ContactBlock *block, const double *force, const SideBlock *sides,
                      bint walls, int n) noexcept nogil
cdef void clear_foreign(Contacts *contacts) noexcept nogil
cdef void take_foreign(Contacts *all, int thread, int n_threads, const StateView *state) noexcept nogil
cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const WrenchBlock *base,
                                     WrenchBlock *wrench) noexcept nogil


cdef inline void load_keys(const Law *law, const int *pairs, uint64_t[2][LANES] keys) noexcept nogil:
    """pairs : of materials."""
    cdef int lane
    for lane in range(LANES):
        keys[0][lane] = law.unit_keys[pairs[lane] >> law.log_materials]
        keys[1][lane] = law.unit_keys[pairs[lane] & ((1 << law.log_materials) - 1)]


cdef inline void number_sums(Contacts *contacts, int n_spheres, int *index) noexcept nogil:
    """Replace own spheres by the numbers of their packed sums; one that has none yet is given the next, of zero."""
    cdef int64_t *sums = contacts.sums
    cdef int *sum_of = contacts.sum_of
    cdef int lane, own, n_sums = contacts.n_sums
    cdef bint is_new
    for lane in range(n_spheres):
        own = index[lane]
        memset(sums + 4 * <Py_ssize_t> n_sums, 0, 4 * sizeof(int64_t))
        is_new = sum_of[own] == 0                       # no branch: it is unpredictable
        index[lane] = sum_of[own] + is_new * n_sums
        sum_of[own] = index[lane]
        n_sums += is_new
    contacts.n_sums = n_sums


cdef extern from *:
    """
    typedef int minidem_slots __attribute__((vector_size(MINIDEM_LANES * sizeof(int)), aligned(4), may_alias));
    typedef unsigned minidem_numbers __attribute__((vector_size(MINIDEM_LANES * sizeof(int)), aligned(4), may_alias));

    static inline int minidem_number_own(const int *spheres, int first_slot, int n_slots, int free_slot, int *index) {
        minidem_slots slots = *(const minidem_slots *) spheres;
        minidem_numbers own = (minidem_numbers) slots - (unsigned) first_slot;
        minidem_slots here = own < (unsigned) n_slots, foreign = ~here & (slots < free_slot);
        *(minidem_slots *) index = ((minidem_slots) own & here) | (n_slots & ~here);
        int any = 0;
        for (int l = 0; l < MINIDEM_LANES; l++)
            any |= foreign[l];
        return any;
    }
    """
    # The numbers of eight spheres among the own ones, n_slots of others; returns whether one is of another thread.
    bint number_own "minidem_number_own"(const int *spheres, int first_slot, int n_slots, int free_slot,
                                         int *index) nogil


cdef inline void index_sums(Contacts *contacts, const int *spheres, int n_spheres, int free_slot,
                            int *index) noexcept nogil:
    """Numbers of the sums of the first n_spheres of eight spheres, which are touched."""
    cdef unsigned char *touched = contacts.touched
    cdef bint any_foreign = number_own(spheres, contacts.first_slot, contacts.n_slots, free_slot, index)
    cdef int lane
    for lane in range(n_spheres):
        touched[row_of(index[lane])] = 1
    if contacts.packed:
        number_sums(contacts, n_spheres, index)
    for lane in range(n_spheres if any_foreign else 0):
        if index[lane] == contacts.free_sum and spheres[lane] < free_slot:
            contacts.foreign.data[contacts.foreign.size] = spheres[lane]
            contacts.foreign.size += 1
            index[lane] = contacts.free_sum + <int> contacts.foreign.size


cdef inline void add_to_side(bint moments, int side, Contacts *contacts, const ContactBlock *block, const double *force,
                             const double *couple, const Contact *contact, const SideBlock *sides,
                             const uint64_t[2][LANES] keys, int free_slot, bint walls, int n) noexcept nogil:
    """Add the forces (3, LANES) to the first spheres of a block, or subtract them from the second ones.

    moments, side : constants, whether there are moments about the centres, and 0 or 1.  n : of the first n contacts.
    couple : (3, LANES), NULL if there are none.
    """
    cdef double moment[3 * LANES]
    cdef int index[LANES]
    cdef double sign = -1.0 if side else 1.0
    cdef Eight arm
    cdef Eight3 turning
    index_sums(contacts, &block.second[0] if side else &block.first[0], n, free_slot, index)
    if moments:
        arm = load_eight(sides[side].sphere + 3 * LANES) - (1.0 if walls else 0.5) * load_eight(contact.overlap)
        turning = scale3(-arm, cross3(load_eight3(contact.normal[0]), load_eight3(force)))
        if couple != NULL:
            turning = add3(turning, scale3(eight_of(sign), load_eight3(couple)))
        store_eight3(moment, turning)
    add_side(force, sign, moment if moments else NULL, keys[side], contacts.law.unit_shift,
             sides[side].sphere + 3 * LANES, n, index, contacts.sums)
