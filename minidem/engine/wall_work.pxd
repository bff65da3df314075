"""Work of moving walls on clumps, and forces on walls."""
from minidem.contact.narrow_phase cimport Contacts
from minidem.core.vec3 cimport Vec3
from minidem.engine.time_loop cimport Loop

cdef void add_wall_work(Loop *loop, int thread, bint between) noexcept nogil
cdef Vec3 force_of_wall(const Loop *loop, int wall) noexcept nogil


cdef inline void add_wall_works(Contacts *to, const Contacts *source, int n_threads) noexcept nogil:
    """Add those of all threads."""
    cdef int t
    for t in range(n_threads):
        to.wall_work += source[t].wall_work
        to.wall_power += source[t].wall_power


cdef inline void save_wall_work(Contacts *contacts) noexcept nogil:
    contacts.saved_wall_work, contacts.saved_wall_power = contacts.wall_work, contacts.wall_power


cdef inline void restore_wall_work(Contacts *contacts) noexcept nogil:
    contacts.wall_work, contacts.wall_power = contacts.saved_wall_work, contacts.saved_wall_power
