"""Interface between a rotation scheme and the time loop: five roles, each a formula for one body.

A scheme's file writes each formula once, as an inline function of one `Body`. One function of a block of eight bodies
gives each formula its `role`.

    START    optional: once, at t_0, where the torque is known: from w(t_0) to what the scheme stores
    MOVE     stored state and the torque at t_n -> orientation (and stored state) of the next stage
    FINISH   optional: once the torque at the new orientation is known
    SYNC     optional: angular velocity at t_n, its torque known -> `predicted` (default: w)
    PREDICT  optional: the same before the torque at t_n is known, from the last one (default: SYNC)

SYNC and PREDICT change nothing but `predicted`. spiral.pyx is a complete example.
"""
from libc.string cimport memcpy

from minidem.core.external cimport External
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, add, times, vec3
from minidem.state.rows cimport (
    ClumpBlock, ConstantBlock, WrenchBlock, load, load_quat, scratch_of, store, store_quat,
)

cdef extern from *:
    """
    /* Inline functions of a scheme are always inlined, however large: a call in the loop over the bodies of a block
       prevents its vectorisation and makes the scheme six times slower. */
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cpdef enum Limits:
    MAX_PARAMETERS = 8
    MAX_STAGES = 8

cdef enum Role:
    START, MOVE, FINISH, SYNC, PREDICT, N_ROLES

ctypedef void (*BlockFunction)(double *block, const double *torque, const double *fixed,
                               const Step *step) noexcept nogil

cdef struct Step:
    # The first three members, doubles, are all that code in other languages reads: scheme.h.
    double dt                           # [s]
    double stage_as_double
    double parameters[MAX_PARAMETERS]   # in the order of the description
    void *context                       # the Kernels, for external.pyx
    BlockFunction *of_user              # (N_ROLES,): the user's own functions in C; NULL: in Python, or none
    int stage                           # index into the scheme's stages
    int integers[MAX_PARAMETERS]        # of parameters that are integers: the value; that are words: the word's index
    int variant                         # of the formula, see `role`


cdef inline void set_stage(Step *step, int stage) noexcept nogil:
    step.stage = stage
    step.stage_as_double = stage


cdef struct BodyBlock:              # eight bodies, and what is to be done with them
    int wanted                      # a role; N_ROLES: nothing
    const Step *step
    ClumpBlock *clumps
    const WrenchBlock *wrench
    const ConstantBlock *constants


cdef struct Body:
    Quat q                       # orientation, principal body frame -> lab
    Vec3 w                       # angular velocity last used by the step, body frame [rad/s]
    Vec3 predicted               # angular velocity at t_n, body frame [rad/s]
    Vec3 torque                  # at t_n, body frame [N m]
    Vec3 inertia                 # principal moments [kg m2]
    Vec3 inverse_inertia
    double *scratch              # scratch value number k of this body is scratch[k * LANES]


ctypedef void (*BodyFunction)(Body *body, const Step *step) noexcept nogil
ctypedef bint (*BodyTest)(const Body *body, const Step *step) noexcept nogil
# Does what the wanted role asks for; returns bits 1 << role of all roles that the scheme has.
ctypedef int (*SchemeFunction)(const BodyBlock *b) noexcept nogil


cdef class Kernels(External):
    cdef SchemeFunction function
    cdef int roles                          # bits 1 << role of those that it has; `has` for Python
    cdef BlockFunction of_user[N_ROLES]     # see Step
    cdef public int n_scratch               # of a user's scheme
    cdef object set_parameters(self, Step *step, values)


cdef inline Body body_of(const BodyBlock *b, int lane) noexcept nogil:
    cdef Body body
    body.q = load_quat(b.clumps.orientation + lane)
    body.w = load(b.clumps.angular_velocity + lane)
    body.predicted = load(b.clumps.predicted + lane)
    body.torque = load(b.wrench.torque + lane)
    body.inertia = load(b.constants.inertia + lane)
    body.inverse_inertia = load(b.constants.inverse_inertia + lane)
    body.scratch = scratch_of(b.clumps) + lane
    return body


cdef inline void over_bodies(BodyFunction formula, const BodyBlock *b, int variant) noexcept nogil:
    """Apply `formula` to the bodies of one block: loads, formula, stores, for every lane, vectorised."""
    cdef Body body
    # Copies cannot alias the block. Through pointers, even restricted ones, most schemes are not vectorised.
    cdef Step own_step = b.step[0]
    cdef BodyBlock own = b[0]
    cdef WrenchBlock wrench
    cdef ConstantBlock constants
    cdef int lane
    memcpy(&wrench.torque, &b.wrench.torque, sizeof(wrench.torque))
    memcpy(&constants.inertia, &b.constants.inertia, sizeof(constants.inertia))
    memcpy(&constants.inverse_inertia, &b.constants.inverse_inertia, sizeof(constants.inverse_inertia))
    own_step.variant, own.wrench, own.constants = variant, &wrench, &constants
    for lane in range(LANES):
        body = body_of(&own, lane)
        formula(&body, &own_step)
        store_quat(b.clumps.orientation + lane, body.q)
        store(b.clumps.angular_velocity + lane, body.w)
        store(b.clumps.predicted + lane, body.predicted)


cdef inline bint all_bodies(BodyTest test, const BodyBlock *b) noexcept nogil:
    """Do all bodies of a block pass?"""
    cdef Body body
    cdef long long failed = 0                           # as wide as a double, so that the loop vectorises
    cdef int lane
    for lane in range(LANES):
        body = body_of(b, lane)
        failed |= <long long> (not test(&body, b.step))
    return failed == 0


cdef inline int role(int which, BodyFunction formula, const BodyBlock *b, int variant=0) noexcept nogil:
    """Apply the formula of a role to all bodies, if this role is the wanted one; returns the bit of the role.

    variant : of the formula, which reads step.variant. It must be a constant, so that the loop over bodies vectorises.
    """
    if b.wanted == which:
        over_bodies(formula, b, variant)
    return 1 << which


cdef inline void w_as_stored(Body *b, const Step *step) noexcept nogil:
    b.predicted = b.w


cdef inline void call_scheme(SchemeFunction function, int roles, int wanted, ClumpBlock *clumps,
                             const WrenchBlock *wrench, const ConstantBlock *constants,
                             const Step *step) noexcept nogil:
    """Call a scheme that has `roles` for a block, in the wanted role or its default."""
    cdef BodyBlock b
    if wanted == PREDICT and not roles >> PREDICT & 1:
        wanted = SYNC
    b.wanted, b.step, b.clumps, b.wrench, b.constants = wanted, step, clumps, wrench, constants
    if wanted == SYNC and not roles >> SYNC & 1:
        role(SYNC, w_as_stored, &b)
    else:
        function(&b)


cdef inline Vec3 differences(const Body *body) noexcept nogil:
    """(I_y - I_z, I_z - I_x, I_x - I_y); exactly zero where two moments are equal."""
    return vec3(body.inertia.y - body.inertia.z, body.inertia.z - body.inertia.x, body.inertia.x - body.inertia.y)


cdef inline Vec3 products(Vec3 w) noexcept nogil:
    return vec3(w.y * w.z, w.z * w.x, w.x * w.y)


cdef inline Vec3 gyroscopic(const Body *body, Vec3 w) noexcept nogil:
    """-w x I w in the principal frame."""
    return times(differences(body), products(w))


cdef inline Vec3 angular_acceleration(const Body *body, Vec3 w, Vec3 torque) noexcept nogil:
    """Euler's equations in the principal frame: I^-1 (M - w x I w)."""
    return times(body.inverse_inertia, add(torque, gyroscopic(body, w)))
