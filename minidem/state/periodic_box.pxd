"""The periodic box in compiled code: nearest images of differences, and positions within the box.

A `BoxPose` (box_pose.h; steering/box.pyx makes it) is the box at one instant; NULL: no axis is periodic. A box that
moves may be tilted: its image along the gradient axis of the flow is displaced by `lattice`, and whole lengths along
that axis are counted first.
"""
from libc.math cimport floor, sqrt

from minidem.core.eight cimport Eight, Eight3, bits_below, dot3, load_eight3, store_eight, sub3
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, sub, vec3

cdef extern from "state/box_pose.h" nogil:
    ctypedef struct BoxPose:                # what each field is: box_pose.h
        bint moves, affine, stretches
        int flow_axis, gradient_axis
        double path
        double length[3]
        double inverse[3]
        double low[3]
        double across[3]
        double lattice[3]
        double behind[3]
        double lattice_behind[3]
        double ahead[3]
        double lattice_ahead[3]
        double flow[9]
        double kick[9]
        double deformation[9]
        double inverse_deformation[9]

cdef extern from "core/nearest_image.h" nogil:
    double nearest "MINIDEM_NEAREST"(double d, double length, double inverse)
    double rounded "MINIDEM_ROUNDED"(double x)
    Eight eight_rounded "MINIDEM_ROUNDED"(Eight x)


cdef inline bint box_moves(const BoxPose *box) noexcept nogil:
    return box != NULL and box.moves


cdef inline double across_lengths(const BoxPose *box, double x, double y, double z) noexcept nogil:
    """A displacement in lengths of the gradient axis; 0 without shear."""
    return x * box.across[0] + y * box.across[1] + z * box.across[2]


cdef inline Vec3 less_lattice(const BoxPose *box, double lengths, Vec3 d) noexcept nogil:
    return vec3(d.x - lengths * box.lattice[0], d.y - lengths * box.lattice[1], d.z - lengths * box.lattice[2])


cdef inline Vec3 nearest_image(const BoxPose *box, Vec3 d) noexcept nogil:
    """The nearest image of a difference."""
    if box == NULL:
        return d
    if box.moves:
        d = less_lattice(box, rounded(across_lengths(box, d.x, d.y, d.z)), d)
    return vec3(nearest(d.x, box.length[0], box.inverse[0]), nearest(d.y, box.length[1], box.inverse[1]),
                nearest(d.z, box.length[2], box.inverse[2]))


cdef inline Eight eight_across(const BoxPose *box, Eight3 d) noexcept nogil:
    """As across_lengths, to the nearest integers."""
    return eight_rounded(d.x * box.across[0] + d.y * box.across[1] + d.z * box.across[2])


cdef inline Eight3 eight_less_lattice(const BoxPose *box, Eight lengths, Eight3 d) noexcept nogil:
    d.x, d.y = d.x - lengths * box.lattice[0], d.y - lengths * box.lattice[1]
    d.z = d.z - lengths * box.lattice[2]
    return d


cdef inline void nearest_differences(const BoxPose *box, const double *a, const double *b, double *d) noexcept nogil:
    """Nearest images (3, LANES) of the differences a - b of eight positions (3, LANES)."""
    cdef Eight3 x = sub3(load_eight3(a), load_eight3(b))
    if box.moves:
        x = eight_less_lattice(box, eight_across(box, x), x)
    store_eight(d, x.x - box.length[0] * eight_rounded(x.x * box.inverse[0]))
    store_eight(d + LANES, x.y - box.length[1] * eight_rounded(x.y * box.inverse[1]))
    store_eight(d + 2 * LANES, x.z - box.length[2] * eight_rounded(x.z * box.inverse[2]))


cdef inline bint image_velocities(const BoxPose *box, const double *a, const double *b, double *behind,
                                  double *ahead) noexcept nogil:
    """Velocities (3, LANES) of the images of b (3, LANES) that are nearest to a, relative to b [m/s].

    False: all images have the same velocity; none are written.
    """
    cdef double total[LANES]
    cdef Eight3 d = sub3(load_eight3(a), load_eight3(b))
    cdef Eight lengths = eight_across(box, d), squared = lengths * lengths
    d = eight_less_lattice(box, lengths, d)
    d.x, d.y = eight_rounded(d.x * box.inverse[0]), eight_rounded(d.y * box.inverse[1])
    d.z = eight_rounded(d.z * box.inverse[2])
    if box.stretches:
        squared = squared + dot3(d, d)
    store_eight(total, squared)
    if bits_below(total, 0.5) == (1 << LANES) - 1:
        return False
    store_eight(behind, d.x * box.behind[0] + lengths * box.lattice_behind[0])
    store_eight(behind + LANES, d.y * box.behind[1] + lengths * box.lattice_behind[1])
    store_eight(behind + 2 * LANES, d.z * box.behind[2] + lengths * box.lattice_behind[2])
    store_eight(ahead, d.x * box.ahead[0] + lengths * box.lattice_ahead[0])
    store_eight(ahead + LANES, d.y * box.ahead[1] + lengths * box.lattice_ahead[1])
    store_eight(ahead + 2 * LANES, d.z * box.ahead[2] + lengths * box.lattice_ahead[2])
    return True


cdef inline Vec3 center_of(const BoxPose *box) noexcept nogil:
    """The centre of the box; along open axes anything."""
    return vec3(box.low[0] + 0.5 * box.length[0], box.low[1] + 0.5 * box.length[1],
                box.low[2] + 0.5 * box.length[2])


cdef inline Eight3 from_center(const BoxPose *box, Eight3 x) noexcept nogil:
    """Eight positions, from the centre of the box."""
    cdef Vec3 center = center_of(box)
    x.x, x.y, x.z = x.x - center.x, x.y - center.y, x.z - center.z
    return x


cdef inline Vec3 box_of(const BoxPose *box, const double *x, int stride) noexcept nogil:
    """Displacement of the image of the box in which a position is."""
    cdef Vec3 position = vec3(x[0], x[stride], x[2 * stride]), low = vec3(box.low[0], box.low[1], box.low[2])
    cdef Vec3 rest = sub(position, low)
    cdef double lengths = floor(across_lengths(box, rest.x, rest.y, rest.z))
    rest = sub(less_lattice(box, lengths, position), low)
    return vec3(lengths * box.lattice[0] + box.length[0] * floor(rest.x * box.inverse[0]),
                lengths * box.lattice[1] + box.length[1] * floor(rest.y * box.inverse[1]),
                lengths * box.lattice[2] + box.length[2] * floor(rest.z * box.inverse[2]))


ctypedef fused Vectors:
    Vec3
    Eight3


cdef inline Vectors times_gradient(const double *gradient, Vectors d) noexcept nogil:
    """A matrix (3, 3) times one or eight vectors."""
    cdef Vectors v
    v.x = gradient[0] * d.x + gradient[1] * d.y + gradient[2] * d.z
    v.y = gradient[3] * d.x + gradient[4] * d.y + gradient[5] * d.z
    v.z = gradient[6] * d.x + gradient[7] * d.y + gradient[8] * d.z
    return v


cdef inline double gradient_norm(const double *gradient) noexcept nogil:
    """Of a matrix (3, 3)."""
    cdef double total = 0.0
    cdef int k
    for k in range(9):
        total += gradient[k] * gradient[k]
    return sqrt(total)


cdef inline Vec3 displacement_with(const BoxPose *before, const BoxPose *now, const double *x,
                                   int stride) noexcept nogil:
    """Displacement of a point of the box between two instants [m]; x : where it was, components `stride` apart."""
    cdef Vec3 d = sub(vec3(x[0], x[stride], x[2 * stride]), center_of(before))
    return sub(times_gradient(now.deformation, times_gradient(before.inverse_deformation, d)), d)


cdef inline void wrap_position(const BoxPose *box, const double *position, double *within) noexcept nogil:
    """Write the position within the box, except for rounding. It serves searches alone: no force depends on it."""
    cdef double lengths = floor(across_lengths(box, position[0] - box.low[0], position[1] - box.low[1],
                                               position[2] - box.low[2])) if box.moves else 0.0, x
    cdef int axis
    for axis in range(3):
        x = position[axis] - lengths * box.lattice[axis] if box.moves else position[axis]
        within[axis] = x - box.length[axis] * floor((x - box.low[axis]) * box.inverse[axis])
