"""Storage of the broad phase: lists of each thread, grids, skins, and the blocks that each thread owns."""
from libc.stdlib cimport calloc, free

from minidem.broadphase.cell_grid cimport empty_grid, free_levels, sort_by_size
from minidem.broadphase.neighbours cimport Neighbours
from minidem.core.clock cimport clock
from minidem.core.lanes cimport LANES
from minidem.core.openmp cimport set_spins
from minidem.core.vec3 cimport norm
from minidem.core.vectors cimport APART, IntVector, release
from minidem.state.rows cimport load
from minidem.state.state cimport StateView, member

cdef enum:
    SPHERES_PER_CLUMP = 8           # with more, clumps are searched by their bounding spheres first


cdef inline double member_radius(const StateView *state, Py_ssize_t slot) noexcept nogil:
    return member(state, slot // LANES)[3 * LANES + slot % LANES]


cdef inline double reach_of(const StateView *state, Py_ssize_t slot) noexcept nogil:
    """Distance from the centre of mass of a clump to the farthest point of its sphere."""
    return member_radius(state, slot) + norm(load(member(state, slot // LANES) + slot % LANES))


cdef void set_bounding_radii(Broadphase *broad, const StateView *state) noexcept nogil:
    """Radii of the bounding spheres of the clumps, into `bounds`."""
    cdef Py_ssize_t slot, clump
    cdef double radius
    for slot in range(state.n_members * LANES):
        if state.sphere_number[slot] >= 0:
            clump = <Py_ssize_t> state.block_of_member[slot // LANES] * LANES + slot % LANES
            radius = reach_of(state, slot)
            broad.bounds[4 * clump + 3] = max(broad.bounds[4 * clump + 3], radius)


cdef void assign_blocks(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Set the range of blocks that a thread owns. After a change of shares its working time is measured anew."""
    cdef Neighbours *mine = broad.threads + thread
    cdef double part = 0.0
    cdef int t
    for t in range(thread):
        part += broad.shares[t].part
    mine.first_block = <Py_ssize_t> (part * state.n_blocks + 0.5)
    part = part + broad.shares[thread].part if thread < broad.n_threads - 1 else 1.0
    mine.last_block = <Py_ssize_t> (part * state.n_blocks + 0.5)
    if broad.rebalanced:
        mine.began, mine.worked, mine.waited = clock(), 0.0, 0.0


cdef bint create_broadphase(Broadphase *broad, const StateView *state, int n_threads, int log_slab) noexcept nogil:
    """Empty lists for `n_threads` threads that own equal parts of the blocks. False: memory exhausted.

    log_slab : see Neighbours.
    """
    cdef Py_ssize_t slot, n = 0
    cdef double total = 0.0
    cdef int t
    broad.n_threads = n_threads
    broad.threads = <Neighbours *> calloc(n_threads, sizeof(Neighbours))
    broad.reports = <Report *> calloc(n_threads, sizeof(Report))
    broad.shares = <Share *> calloc(n_threads, sizeof(Share))
    broad.marks = <unsigned char *> calloc(state.n_members + 1, 1)
    broad.reference_poses = <double *> calloc(state.n_blocks * REFERENCE_ROWS * LANES + 1, sizeof(double))
    if (broad.threads == NULL or broad.reports == NULL or broad.shares == NULL or broad.marks == NULL
            or broad.reference_poses == NULL):
        return False
    set_spins(&broad.barrier, n_threads)
    for t in range(n_threads):
        broad.shares[t].part = 1.0 / n_threads
        assign_blocks(broad, t, state)
        broad.threads[t].log_slab = log_slab
        broad.threads[t].found = <IntVector *> calloc(n_threads * sizeof(IntVector) + APART, 1)
        broad.threads[t].cross_thread = <IntVector *> calloc(n_threads * sizeof(IntVector) + APART, 1)
        if broad.threads[t].found == NULL or broad.threads[t].cross_thread == NULL:
            return False
    for slot in range(state.n_members * LANES):
        if state.sphere_number[slot] >= 0:
            total += member_radius(state, slot)
            broad.largest_sphere = max(broad.largest_sphere, 2.0 * member_radius(state, slot))
            broad.largest_clump = max(broad.largest_clump, 2.0 * reach_of(state, slot))
            n += 1
    for slot in range(state.n_blocks * LANES):
        broad.n_items += state.clump_number[slot] >= 0
    broad.clumps_first = n >= SPHERES_PER_CLUMP * broad.n_items and n > 0
    if broad.clumps_first:
        broad.bounds = <double *> calloc(state.n_blocks * LANES, 4 * sizeof(double))
        if broad.bounds == NULL:
            return False
        set_bounding_radii(broad, state)
    else:
        broad.n_items = n
    if not sort_by_size(&broad.levels, searched_spheres(broad, state), state.clump_number if broad.clumps_first
                        else state.sphere_number, (state.n_blocks if broad.clumps_first else state.n_members) * LANES):
        return False
    broad.n_spheres = n
    broad.mean_diameter = 2.0 * total / n if n else 0.0
    broad.outer_skin = 0.5 * broad.mean_diameter
    broad.inner_skin = 0.125 * broad.mean_diameter
    broad.valid = False
    return True


cdef void drop_lists(Broadphase *broad) noexcept nogil:
    """Free the memory of all lists; they are rebuilt before the next use."""
    cdef Neighbours *mine
    cdef int t, other
    broad.valid = False
    for t in range(broad.levels.count):
        empty_grid(&broad.levels.grid[t])
    for t in range(broad.n_threads if broad.threads != NULL else 0):
        mine = broad.threads + t
        for other in range(broad.n_threads):
            if mine.found != NULL:
                release(mine.found + other)
            if mine.cross_thread != NULL:
                release(mine.cross_thread + other)
        release(&mine.hits)
        release(&mine.near[0])
        release(&mine.near[1])
        release(&mine.outer_wall_candidates)
        release(&mine.triangles)
        release(&mine.pairs)
        release(&mine.spare)
        release(&mine.slab_ends)
        release(&mine.wall_candidates)
        release(&mine.active)
        release(&mine.ghost_lines)
        release(&mine.outer_ghost_lines)


cdef void free_broadphase(Broadphase *broad) noexcept nogil:
    cdef int t
    drop_lists(broad)
    for t in range(broad.n_threads if broad.threads != NULL else 0):
        free(broad.threads[t].found)
        free(broad.threads[t].cross_thread)
    free(broad.threads)
    free(broad.reports)
    free(broad.shares)
    free(broad.marks)
    free(broad.reference_poses)
    free(broad.bounds)
    free_levels(&broad.levels)
    broad.threads = NULL
    broad.reports = NULL
    broad.shares = NULL
    broad.marks = NULL
    broad.reference_poses = NULL
    broad.bounds = NULL


cdef void carry_over_skins(Broadphase *broad, const Broadphase *old) noexcept nogil:
    """Copy skins and statistics from the former lists of the same clumps."""
    broad.outer_skin = old.outer_skin
    broad.inner_skin = old.inner_skin
    broad.density = old.density
    broad.triangle_density, broad.triangle_diameter = old.triangle_density, old.triangle_diameter
    broad.n_outer = old.n_outer
    broad.n_inner = old.n_inner
    broad.reach = old.reach
