"""Reduction of the forces on spheres to the force and torque on each clump."""
from libc.stdint cimport int64_t

from minidem.contact.narrow_phase cimport Contacts
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView

cdef const WrenchBlock *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b,
                                     const int64_t *sphere_force, const WrenchBlock *body_force, WrenchBlock *wrench,
                                     bint again) noexcept nogil


cdef inline Py_ssize_t next_row(const unsigned char *rows, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """The first member row from `row` on, but before `last`, with a force; `last` if there is none."""
    while row < last and not rows[row]:
        row += 1
    return row


cdef inline int64_t *force_on(const Contacts *contacts, int slot) noexcept nogil:
    """Accumulator of an own sphere."""
    return contacts.sphere_force + 4 * <Py_ssize_t> contacts.accumulator_of_slot[slot - contacts.first_slot]
