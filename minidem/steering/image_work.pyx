"""The work of a periodic box that moves: the force of each contact with an image, times the velocity of the image."""
from minidem.contact.blocks cimport Blocks, ContactBlock, block_at
from minidem.contact.contact cimport SideBlock, Contact
from minidem.contact.contacts cimport SPHERES, Observer, Room, add_observer
from minidem.contact.fixed_point cimport rounded_sum
from minidem.contact.gather cimport gather_contacts
from minidem.core.eight cimport Eight, dot3, eight_where, load_eight, load_eight3
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.state.state cimport free_slot_of


cdef void clear(Contacts *contacts, void *own) noexcept nogil:
    """Observer: forget the contacts of the last pose."""
    cdef ImageWork *work = <ImageWork *> own
    work.half_steps[0] = work.half_steps[1] = 0


cdef void add_images(const Contacts *contacts, const ContactBlock *block, int free_slot, const double *force,
                     const double *images, ImageWork *work) noexcept nogil:
    """Add the contacts of a block. force : (3, LANES) [N].  images : (6, LANES), see gather_contacts."""
    cdef double present[LANES]
    cdef Eight power
    cdef int lane, half
    for lane in range(LANES):
        present[lane] = block.first[lane] != free_slot
    for half in range(2):
        power = 0.5 * contacts.law.dt * dot3(load_eight3(force), load_eight3(images + 3 * LANES * half))
        work.half_steps[half] += rounded_sum(eight_where(load_eight(present), power * contacts.law.per_energy))


cdef void see(Contacts *contacts, const StateView *state, ContactBlock *block, Room *room, const Instant *now,
              void *own) noexcept nogil:
    """Observer: add the contacts of a block."""
    if room.crosses:
        add_images(contacts, block, free_slot_of(state), room.result.force[0], room.images[0], <ImageWork *> own)


cdef void observe_images(Contacts *contacts, ImageWork *work) noexcept nogil:
    """Sum the work of own contacts from now on."""
    add_observer(contacts, Observer(clear, see, work))


cdef void sum_again(Contacts *contacts, const StateView *state, ImageWork *work) noexcept nogil:
    """Sum the work with the forces that the blocks of contacts hold, which onset corrections have changed."""
    cdef const Blocks *blocks = &contacts.groups[SPHERES]
    cdef const ContactBlock *block
    cdef Contact contact
    cdef SideBlock sides[2]
    cdef double images[6 * LANES]
    cdef Py_ssize_t b
    clear(contacts, work)
    for b in range(blocks.n_blocks):
        block = block_at(blocks, b)
        if gather_contacts(False, contacts.law, state, block.first, block.second, False, LANES, &contact, sides,
                           images):
            add_images(contacts, block, blocks.free_slot, block.force[0], images, work)
