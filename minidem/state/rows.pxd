"""Rows: how the quantities of a clump are stored, in blocks of eight clumps.

What changes about the clumps is one array of doubles, shape (blocks, rows, LANES). A block holds LANES clumps; each of
its rows is one scalar of all of them, contiguous, so that one vector instruction treats eight clumps, and all about a
clump lies within two kilobytes. rows.h says what the rows are. Wrenches are a separate array: within a run they are
reduced, used and discarded block by block. Constants are stored once for all blocks with the same templates.
"""
from minidem.core.lanes cimport LANES
from minidem.core.quaternion cimport Quat
from minidem.core.vec3 cimport Vec3, vec3

cdef extern from "state/rows.h" nogil:
    # What changes. Behind it are optional columns, first of all what the rotation scheme stores.
    ctypedef struct ClumpBlock "minidem_bodies":
        double orientation[4 * LANES]
        double angular_velocity[3 * LANES]
        double position[3 * LANES]
        double velocity[3 * LANES]
        double path[LANES]
        double predicted[3 * LANES]
        double predicted_velocity[3 * LANES]
    ctypedef struct WrenchBlock "minidem_wrench":
        double torque[3 * LANES]
        double force[3 * LANES]
    ctypedef struct ConstantBlock "minidem_constants":
        double inertia[3 * LANES]
        double inverse_inertia[3 * LANES]
        double mass[LANES]
        double inverse_mass[LANES]
        double turn_bound[4 * LANES]
    double *scratch_of "minidem_scratch" (ClumpBlock *block)

cdef enum:                          # kinds of HoldBlock
    FREE, HELD, PINNED, CARRIED

cdef struct HoldBlock:              # how clumps are held: HOLD of bodies.py
    double free[3 * LANES]
    double turns[LANES]
    double axis[3 * LANES]
    double arm[3 * LANES]
    double kind[LANES]
    double wall[LANES]              # number of the one that carries it; -1: none


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
