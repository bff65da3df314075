"""Periodic images of the items of the grids.

The grids hold each item once, at its position within the periodic box. An item near a face of the box is also searched
around at its images near the opposite faces. Within one grid, one of two opposite shifts suffices.
"""
from libc.string cimport memcpy, memset

from minidem.state.periodic_box cimport rounded, wrapped

cdef enum:
    MOST_IMAGES = 27

cdef struct Images:
    int count
    double sphere[MOST_IMAGES][4]       # centre and radius of the item in the box, then of its images outside [m]
    int shift[MOST_IMAGES][3]           # from the first [box lengths]
    bint ahead[MOST_IMAGES]             # of two opposite shifts, one


cdef inline const double *item_in_box(const double *box, const double *sphere, double *room) noexcept nogil:
    """Centre and radius, the centre moved into the box; without a box `sphere` itself."""
    cdef int axis
    if box == NULL:
        return sphere
    for axis in range(3):
        room[axis] = wrapped(box, sphere, axis)
    room[3] = sphere[3]
    return room


cdef inline bint are_nearest(const double *box, const double *first, const double *second,
                             const int *shift) noexcept nogil:
    """Whether the image of the first of two items by `shift` is the one nearest to the second."""
    cdef int axis
    for axis in range(3):
        if rounded((wrapped(box, first, axis) - wrapped(box, second, axis)) * box[axis + 3]) != -shift[axis]:
            return False
    return True


cdef inline void add_image(Images *images, const double *box, int x, int y, int z) noexcept nogil:
    cdef double *image = images.sphere[images.count]
    cdef int *shift = images.shift[images.count]
    cdef int axis
    shift[0], shift[1], shift[2] = x, y, z
    for axis in range(3):
        image[axis] = images.sphere[0][axis] + shift[axis] * box[axis]
    image[3] = images.sphere[0][3]
    images.ahead[images.count] = 9 * z + 3 * y + x > 0
    images.count += 1


cdef inline void find_images(Images *images, const double *box, const double *sphere, double width) noexcept nogil:
    """The item in the box, and its images that are closer to the box than `width` [m]."""
    cdef double *inside = images.sphere[0]
    cdef int least[3]
    cdef int most[3]
    cdef int axis, x, y, z
    memset(images.shift[0], 0, sizeof(images.shift[0]))
    images.count, images.ahead[0] = 1, False
    if box == NULL:
        memcpy(inside, sphere, 4 * sizeof(double))
        return
    item_in_box(box, sphere, inside)
    for axis in range(3):
        most[axis] = box[axis] > 0.0 and inside[axis] - box[axis + 6] < width
        least[axis] = -(box[axis] > 0.0 and box[axis + 6] + box[axis] - inside[axis] < width)
    for z in range(least[2], most[2] + 1):
        for y in range(least[1], most[1] + 1):
            for x in range(least[0], most[0] + 1):
                if x or y or z:
                    add_image(images, box, x, y, z)
