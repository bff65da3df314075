"""Reduction of the forces on spheres to the force and torque on each clump."""
from minidem.broadphase.ghosts cimport slot_of
from minidem.contact.narrow_phase cimport Contacts
from minidem.state.state cimport StateView

cdef bint resum_in_order(Contacts *contacts, const StateView *state) noexcept nogil
cdef const double *reduce_block(Contacts *contacts, const StateView *state, Py_ssize_t b, const double *sphere_force,
                                const double *body_force, double *wrench) noexcept nogil


cdef inline unsigned int order_of(const StateView *state, int sphere) noexcept nogil:
    """Canonical order: the user's number of a sphere or ghost, walls after all spheres."""
    if sphere < 0:
        return 2147483648u - 1u - <unsigned int> sphere
    return <unsigned int> state.sphere_number[slot_of(state, sphere)]


cdef inline Py_ssize_t next_row(const unsigned char *rows, Py_ssize_t row, Py_ssize_t last) noexcept nogil:
    """The first member row from `row` on, but before `last`, with a force; `last` if there is none."""
    while row < last and not rows[row]:
        row += 1
    return row


cdef inline double *force_on(const Contacts *contacts, int slot) noexcept nogil:
    """Accumulator of an own sphere: force and number of contacts."""
    return contacts.sphere_force + 4 * <Py_ssize_t> contacts.accumulator_of_slot[slot - contacts.first_slot]
