"""Lever arms of forces on walls."""
from minidem.contact.contact cimport SideBlock, Contact, load3
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled
from minidem.state.rows cimport load
from minidem.walls.surface cimport Walls, arm_at


cdef inline Vec3 arm_of(const Walls *walls, int primitive, const Contact *contact, const SideBlock *a,
                        int lane) noexcept nogil:
    """From the centre of a wall that moves to a contact point, lab."""
    return arm_at(walls, primitive, add_scaled(load(a.sphere + lane), contact.overlap[lane]
                                               - a.sphere[3 * LANES + lane], load3(contact.normal, lane)))
