"""Storage and rebuild of the neighbor lists: lists of each thread, grids, skins, and the blocks that each thread owns.

The inner lists are rebuilt as soon as a sphere may have moved by half the inner skin (`path`). At that moment the
displacements since the last outer rebuild are measured. The outer lists are rebuilt only if one of them exceeds half
the difference of the skins. Before an outer rebuild both skins are chosen by a model of the cost of a step, from counts
and lengths: speed depends on them, results do not.

Load balance: each thread owns as many clumps as it processes in the same time. A clump in a dense bed costs more than
one in free flight, and other programs may use one of the processors: threads with equal shares would wait for each
other. Results do not depend on the owner of a clump (contact/sums.pyx).
"""
from libc.math cimport INFINITY, exp, isfinite, sqrt
from libc.string cimport memcpy, memset

from minidem.broadphase.cell_grid cimport empty_levels, fill_levels, reserve_levels, sort_by_size
from minidem.broadphase.neighbours cimport collect_active, prune, search_pairs, search_walls
from minidem.core.lanes cimport LANES
from minidem.core.openmp cimport set_spins
from minidem.core.prefetch cimport BLOCKS_AHEAD, BLOCKS_IN_CACHE, prefetch_rows
from minidem.core.vec3 cimport Vec3, norm, sub
from minidem.core.vectors cimport release, release_large
from minidem.state.periodic_box cimport across_lengths, box_moves, displacement_with
from minidem.state.pose cimport motions_range, pose_range, turn_squared
from minidem.state.rows cimport ClumpBlock, ConstantBlock, load
from minidem.state.state cimport clumps_of, constants_of, member

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
    cdef double end = 0.0
    cdef int t
    for t in range(thread):
        end += broad.shares[t].fraction
    mine.first_block = <Py_ssize_t> (end * state.n_blocks + 0.5)
    end = end + broad.shares[thread].fraction if thread < broad.n_threads - 1 else 1.0
    mine.last_block = <Py_ssize_t> (end * state.n_blocks + 0.5)
    if broad.rebalanced:
        mine.began, mine.worked, mine.waited = clock(), 0.0, 0.0


cdef void measure_spheres(Broadphase *broad, const StateView *state) noexcept nogil:
    """Set numbers and sizes of the spheres and clumps, and the first skins."""
    cdef Py_ssize_t slot
    cdef double total = 0.0
    for slot in range(state.n_members * LANES):
        if state.sphere_number[slot] >= 0:
            total += member_radius(state, slot)
            broad.largest_sphere = max(broad.largest_sphere, 2.0 * member_radius(state, slot))
            broad.largest_clump = max(broad.largest_clump, 2.0 * reach_of(state, slot))
            broad.n_spheres += 1
    for slot in range(state.n_blocks * LANES):
        broad.n_items += state.clump_number[slot] >= 0
    broad.clumps_first = broad.n_spheres >= SPHERES_PER_CLUMP * broad.n_items and broad.n_spheres > 0
    if not broad.clumps_first:
        broad.n_items = broad.n_spheres
    broad.mean_diameter = 2.0 * total / broad.n_spheres if broad.n_spheres else 0.0
    broad.outer_skin = 0.5 * broad.mean_diameter
    broad.inner_skin = 0.125 * broad.mean_diameter


cdef void prepare_broadphase(Broadphase *broad, const StateView *state) noexcept nogil:
    """Give each thread an equal share of the blocks, and sort the items of the grids by size; see `memory_refused`."""
    cdef int t
    set_spins(&broad.barrier, broad.n_threads)
    for t in range(broad.n_threads):
        broad.shares[t].fraction = 1.0 / broad.n_threads
        assign_blocks(broad, t, state)
    if broad.clumps_first:
        set_bounding_radii(broad, state)
    sort_by_size(&broad.levels, searched_spheres(broad, state), state.clump_number if broad.clumps_first
                 else state.sphere_number, (state.n_blocks if broad.clumps_first else state.n_members) * LANES)


cdef void drop_lists(Broadphase *broad) noexcept nogil:
    """Free the memory of all lists; they are rebuilt before the next use."""
    cdef Neighbours *mine
    cdef int t, other
    broad.valid = False
    empty_levels(&broad.levels)
    for t in range(broad.n_threads):
        mine = broad.threads + t
        for other in range(broad.n_threads):
            release(mine.found + other)
        release(&mine.hits)
        release(&mine.near[0])
        release(&mine.near[1])
        release(&mine.outer_wall_pairs)
        release(&mine.triangles)
        release(&mine.pairs)
        release(&mine.spare)
        release(&mine.slab_ends)
        release(&mine.wall_pairs)
        release(&mine.active)
        release(&mine.border)


cdef void take_over(Broadphase *broad, const Broadphase *old) noexcept nogil:
    """Copy skins, shares and counters from the former lists of the same clumps."""
    cdef int t
    broad.outer_skin, broad.inner_skin, broad.reach = old.outer_skin, old.inner_skin, old.reach
    broad.density, broad.n_outer, broad.n_inner = old.density, old.n_outer, old.n_inner
    broad.triangle_density, broad.triangle_diameter = old.triangle_density, old.triangle_diameter
    broad.fixed_shares = old.fixed_shares
    for t in range(broad.n_threads if broad.n_threads == old.n_threads else 0):
        broad.shares[t].fraction = old.shares[t].fraction


cdef extern from *:
    """
    #define MINIDEM_LEAST_TIME 0.0005
    #define MINIDEM_LEAST_CHANGE 0.01
    #define MINIDEM_LEAST_FRACTION 0.25
    """
    const double LEAST_TIME "MINIDEM_LEAST_TIME"        # working time for a measurement of the speeds [s]
    const double LEAST_CHANGE "MINIDEM_LEAST_CHANGE"    # change of a part worth a rebalance, relative to an equal part
    const double LEAST_FRACTION "MINIDEM_LEAST_FRACTION"        # smallest share, relative to an equal one

cdef enum:
    WIDENING = 2                # of the outer skin at once, where a wider one may find any number of triangles


cdef inline double pairs_within(const Broadphase *broad, double skin) noexcept nogil:
    """Pairs in lists with this skin [m]."""
    cdef double reach = broad.mean_diameter + skin
    return broad.density * (reach * reach * reach)      # a power is a call


cdef inline double triangles_within(const Broadphase *broad, double skin) noexcept nogil:
    cdef double reach = broad.triangle_diameter + skin
    return broad.triangle_density * (reach * reach)


cdef void choose_skins(Broadphase *broad, double speed, bint carries, double widest) noexcept nogil:
    """Choose both skins such that the modelled cost of a step is least.

    speed : largest displacement of a sphere in one step [m]
    carries : contacts have a history, which is carried over when the inner list is pruned
    widest : largest outer skin [m]

    A list is valid until the fastest sphere has moved by half its margin. Costs in ns, roughly on a core of 2023;
    the minimum is flat: 1.8 to test a pair of the inner list or to prune one of the outer list, 4 to pose a sphere and
    to measure its displacement, 60 to sort an item into the grid and to search around it, 10 to find and store an outer
    pair. With AVX-512 the last two are about half and a third of that; the skins of ten thousand rods are much the same
    then. With a history, 60 to carry a contact over: lists of a drum of 38 000 spheres took 40 % less time than without
    this term. A triangle takes 40 in a step, and 40 to be pruned or found.
    """
    cdef double outer, inner, steps_outer, steps_inner, cost, best = -1.0, wide, narrow, wide_triangles, triangles
    cdef double carrying = 60.0 if carries else 0.0
    cdef int _
    outer = 0.1 * broad.mean_diameter
    for _ in range(20):
        outer *= 1.25                                   # up to 8.7 diameters
        if outer > widest and best >= 0.0:
            break
        wide, wide_triangles = pairs_within(broad, outer), triangles_within(broad, outer)
        inner = outer
        for _ in range(12):
            inner *= 0.75
            narrow, triangles = pairs_within(broad, inner), triangles_within(broad, inner)
            steps_outer = 1.0 + (outer - inner) / (2.0 * speed)
            steps_inner = 1.0 + inner / (2.0 * speed)
            cost = 1.8 * narrow + 40.0 * triangles \
                + (4.0 * broad.n_spheres + 1.8 * wide + carrying * narrow + 40.0 * wide_triangles) / steps_inner \
                + (60.0 * broad.n_items + 10.0 * wide + 40.0 * wide_triangles) / steps_outer
            if best < 0.0 or cost < best:
                best, broad.outer_skin, broad.inner_skin = cost, outer, inner


cdef void set_skins(Broadphase *broad, const StateView *state, bint meshes) noexcept nogil:
    """Choose both skins from the statistics of the last lists. Called before an outer rebuild only."""
    cdef double speed = 0.0, pairs = 0.0, triangles = 0.0, diameters = 0.0
    cdef const Neighbours *mine
    cdef int t, source
    if not broad.valid or broad.threads[0].steps == 0:
        return
    for t in range(broad.n_threads):
        mine = broad.threads + t
        speed = mine.path if mine.path > speed else speed
        triangles += 0.5 * (mine.outer_wall_pairs.size - mine.n_outer_simple)
        diameters += mine.triangle_diameters
        for source in range(broad.n_threads):
            pairs += 0.5 * broad.threads[source].found[t].size
    speed /= broad.threads[0].steps
    # A few clumps may have no pair at this moment: the density falls by half at most.
    broad.density = max(pairs / (broad.mean_diameter + broad.outer_skin) ** 3, 0.5 * broad.density)
    broad.triangle_diameter = diameters / triangles if triangles > 0.0 else broad.triangle_diameter
    broad.triangle_density = max(triangles / (broad.triangle_diameter + broad.outer_skin) ** 2,
                                 0.5 * broad.triangle_density)
    if isfinite(speed) and speed > 0.0:
        choose_skins(broad, speed, state.motions != NULL, WIDENING * broad.outer_skin if meshes else INFINITY)


cdef void limit_skins(Broadphase *broad, const BoxPose *box) noexcept nogil:
    """In a box that may be tilted, neighbors are closer than half its length along the gradient, which may shrink.

    Farther away, what is found as the nearest image need not be nearest.
    """
    cdef double across = across_lengths(box, 1.0, 1.0, 1.0) if box_moves(box) else 0.0
    if across > 0.0:
        broad.outer_skin = min(broad.outer_skin, 0.45 / across - broad.largest_sphere - broad.reach)
        broad.inner_skin = min(broad.inner_skin, 0.5 * broad.outer_skin)


cdef inline double wanted(Share share, double speed, int n) noexcept nogil:
    """Move a thread's share half of the way towards equal times, because much of a difference is noise.

    speed : the mean over the threads
    """
    return max(0.5 * (share.fraction + share.fraction / share.busy / speed), LEAST_FRACTION / n)


cdef bint rebalance(Share *shares, int n) noexcept nogil:
    """New shares for n threads, unless they would change little. False: too little working time for a measurement."""
    cdef double longest = 0.0, speed = 0.0, total = 0.0, change = 0.0
    cdef int t
    for t in range(n):
        if not shares[t].busy > 0.0:
            return False
        longest = max(longest, shares[t].busy)
        speed += shares[t].fraction / shares[t].busy
    if longest < LEAST_TIME:
        return False
    for t in range(n):
        total += wanted(shares[t], speed, n)
    for t in range(n):
        change = max(change, abs(wanted(shares[t], speed, n) / total - shares[t].fraction))
    for t in range(n if change * n > LEAST_CHANGE else 0):
        shares[t].fraction = wanted(shares[t], speed, n) / total
    return True


def rebalanced_shares(parts, busy):
    """The result of `rebalance` for shares (n,) and working times (n,) [s], n <= 64; for tests."""
    cdef Share shares[64]
    cdef int t, n = len(parts)
    for t in range(n):
        shares[t].fraction, shares[t].busy = parts[t], busy[t]
    rebalance(shares, n)
    return [shares[t].fraction for t in range(n)]


cdef inline int measure_block(ClumpBlock *clumps, const double *reference, bint turns, const ConstantBlock *constants,
                              double limit, const BoxPose *before, const BoxPose *box, double *longest) noexcept nogil:
    """Bits of lanes: 1 << lane if a sphere moved by more than `limit`, 256 << lane if the pose is not finite.

    reference : pose at the last outer rebuild;  turns : with the orientation
    before, box : poses of a box that moves, then and now; displacements are relative to it. NULL: at rest.
    longest : the largest `path` so far, which is set to zero.
    """
    cdef double total, turned = 0.0
    cdef Vec3 moved
    cdef int lane, k, exceeded[LANES], not_finite[LANES], bits = 0
    for lane in range(LANES):
        moved = sub(load(clumps.position + lane), load(reference + lane))
        if before != NULL:
            moved = sub(moved, displacement_with(before, box, reference + lane, LANES))
        if turns:
            turned = sqrt(turn_squared(reference + 3 * LANES + lane, clumps.orientation + lane,
                                       constants.turn_bound + lane))
        exceeded[lane] = not norm(moved) + turned <= limit
        total = 0.0
        for k in range(3):
            total += clumps.position[k * LANES + lane]
        for k in range(4):
            total += clumps.orientation[k * LANES + lane]
        not_finite[lane] = total - total != 0.0
    for lane in range(LANES):
        bits |= (exceeded[lane] << lane) | (not_finite[lane] << (lane + LANES))
        longest[0] = max(longest[0], clumps.path[lane])
        clumps.path[lane] = 0.0
    return bits


cdef inline double outer_margin(const Broadphase *broad, const BoxPose *box) noexcept nogil:
    """By how far a sphere may have moved since the last outer rebuild before a pair may be missing [m].

    Of two clumps whose centres are D apart, the strain g of the box changes D by less than g exp(g) D.
    """
    cdef double strain, reach
    if not box_moves(box):
        return 0.5 * (broad.outer_skin - broad.inner_skin)
    strain = box.path - broad.reference_box.path
    reach = broad.largest_clump + broad.reach + broad.outer_skin
    return 0.5 * (broad.outer_skin - broad.inner_skin - strain * exp(2.0 * strain) * reach)


cdef int measure_displacement(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                              const BoxPose *box) noexcept nogil:
    """Displacements of own clumps and walls since the last outer rebuild; returns OUTER_SKIN_EXCEEDED and LOST."""
    cdef Neighbours *mine = broad.threads + thread
    cdef double limit = outer_margin(broad, box), longest = 0.0
    cdef bint large = mine.last_block - mine.first_block > BLOCKS_IN_CACHE
    cdef Py_ssize_t b
    cdef int lane, bits, all_bits = 0
    for b in range(mine.first_block, mine.last_block):
        if large:
            prefetch_rows(clumps_of(state, b + BLOCKS_AHEAD).orientation, 4)
            prefetch_rows(clumps_of(state, b + BLOCKS_AHEAD).position, 3)
            prefetch_rows(clumps_of(state, b + BLOCKS_AHEAD).path, 1)
        bits = measure_block(clumps_of(state, b), broad.reference_poses + b * broad.reference_rows * LANES,
                             broad.reference_rows == REFERENCE_ROWS, constants_of(state, b), limit,
                             &broad.reference_box if box_moves(box) else NULL, box, &longest)
        all_bits |= bits
        for lane in range(LANES):
            if bits >> (lane + LANES) & 1:
                mine.lost = max(mine.lost, 1 + state.clump_number[b * LANES + lane])
    mine.path = longest * 0.5 * broad.inner_skin
    broad.shares[thread].busy = mine.worked + clock() - mine.began - mine.waited
    return (<int> LOST if all_bits >> LANES else 0) | (
        <int> OUTER_SKIN_EXCEEDED if all_bits & ((1 << LANES) - 1) != 0
        or walls.path - mine.outer_walls_path > limit or limit < 0.0 else 0)


cdef void store_reference_poses(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Copy the poses of own clumps."""
    cdef Py_ssize_t b
    cdef const ClumpBlock *clumps
    cdef double *reference
    for b in range(broad.threads[thread].first_block, broad.threads[thread].last_block):
        clumps, reference = clumps_of(state, b), broad.reference_poses + b * broad.reference_rows * LANES
        memcpy(reference, clumps.position, sizeof(clumps.position))
        if broad.reference_rows == REFERENCE_ROWS:
            memcpy(reference + 3 * LANES, clumps.orientation, sizeof(clumps.orientation))


cdef void update_bounds(Broadphase *broad, int thread, const StateView *state) noexcept nogil:
    """Move the bounding spheres of own clumps to their centres of mass."""
    cdef Py_ssize_t slot
    cdef const double *x
    cdef int k
    for slot in range(broad.threads[thread].first_block * LANES, broad.threads[thread].last_block * LANES):
        x = clumps_of(state, slot // LANES).position + slot % LANES
        for k in range(3):
            broad.bounds[4 * slot + k] = x[k * LANES]


cdef bint rebuild_outer(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                        const BoxPose *box) noexcept nogil:
    """Rebuild the outer lists. Called by all threads together. False, for all: memory was refused."""
    cdef const Neighbours *mine = broad.threads + thread
    cdef int level
    if thread == 0:
        set_skins(broad, state, walls.n_meshes > 0)
        limit_skins(broad, box)
        broad.rebalanced = not broad.fixed_shares and rebalance(broad.shares, broad.n_threads)
        reserve_levels(&broad.levels, broad.outer_skin + broad.reach, box)
        if box_moves(box):
            broad.reference_box = box[0]
        broad.n_outer += 1
    if broad.clumps_first:
        update_bounds(broad, thread, state)
    if wait(broad, thread, 0) & <int> FAILED:
        return False
    assign_blocks(broad, thread, state)
    fill_levels(&broad.levels, searched_spheres(broad, state), &broad.barrier, broad.n_threads,
                mine.first_block / <double> state.n_blocks, mine.last_block / <double> state.n_blocks)
    wait(broad, thread, 0)
    search_pairs(broad.threads, thread, broad.n_threads, &broad.levels, state, box, searched_spheres(broad, state),
                 broad.outer_skin + broad.reach, broad.clumps_first)
    search_walls(broad.threads + thread, walls, state, broad.outer_skin + broad.reach)
    store_reference_poses(broad, thread, state)
    if thread == 0:
        broad.valid = True
    if wait(broad, thread, 0) & <int> FAILED:
        return False
    for level in range(broad.levels.count if thread == 0 else 0):
        release_large(&broad.levels.grid[level].cell)
        release_large(&broad.levels.grid[level].entries)
    return True


cdef bint rebuild(Broadphase *broad, int thread, StateView *state, const Walls *walls,
                  const BoxPose *box) noexcept nogil:
    """Rebuild the inner lists, and the outer ones if needed. Called by all threads together.

    After it all spheres are posed. False, for all threads: a clump has a non-finite pose, or memory was refused.
    """
    cdef Neighbours *mine = broad.threads + thread
    cdef bint outer = not broad.valid or chooses_skins(broad, thread)
    cdef Py_ssize_t first_row = state.first_member[mine.first_block]
    cdef Py_ssize_t n_rows = state.first_member[mine.last_block] - first_row
    cdef int reported
    memset(broad.marks + 2 * first_row, 0, 2 * n_rows)
    if not broad.valid or mine.active.size < n_rows:
        pose_range(state, mine.first_block, mine.last_block)
    if state.motions != NULL:                           # a step does not write them for spheres without a contact
        motions_range(state, mine.first_block, mine.last_block)
    reported = wait(broad, thread, measure_displacement(broad, thread, state, walls, box))
    if reported & <int> LOST or (outer or reported & <int> OUTER_SKIN_EXCEEDED) \
            and not rebuild_outer(broad, thread, state, walls, box):
        return False
    prune(broad.threads, thread, broad.n_threads, walls, box, state, &broad.exclusions, broad.marks,
          broad.inner_skin + broad.reach)
    if wait(broad, thread, 0) & <int> FAILED:
        return False
    collect_active(mine, state, broad.marks)
    if box_moves(box):
        mine.box_path = box.path
    if thread == 0:
        broad.n_inner += 1
    return True


cdef dict list_statistics(const Broadphase *broad):
    """Sizes of the neighbor lists and numbers of their rebuilds."""
    cdef int t, source
    pairs = outer = active = 0
    for t in range(broad.n_threads):
        pairs += broad.threads[t].pairs.size // 2
        active += broad.threads[t].active.size
        for source in range(broad.n_threads):
            outer += broad.threads[source].found[t].size // 2
    return {"outer_skin": broad.outer_skin, "inner_skin": broad.inner_skin, "outer_lists": broad.n_outer,
            "inner_lists": broad.n_inner, "outer_pairs": outer, "inner_pairs": pairs,
            "active_slots": active * LANES, "threads": broad.n_threads,
            "shares": [broad.shares[t].fraction for t in range(broad.n_threads)]}


cdef Py_ssize_t list_memory(const Broadphase *broad):
    """Memory of the neighbor lists and of the items of the grids [bytes]; what is only reserved does not count."""
    cdef const Neighbours *mine
    cdef Py_ssize_t total = 0
    cdef int t, other
    for t in range(broad.n_threads):
        mine = broad.threads + t
        total += mine.pairs.size + mine.outer_wall_pairs.size + mine.wall_pairs.size + mine.active.size \
            + mine.border.size
        for other in range(broad.n_threads):
            total += mine.found[other].size
    for t in range(broad.levels.count):
        total += broad.levels.grid[t].items.size
    return total * <Py_ssize_t> sizeof(int)
