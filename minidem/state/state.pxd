"""The state of all clumps, and the pointers to it for compiled code."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from libc.string cimport strcmp, strlen

from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.state.rows cimport ClumpBlock, ConstantBlock, HoldBlock, WrenchBlock

# Motions of a sphere, half a step behind the pose: velocity [m/s], 0, angular velocity [rad/s], 0.
cdef struct StateView:
    Py_ssize_t n_blocks
    Py_ssize_t n_rows               # rows of a block
    double *blocks                  # (n_blocks, n_rows, LANES): see clumps_of
    const char *optional            # names of the optional columns, one after the other, and an empty one
    const Py_ssize_t *optional_rows     # their first rows
    WrenchBlock *wrench             # (n_blocks,): valid between two runs
    Py_ssize_t n_members            # member rows: the k-th spheres of the eight clumps of a block
    const Py_ssize_t *first_member  # (n_blocks + 1,): first member row of each block
    const int *block_of_member      # (n_members,)
    const int *offset_row           # (n_members,): row of offset_table
    const double *offset_table      # (n, 4, LANES): offsets x y z in the principal frames, and radii [m]
    const int *block_type           # (n_blocks,): index into `constants`
    const ConstantBlock *constants  # (block types,)
    const HoldBlock *holds          # (block types,); NULL: no clump is held
    double *spins                   # (n_blocks, 3, LANES): angular velocity, lab [rad/s]
    double *motions                 # (n_members, LANES, 8): of spheres; NULL: not needed
    double half_step                # by which velocities of spins and motions are behind the pose [s]
    double *spheres                 # (n_members, LANES, 4), centre in the lab and radius [m]; 2 more for free lanes
    const int *clump_number         # (n_blocks * LANES,): the user's number of a clump; -1: empty lane
    const int *sphere_number        # (n_members * LANES,): the user's number of a sphere; -1: empty slot


cdef inline const double *member(const StateView *state, Py_ssize_t row) noexcept nogil:
    """Offsets and radii (4, LANES) of the spheres of a member row."""
    return state.offset_table + state.offset_row[row] * 4 * <Py_ssize_t> LANES


cdef inline int clump_of(const StateView *state, int sphere) noexcept nogil:
    """Slot of the clump of a sphere."""
    return state.block_of_member[row_of(sphere)] * LANES + lane_of(sphere)


cdef inline int free_slot_of(const StateView *state) noexcept nogil:
    """The first of two spheres behind all others: of contact blocks, where there is no contact (contact/blocks.pxd)."""
    return <int> state.n_members * LANES


cdef inline ClumpBlock *clumps_of(const StateView *state, Py_ssize_t block) noexcept nogil:
    return <ClumpBlock *> (state.blocks + block * state.n_rows * LANES)


cdef inline Py_ssize_t first_row(const StateView *state, const char *name) noexcept nogil:
    """First row of an optional column; -1: the state does not have it."""
    cdef const char *known = state.optional
    cdef const Py_ssize_t *row = state.optional_rows
    while known[0] != 0 and strcmp(known, name) != 0:
        known += strlen(known) + 1
        row += 1
    return -1 if known[0] == 0 else row[0]


cdef inline double *rows_at(const StateView *state, Py_ssize_t block, Py_ssize_t first) noexcept nogil:
    """Rows of a block from `first` on, (..., LANES)."""
    return state.blocks + (block * state.n_rows + first) * LANES


cdef inline const ConstantBlock *constants_of(const StateView *state, Py_ssize_t block) noexcept nogil:
    return state.constants + state.block_type[block]


cdef inline const HoldBlock *hold_of(const StateView *state, Py_ssize_t block) noexcept nogil:
    return NULL if state.holds == NULL else state.holds + state.block_type[block]


cdef inline WrenchBlock *wrench_of(const StateView *state, Py_ssize_t block) noexcept nogil:
    return state.wrench + block


cdef inline void *pointer_to(array):
    """First item of a contiguous array of NumPy, which somebody else keeps.

    No Python code runs here, so that Ctrl-C cannot come between two pointers.
    """
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    return buffer.buf


cdef class State:
    cdef readonly object blocks, wrench
    cdef readonly object bodies, template_index, scale, material_index
    cdef readonly object hold           # (n_clumps,) HOLD of bodies.py; None: no clump is held
    cdef readonly object constants, block_type          # (block types, rows, LANES); index into it for each block
    cdef readonly object spheres        # (member rows, LANES, 4): centre and radius
    cdef readonly object clump_number, sphere_number    # the user's numbers by slot; -1: empty
    cdef readonly object clump_slot, sphere_slot
    cdef readonly Py_ssize_t n_clumps, n_spheres
    cdef readonly object templates
    cdef readonly object box, shift     # PeriodicBox or None; (n_clumps, 3) int64, see wrap, (0, 3) without a box
    cdef readonly dict optional         # widths of the columns of `blocks` after the rows of rows.pxd, by name
    cdef readonly dict columns          # (first row, width) of all of them
    cdef object members                 # other arrays that the view points to
    cdef StateView view
    cdef object wrap(self)
