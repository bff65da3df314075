"""The work of walls and box that move, and of held clumps."""
from minidem.contact.contact cimport SideBlock, Contact, load3
from minidem.contact.fixed_point cimport Wide
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.loop.loop cimport Loop
from minidem.state.rows cimport load
from minidem.walls.surface cimport Walls, arm_at

cdef Wide moving_work(const Loop *loop, int thread) noexcept nogil
cdef void add_wall_work(Loop *loop, int thread, bint between, bint corrected) noexcept nogil
cdef bint find_work(Loop *loop, int thread, Instant *now, void *own) noexcept nogil


cdef inline Vec3 arm_of(const Walls *walls, int primitive, const Contact *contact, const SideBlock *a,
                        int lane) noexcept nogil:
    """From the centre of a wall that moves to a contact point, lab."""
    return arm_at(walls, primitive, add_scaled(load(a.sphere + lane), contact.overlap[lane]
                                               - a.sphere[3 * LANES + lane], load3(contact.normal, lane)))
