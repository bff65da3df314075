"""Where clumps and spheres stand, and pointers to all that is known of them, for the kernels."""

from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FIXED_ROWS, LOAD_ROWS

cdef struct StateView:
    Py_ssize_t n_blocks
    Py_ssize_t n_rows               # rows of a block
    double *blocks                  # (n_blocks, n_rows, LANES): see rows.pxd
    Py_ssize_t n_members            # member rows: the k-th spheres of the eight clumps of a block
    const Py_ssize_t *first_member  # (n_blocks + 1,): the member rows of block b start here
    const int *block_of_member      # (n_members,)
    const int *kind_of_member       # (n_members,): which of the kinds a member row is
    const double *kinds             # (n_kinds, 4, LANES): offsets x y z in the principal frames, radii [m]
    double *loads                   # (n_blocks, LOAD_ROWS, LANES): between two runs
    const int *mixture_of_block     # (n_blocks,): which mixture of bodies its lanes have
    const double *fixed             # (n_mixtures, FIXED_ROWS, LANES): see rows.pxd
    double *spheres                 # (2 * n_members, LANES, 4): centre in the lab and radius [m]; then all ghosts
    const int *clump_number         # (n_blocks * LANES,): the user's number of a clump; -1 fills up a block
    const int *sphere_number        # (n_members * LANES,): the user's number of a sphere; -1: none in this slot


cdef inline const double *member(const StateView *state, Py_ssize_t row) noexcept nogil:
    """Offsets and radii (4, LANES) of the spheres of a member row; few kinds of rows serve all."""
    return state.kinds + state.kind_of_member[row] * 4 * <Py_ssize_t> LANES


cdef inline const double *fixed_rows(const StateView *state, Py_ssize_t block) noexcept nogil:
    """What never changes about the clumps of a block: (FIXED_ROWS, LANES)."""
    return state.fixed + state.mixture_of_block[block] * FIXED_ROWS * <Py_ssize_t> LANES


cdef inline double *loads_of(const StateView *state, Py_ssize_t block) noexcept nogil:
    """(LOAD_ROWS, LANES)"""
    return state.loads + block * LOAD_ROWS * <Py_ssize_t> LANES


cdef class Layout:
    cdef readonly object first_member, block_of_member, kind_of_member, kinds, spheres, mixture_of_block, fixed
    cdef readonly object clump_number, clump_slot, sphere_number, sphere_slot
    cdef readonly Py_ssize_t n_clumps, n_spheres
    cdef readonly object bodies
    cdef readonly bint same
    cdef StateView view
    cdef object arrange(self, const int[::1] kind, const double[::1] scale)
    cdef object share(self, Layout like)
    cdef object number(self, template_index)
    cdef object point(self)
