"""When lists are made anew, and by whom.

The inner lists are renewed as soon as some sphere may have moved by half the inner skin (the PATH
rows say so). At that moment the real displacements since the outer lists were made are measured;
only if one exceeds half the difference of the skins are those made anew as well.
"""
from libc.math cimport isfinite, sqrt
from libc.stdlib cimport calloc, free

from minidem.core.int_vector cimport APART, release
from minidem.broadphase.cell_grid cimport empty_grid
from minidem.broadphase.ghosts cimport post
from minidem.broadphase.levels cimport fill_levels, free_levels, prepare_levels, sort_by_size
from minidem.broadphase.neighbours cimport Ints, Neighbours, Planes, choose_ghosts, prune, search_walls
from minidem.broadphase.search cimport search_pairs
from minidem.broadphase.load_balance cimport even_out
from minidem.broadphase.skin_model cimport choose_skins, cubed
from minidem.core.clock cimport clock
from minidem.core.vec3 cimport norm
from minidem.state.pose cimport pose_range
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.state.turn_bound cimport turn_squared
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport ORIENTATION, PATH, POSITION, REACH, load
from minidem.state.state cimport StateView, fixed_rows, member

cdef enum:
    KEPT = 7                        # position and orientation
    SPHERES_PER_CLUMP = 8           # from so many on, clumps are searched first


cdef inline double member_radius(const StateView *state, Py_ssize_t slot) noexcept nogil:
    return member(state, slot // LANES)[3 * LANES + slot % LANES]


cdef void set_bounding_radii(Broadphase *broad, const StateView *state) noexcept nogil:
    """Radii of the clumps' bounding spheres, into `bounds`."""
    cdef Py_ssize_t slot, clump
    cdef double radius
    for slot in range(state.n_members * LANES):
        if state.sphere_number[slot] >= 0:
            clump = <Py_ssize_t> state.block_of_member[slot // LANES] * LANES + slot % LANES
            radius = member_radius(state, slot) + norm(load(member(state, slot // LANES) + slot % LANES))
            broad.bounds[4 * clump + 3] = max(broad.bounds[4 * clump + 3], radius)


cdef void take_share(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Which blocks a thread owns. Its time starts anew if it was told how long it worked on those before."""
    cdef Neighbours *mine = broad.threads + thread
    cdef double part = 0.0
    cdef int t
    for t in range(thread):
        part += broad.shares[t].part
    mine.first_block = <Py_ssize_t> (part * state.n_blocks + 0.5)
    part = part + broad.shares[thread].part if thread < broad.n_threads - 1 else 1.0
    mine.last_block = <Py_ssize_t> (part * state.n_blocks + 0.5)
    if broad.told:
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
    broad.kept = <double *> calloc(state.n_blocks * KEPT * LANES + 1, sizeof(double))
    if (broad.threads == NULL or broad.reports == NULL or broad.shares == NULL or broad.marks == NULL
            or broad.kept == NULL):
        return False
    for t in range(n_threads):
        broad.shares[t].part = 1.0 / n_threads
        take_share(broad, t, state)
        broad.threads[t].log_slab = log_slab
        broad.threads[t].found = <Ints *> calloc(n_threads * sizeof(Ints) + APART, 1)
        broad.threads[t].across = <Ints *> calloc(n_threads * sizeof(Ints) + APART, 1)
        if broad.threads[t].found == NULL or broad.threads[t].across == NULL:
            return False
    for slot in range(state.n_members * LANES):
        if state.sphere_number[slot] >= 0:
            total += member_radius(state, slot)
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
    if not sort_by_size(&broad.levels, searched(broad, state), state.clump_number if broad.clumps_first
                        else state.sphere_number, (state.n_blocks if broad.clumps_first else state.n_members) * LANES):
        return False
    broad.n_spheres = n
    broad.mean_diameter = 2.0 * total / n if n else 0.0
    broad.outer_skin = 0.5 * broad.mean_diameter
    broad.inner_skin = 0.125 * broad.mean_diameter
    broad.valid = False
    return True


cdef void drop_lists(Broadphase *broad) noexcept nogil:
    """Give the memory of all lists back; they are made anew when they are needed next."""
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
            if mine.across != NULL:
                release(mine.across + other)
        release(&mine.hits)
        release(&mine.near[0])
        release(&mine.near[1])
        release(&mine.outer_walls)
        release(&mine.pairs)
        release(&mine.spare)
        release(&mine.slab_ends)
        release(&mine.walls)
        release(&mine.active)
        release(&mine.posted)
        release(&mine.outer_posted)


cdef void free_broadphase(Broadphase *broad) noexcept nogil:
    cdef int t
    drop_lists(broad)
    for t in range(broad.n_threads if broad.threads != NULL else 0):
        free(broad.threads[t].found)
        free(broad.threads[t].across)
    free(broad.threads)
    free(broad.reports)
    free(broad.shares)
    free(broad.marks)
    free(broad.kept)
    free(broad.bounds)
    free_levels(&broad.levels)
    broad.threads = NULL
    broad.reports = NULL
    broad.shares = NULL
    broad.marks = NULL
    broad.kept = NULL
    broad.bounds = NULL


cdef void keep_experience(Broadphase *broad, const Broadphase *old) noexcept nogil:
    """Skins and counts of the lists before these, for the same clumps."""
    broad.outer_skin = old.outer_skin
    broad.inner_skin = old.inner_skin
    broad.density = old.density
    broad.n_outer = old.n_outer
    broad.n_inner = old.n_inner


cdef inline int measure_block(double *block, const double *kept, const double *reach, double limit,
                              double *longest) noexcept nogil:
    """Bits of lanes: 1 << lane if a sphere moved by more than `limit`, 256 << lane if its clump is not finite.

    longest : the largest PATH so far; PATH is zero after it.
    """
    cdef double x, y, z, total
    cdef int lane, far[LANES], lost[LANES], bits = 0
    for lane in range(LANES):
        x = block[POSITION * LANES + lane] - kept[lane]
        y = block[(POSITION + 1) * LANES + lane] - kept[LANES + lane]
        z = block[(POSITION + 2) * LANES + lane] - kept[2 * LANES + lane]
        far[lane] = not sqrt(x * x + y * y + z * z) + sqrt(turn_squared(
            kept + 3 * LANES + lane, block + ORIENTATION * LANES + lane, reach + lane)) <= limit
        total = block[POSITION * LANES + lane] + block[(POSITION + 1) * LANES + lane] \
            + block[(POSITION + 2) * LANES + lane] + block[ORIENTATION * LANES + lane] \
            + block[(ORIENTATION + 1) * LANES + lane] + block[(ORIENTATION + 2) * LANES + lane] \
            + block[(ORIENTATION + 3) * LANES + lane]
        lost[lane] = total - total != 0.0               # infinite or not a number
    for lane in range(LANES):
        bits |= (far[lane] << lane) | (lost[lane] << (lane + LANES))
        longest[0] = max(longest[0], block[PATH * LANES + lane])
        block[PATH * LANES + lane] = 0.0
    return bits


cdef void measure(Broadphase *broad, int thread, StateView *state) noexcept nogil:
    """Own clumps' displacements since the outer lists were made, for this thread's report."""
    cdef Report *report = broad.reports + thread
    cdef Neighbours *mine = broad.threads + thread
    cdef double limit = 0.5 * (broad.outer_skin - broad.inner_skin), longest = 0.0
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef double *block
    cdef Py_ssize_t b
    cdef int lane, bits, all_bits = 0
    for b in range(mine.first_block, mine.last_block):
        block = state.blocks + b * state.n_rows * LANES
        if large:
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, ORIENTATION, 4)
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, POSITION, 3)
            prefetch_rows(block + BLOCKS_AHEAD * state.n_rows * LANES, PATH, 1)
        bits = measure_block(block, broad.kept + b * KEPT * LANES, fixed_rows(state, b) + REACH * LANES, limit,
                             &longest)
        all_bits |= bits
        for lane in range(LANES):
            if bits >> (lane + LANES) & 1:
                report.lost = 1 + state.clump_number[b * LANES + lane]
    report.far = all_bits & ((1 << LANES) - 1)
    report.path = longest * 0.5 * broad.inner_skin
    broad.shares[thread].busy = mine.worked + clock() - mine.began - mine.waited


cdef void keep_poses(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    cdef Py_ssize_t b, k
    for b in range(broad.threads[thread].first_block, broad.threads[thread].last_block):
        for k in range(3 * LANES):
            broad.kept[b * KEPT * LANES + k] = state.blocks[(b * state.n_rows + POSITION) * LANES + k]
        for k in range(4 * LANES):
            broad.kept[(b * KEPT + 3) * LANES + k] = state.blocks[(b * state.n_rows + ORIENTATION) * LANES + k]


cdef void set_skins(Broadphase *broad) noexcept nogil:
    """New skins from the counts of the last lists; they may only change with the outer lists."""
    cdef double speed = 0.0, pairs = 0.0
    cdef int t, source
    if not broad.valid or broad.threads[0].steps == 0:
        return
    for t in range(broad.n_threads):
        speed = broad.reports[t].path if broad.reports[t].path > speed else speed
        for source in range(broad.n_threads):
            pairs += 0.5 * (broad.threads[source].found[t].size + broad.threads[source].across[t].size)
    speed /= broad.threads[0].steps
    # Few clumps have no pair at all now and then: what was seen before is forgotten by halves only.
    broad.density = max(pairs / cubed(broad.mean_diameter + broad.outer_skin), 0.5 * broad.density)
    if isfinite(speed) and speed > 0.0:
        choose_skins(broad.mean_diameter, speed, broad.n_spheres, broad.n_items, broad.density,
                     &broad.outer_skin, &broad.inner_skin)


cdef inline const double *searched(const Broadphase *broad, const StateView *state) noexcept nogil:
    """Centres and radii (slots, 4) of what the grids hold."""
    return broad.bounds if broad.clumps_first else state.spheres


cdef void move_bounds(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """The bounding spheres of own clumps to where these are."""
    cdef Py_ssize_t slot
    cdef const double *x
    cdef int k
    for slot in range(broad.threads[thread].first_block * LANES, broad.threads[thread].last_block * LANES):
        x = state.blocks + (slot // LANES * state.n_rows + POSITION) * LANES + slot % LANES
        for k in range(3):
            broad.bounds[4 * slot + k] = x[k * LANES]


cdef void renew_outer(Broadphase *broad, int thread, StateView *state, const Planes *planes) noexcept nogil:
    """New outer lists, by all threads together."""
    cdef const Neighbours *mine = broad.threads + thread
    if thread == 0:
        set_skins(broad)
        broad.told = not broad.keep_shares and even_out(broad.shares, broad.n_threads)
        broad.levels.ready = prepare_levels(&broad.levels, broad.outer_skin)
        broad.n_outer += 1
    if broad.clumps_first:
        move_bounds(broad, thread, state)
    wait(broad, thread)
    take_share(broad, thread, state)
    if not broad.levels.ready:
        broad.reports[thread].incomplete = True
        return
    fill_levels(&broad.levels, searched(broad, state), &broad.barrier, broad.n_threads,
                mine.first_block / <double> state.n_blocks, mine.last_block / <double> state.n_blocks)
    wait(broad, thread)
    broad.reports[thread].incomplete = not (
        search_pairs(broad.threads, thread, broad.n_threads, &broad.levels, state, searched(broad, state),
                     broad.outer_skin, broad.clumps_first)
        and search_walls(broad.threads + thread, planes, state, broad.outer_skin))
    keep_poses(broad, thread, state)
    if thread == 0:
        broad.valid = True
    wait(broad, thread)
    if broad.n_threads > 1:
        if not choose_ghosts(broad.threads, thread, broad.n_threads, state, broad.marks):
            broad.reports[thread].incomplete = True
        post(&broad.threads[thread].outer_posted, state)
        wait(broad, thread)


cdef void renew(Broadphase *broad, int thread, StateView *state, const Planes *planes) noexcept nogil:
    """New inner lists, and outer ones if need be; called by all threads together, all spheres posed after it."""
    cdef Neighbours *mine = broad.threads + thread
    cdef bint outer = not broad.valid, incomplete = False
    cdef int t
    if not broad.valid or mine.active.size < state.first_member[mine.last_block] - state.first_member[mine.first_block]:
        pose_range(state, mine.first_block, mine.last_block)
    measure(broad, thread, state)
    if broad.valid:
        post(&mine.outer_posted, state)
    wait(broad, thread)
    for t in range(broad.n_threads):
        outer |= broad.reports[t].far
    if outer:
        renew_outer(broad, thread, state, planes)
    for t in range(broad.n_threads):
        incomplete |= broad.reports[t].incomplete
    if incomplete or not prune(broad.threads, thread, broad.n_threads, planes, state, broad.marks, broad.inner_skin):
        mine.failure = OUT_OF_MEMORY
    if thread == 0:
        broad.n_inner += 1
