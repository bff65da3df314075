# distutils: extra_compile_args = -O1
"""Layout: which slot holds which clump and sphere.

The k-th spheres of the eight clumps of a block form one *member row*, so that eight spheres are posed at once; the slot
of a sphere is member row * LANES + lane. Blocks whose lanes hold the same bodies have one *block type*: they share one
set of constants and one set of sphere offsets. A layout is not changed once it is made, except for the positions of its
spheres: another order of the clumps is another layout.

Spatial sort: an order of clumps in which neighbours in space are neighbours in memory.

Neighbors are then near each other in memory, so that most of what a step reads is in cache. Results do not depend on
the order: sums on spheres have none, and a clump adds its spheres in the order of its template. The loops are C, not
NumPy: several releases of NumPy abort the process where a broadcast finds no memory for its buffers.
"""
from math import prod

from libc.math cimport cbrt
from libc.string cimport memcmp

import numpy as np

from minidem.state.bodies import FREE_HOLD

from minidem.state.rows cimport CARRIED, FREE, HELD, PINNED

FREE_RADIUS = 1e-3          # in largest radii, of two spheres that never touch (contact/blocks.pxd); no image is nearer


def aligned(shape, dtype=np.float64):
    """Array of zeros, aligned to a cache line (64 bytes)."""
    count = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


cdef void number_spheres(const Py_ssize_t[::1] first_member, const int[::1] clump_number, const int[::1] first_sphere,
                         int[:, ::1] sphere_number, int[::1] sphere_slot, int[::1] clump_slot) noexcept nogil:
    """The user's number of the sphere in each slot, (n_members, LANES), and the slots of spheres and clumps.

    first_sphere : (n_clumps + 1,) number of the first sphere of each clump.
    """
    cdef Py_ssize_t slot, row, clump
    cdef int sphere
    for slot in range(clump_number.shape[0]):
        clump = clump_number[slot]
        if clump < 0:                                   # an empty lane of the last block
            continue
        clump_slot[clump] = <int> slot
        row = first_member[slot // LANES]
        for sphere in range(first_sphere[clump], first_sphere[clump + 1]):
            sphere_number[row, slot % LANES] = sphere
            sphere_slot[sphere] = <int> (row * LANES + slot % LANES)
            row += 1


cdef class Layout:
    """Clumps in an order, and their spheres.

    Parameters
    ----------
    bodies : Bodies
    template_index : (n_clumps,) int32, by the user's number: the body of each clump
    scale : (n_clumps,) by which the lengths of its body are multiplied
    hold : (n_clumps,) HOLD (bodies.py), or None
    clump_number : (n_clumps,) the user's number of the clump in each slot

    Raises
    ------
    ValueError
        For more spheres than the lists can number.
    """

    def __init__(self, bodies, template_index, scale, hold, clump_number):
        if hold is not None:
            bodies, template_index = bodies.held(template_index, hold)
        self.bodies, self.n_clumps = bodies, len(clump_number)
        self.clump_number = np.empty((self.n_clumps + LANES - 1) // LANES * LANES, dtype=np.int32)
        self.clump_number[:self.n_clumps], self.clump_number[self.n_clumps:] = clump_number, -1
        self.build_members(np.append(template_index, np.int32(-1)).take(self.clump_number),     # -1: an empty slot
                           np.append(scale, 1.0).take(self.clump_number))
        self.assign_ids(template_index)
        self.bind_view()

    def build_members(self, const int[::1] body_of_slot, const double[::1] scale):
        """Member rows, spheres and constants, from the bodies in the slots and the factors of their lengths."""
        cdef Py_ssize_t n_blocks = body_of_slot.shape[0] // LANES, n_types, n_members
        bodies = self.bodies
        block_type, first_of_type = np.empty(n_blocks, dtype=np.int32), np.empty(n_blocks, dtype=np.int32)
        table = np.full(2 << int(n_blocks).bit_length(), -1, dtype=np.int32)
        n_types = find_block_types(body_of_slot, scale, table, block_type, first_of_type)
        first_offset_row = np.empty(n_types + 1, dtype=np.intp)
        first_member = np.empty(n_blocks + 1, dtype=np.intp)
        count_rows(body_of_slot, bodies.sizes, first_of_type, block_type, first_offset_row, first_member)
        n_members = first_member[n_blocks]
        if n_members * LANES >= 2 ** 30:
            raise ValueError(f"these clumps have more spheres than the 2^30 that the lists can number: {n_members} "
                             f"rows of {LANES}")
        self.offset_table = aligned((int(first_offset_row[n_types]), 4, LANES))
        self.constants = aligned((n_types, sizeof(ConstantBlock) // sizeof(double)))
        write_types(body_of_slot, scale, first_of_type, first_offset_row, bodies.sizes, bodies.addresses,
                    bodies.inertia, bodies.mass, bodies.turn_bound, self.offset_table, self.constants)
        spheres = aligned((n_members + 1, LANES, 4))
        self.spheres = spheres[:n_members]
        self.block_of_member = np.empty(n_members, dtype=np.int32)
        self.offset_row = np.empty(n_members, dtype=np.int32)
        self.holds = self.hold_blocks(np.asarray(body_of_slot).reshape(-1, LANES)[first_of_type[:n_types]])
        self.block_type, self.first_member = block_type, first_member
        write_members(first_offset_row, block_type, first_member, self.offset_table, self.block_of_member,
                      self.offset_row, self.spheres)
        apart = FREE_RADIUS * np.max(self.spheres[:, :, 3], initial=0.0)
        spheres[-1, :2, 3], spheres[-1, 1, 0] = apart, 4.0 * apart

    def hold_blocks(self, types):
        """HoldBlocks of block types, given the bodies in their lanes (n, LANES), -1: none; None if no clump is held."""
        if self.bodies.hold is None:
            return None
        hold = np.append(self.bodies.hold, FREE_HOLD).take(types)
        pinned, free = hold["arm"].any(axis=2), hold["free"].all(axis=2) & (hold["turns"] == 1.0)
        kind = np.where(hold["wall"] > 0.0, <int> CARRIED, np.where(pinned, <int> PINNED, np.where(
            free, <int> FREE, <int> HELD)))
        blocks = aligned((len(types), sizeof(HoldBlock) // (LANES * sizeof(double)), LANES))
        blocks[:] = np.concatenate([hold["free"], hold["turns"][..., None], hold["axis"], hold["arm"], kind[..., None],
                                    hold["wall"][..., None] - 1.0], axis=2).swapaxes(1, 2)
        return blocks

    def assign_ids(self, template_index):
        """The user's numbers of clumps and spheres by slot, and the slots by number."""
        first_sphere = np.cumsum(np.append(0, self.bodies.sizes.take(template_index))).astype(np.int32)
        self.n_spheres = first_sphere[-1]
        self.clump_slot = np.empty(self.n_clumps, dtype=np.int32)
        self.sphere_number = np.full((len(self.block_of_member), LANES), -1, dtype=np.int32)
        self.sphere_slot = np.empty(self.n_spheres, dtype=np.int32)
        number_spheres(self.first_member, self.clump_number, first_sphere, self.sphere_number, self.sphere_slot,
                       self.clump_slot)

    def bind_view(self):
        """Pointers for compiled code, except those of blocks and wrenches."""
        cdef StateView *view = &self.view
        view.n_blocks, view.n_members = len(self.block_type), len(self.offset_row)
        view.first_member = <const Py_ssize_t *> pointer_to(self.first_member)
        view.clump_number = <const int *> pointer_to(self.clump_number)
        view.block_type = <const int *> pointer_to(self.block_type)
        view.constants = <const ConstantBlock *> pointer_to(self.constants)
        view.holds = NULL if self.holds is None else <const HoldBlock *> pointer_to(self.holds)
        view.offset_table = <const double *> pointer_to(self.offset_table)
        view.offset_row = <const int *> pointer_to(self.offset_row)
        view.spheres = <double *> pointer_to(self.spheres)
        view.block_of_member = <const int *> pointer_to(self.block_of_member)
        view.sphere_number = <const int *> pointer_to(self.sphere_number)


cdef inline unsigned long long mixed(unsigned long long bits) noexcept nogil:
    """A hash of 64 bits: the finaliser of SplitMix64."""
    bits = (bits ^ (bits >> 30)) * <unsigned long long> 0xbf58476d1ce4e5b9
    bits = (bits ^ (bits >> 27)) * <unsigned long long> 0x94d049bb133111eb
    return bits ^ (bits >> 31)


cdef inline unsigned long long hash_of(const int *body_of_slot, const double *scale) noexcept nogil:
    cdef unsigned long long bits = 0
    cdef int lane
    for lane in range(LANES):
        bits = mixed(bits + <unsigned int> body_of_slot[lane])
        bits = mixed(bits + (<const unsigned long long *> scale)[lane])
    return bits


cdef Py_ssize_t find_block_types(const int[::1] body_of_slot, const double[::1] scale, int[::1] table,
                                 int[::1] block_type, int[::1] first_of_type) noexcept nogil:
    """Number the block types in the order of their first blocks; returns how many there are.

    body_of_slot, scale : the body in each slot, and the factor of its lengths.
    table : (2^k,) of -1, longer than the number of blocks: a hash table.
    first_of_type : (n_blocks,), the first block of each block type.
    """
    cdef unsigned long long mask = table.shape[0] - 1, entry
    cdef Py_ssize_t b, other, n = 0
    for b in range(block_type.shape[0]):
        entry = hash_of(&body_of_slot[b * LANES], &scale[b * LANES]) & mask
        while table[entry] >= 0:
            other = <Py_ssize_t> first_of_type[table[entry]] * LANES
            if memcmp(&body_of_slot[other], &body_of_slot[b * LANES], LANES * sizeof(int)) == 0 \
                    and memcmp(&scale[other], &scale[b * LANES], LANES * sizeof(double)) == 0:
                break
            entry = (entry + 1) & mask
        if table[entry] < 0:
            table[entry] = <int> n
            first_of_type[n] = <int> b
            n += 1
        block_type[b] = table[entry]
    return n


cdef void count_rows(const int[::1] body_of_slot, const Py_ssize_t[::1] sizes, const int[::1] first_of_type,
                     const int[::1] block_type, Py_ssize_t[::1] first_offset_row,
                     Py_ssize_t[::1] first_member) noexcept nogil:
    """First row in the offset table of each block type, (n_types + 1,), and first member row of each block."""
    cdef Py_ssize_t kind, b, rows
    cdef int lane, body
    first_offset_row[0] = first_member[0] = 0
    for kind in range(first_offset_row.shape[0] - 1):
        rows = 0
        for lane in range(LANES):
            body = body_of_slot[<Py_ssize_t> first_of_type[kind] * LANES + lane]
            rows = max(rows, sizes[body] if body >= 0 else 0)
        first_offset_row[kind + 1] = first_offset_row[kind] + rows
    for b in range(block_type.shape[0]):
        kind = block_type[b]
        first_member[b + 1] = first_member[b] + first_offset_row[kind + 1] - first_offset_row[kind]


cdef void write_types(const int[::1] body_of_slot, const double[::1] scale, const int[::1] first_of_type,
                      const Py_ssize_t[::1] first_offset_row, const Py_ssize_t[::1] sizes, const size_t[::1] addresses,
                      const double[:, ::1] inertia, const double[::1] mass, const double[:, ::1] turn_bound,
                      double[:, :, ::1] offset_table, double[:, ::1] constants) noexcept nogil:
    """Offsets and radii of the spheres, and ConstantBlocks, of each block type; both arrays are zero before."""
    cdef const double *shape
    cdef Py_ssize_t kind, slot, k
    cdef int lane, column, body
    cdef double square, cube
    cdef ConstantBlock *block
    for kind in range(constants.shape[0]):
        block = <ConstantBlock *> &constants[kind, 0]
        for lane in range(LANES):
            slot = <Py_ssize_t> first_of_type[kind] * LANES + lane
            body, square = body_of_slot[slot], scale[slot] * scale[slot]
            cube = square * scale[slot]
            block.mass[lane] = cube * mass[body] if body >= 0 else 1.0
            block.inverse_mass[lane] = 1.0 / block.mass[lane] if body >= 0 else 0.0
            for k in range(3):
                block.inertia[k * LANES + lane] = cube * square * inertia[body, k] if body >= 0 else 1.0
                block.inverse_inertia[k * LANES + lane] = 1.0 / block.inertia[k * LANES + lane]
            for k in range(4):
                block.turn_bound[k * LANES + lane] = square * turn_bound[body, k] if body >= 0 else 0.0
            shape = <const double *> addresses[body] if body >= 0 else NULL
            for k in range(sizes[body] if body >= 0 else 0):
                for column in range(4):
                    offset_table[first_offset_row[kind] + k, column, lane] = scale[slot] * shape[4 * k + column]


cdef void write_members(const Py_ssize_t[::1] first_offset_row, const int[::1] block_type,
                        const Py_ssize_t[::1] first_member, const double[:, :, ::1] offset_table,
                        int[::1] block_of_member, int[::1] offset_row, double[:, :, ::1] spheres) noexcept nogil:
    """Block and row in the offset table of each member row, and the radii of its spheres."""
    cdef Py_ssize_t b, row, k
    cdef int lane
    for b in range(block_type.shape[0]):
        for row in range(first_member[b], first_member[b + 1]):
            k = first_offset_row[block_type[b]] + row - first_member[b]
            block_of_member[row] = <int> b
            offset_row[row] = <int> k
            for lane in range(LANES):
                spheres[row, lane, 3] = offset_table[k, 3, lane]


cdef enum:
    CLUMPS_PER_CELL = 2
    MOST_CELLS = 1048576        # along an axis, so that three numbers of cells fit into one integer

TINY = float(np.finfo(np.float64).tiny)


def row_major(const double[:, :] position):
    """Permutation (n,) that sorts points (n, 3) by the cells of a cubic lattice, row by row, layer by layer.

    A cell holds two points on the average. Its width does not depend on points far from most others, beyond the
    percentiles 1 and 99 along an axis. Points of one cell keep their order.
    """
    cdef Py_ssize_t k, n = position.shape[0], first = n // 100, last = n - 1 - n // 100
    cdef double[::1] values = np.empty(n)
    cdef long long[::1] cell = np.zeros(n, dtype=np.int64)
    cdef double low[3]
    cdef double extent[3]
    cdef double edge, along, tiny = TINY
    cdef int axis
    for axis in range(3):
        for k in range(n):
            values[k] = position[k, axis]
        np.asarray(values).partition((first, last))
        low[axis] = values[first]
        extent[axis] = max(values[last] - low[axis], tiny)
    edge = cbrt(CLUMPS_PER_CELL / <double> n * extent[0] * extent[1] * extent[2])
    edge = max(edge, max(extent[0], extent[1], extent[2]) / MOST_CELLS)
    for axis in range(2, -1, -1):                       # layer, row, cell in the row
        for k in range(n):
            along = min(max((position[k, axis] - low[axis]) / edge, -1.0), MOST_CELLS - 2.0) + 1.0
            cell[k] = cell[k] * MOST_CELLS + <long long> along
    return np.asarray(cell).argsort(kind="stable")
