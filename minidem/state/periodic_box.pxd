"""The periodic box in compiled code: nearest images of differences, and positions within the box.

A box is a record of doubles (box_table.pyx makes it). Where no axis is periodic it is NULL. Lengths and inverses are
zero along open axes, where all formulas then change nothing. A box that moves (MOVES) may be tilted: its image along
the gradient axis of the flow is displaced by LATTICE, and whole lengths along that axis are counted first.
"""
from libc.math cimport floor, sqrt

from minidem.core.eight cimport Eight, Eight3, bits_below, dot3, load_eight, store_eight
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, sub, vec3

cdef enum:                          # columns of a record
    LENGTH = 0                      # (3,) [m]
    INVERSE = 3                     # (3,) [1/m]
    LOW = 6                         # (3,) low corner [m]
    ACROSS = 9                      # (3,) 1 / length of the gradient axis [1/m], other components 0
    LATTICE = 12                    # (3,) displacement of its image [m]
    MOVES = 15                      # 0: none of what follows is used
    BEHIND = 16                     # (3,) rates of the lengths in the step that ends at this instant [m/s]
    LATTICE_BEHIND = 19             # (3,) of LATTICE
    AHEAD = 22                      # (3,) in the step that begins
    LATTICE_AHEAD = 25
    TRAVELLED = 28                  # path of the strain since the first step
    FLOW = 29                       # (3, 3) velocity gradient in the step that ends here or is under way [1/s]
    KICK = 38                       # (3, 3) its change between that step and the one before it [1/s]
    AFFINE = 47                     # not 0: clumps take part in it
    DEFORMATION = 48                # (3, 3) since the first step
    INVERSE_DEFORMATION = 57
    FLOW_AXIS = 66                  # number of the axis
    GRADIENT_AXIS = 67
    STRETCHES = 68                  # not 0: a length changes in this step, or in the one before or after
    BOX_SIZE = 69


cdef extern from "core/nearest_image.h" nogil:
    double nearest "MINIDEM_NEAREST"(double d, const double *box, int axis)
    double rounded "MINIDEM_ROUNDED"(double x)
    Eight eight_rounded "MINIDEM_ROUNDED"(Eight x)


cdef inline bint box_moves(const double *box) noexcept nogil:
    return box != NULL and box[MOVES] != 0.0


cdef inline double across_lengths(const double *box, double x, double y, double z) noexcept nogil:
    """A displacement in lengths of the gradient axis; 0 without shear."""
    return x * box[ACROSS] + y * box[ACROSS + 1] + z * box[ACROSS + 2]


cdef inline Vec3 less_lattice(const double *box, double lengths, Vec3 d) noexcept nogil:
    return vec3(d.x - lengths * box[LATTICE], d.y - lengths * box[LATTICE + 1], d.z - lengths * box[LATTICE + 2])


cdef inline Vec3 nearest_image(const double *box, Vec3 d) noexcept nogil:
    """The nearest image of a difference."""
    if box == NULL:
        return d
    if box[MOVES] != 0.0:
        d = less_lattice(box, rounded(across_lengths(box, d.x, d.y, d.z)), d)
    return vec3(nearest(d.x, box, 0), nearest(d.y, box, 1), nearest(d.z, box, 2))


cdef inline Eight eight_across(const double *box, Eight3 d) noexcept nogil:
    """As across_lengths, to the nearest integers."""
    return eight_rounded(d.x * box[ACROSS] + d.y * box[ACROSS + 1] + d.z * box[ACROSS + 2])


cdef inline Eight3 eight_less_lattice(const double *box, Eight lengths, Eight3 d) noexcept nogil:
    d.x, d.y = d.x - lengths * box[LATTICE], d.y - lengths * box[LATTICE + 1]
    d.z = d.z - lengths * box[LATTICE + 2]
    return d


cdef inline Eight3 eight_between(const double *a, const double *b) noexcept nogil:
    """Differences a - b of eight positions (3, LANES)."""
    cdef Eight3 d
    d.x, d.y = load_eight(a) - load_eight(b), load_eight(a + LANES) - load_eight(b + LANES)
    d.z = load_eight(a + 2 * LANES) - load_eight(b + 2 * LANES)
    return d


cdef inline void nearest_differences(const double *box, const double *a, const double *b, double *d) noexcept nogil:
    """Nearest images (3, LANES) of the differences a - b of eight positions (3, LANES)."""
    cdef Eight3 x = eight_between(a, b)
    if box[MOVES] != 0.0:
        x = eight_less_lattice(box, eight_across(box, x), x)
    store_eight(d, x.x - box[0] * eight_rounded(x.x * box[INVERSE]))
    store_eight(d + LANES, x.y - box[1] * eight_rounded(x.y * box[INVERSE + 1]))
    store_eight(d + 2 * LANES, x.z - box[2] * eight_rounded(x.z * box[INVERSE + 2]))


cdef inline bint image_velocity(const double *box, Vec3 d, Vec3 *behind, Vec3 *ahead) noexcept nogil:
    """The same of one difference d = a - b."""
    cdef double lengths = rounded(across_lengths(box, d.x, d.y, d.z)), x, y, z
    d = less_lattice(box, lengths, d)
    x, y, z = rounded(d.x * box[INVERSE]), rounded(d.y * box[INVERSE + 1]), rounded(d.z * box[INVERSE + 2])
    behind[0] = vec3(x * box[BEHIND] + lengths * box[LATTICE_BEHIND],
                     y * box[BEHIND + 1] + lengths * box[LATTICE_BEHIND + 1],
                     z * box[BEHIND + 2] + lengths * box[LATTICE_BEHIND + 2])
    ahead[0] = vec3(x * box[AHEAD] + lengths * box[LATTICE_AHEAD],
                    y * box[AHEAD + 1] + lengths * box[LATTICE_AHEAD + 1],
                    z * box[AHEAD + 2] + lengths * box[LATTICE_AHEAD + 2])
    return lengths != 0.0 or x != 0.0 or y != 0.0 or z != 0.0


cdef inline int crossing(const double *box, const double *a, const double *b) noexcept nogil:
    """Bits 1 << lane of eight pairs of positions (3, LANES) whose nearest images have different velocities."""
    cdef double total[LANES]
    cdef Eight3 d = eight_between(a, b)
    cdef Eight lengths = eight_across(box, d), squared = lengths * lengths
    if box[STRETCHES] != 0.0:
        d = eight_less_lattice(box, lengths, d)
        d.x, d.y = eight_rounded(d.x * box[INVERSE]), eight_rounded(d.y * box[INVERSE + 1])
        d.z = eight_rounded(d.z * box[INVERSE + 2])
        squared = squared + dot3(d, d)
    store_eight(total, squared)
    return ~bits_below(total, 0.5) & (1 << LANES) - 1


cdef inline bint image_velocities(const double *box, const double *a, const double *b, double *behind,
                                  double *ahead) noexcept nogil:
    """Velocities (3, LANES) of those images of b (3, LANES) that are nearest to a, relative to b [m/s].

    False: no difference crosses a face, all are zero and not written.
    """
    cdef Vec3 before, after
    cdef int lane
    if crossing(box, a, b) == 0:
        return False
    for lane in range(LANES):
        image_velocity(box, sub(vec3(a[lane], a[LANES + lane], a[2 * LANES + lane]),
                                vec3(b[lane], b[LANES + lane], b[2 * LANES + lane])), &before, &after)
        behind[lane], behind[LANES + lane], behind[2 * LANES + lane] = before.x, before.y, before.z
        ahead[lane], ahead[LANES + lane], ahead[2 * LANES + lane] = after.x, after.y, after.z
    return True


cdef inline double lattice_floor(const double *box, const double *position) noexcept nogil:
    """By how many lengths of the gradient axis a position is outside; 0 without shear."""
    return floor(across_lengths(box, position[0] - box[LOW], position[1] - box[LOW + 1], position[2] - box[LOW + 2]))


cdef inline Vec3 center_of(const double *box) noexcept nogil:
    """The centre of the box; along open axes anything."""
    return vec3(box[LOW] + 0.5 * box[LENGTH], box[LOW + 1] + 0.5 * box[LENGTH + 1],
                box[LOW + 2] + 0.5 * box[LENGTH + 2])


cdef inline Vec3 from_center(const double *box, const double *x, int stride) noexcept nogil:
    """A position with components `stride` doubles apart, from the centre of the box."""
    return sub(vec3(x[0], x[stride], x[2 * stride]), center_of(box))


cdef inline Vec3 box_of(const double *box, const double *x, int stride) noexcept nogil:
    """Displacement of the image of the box in which a position is."""
    cdef double position[3]
    cdef double lengths
    position[0], position[1], position[2] = x[0], x[stride], x[2 * stride]
    lengths = lattice_floor(box, position)
    cdef Vec3 rest = sub(less_lattice(box, lengths, vec3(position[0], position[1], position[2])),
                         vec3(box[LOW], box[LOW + 1], box[LOW + 2]))
    return vec3(lengths * box[LATTICE] + box[LENGTH] * floor(rest.x * box[INVERSE]),
                lengths * box[LATTICE + 1] + box[LENGTH + 1] * floor(rest.y * box[INVERSE + 1]),
                lengths * box[LATTICE + 2] + box[LENGTH + 2] * floor(rest.z * box[INVERSE + 2]))


cdef inline Vec3 times_gradient(const double *gradient, Vec3 d) noexcept nogil:
    """A matrix (3, 3) of a record times a vector."""
    return vec3(gradient[0] * d.x + gradient[1] * d.y + gradient[2] * d.z,
                gradient[3] * d.x + gradient[4] * d.y + gradient[5] * d.z,
                gradient[6] * d.x + gradient[7] * d.y + gradient[8] * d.z)


cdef inline double gradient_norm(const double *gradient) noexcept nogil:
    """Of a matrix (3, 3)."""
    cdef double total = 0.0
    cdef int k
    for k in range(9):
        total += gradient[k] * gradient[k]
    return sqrt(total)


cdef inline Vec3 displacement_with(const double *before, const double *now, const double *x, int stride) noexcept nogil:
    """Displacement of a point of the box between two records [m]; x : where it was, components `stride` apart."""
    cdef Vec3 d = from_center(before, x, stride)
    return sub(times_gradient(now + DEFORMATION, times_gradient(before + INVERSE_DEFORMATION, d)), d)


cdef inline void wrap_position(const double *box, const double *position, double *within) noexcept nogil:
    """A position within the box, but for rounding. For searches alone: no force depends on it."""
    cdef double lengths = lattice_floor(box, position) if box[MOVES] != 0.0 else 0.0, x
    cdef int axis
    for axis in range(3):
        x = position[axis] - lengths * box[LATTICE + axis] if box[MOVES] != 0.0 else position[axis]
        within[axis] = x - box[axis] * floor((x - box[axis + 6]) * box[axis + 3])
