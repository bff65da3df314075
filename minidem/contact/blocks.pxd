"""Storage for contacts with a history, in blocks of eight.

Between two rebuilds of the lists a contact keeps its lane of a block, and its history is replaced in place. A lane
without a contact is free: its two bodies are spheres at rest that never touch (state/state.pyx), so that a block is
always evaluated whole. A new contact takes a free lane; a rebuild closes the gaps (contacts.pyx).
"""
from libc.stdlib cimport free
from libc.string cimport memcpy

from minidem.core.vectors cimport KEPT, IntVector, aligned_memory, release, reserve
from minidem.core.lanes cimport LANES, LOG_LANES, lane_of

cdef struct ContactBlock:           # eight contacts; behind it their history and couples (gather.pxd)
    int first[LANES]                # sphere
    int second[LANES]               # sphere, or -1 - primitive of a wall
    int wall_pair[LANES]            # of a contact with a wall: index of the pair in the neighbor list; else -1
    int materials[LANES]            # pair of materials
    double mass[LANES]              # effective, when the contact began, see contacts.pyx [kg]
    double rolling_inertia[LANES]   # effective, when the contact began [kg m2]
    double force[3][LANES]          # on the first body, lab [N]; written where something reads it, see stores_forces

cdef struct Blocks:
    double *data                    # (n_blocks, stride)
    Py_ssize_t n_blocks
    Py_ssize_t capacity             # blocks
    Py_ssize_t stride               # doubles of a block
    IntVector free_lanes            # lanes without a contact, in any order
    int free_slot                   # the first body of a free lane ...
    int free_second                 # ... and the second one


cdef inline ContactBlock *block_at(const Blocks *blocks, Py_ssize_t b) noexcept nogil:
    return <ContactBlock *> (blocks.data + b * blocks.stride)


cdef inline ContactBlock *block_of(const Blocks *blocks, Py_ssize_t lane) noexcept nogil:
    """The block of a contact; there its lane is lane_of(lane)."""
    return block_at(blocks, lane >> LOG_LANES)


cdef inline double *history_of(const ContactBlock *block) noexcept nogil:
    """(n_records, 4, LANES): see contact.h."""
    return <double *> (block + 1)


cdef inline void set_stride(Blocks *blocks, int n_records, bint couples, int free_slot,
                            int free_second) noexcept nogil:
    """couples : whether there is room for them."""
    blocks.stride = <Py_ssize_t> (sizeof(ContactBlock) // sizeof(double)) + (4 * n_records + 3 * couples) * LANES
    blocks.free_slot, blocks.free_second = free_slot, free_second


cdef inline bint reserve_blocks(Blocks *blocks, Py_ssize_t n) noexcept nogil:
    """Room for n blocks; contents are kept. Whether there is."""
    cdef void *data
    cdef Py_ssize_t capacity = n + n // 8 + 8
    if n <= blocks.capacity:
        return True
    data = aligned_memory(capacity * blocks.stride * sizeof(double))
    if data == NULL:
        return False
    if blocks.n_blocks > 0:
        memcpy(data, blocks.data, blocks.n_blocks * blocks.stride * sizeof(double))
    free(blocks.data)
    blocks.data, blocks.capacity = <double *> data, capacity
    return True


cdef inline void set_bodies(const Blocks *blocks, Py_ssize_t lane, int first, int second, int materials) noexcept nogil:
    """Of a contact that is in no list of pairs yet."""
    cdef ContactBlock *block = block_of(blocks, lane)
    cdef int k = lane_of(lane)
    block.first[k], block.second[k], block.wall_pair[k], block.materials[k] = first, second, -1, materials


cdef inline int count_rows(const Blocks *blocks) noexcept nogil:
    """Rows of a block from `mass` on: masses, force, history and couple."""
    return <int> (blocks.stride // LANES) - 2           # four rows of ints take the place of two


cdef inline void copy_numbers(const Blocks *source, Py_ssize_t lane, Blocks *to, Py_ssize_t to_lane) noexcept nogil:
    """Masses, force, history and couple of a contact to another lane."""
    cdef const double *old = block_of(source, lane).mass + lane_of(lane)
    cdef double *new = block_of(to, to_lane).mass + lane_of(to_lane)
    cdef int row
    for row in range(count_rows(to)):
        new[row * LANES] = old[row * LANES]


cdef inline void clear_numbers(Blocks *blocks, Py_ssize_t lane) noexcept nogil:
    """Zeros, and a mass of 1 kg."""
    cdef double *numbers = block_of(blocks, lane).mass + lane_of(lane)
    cdef int row
    for row in range(count_rows(blocks)):
        numbers[row * LANES] = 1.0 if row == 0 else 0.0


cdef inline void free_lane(Blocks *blocks, Py_ssize_t lane) noexcept nogil:
    """A contact has ended, or a lane is new."""
    set_bodies(blocks, lane, blocks.free_slot, blocks.free_second, 0)
    clear_numbers(blocks, lane)
    blocks.free_lanes.data[blocks.free_lanes.size] = <int> lane
    blocks.free_lanes.size += 1


cdef inline void add_block(Blocks *blocks) noexcept nogil:
    """Append a block of free lanes."""
    cdef Py_ssize_t lane
    if not (reserve_blocks(blocks, blocks.n_blocks + 1)
            and reserve(&blocks.free_lanes, LANES * (blocks.n_blocks + 1))):     # for all lanes: free_lane cannot fail
        return
    blocks.n_blocks += 1
    for lane in range(LANES * blocks.n_blocks - 1, LANES * (blocks.n_blocks - 1) - 1, -1):
        free_lane(blocks, lane)


cdef inline Py_ssize_t take_lane(Blocks *blocks) noexcept nogil:
    """A free lane for a new contact, no longer listed as one; -1: memory was refused."""
    if blocks.free_lanes.size == 0:
        add_block(blocks)
    if blocks.free_lanes.size == 0:
        return -1
    blocks.free_lanes.size -= 1
    return blocks.free_lanes.data[blocks.free_lanes.size]


cdef inline void clear_blocks(Blocks *blocks) noexcept nogil:
    blocks.n_blocks = blocks.free_lanes.size = 0


cdef inline bint copy_blocks(Blocks *to, const Blocks *source) noexcept nogil:
    """Whether there was memory for it."""
    clear_blocks(to)
    if not (reserve_blocks(to, source.n_blocks) and reserve(&to.free_lanes, LANES * source.n_blocks)):
        return False
    to.n_blocks, to.free_lanes.size = source.n_blocks, source.free_lanes.size
    if source.n_blocks > 0:
        memcpy(to.data, source.data, source.n_blocks * source.stride * sizeof(double))
    if source.free_lanes.size > 0:
        memcpy(to.free_lanes.data, source.free_lanes.data, source.free_lanes.size * sizeof(int))
    return True


cdef inline void release_blocks(Blocks *blocks) noexcept nogil:
    free(blocks.data)
    blocks.data, blocks.capacity = NULL, 0
    clear_blocks(blocks)
    release(&blocks.free_lanes)


cdef inline Py_ssize_t bytes_of(const Blocks *blocks) noexcept nogil:
    """Of the blocks in use."""
    return blocks.n_blocks * blocks.stride * <Py_ssize_t> sizeof(double)


cdef inline void release_large_blocks(Blocks *blocks) noexcept nogil:
    """As release_large of vectors; contacts are most of what a bed has."""
    if bytes_of(blocks) > 4 * <Py_ssize_t> KEPT:
        release_blocks(blocks)
