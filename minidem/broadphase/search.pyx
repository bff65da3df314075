"""Outer pairs from the grids: a share of the cells for each thread, the pairs sorted by owner."""
from minidem.arrays cimport Ints, reserve
from minidem.broadphase.cell_grid cimport CellGrid, Runs, cell_of, runs_ahead, runs_around
from minidem.broadphase.neighbours cimport BEYOND
from minidem.rows cimport LANES
from minidem.state cimport StateView


cdef extern from "broadphase/near.h" nogil:
    int find_near "minidem_find_near"(const double *x, const double *y, const double *z, const double *r,
                                      int first, int last, double cx, double cy, double cz, double reach, int *near)


cdef inline int owner_of(const Neighbours *all, int n_threads, int block) noexcept nogil:
    cdef int thread = 0
    while thread < n_threads - 1 and block >= all[thread].last_block:
        thread += 1
    return thread


cdef inline void append_pair(Ints *list, int i, int j, bint wanted) noexcept nogil:
    """Without a branch; the list has room for it, wanted or not."""
    list.data[list.size] = i
    list.data[list.size + 1] = j
    list.size += 2 * wanted


cdef inline void keep_pair(Neighbours *all, int thread, int n_threads, const StateView *state, int i,
                           int j) noexcept nogil:
    """Put a pair of spheres of two clumps into the lists of the owners of both; each has room for two pairs."""
    cdef int first_block = state.block_of_member[i >> 3], second_block = state.block_of_member[j >> 3]
    cdef bint different = (first_block != second_block) | (((i ^ j) & (LANES - 1)) != 0)
    cdef int owner = owner_of(all, n_threads, first_block), second = owner_of(all, n_threads, second_block)
    append_pair(all[thread].found + owner, i, j, different)
    append_pair(all[thread].found + second, i, j, different & (second != owner))


cdef inline bint are_near(const double *a, const double *b, double skin) noexcept nogil:
    """Is the gap between two spheres (centre, radius) below `skin`?"""
    cdef double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], reach = a[3] + b[3] + skin
    return x * x + y * y + z * z < reach * reach


cdef bint collect_near(Ints *near, const StateView *state, int clump, const double *sphere,
                       double skin) noexcept nogil:
    """Slots of the clump's spheres near `sphere`. False: memory exhausted."""
    cdef Py_ssize_t row, block = clump >> 3
    cdef int slot
    near.size = 0
    if not reserve(near, state.first_member[block + 1] - state.first_member[block]):
        return False
    for row in range(state.first_member[block], state.first_member[block + 1]):
        slot = <int> row * LANES + (clump & (LANES - 1))
        if state.sphere_number[slot] >= 0 and are_near(state.spheres + 4 * <Py_ssize_t> slot, sphere, skin):
            near.data[near.size] = slot
            near.size += 1
    return True


cdef bint compare_clumps(Neighbours *all, int thread, int n_threads, const StateView *state, int first, int second,
                         const double *first_bound, const double *second_bound, double skin) noexcept nogil:
    """Outer pairs of two clumps whose bounding spheres are near: only spheres near the other's bounding sphere."""
    cdef Ints *near = all[thread].near
    cdef Py_ssize_t i, j
    cdef int owner
    if not (collect_near(&near[0], state, first, second_bound, skin)
            and collect_near(&near[1], state, second, first_bound, skin)):
        return False
    for i in range(near[0].size):
        for j in range(near[1].size):
            if are_near(state.spheres + 4 * <Py_ssize_t> near[0].data[i],
                        state.spheres + 4 * <Py_ssize_t> near[1].data[j], skin):
                for owner in range(n_threads):
                    if not reserve(all[thread].found + owner, all[thread].found[owner].size + 4):
                        return False
                keep_pair(all, thread, n_threads, state, near[0].data[i], near[1].data[j])
    return True


cdef bint search_runs(Neighbours *all, int thread, int n_threads, const CellGrid *mine, Py_ssize_t p,
                      const CellGrid *grid, const Runs *runs, const StateView *state, double skin,
                      bint clumps_first) noexcept nogil:
    """Pairs of what is at place p of `mine` with what is in some runs of `grid`. False: memory exhausted."""
    cdef Ints *hits = &all[thread].hits
    cdef int i = mine.slot.data[p], run, k
    cdef double first_bound[4]
    cdef double second_bound[4]
    cdef int owner
    hits.size = 0
    for run in range(runs.count):
        if not reserve(hits, hits.size + runs.last[run] - runs.first[run] + LANES):
            return False
        hits.size += find_near(grid.x, grid.y, grid.z, grid.radius, runs.first[run], runs.last[run],
                               mine.x[p], mine.y[p], mine.z[p], mine.radius[p] + skin, hits.data + hits.size)
    if clumps_first:
        for k in range(hits.size):
            bound_at(first_bound, mine, p)
            bound_at(second_bound, grid, hits.data[k])
            if not compare_clumps(all, thread, n_threads, state, i, grid.slot.data[hits.data[k]], first_bound,
                                  second_bound, skin):
                return False
        return True
    for owner in range(n_threads):
        if not reserve(all[thread].found + owner, all[thread].found[owner].size + 2 * hits.size + 2):
            return False
    for k in range(hits.size):
        keep_pair(all, thread, n_threads, state, i, grid.slot.data[hits.data[k]])
    return True


cdef inline void bound_at(double *sphere, const CellGrid *grid, Py_ssize_t p) noexcept nogil:
    sphere[0] = grid.x[p]
    sphere[1] = grid.y[p]
    sphere[2] = grid.z[p]
    sphere[3] = grid.radius[p]


cdef bint search_pairs(Neighbours *all, int thread, int n_threads, const Levels *levels,
                       const StateView *state, double skin, bint clumps_first) noexcept nogil:
    """This thread's share of every grid: outer pairs, sorted by owner. False: memory exhausted.

    clumps_first : the grids hold bounding spheres of clumps, not spheres.
    """
    cdef const CellGrid *grid
    cdef Py_ssize_t p
    cdef Runs runs, around
    cdef double centre[4]
    cdef int cell, level, larger, owner
    for owner in range(n_threads):
        all[thread].found[owner].size = 0
    for level in range(levels.count):
        grid = &levels.grid[level]
        cell = -1
        for p in range(thread * grid.items.size // n_threads, (thread + 1) * grid.items.size // n_threads):
            if grid.cell.data[p] != cell:
                cell = grid.cell.data[p]
                runs_ahead(&runs, grid, cell)
            runs.first[0] = <int> p + 1
            if not search_runs(all, thread, n_threads, grid, p, grid, &runs, state, skin, clumps_first):
                return False
            for larger in range(level + 1, levels.count):
                bound_at(centre, grid, p)
                runs_around(&around, &levels.grid[larger], cell_of(&levels.grid[larger], centre))
                if not search_runs(all, thread, n_threads, grid, p, &levels.grid[larger], &around, state, skin,
                                   clumps_first):
                    return False
    for owner in range(n_threads):
        if not reserve(all[thread].found + owner, all[thread].found[owner].size + BEYOND):
            return False
    return True
