"""The periodic box in compiled code: nearest images of differences, and positions within the box.

A box is nine doubles: its lengths, their inverses (both zero along open axes, where all formulas then change nothing),
and its low corner [m]. Where no axis is periodic it is NULL.
"""
from libc.math cimport floor

from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, vec3


cdef extern from "core/nearest_image.h" nogil:
    double nearest "MINIDEM_NEAREST"(double d, const double *box, int axis)
    double rounded "MINIDEM_ROUNDED"(double x)


cdef inline Vec3 nearest_image(const double *box, Vec3 d) noexcept nogil:
    """The nearest image of a difference."""
    return vec3(nearest(d.x, box, 0), nearest(d.y, box, 1), nearest(d.z, box, 2)) if box != NULL else d


cdef inline void nearest_differences(const double *box, double *a, double *b) noexcept nogil:
    """Replace the first of two rows of positions (3, LANES) by the nearest image of a - b, the second by zeros."""
    cdef int axis, lane
    for axis in range(3):
        for lane in range(LANES):
            a[axis * LANES + lane] = nearest(a[axis * LANES + lane] - b[axis * LANES + lane], box, axis)
            b[axis * LANES + lane] = 0.0


cdef inline double wrapped(const double *box, const double *position, int axis) noexcept nogil:
    """A coordinate within the box, but for rounding. For searches alone: no force depends on it."""
    return position[axis] - box[axis] * floor((position[axis] - box[axis + 6]) * box[axis + 3])
