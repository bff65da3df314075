"""Rebuild of the lists of candidates.

The inner lists are rebuilt as soon as a sphere may have moved by half the inner skin (row PATH). At that moment the
displacements since the last outer rebuild are measured; the outer lists are rebuilt only if one of them exceeds half
the difference of the skins.
"""
from libc.math cimport INFINITY, isfinite

from minidem.broadphase.broadphase cimport OUT_OF_MEMORY, Broadphase, assign_blocks, searched_spheres
from minidem.broadphase.displacement cimport measure_displacement, store_reference_poses
from minidem.broadphase.ghosts cimport copy_ghosts
from minidem.broadphase.levels cimport fill_levels, reserve_levels
from minidem.broadphase.load_balance cimport rebalance
from minidem.broadphase.neighbours cimport Neighbours, find_ghost_lines, prune, search_walls
from minidem.broadphase.search cimport search_pairs
from minidem.broadphase.skin_model cimport choose_skins, cubed, squared
from minidem.broadphase.synchronisation cimport chooses_skins, wait
from minidem.core.lanes cimport LANES
from minidem.state.motions cimport motions_range
from minidem.state.pose cimport pose_range
from minidem.state.rows cimport POSITION
from minidem.state.state cimport StateView
from minidem.walls.surface cimport Walls


cdef enum:
    WIDENING = 2                # of the outer skin at once, where a wider one may find any number of triangles


cdef void set_skins(Broadphase *broad, const StateView *state, bint meshes) noexcept nogil:
    """Choose both skins from the statistics of the last lists. Called before an outer rebuild only."""
    cdef double speed = 0.0, pairs = 0.0, triangles = 0.0, diameters = 0.0
    cdef const Neighbours *mine
    cdef int t, source
    if not broad.valid or broad.threads[0].steps == 0:
        return
    for t in range(broad.n_threads):
        mine = broad.threads + t
        speed = broad.reports[t].path if broad.reports[t].path > speed else speed
        triangles += 0.5 * (mine.outer_walls.size - mine.n_outer_simple)
        diameters += mine.triangle_diameters
        for source in range(broad.n_threads):
            pairs += 0.5 * (broad.threads[source].found[t].size + broad.threads[source].cross_thread[t].size)
    speed /= broad.threads[0].steps
    # A few clumps may have no pair at this moment: the density falls by half at most.
    broad.density = max(pairs / cubed(broad.mean_diameter + broad.outer_skin), 0.5 * broad.density)
    broad.triangle_diameter = diameters / triangles if triangles > 0.0 else broad.triangle_diameter
    broad.triangle_density = max(triangles / squared(broad.triangle_diameter + broad.outer_skin),
                                 0.5 * broad.triangle_density)
    if isfinite(speed) and speed > 0.0:
        choose_skins(broad.mean_diameter, speed, broad.n_spheres, broad.n_items, broad.density,
                     state.motions != NULL, broad.triangle_diameter, broad.triangle_density,
                     WIDENING * broad.outer_skin if meshes else INFINITY, &broad.outer_skin, &broad.inner_skin)


cdef void update_bounds(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Move the bounding spheres of own clumps to their centres of mass."""
    cdef Py_ssize_t slot
    cdef const double *x
    cdef int k
    for slot in range(broad.threads[thread].first_block * LANES, broad.threads[thread].last_block * LANES):
        x = state.blocks + (slot // LANES * state.n_rows + POSITION) * LANES + slot % LANES
        for k in range(3):
            broad.bounds[4 * slot + k] = x[k * LANES]


cdef void rebuild_outer(Broadphase *broad, int thread, StateView *state, const Walls *walls) noexcept nogil:
    """Rebuild the outer lists. Called by all threads together."""
    cdef const Neighbours *mine = broad.threads + thread
    if thread == 0:
        set_skins(broad, state, walls.n_meshes > 0)
        broad.rebalanced = not broad.fixed_shares and rebalance(broad.shares, broad.n_threads)
        broad.levels.ready = reserve_levels(&broad.levels, broad.outer_skin + broad.reach, state.box)
        broad.n_outer += 1
    if broad.clumps_first:
        update_bounds(broad, thread, state)
    wait(broad, thread)
    assign_blocks(broad, thread, state)
    if not broad.levels.ready:
        broad.reports[thread].incomplete = True
        return
    fill_levels(&broad.levels, searched_spheres(broad, state), &broad.barrier, broad.n_threads,
                mine.first_block / <double> state.n_blocks, mine.last_block / <double> state.n_blocks)
    wait(broad, thread)
    broad.reports[thread].incomplete = not (
        search_pairs(broad.threads, thread, broad.n_threads, &broad.levels, state, searched_spheres(broad, state),
                     broad.outer_skin + broad.reach, broad.clumps_first)
        and search_walls(broad.threads + thread, walls, state, broad.outer_skin + broad.reach))
    store_reference_poses(broad, thread, state)
    if thread == 0:
        broad.valid = True
    wait(broad, thread)
    if broad.n_threads > 1:
        if not find_ghost_lines(broad.threads, thread, broad.n_threads, state, broad.marks):
            broad.reports[thread].incomplete = True
        copy_ghosts(&broad.threads[thread].outer_ghost_lines, state)
        wait(broad, thread)


cdef void rebuild(Broadphase *broad, int thread, StateView *state, const Walls *walls) noexcept nogil:
    """Rebuild the inner lists, and the outer ones if needed. Called by all threads together.

    After it all spheres are posed.
    """
    cdef Neighbours *mine = broad.threads + thread
    cdef bint outer = not broad.valid or chooses_skins(broad, thread), incomplete = False
    cdef int t
    if not broad.valid or mine.active.size < state.first_member[mine.last_block] - state.first_member[mine.first_block]:
        pose_range(state, mine.first_block, mine.last_block)
    if state.motions != NULL:                           # those of spheres without a contact are not written in a step
        motions_range(state, mine.first_block, mine.last_block)
    measure_displacement(broad, thread, state, walls)
    if broad.valid:
        copy_ghosts(&mine.outer_ghost_lines, state)
    wait(broad, thread)
    for t in range(broad.n_threads):
        outer |= broad.reports[t].outer_skin_exceeded
    if outer:
        rebuild_outer(broad, thread, state, walls)
    for t in range(broad.n_threads):
        incomplete |= broad.reports[t].incomplete
    if incomplete or not prune(broad.threads, thread, broad.n_threads, walls, state, broad.marks,
                               broad.inner_skin + broad.reach):
        mine.failure = OUT_OF_MEMORY
    if thread == 0:
        broad.n_inner += 1
