"""Verlet lists on two levels; LISTS.md says when they are rebuilt.

The *outer* list holds every pair of spheres of different clumps whose gap is below the outer skin, found by the cell
grid. The *inner* list, with a narrower skin, is pruned from it more often, and is what a step reads. Spheres near
primitives of walls have the same two lists.

Each thread owns a range of blocks. A pair is in the list of the thread that owns the sphere in the lower slot; the
other sphere may belong to another thread. Each thread searches a part of the grids, and sorts what it finds by owner.

Where the state is larger than the caches, the inner list is sorted by slabs: ranges of slots. A pair belongs to the
slab of its later sphere, so that it can be tested as soon as the slab has moved and while both spheres are in cache.
Pairs with a sphere of another thread follow all others.

All spheres of a cell are compared with the same ones: the entries of some cells, copied to one contiguous array, where
they fill whole vectors. The grids hold each item once, at its position within the periodic box; an item near a face is
also searched around at its images near the opposite faces. Within one grid, one of two opposite shifts suffices.
"""
from libc.string cimport memcpy, memset

from minidem.broadphase.cell_grid cimport (
    COLUMNS, MOST_LEVELS, SLOT, CellGrid, CellRanges, FixedSphere, cell_of, cell_width, entry_after, fixed_sphere_at,
    fixed_sphere_of, item_in_box, ranges_ahead, ranges_around,
)
from minidem.core.eight cimport bits_below, load_eight, store_eight
from minidem.core.lanes cimport lane_of, row_of
from minidem.core.openmp cimport set_flag
from minidem.core.transpose cimport rows_from_records
from minidem.core.vec3 cimport Vec3, dot, vec3
from minidem.core.vectors cimport push_pair, release, release_large, reserve, shrink
from minidem.state.periodic_box cimport across_lengths, box_moves, nearest_image, rounded, wrap_position
from minidem.state.state cimport clump_of
from minidem.walls.surface cimport PLANE, Shape, find_triangles, simple_height, touch_wall


cdef inline unsigned int near_plane(const double *rows, const double *point, const double *normal,
                                    double skin) noexcept nogil:
    """Bits 1 << lane of the spheres, rows of centres and radii, whose gap to a plane is below `skin`."""
    cdef double beyond[LANES]
    store_eight(beyond, (load_eight(rows) - point[0]) * normal[0] + (load_eight(rows + LANES) - point[1]) * normal[1]
                + (load_eight(rows + 2 * LANES) - point[2]) * normal[2] - (load_eight(rows + 3 * LANES) + skin))
    return bits_below(beyond, 0.0)


cdef unsigned int near_simple(const Walls *walls, Py_ssize_t primitive, const double *rows, const double *spheres,
                              double skin) noexcept nogil:
    """Bits 1 << lane of the spheres within `skin` of a primitive; rows : the rows of `spheres`."""
    cdef const Shape *shape = walls.shapes + primitive
    cdef unsigned int bits = 0
    cdef int lane
    if shape.kind == PLANE and not walls.moves[walls.wall_of[primitive]]:
        return near_plane(rows, shape.point, shape.axis, skin)
    for lane in range(LANES):
        bits |= <unsigned int> (simple_height(walls, primitive, spheres + 4 * lane)
                                < spheres[4 * lane + 3] + skin) << lane
    return bits


cdef void search_walls(Neighbours *mine, const Walls *walls, const StateView *state, double skin) noexcept nogil:
    """Own spheres within the outer skin of a wall."""
    cdef Py_ssize_t row, slot, primitive, k
    cdef double rows[4 * LANES]
    cdef int lanes[LANES]
    cdef int lane
    cdef unsigned int bits
    mine.outer_wall_pairs.size = 0
    mine.outer_walls_path = walls.path
    for lane in range(LANES):
        lanes[lane] = lane
    for row in range(state.first_member[mine.first_block], state.first_member[mine.last_block]):
        rows_from_records(state.spheres + row * 4 * LANES, lanes, rows)
        for primitive in range(walls.n_simple):
            bits = near_simple(walls, primitive, rows, state.spheres + row * 4 * LANES, skin)
            for lane in range(LANES if bits else 0):
                slot = row * LANES + lane
                if bits >> lane & 1 and state.sphere_number[slot] >= 0:
                    push_pair(&mine.outer_wall_pairs, <int> slot, <int> primitive)
    mine.n_outer_simple = mine.outer_wall_pairs.size
    mine.triangle_diameters = 0.0
    if walls.n_meshes == 0:
        return
    for slot in range(state.first_member[mine.first_block] * LANES, state.first_member[mine.last_block] * LANES):
        if state.sphere_number[slot] < 0:
            continue
        find_triangles(walls, state.spheres + 4 * slot, skin, &mine.triangles)
        mine.triangle_diameters += 2.0 * state.spheres[4 * slot + 3] * mine.triangles.size
        for k in range(mine.triangles.size):
            push_pair(&mine.outer_wall_pairs, <int> slot, mine.triangles.data[k])


cdef inline bint is_excluded(const Exclusions *exclusions, const StateView *state, int sphere,
                             int material) noexcept nogil:
    """Whether a sphere never touches what is of a material."""
    return exclusions.pairs != NULL \
        and exclusions.pairs[(exclusions.materials[clump_of(state, sphere)] << exclusions.log_materials) + material]


cdef Py_ssize_t without_excluded(const Exclusions *exclusions, const StateView *state, int *pairs,
                                 Py_ssize_t n) noexcept nogil:
    """Remove from n ints of pairs of spheres those that never touch; returns how many ints remain."""
    cdef Py_ssize_t k, kept = 0
    for k in range(0, n, 2):
        pairs[kept], pairs[kept + 1] = pairs[k], pairs[k + 1]
        kept += 2 * (not is_excluded(exclusions, state, pairs[k], exclusions.materials[clump_of(state, pairs[k + 1])]))
    return kept


cdef void prune_walls(Neighbours *mine, const Walls *walls, const StateView *state, const Exclusions *exclusions,
                      double skin) noexcept nogil:
    """The inner list of spheres near walls; there is room."""
    cdef Py_ssize_t k, primitive, kept = 0
    cdef const double *sphere
    cdef double height
    mine.walls_path = walls.path
    mine.n_simple = 0
    for k in range(0, mine.outer_wall_pairs.size, 2):
        sphere = state.spheres + 4 * <Py_ssize_t> mine.outer_wall_pairs.data[k]
        primitive = mine.outer_wall_pairs.data[k + 1]
        mine.wall_pairs.data[kept] = mine.outer_wall_pairs.data[k]
        mine.wall_pairs.data[kept + 1] = <int> primitive
        height = simple_height(walls, primitive, sphere) if k < mine.n_outer_simple \
            else touch_wall(walls, primitive, sphere).height
        kept += 2 * (height < sphere[3] + skin and not is_excluded(
            exclusions, state, mine.outer_wall_pairs.data[k],
            <int> walls.materials[walls.wall_of[primitive]] | 1 << exclusions.log_materials >> 1))
        if k < mine.n_outer_simple:
            mine.n_simple = kept
    mine.wall_pairs.size = kept


cdef void sort_by_slab(Neighbours *mine, const StateView *state) noexcept nogil:
    """Counting sort of the pairs by the slab of the later sphere; see above."""
    cdef int first_slot = <int> state.first_member[mine.first_block] * LANES
    cdef int n_own_slots = <int> state.first_member[mine.last_block] * LANES - first_slot
    cdef Py_ssize_t k, slab, n_slabs = ((n_own_slots - 1) >> mine.log_slab) + 1
    cdef const int *pairs = mine.pairs.data
    cdef int *ends
    cdef int total = 0, count
    if not (reserve(&mine.slab_ends, n_slabs + 1) and reserve(&mine.spare, mine.pairs.size + PADDING)):
        return
    mine.slab_ends.size = n_slabs
    ends = mine.slab_ends.data                          # the last one of pairs of two threads
    memset(ends, 0, (n_slabs + 1) * sizeof(int))
    for k in range(0, mine.pairs.size, 2):
        ends[slab_of(mine, pairs + k, first_slot, n_own_slots, n_slabs)] += 2
    for slab in range(n_slabs + 1):                     # where each begins
        count = ends[slab]
        ends[slab] = total
        total += count
    for k in range(0, mine.pairs.size, 2):
        slab = slab_of(mine, pairs + k, first_slot, n_own_slots, n_slabs)
        memcpy(mine.spare.data + ends[slab], pairs + k, 2 * sizeof(int))
        ends[slab] += 2
    mine.spare.size = mine.pairs.size
    mine.pairs, mine.spare = mine.spare, mine.pairs
    release_large(&mine.spare)


cdef inline Py_ssize_t slab_of(const Neighbours *mine, const int *pair, int first_slot, int n_own_slots,
                               Py_ssize_t n_slabs) noexcept nogil:
    cdef int later = max(pair[0], pair[1]) - first_slot
    return later >> mine.log_slab if later < n_own_slots else n_slabs


cdef void mark_rows(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil:
    """Mark the member rows with a sphere in the inner lists of this thread, and count spheres of other threads.

    marks : (n_members, 2): in the lists of the owner, of another thread.
    """
    cdef Py_ssize_t k, row, first = state.first_member[mine.first_block], last = state.first_member[mine.last_block]
    cdef bint foreign
    mine.n_foreign = 0
    for k in range(mine.pairs.size):
        row = row_of(mine.pairs.data[k])
        foreign = not first <= row < last
        mine.n_foreign += foreign
        set_flag(marks + 2 * row + foreign)
    for k in range(0, mine.wall_pairs.size, 2):
        set_flag(marks + 2 * row_of(mine.wall_pairs.data[k]))


cdef void prune(Neighbours *all, int thread, int n_threads, const Walls *walls, const BoxPose *box,
                const StateView *state, const Exclusions *exclusions, unsigned char *marks, double skin) noexcept nogil:
    """Inner lists from the outer ones, and room for what collect_active lists.

    marks : see mark_rows; zero before. When all threads have set theirs, collect_active reads them.
    """
    cdef Neighbours *mine = all + thread
    cdef const IntVector *found
    cdef Py_ssize_t total = 0, kept = 0
    cdef Py_ssize_t n_rows = state.first_member[mine.last_block] - state.first_member[mine.first_block]
    cdef int source
    for source in range(n_threads):
        total += all[source].found[thread].size
    if not (reserve(&mine.pairs, total + PADDING) and reserve(&mine.wall_pairs, mine.outer_wall_pairs.size)
            and reserve(&mine.active, n_rows) and reserve(&mine.border, n_rows)):
        return
    for source in range(n_threads):
        found = all[source].found + thread
        kept += select_near(state.spheres, box, found.data, found.size, skin, mine.pairs.data + kept)
    mine.pairs.size = without_excluded(exclusions, state, mine.pairs.data, kept) if exclusions.pairs != NULL else kept
    if mine.log_slab:
        sort_by_slab(mine, state)
    mine.previous_lifetime = mine.steps
    mine.steps = 0
    prune_walls(mine, walls, state, exclusions, skin)
    mark_rows(mine, state, marks)


cdef void collect_active(Neighbours *mine, const StateView *state, unsigned char *marks) noexcept nogil:
    """List own member rows with a sphere in the inner lists: only these are posed.

    marks : see mark_rows.
    """
    cdef Py_ssize_t row, first = state.first_member[mine.first_block], last = state.first_member[mine.last_block]
    mine.active.size = mine.border.size = 0
    for row in range(first, last):
        mine.active.data[mine.active.size] = mine.border.data[mine.border.size] = <int> row
        mine.active.size += marks[2 * row] | marks[2 * row + 1]
        mine.border.size += marks[2 * row + 1]


cdef extern from "broadphase/near_pairs.h" nogil:
    Py_ssize_t find_pairs "minidem_find_pairs"(const int *others, Py_ssize_t room, int first, int count,
                                               int cx, int cy, int cz, int reach, int slot, int clump_first,
                                               int clump_slots, int *pairs)

cdef enum:
    AT_ONCE = 16                        # ints of a vector
    MOST_IMAGES = 27

cdef struct NearCells:
    IntVector entries           # (COLUMNS, stride): columns of the grid
    int stride                  # a multiple of AT_ONCE
    int count

cdef struct Images:
    int count
    double sphere[MOST_IMAGES][4]       # centre and radius of the item in the box, then of its images outside [m]
    int shift[MOST_IMAGES][3]           # from the first [box lengths]
    bint ahead[MOST_IMAGES]             # of two opposite shifts, one

cdef struct Search:                 # of one thread
    Neighbours *all
    Neighbours *mine
    int n_threads
    const StateView *state
    const double *items             # (slots, 4): centres and radii of the items of the grids [m]
    double skin                     # [m]
    bint clumps_first               # they are bounding spheres of clumps
    double width                    # of the widest cells [m]
    const BoxPose *box               # periodic: see periodic_box.pxd
    bint small_box                  # two images of a pair may be within the skin


cdef inline void collect(NearCells *near_cells, const CellGrid *grid, const CellRanges *ranges) noexcept nogil:
    """Copy the entries of the ranges, in order."""
    cdef int r, column, vector
    cdef int *to
    cdef const int *entry
    near_cells.count = 0
    near_cells.stride = (ranges.total + 2 * AT_ONCE) // AT_ONCE * AT_ONCE       # and a whole vector at the end
    if not reserve(&near_cells.entries, COLUMNS * <Py_ssize_t> near_cells.stride):
        return
    for r in range(ranges.count):
        for vector in range((ranges.last[r] - ranges.first[r] + AT_ONCE - 1) // AT_ONCE):
            to = near_cells.entries.data + near_cells.count + vector * AT_ONCE      # the next one overwrites the excess
            entry = grid.entries.data + ranges.first[r] + vector * AT_ONCE
            for column in range(COLUMNS):
                memcpy(to + column * near_cells.stride, entry + column * grid.stride, AT_ONCE * sizeof(int))
        near_cells.count += ranges.last[r] - ranges.first[r]


cdef inline bint are_nearest(const BoxPose *box, const double *first, const double *second,
                             const int *shift) noexcept nogil:
    """Whether the image of the first of two items by `shift` is the one nearest to the second."""
    cdef double a[3]
    cdef double b[3]
    cdef double across, lengths, squared, d, least = -1.0
    cdef double counts[3]
    cdef double nearest[3]
    cdef int axis, k
    wrap_position(box, first, a)
    wrap_position(box, second, b)
    across = rounded(across_lengths(box, a[0] - b[0], a[1] - b[1], a[2] - b[2]))
    for k in range(-1 if box.moves else 0, 2 if box.moves else 1):
        lengths, squared = across + k, 0.0              # in a tilted box the next one may be nearer
        for axis in range(3):
            d = a[axis] - b[axis] - lengths * box.lattice[axis]
            counts[axis] = rounded(d * box.inverse[axis])
            d -= counts[axis] * box.length[axis]
            squared += d * d
            if box.across[axis] != 0.0:
                counts[axis] += lengths
        if least < 0.0 or squared < least:
            least = squared
            memcpy(nearest, counts, sizeof(counts))
    return nearest[0] == -shift[0] and nearest[1] == -shift[1] and nearest[2] == -shift[2]


cdef inline void add_image(Images *images, const BoxPose *box, int x, int y, int z, double width) noexcept nogil:
    """Append the image by so many lengths. In a box that moves only if it is closer to the box than `width`."""
    cdef double *image = images.sphere[images.count]
    cdef int *shift = images.shift[images.count]
    cdef double lengths = 0.0, beyond
    cdef int axis
    shift[0], shift[1], shift[2] = x, y, z
    for axis in range(3 if box.moves else 0):
        lengths = shift[axis] if box.across[axis] != 0.0 else lengths
    for axis in range(3):
        image[axis] = images.sphere[0][axis]
        if not box.moves or box.across[axis] == 0.0:
            image[axis] += shift[axis] * box.length[axis]
        if lengths != 0.0:
            image[axis] += lengths * box.lattice[axis]
        beyond = max(box.low[axis] - image[axis], image[axis] - box.low[axis] - box.length[axis])
        if box.moves and box.across[axis] == 0.0 and box.length[axis] > 0.0 \
                and beyond >= min(width, 0.500001 * box.length[axis]):
            return
    image[3] = images.sphere[0][3]
    images.ahead[images.count] = 25 * z + 5 * y + x > 0
    images.count += 1


cdef inline void find_images(Images *images, const BoxPose *box, const double *sphere, double width) noexcept nogil:
    """The item in the box, and its images that are closer to the box than `width` [m]."""
    cdef double *inside = images.sphere[0]
    cdef int least[3]
    cdef int most[3]
    cdef int axis, x, y, z
    cdef bint across = False
    memset(images.shift[0], 0, sizeof(images.shift[0]))
    images.count, images.ahead[0] = 1, False
    if box == NULL:
        memcpy(inside, sphere, 4 * sizeof(double))
        return
    item_in_box(box, sphere, inside)
    for axis in range(3):
        most[axis] = box.length[axis] > 0.0 and inside[axis] - box.low[axis] < width
        least[axis] = -(box.length[axis] > 0.0 and box.low[axis] + box.length[axis] - inside[axis] < width)
        across |= box.across[axis] != 0.0 and (least[axis] != 0 or most[axis] != 0)
    for axis in range(3 if across else 0):              # an image across is displaced along the flow
        if box.lattice[axis] != 0.0 and box.across[axis] == 0.0:
            least[axis], most[axis] = -2, 2
    for z in range(least[2], most[2] + 1):
        for y in range(least[1], most[1] + 1):
            for x in range(least[0], most[0] + 1):
                if x or y or z:
                    add_image(images, box, x, y, z, width)


cdef inline int owner_of(const Search *search, int block) noexcept nogil:
    """The thread that owns a block."""
    cdef int thread = 0
    while thread < search.n_threads - 1 and block >= search.all[thread].last_block:
        thread += 1
    return thread


cdef void move_to_owners(const Search *search, int owner, Py_ssize_t first) noexcept nogil:
    """Move pairs from the list of the owner of their first spheres, from `first` on, to the threads that own them.

    A pair belongs to the thread that owns the sphere in the lower slot.
    """
    cdef IntVector *found = search.mine.found + owner
    cdef const Neighbours *theirs = search.all + owner
    cdef int first_slot = <int> search.state.first_member[theirs.first_block] * LANES
    cdef Py_ssize_t k, n = found.size
    cdef int i, j
    found.size = first                                  # the pairs that stay move up
    for k in range(first, n, 2):
        i, j = found.data[k], found.data[k + 1]
        found.data[found.size], found.data[found.size + 1] = i, j
        if j >= first_slot:
            found.size += 2
        else:
            push_pair(search.mine.found + owner_of(search, search.state.block_of_member[row_of(j)]), i, j)


cdef inline bint are_near(const BoxPose *box, const double *a, const double *b, double skin) noexcept nogil:
    """Whether the gap between two spheres (centre, radius), or the nearest images of them, is below `skin`."""
    cdef Vec3 d = nearest_image(box, vec3(a[0] - b[0], a[1] - b[1], a[2] - b[2]))
    cdef double reach = a[3] + b[3] + skin
    return dot(d, d) < reach * reach


cdef void collect_near(IntVector *near, const StateView *state, const BoxPose *box, int clump, const double *sphere,
                       double skin, bint all) noexcept nogil:
    """List the spheres of a clump near `sphere`, or all."""
    cdef Py_ssize_t row, block = row_of(clump)
    cdef int slot
    near.size = 0
    if not reserve(near, state.first_member[block + 1] - state.first_member[block]):
        return
    for row in range(state.first_member[block], state.first_member[block + 1]):
        slot = <int> row * LANES + lane_of(clump)
        if state.sphere_number[slot] >= 0 \
                and (all or are_near(box, state.spheres + 4 * <Py_ssize_t> slot, sphere, skin)):
            near.data[near.size] = slot
            near.size += 1


cdef void compare_clumps(const Search *search, int first, int second) noexcept nogil:
    """Outer pairs of two clumps, among spheres near the other bounding sphere."""
    cdef const StateView *state = search.state
    cdef IntVector *near = search.mine.near
    cdef IntVector *found = search.mine.found + owner_of(search, row_of(min(first, second)))
    cdef Py_ssize_t k, m
    cdef int i, j
    cdef bint all = search.small_box and box_moves(search.box)      # nearest images of long distances are not nearest
    collect_near(&near[0], state, search.box, first, search.items + 4 * <Py_ssize_t> second, search.skin, all)
    collect_near(&near[1], state, search.box, second, search.items + 4 * <Py_ssize_t> first, search.skin, all)
    for k in range(near[0].size):
        i = near[0].data[k]
        for m in range(near[1].size):
            j = near[1].data[m]
            if are_near(search.box, state.spheres + 4 * <Py_ssize_t> i, state.spheres + 4 * <Py_ssize_t> j,
                        search.skin):
                push_pair(found, i, j)


cdef void keep_nearest(const Search *search, IntVector *pairs, Py_ssize_t first, const int *shift) noexcept nogil:
    """Keep the pairs from `first` on, found at an image of their first item, if that is its nearest image."""
    cdef Py_ssize_t k, n = pairs.size
    pairs.size = first
    for k in range(first, n, 2):
        pairs.data[pairs.size], pairs.data[pairs.size + 1] = pairs.data[k], pairs.data[k + 1]
        pairs.size += 2 * are_nearest(search.box, search.items + 4 * <Py_ssize_t> pairs.data[k],
                                      search.items + 4 * <Py_ssize_t> pairs.data[k + 1], shift)


cdef inline void search_around(const Search *search, const CellGrid *grid, int slot, const FixedSphere *fixed,
                               const NearCells *near_cells, int first, const int *shift) noexcept nogil:
    """Outer pairs of an item, or its image by `shift`, with the spheres of near cells from `first` on."""
    cdef const Py_ssize_t *first_member = search.state.first_member
    cdef IntVector *found = &search.mine.hits
    cdef int block, owner = 0, clump_first = slot, clump_slots = 1
    cdef Py_ssize_t k, before
    if search.clumps_first:
        found.size = 0
    else:
        block = search.state.block_of_member[row_of(slot)]
        clump_first = <int> first_member[block] * LANES
        clump_slots = <int> (first_member[block + 1] - first_member[block]) * LANES
        owner = owner_of(search, block)
        found = search.mine.found + owner
    before = found.size
    if not reserve(found, before + 2 * (near_cells.count - first + AT_ONCE)):
        return
    found.size += find_pairs(near_cells.entries.data, near_cells.stride, first, near_cells.count, fixed.x, fixed.y,
                             fixed.z, fixed.radius + grid.skin, slot, clump_first, clump_slots, found.data + before)
    if search.small_box:
        keep_nearest(search, found, before, shift)
    if not search.clumps_first and search.n_threads > 1:
        move_to_owners(search, owner, before)
    for k in range(0, found.size if search.clumps_first else 0, 2):
        compare_clumps(search, slot, found.data[k + 1])


cdef void search_images(const Search *search, const Levels *levels, int level, int slot, const Images *images,
                        NearCells *near_cells, int *cells) noexcept nogil:
    """Search around an item in the grids of larger spheres; around its images in its own grid, too.

    near_cells, cells : (2 * MOST_LEVELS,), see search_level; the second half is for images.
    """
    cdef const CellGrid *grid
    cdef NearCells *around
    cdef CellRanges ranges
    cdef FixedSphere fixed
    cdef int m, k, n, cell
    for m in range(images.count):
        for k in range(level + (not images.ahead[m]), levels.count):
            grid = &levels.grid[k]
            if grid.items.size == 0:
                continue
            n = k + (MOST_LEVELS if m > 0 else 0)
            around = near_cells + n
            fixed = fixed_sphere_of(grid, images.sphere[m])
            cell = cell_of(grid, &fixed)
            if cell != cells[n]:
                cells[n] = cell
                ranges_around(&ranges, grid, cell)
                collect(around, grid, &ranges)
            search_around(search, grid, slot, &fixed, around, 0, images.shift[m])


cdef void search_level(const Search *search, const Levels *levels, int level,
                       NearCells *near_cells) noexcept nogil:
    """Search the own part of a grid, within it and in the grids of larger spheres.

    near_cells : (2 * MOST_LEVELS,), those around the cell of the item or of its image in each grid.
    """
    cdef const CellGrid *grid = &levels.grid[level]
    cdef double n_blocks = search.state.n_blocks        # the same part of the grid as of the blocks
    cdef Py_ssize_t p, first = entry_after(grid, search.mine.first_block / n_blocks)
    cdef Py_ssize_t last = entry_after(grid, search.mine.last_block / n_blocks)
    cdef const int *start = grid.start.data
    cdef int cells[2 * MOST_LEVELS]
    cdef CellRanges ranges
    cdef FixedSphere fixed
    cdef Images images
    cdef int no_shift[3]
    cdef int cell = 0, known = -1, slot
    memset(no_shift, 0, sizeof(no_shift))
    for p in range(2 * MOST_LEVELS):
        cells[p] = -1                                   # none collected
    if first < last:
        fixed = fixed_sphere_at(grid, first)
        cell = cell_of(grid, &fixed)
    for p in range(first, last):
        while start[cell + 1] <= p:
            cell += 1
        if cell != known:
            known = cell
            ranges_ahead(&ranges, grid, cell)
            collect(near_cells + level, grid, &ranges)
        fixed = fixed_sphere_at(grid, p)
        slot = grid.entries.data[SLOT * grid.stride + p]
        search_around(search, grid, slot, &fixed, near_cells + level, <int> p - start[cell] + 1, no_shift)
        if search.box != NULL or level + 1 < levels.count:
            find_images(&images, search.box, search.items + 4 * <Py_ssize_t> slot, search.width)
            search_images(search, levels, level, slot, &images, near_cells, cells)


cdef void search_pairs(Neighbours *all, int thread, int n_threads, const Levels *levels, const StateView *state,
                       const BoxPose *box, const double *items, double skin, bint clumps_first) noexcept nogil:
    """Search the own part of every grid for outer pairs, sorted by owner.

    items : (slots, 4) centres and radii of the items of the grids: spheres, or with `clumps_first` bounding spheres of
        clumps.
    """
    cdef NearCells near_cells[2 * MOST_LEVELS]
    cdef Search search
    cdef int level, owner, axis
    memset(near_cells, 0, sizeof(near_cells))
    search.all, search.mine, search.n_threads = all, all + thread, n_threads
    search.state, search.items, search.skin, search.clumps_first = state, items, skin, clumps_first
    search.box, search.width, search.small_box = box, 0.0, False
    for level in range(levels.count):
        search.width = max(search.width, cell_width(&levels.grid[level]))
    for axis in range(3 if box != NULL else 0):
        search.small_box |= 0.0 < box.length[axis] < 2.0 * search.width
    for owner in range(n_threads):
        search.mine.found[owner].size = 0
    for level in range(levels.count):
        search_level(&search, levels, level, near_cells)
    for level in range(2 * MOST_LEVELS):
        release(&near_cells[level].entries)
    for owner in range(n_threads):
        reserve(search.mine.found + owner, search.mine.found[owner].size + PADDING)
        shrink(search.mine.found + owner, search.mine.found[owner].size + PADDING)
