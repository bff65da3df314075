"""Ghosts: copies of spheres for the threads that do not own them.

Between two rebuilds a sphere is read and written by its owner only, so that its cache line stays with one core. Ghosts
follow all spheres in memory, in the same order; a cross-thread pair names its own sphere and the ghost of the other.
"""
from libc.string cimport memcpy

from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.core.vectors cimport IntVector
from minidem.state.state cimport StateView, clumps_of

cdef enum:
    LINE = 8                    # doubles of a cache line: two spheres

cdef inline int ghost_of(const StateView *state, int slot) noexcept nogil:
    return slot + <int> state.n_members * LANES


cdef inline int slot_of(const StateView *state, int sphere) noexcept nogil:
    """The slot of a sphere; for a ghost, that of the sphere that it copies."""
    cdef int n_slots = <int> state.n_members * LANES
    return sphere - n_slots if sphere >= n_slots else sphere


cdef inline int clump_of(const StateView *state, int sphere) noexcept nogil:
    """Slot of the clump of a sphere; of a ghost, behind those of all clumps."""
    cdef int ghost = sphere >= <int> state.n_members * LANES        # 0 or 1, without a branch: it vectorises
    cdef int slot = sphere - ghost * (<int> state.n_members * LANES)
    return (state.block_of_member[row_of(slot)] + ghost * <int> state.n_blocks) * LANES + lane_of(slot)


cdef inline void copy_ghosts(const IntVector *lines, const StateView *state) noexcept nogil:
    """Copy own spheres to their ghosts, and motions with orientations, or twists, of their clumps if they are in use.

    lines : see `list_marked`.

    A line is two spheres, of the clumps in two neighbouring slots.
    """
    cdef const double *spheres = state.spheres
    cdef double *ghosts = state.spheres + state.n_members * 4 * LANES
    cdef Py_ssize_t k
    cdef Py_ssize_t slot, clump
    cdef int m
    cdef double *twist
    cdef double *ghost
    for k in range(lines.size):
        memcpy(ghosts + LINE * <Py_ssize_t> lines.data[k], spheres + LINE * <Py_ssize_t> lines.data[k],
               LINE * sizeof(double))
    for k in range(lines.size if state.motions != NULL else 0):
        memcpy(state.motions + 16 * (state.n_members * 4 + <Py_ssize_t> lines.data[k]),
               state.motions + 16 * <Py_ssize_t> lines.data[k], 16 * sizeof(double))
        slot = state.block_of_member[lines.data[k] // 4] * LANES + 2 * (lines.data[k] % 4)
        for clump in range(slot, slot + 2):
            for m in range(4):
                state.turns[4 * clump + m] = clumps_of(
                    state, row_of(clump)).orientation[m * LANES + lane_of(clump)]
    for k in range(lines.size if state.twists != NULL else 0):
        twist = state.twists + 8 * LANES * <Py_ssize_t> state.block_of_member[lines.data[k] // 4] \
            + 8 * (lines.data[k] % 4)
        ghost = twist + 8 * LANES * state.n_blocks
        memcpy(ghost, twist, 8 * sizeof(double))
        memcpy(ghost + 4 * LANES, twist + 4 * LANES, 8 * sizeof(double))
