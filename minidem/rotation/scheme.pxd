"""What a rotation scheme is to the time loop: five functions over blocks of eight clumps.

A scheme's file writes each formula once, as an inline function of one `Body`, and `over_bodies`
turns it into a loop over the lanes of a block, which the compiler vectorises. A function has the
rows of a block that change, the three of the torque, those that are fixed (rows.pxd), and the step.

    start    once, at t_0, where the torque is known: from w(t_0) to what the scheme stores
    move     stored state and the torque at the pose -> pose (and stored state) of the next stage
    finish   optional: once the torque at the new pose is known
    sync     angular velocity at the instant of the pose, its torque known -> `predicted` (default: w)
    predict  the same before the torque at the pose is known, from the last one (default: sync)

`sync` and `predict` change nothing but `predicted`.
"""
from libc.string cimport memcpy

from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, add, times, vec3
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport (
    ANGULAR_VELOCITY, INERTIA, INVERSE_INERTIA, MASS, ORIENTATION, PREDICTED, SCRATCH, load, load_quat, store,
    store_quat,
)

cdef extern from *:
    """
    /* What a scheme calls inline is inlined, however large: a formula that is called instead keeps
       the loop over the bodies of a block from being vectorised, and the scheme runs six times slower. */
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cpdef enum Limits:
    MAX_PARAMETERS = 8
    MAX_STAGES = 8

cdef struct Step:                # to code in other languages: an array of doubles
    double dt                    # [s]
    double stage                 # index into the scheme's stages
    double parameters[MAX_PARAMETERS]   # in the order of the record
    void *context                # for schemes written in Python (external.pyx)


cdef struct Body:
    Quat q                       # the pose, principal body frame -> lab
    Vec3 w                       # angular velocity last used by the step, body frame [rad/s]
    Vec3 predicted               # angular velocity at the instant of the pose, body frame [rad/s]
    Vec3 torque                  # at the pose, body frame [N m]
    Vec3 inertia                 # principal moments [kg m2]
    Vec3 inverse_inertia
    double *scratch              # scratch value number k of this body is scratch[k * LANES]


ctypedef void (*BodyFunction)(Body *body, const Step *step) noexcept nogil
ctypedef void (*BlockFunction)(double *block, const double *torque, const double *fixed,
                               const Step *step) noexcept nogil


cdef class Kernels:
    cdef BlockFunction start
    cdef BlockFunction move
    cdef BlockFunction finish
    cdef BlockFunction predict
    cdef BlockFunction sync
    cdef public object functions            # of a scheme written in Python: role -> function
    cdef public object keep
    cdef public object error                # what such a function raised
    cdef public bint failed                 # whether it did
    cdef public int n_scratch
    cdef public int n_parameters
    cdef object raise_error(self)


cdef Kernels kernels(BlockFunction start, BlockFunction move, BlockFunction finish,
                     BlockFunction predict, BlockFunction sync)


cdef inline void over_bodies(BodyFunction formula, double *block, const double *torque, const double *fixed,
                             const Step *step) noexcept nogil:
    """Apply `formula` to the bodies of one block: loads, formula, stores, for every lane."""
    cdef Body body
    # Copies that cannot overlap the block: else a scheme that writes many rows goes through them one body at a time.
    cdef Step own_step = step[0]
    cdef double own_torque[3 * LANES], own_fixed[MASS * LANES]      # the moments and their reciprocals stand first
    cdef int lane
    memcpy(own_torque, torque, sizeof(own_torque))
    memcpy(own_fixed, fixed, sizeof(own_fixed))
    for lane in range(LANES):
        body.q = load_quat(block + ORIENTATION * LANES + lane)
        body.w = load(block + ANGULAR_VELOCITY * LANES + lane)
        body.predicted = load(block + PREDICTED * LANES + lane)
        body.torque = load(own_torque + lane)
        body.inertia = load(own_fixed + INERTIA * LANES + lane)
        body.inverse_inertia = load(own_fixed + INVERSE_INERTIA * LANES + lane)
        body.scratch = block + SCRATCH * LANES + lane
        formula(&body, &own_step)
        store_quat(block + ORIENTATION * LANES + lane, body.q)
        store(block + ANGULAR_VELOCITY * LANES + lane, body.w)
        store(block + PREDICTED * LANES + lane, body.predicted)


cdef inline Vec3 gyroscopic(const Body *body, Vec3 w) noexcept nogil:
    """-w x I w in the principal frame; exactly zero about an axis across which the moments are equal."""
    return vec3((body.inertia.y - body.inertia.z) * (w.y * w.z),
                (body.inertia.z - body.inertia.x) * (w.z * w.x),
                (body.inertia.x - body.inertia.y) * (w.x * w.y))


cdef inline Vec3 angular_acceleration(const Body *body, Vec3 w, Vec3 torque) noexcept nogil:
    """Euler's equations in the principal frame: I^-1 (M - w x I w)."""
    return times(body.inverse_inertia, add(torque, gyroscopic(body, w)))
