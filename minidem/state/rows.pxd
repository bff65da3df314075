"""Rows: how the quantities of a clump are stored, in blocks of eight clumps.

What changes about the clumps is one array of doubles, shape (blocks, rows, LANES). A block holds LANES clumps; each of
its rows is one scalar of all of them, contiguous, so that one vector instruction treats eight clumps, and all about a
clump lies within two kilobytes. Rows are named by their first component. Wrenches are a separate array: within a run
they are reduced, used and discarded block by block. Constants are stored once for all blocks with the same templates.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, vec3

cdef enum Row:
    ORIENTATION = 0         # 4  the pose: w x y z, principal body frame -> lab
    ANGULAR_VELOCITY = 4    # 3  as the scheme stores it, principal body frame      [rad/s]
    POSITION = 7            # 3  centre of mass at the pose, lab                    [m]
    VELOCITY = 10           # 3  half a step behind the pose, lab                   [m/s]
    PATH = 13               # bound of the displacement of any sphere since the inner rebuild / half the inner skin
    PREDICTED = 14          # 3  angular velocity at the instant of the pose, body  [rad/s]
    PREDICTED_VELOCITY = 17  # 3  at the instant of the pose, lab; for velocity-dependent forces only [m/s]
    SCRATCH = 20            # as many as the rotation scheme needs; behind them FIELD_ROWS for each component of a field

cdef enum FieldRow:         # of a component of a field
    VALUE = 0
    RATE = 1                # at the pose                                           [1/s]
    LAST_RATE = 2           # a step before
    HAS_LAST = 3            # 1 if that is known, else 0
    PER_CAPACITY = 4        # 1 / capacity
    FIELD_ROWS = 5

cdef enum WrenchRow:        # at the pose
    TORQUE = 0              # 3  principal body frame                               [N m]
    FORCE = 3               # 3  gravity included, lab                              [N]
    WRENCH_ROWS = 6

cdef enum FixedRow:         # constants
    INERTIA = 0             # 3  principal moments                                  [kg m2]
    INVERSE_INERTIA = 3     # 3  their reciprocals                                  [1/(kg m2)]
    MASS = 6                # 1                                                     [kg]
    INVERSE_MASS = 7        # 0 in empty lanes, which do not move                   [1/kg]
    TURN_BOUND = 8          # 4  bound of displacement under rotation: pose.pxd [m2]
    FIXED_ROWS = 12


cdef inline Vec3 load(const double *row) noexcept nogil:
    """The vector of one clump; row points to its lane in the first of three rows."""
    return vec3(row[0], row[LANES], row[2 * LANES])


cdef inline void store(double *row, Vec3 v) noexcept nogil:
    row[0] = v.x
    row[LANES] = v.y
    row[2 * LANES] = v.z


cdef inline Quat load_quat(const double *row) noexcept nogil:
    cdef Quat q
    q.w = row[0]
    q.x = row[LANES]
    q.y = row[2 * LANES]
    q.z = row[3 * LANES]
    return q


cdef inline void store_quat(double *row, Quat q) noexcept nogil:
    row[0] = q.w
    row[LANES] = q.x
    row[2 * LANES] = q.y
    row[3 * LANES] = q.z
