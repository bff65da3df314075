"""Rows: how the quantities of a clump are stored, in blocks of eight clumps.

What changes about the clumps is one array of doubles, shape (blocks, rows, LANES). A block holds LANES clumps; each of
its rows is one scalar of all of them, contiguous, so that one vector instruction treats eight clumps, and all about a
clump lies within two kilobytes. Wrenches are a separate array: within a run they are reduced, used and discarded block
by block. Constants are stored once for all blocks with the same templates.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, vec3

cdef struct ClumpBlock:             # what changes; behind it optional columns, first what the rotation scheme stores
    double orientation[4 * LANES]   # the pose: w x y z, principal body frame -> lab
    double angular_velocity[3 * LANES]  # as the scheme stores it, principal body frame [rad/s]
    double position[3 * LANES]      # centre of mass at the pose, lab [m]
    double velocity[3 * LANES]      # half a step behind the pose, lab [m/s]
    double path[LANES]              # bound of the displacement of any sphere since the inner rebuild / half the skin
    double predicted[3 * LANES]     # angular velocity at the instant of the pose, principal body frame [rad/s]
    double predicted_velocity[3 * LANES]    # at that instant, lab; for velocity-dependent forces only [m/s]

cdef struct WrenchBlock:            # at the pose
    double torque[3 * LANES]        # principal body frame [N m]
    double force[3 * LANES]         # gravity included, lab [N]

cdef struct ConstantBlock:
    double inertia[3 * LANES]       # principal moments [kg m2]
    double inverse_inertia[3 * LANES]   # their reciprocals [1/(kg m2)]
    double mass[LANES]              # [kg]
    double inverse_mass[LANES]      # 0 in empty lanes, which do not move [1/kg]
    double turn_bound[4 * LANES]    # bound of displacement under rotation: pose.pxd [m2]

cdef enum:                          # kinds of HoldBlock
    FREE, HELD, PINNED, CARRIED

cdef struct HoldBlock:              # how clumps are held: HOLD of bodies.py
    double free[3 * LANES]
    double turns[LANES]
    double axis[3 * LANES]
    double arm[3 * LANES]
    double kind[LANES]
    double wall[LANES]              # number of the one that carries it; -1: none


cdef inline double *scratch_of(ClumpBlock *block) noexcept nogil:
    """Values that the rotation scheme stores, (n_scratch, LANES)."""
    return <double *> (block + 1)


cdef inline void number_rows(void *block, size_t size) noexcept nogil:
    """Write 0, 1, 2, ... to a block of doubles, whose members then tell where they are: `rows_of` of state.pyx."""
    cdef size_t k
    for k in range(size // sizeof(double)):
        (<double *> block)[k] = k


cdef inline Vec3 load(const double *row) noexcept nogil:
    """The vector of one clump; row points to its lane in the first of three rows."""
    return vec3(row[0], row[LANES], row[2 * LANES])


cdef inline void store(double *row, Vec3 v) noexcept nogil:
    row[0], row[LANES], row[2 * LANES] = v.x, v.y, v.z


cdef inline Quat load_quat(const double *row) noexcept nogil:
    cdef Quat q
    q.w, q.x, q.y, q.z = row[0], row[LANES], row[2 * LANES], row[3 * LANES]
    return q


cdef inline void store_quat(double *row, Quat q) noexcept nogil:
    row[0], row[LANES], row[2 * LANES], row[3 * LANES] = q.w, q.x, q.y, q.z
