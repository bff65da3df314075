"""Which slot holds which clump and sphere, and what never changes about them.

The k-th spheres of the eight clumps of a block form one *member row*, so that eight spheres are posed at once; a
sphere's slot is member row * LANES + lane. Inertia, offsets and the like are written once for all blocks whose lanes
hold the same bodies, the same *mixture*. A layout does not change once it is made, but for the centres of its spheres:
a new order of the clumps is a new layout, which takes the place of the old one when nothing is left that can fail.
"""
from math import prod

from libc.string cimport memcmp

import numpy as np

from minidem.core.lanes cimport LANES
from minidem.state.rows cimport FIXED_ROWS, INERTIA, INVERSE_INERTIA, INVERSE_MASS, MASS, REACH


def aligned(shape, dtype=np.float64):
    """Zeros that start on a cache line (64 bytes)."""
    count = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


cdef void copy_to_slots(const int[::1] clump_number, const int[::1] template_index, const double[::1] scale,
                        int[::1] kind, double[::1] size) noexcept nogil:
    cdef Py_ssize_t slot
    cdef int clump
    for slot in range(clump_number.shape[0]):
        clump = clump_number[slot]
        kind[slot] = template_index[clump] if clump >= 0 else -1
        size[slot] = scale[clump] if clump >= 0 else 1.0


cdef bint are_equal(const int[::1] kind, const double[::1] size, const int[::1] other_kind,
                    const double[::1] other_size) noexcept nogil:
    """Whether the same bodies stand in all slots."""
    cdef Py_ssize_t n = kind.shape[0]
    return n == other_kind.shape[0] and (n == 0 or (
        memcmp(&kind[0], &other_kind[0], n * sizeof(int)) == 0
        and memcmp(&size[0], &other_size[0], n * sizeof(double)) == 0))


cdef inline unsigned long long mixed(unsigned long long bits) noexcept nogil:
    """A hash of 64 bits: the finaliser of SplitMix64."""
    bits = (bits ^ (bits >> 30)) * <unsigned long long> 0xbf58476d1ce4e5b9
    bits = (bits ^ (bits >> 27)) * <unsigned long long> 0x94d049bb133111eb
    return bits ^ (bits >> 31)


cdef inline unsigned long long hash_of(const int *kind, const double *scale) noexcept nogil:
    cdef unsigned long long bits = 0
    cdef int lane
    for lane in range(LANES):
        bits = mixed(bits + <unsigned int> kind[lane])
        bits = mixed(bits + (<const unsigned long long *> scale)[lane])
    return bits


cdef Py_ssize_t find_mixtures(const int[::1] kind, const double[::1] scale, int[::1] table, int[::1] mixture_of_block,
                              int[::1] block_of_mixture) noexcept nogil:
    """Number the different mixtures of the blocks as they come; returns how many there are.

    kind, scale : of the body in each slot.
    table : (2^k,) of -1, longer than there are blocks: room for a hash table.
    block_of_mixture : (n_blocks,), the first block of each mixture.
    """
    cdef unsigned long long mask = table.shape[0] - 1, place
    cdef Py_ssize_t b, other, n = 0
    for b in range(mixture_of_block.shape[0]):
        place = hash_of(&kind[b * LANES], &scale[b * LANES]) & mask
        while table[place] >= 0:
            other = <Py_ssize_t> block_of_mixture[table[place]] * LANES
            if memcmp(&kind[other], &kind[b * LANES], LANES * sizeof(int)) == 0 \
                    and memcmp(&scale[other], &scale[b * LANES], LANES * sizeof(double)) == 0:
                break
            place = (place + 1) & mask
        if table[place] < 0:
            table[place] = <int> n
            block_of_mixture[n] = <int> b
            n += 1
        mixture_of_block[b] = table[place]
    return n


cdef void count_rows(const int[::1] kind, const Py_ssize_t[::1] sizes, const int[::1] block_of_mixture,
                     const int[::1] mixture_of_block, Py_ssize_t[::1] first_kind,
                     Py_ssize_t[::1] first_member) noexcept nogil:
    """Where the kinds of rows of each mixture begin, (n_mixtures + 1,), and the member rows of each block."""
    cdef Py_ssize_t m, b, rows
    cdef int lane, body
    first_kind[0] = first_member[0] = 0
    for m in range(first_kind.shape[0] - 1):
        rows = 0
        for lane in range(LANES):
            body = kind[<Py_ssize_t> block_of_mixture[m] * LANES + lane]
            rows = max(rows, sizes[body] if body >= 0 else 0)
        first_kind[m + 1] = first_kind[m] + rows
    for b in range(mixture_of_block.shape[0]):
        m = mixture_of_block[b]
        first_member[b + 1] = first_member[b] + first_kind[m + 1] - first_kind[m]


cdef void write_kinds(const int[::1] kind, const double[::1] scale, const int[::1] block_of_mixture,
                      const Py_ssize_t[::1] first_kind, const Py_ssize_t[::1] sizes, const size_t[::1] addresses,
                      double[:, :, ::1] kinds) noexcept nogil:
    """Offsets and radii of the spheres of each mixture; kinds is zero before."""
    cdef const double *shape
    cdef Py_ssize_t m, slot, k
    cdef int lane, column
    for m in range(first_kind.shape[0] - 1):
        for lane in range(LANES):
            slot = <Py_ssize_t> block_of_mixture[m] * LANES + lane
            if kind[slot] >= 0:
                shape = <const double *> addresses[kind[slot]]
                for k in range(sizes[kind[slot]]):
                    for column in range(4):
                        kinds[first_kind[m] + k, column, lane] = scale[slot] * shape[4 * k + column]


cdef void write_fixed(const int[::1] kind, const double[::1] scale, const int[::1] block_of_mixture,
                      const double[:, ::1] inertia, const double[::1] mass, const double[:, ::1] reach,
                      double[:, :, ::1] fixed) noexcept nogil:
    """The rows of each mixture (rows.pxd); fixed is zero before."""
    cdef Py_ssize_t m, slot
    cdef int lane, k, body
    cdef double square, cube
    cdef double *rows
    for m in range(fixed.shape[0]):
        for lane in range(LANES):
            slot = <Py_ssize_t> block_of_mixture[m] * LANES + lane
            body = kind[slot]
            rows = &fixed[m, 0, lane]
            square = scale[slot] * scale[slot]
            cube = square * scale[slot]
            rows[MASS * LANES] = cube * mass[body] if body >= 0 else 1.0
            rows[INVERSE_MASS * LANES] = 1.0 / rows[MASS * LANES] if body >= 0 else 0.0
            for k in range(3):
                rows[(INERTIA + k) * LANES] = cube * square * inertia[body, k] if body >= 0 else 1.0
                rows[(INVERSE_INERTIA + k) * LANES] = 1.0 / rows[(INERTIA + k) * LANES]
            for k in range(4):
                rows[(REACH + k) * LANES] = square * reach[body, k] if body >= 0 else 0.0


cdef void write_members(const Py_ssize_t[::1] first_kind, const int[::1] mixture_of_block,
                        const Py_ssize_t[::1] first_member, const double[:, :, ::1] kinds, int[::1] block_of_member,
                        int[::1] kind_of_member, double[:, :, ::1] spheres) noexcept nogil:
    """Block and kind of each member row, and the radii of its spheres."""
    cdef Py_ssize_t b, row, k
    cdef int lane
    for b in range(mixture_of_block.shape[0]):
        for row in range(first_member[b], first_member[b + 1]):
            k = first_kind[mixture_of_block[b]] + row - first_member[b]
            block_of_member[row] = <int> b
            kind_of_member[row] = <int> k
            for lane in range(LANES):
                spheres[row, lane, 3] = kinds[k, 3, lane]


cdef Py_ssize_t count_spheres(const int[::1] template_index, const Py_ssize_t[::1] sizes,
                              int[::1] first_sphere) noexcept nogil:
    """The number of the first sphere of each clump, (n_clumps + 1,), and how many there are."""
    cdef Py_ssize_t clump, total = 0
    for clump in range(template_index.shape[0]):
        first_sphere[clump] = <int> total
        total += sizes[template_index[clump]]
    first_sphere[template_index.shape[0]] = <int> total
    return total


cdef void number_spheres(const Py_ssize_t[::1] first_member, const int[::1] clump_number, const int[::1] first_sphere,
                         int[:, ::1] sphere_number, int[::1] sphere_slot, int[::1] clump_slot) noexcept nogil:
    """The user's numbers of the spheres (n_members, LANES), and their slots: those of a clump follow each other.

    first_sphere : (n_clumps + 1,) number of the first sphere of each clump.
    clump_slot : (n_clumps,), of the clumps.
    """
    cdef Py_ssize_t slot, row, clump
    cdef int sphere
    for slot in range(clump_number.shape[0]):
        clump = clump_number[slot]
        if clump < 0:                                   # none: the slot fills up a block
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
    clump_number : (n_clumps,) the user's number of the clump in each slot
    like : Layout, optional
        The one before it: if each slot holds a body of the same size as there, it lends its arrays, those of the
        spheres among them, and `same` is True.

    Raises ValueError for more spheres than the lists can number.
    """

    def __init__(self, bodies, template_index, scale, clump_number, Layout like=None):
        self.bodies, self.n_clumps = bodies, len(clump_number)
        self.clump_number = np.empty((self.n_clumps + LANES - 1) // LANES * LANES, dtype=np.int32)
        self.clump_number[:self.n_clumps], self.clump_number[self.n_clumps:] = clump_number, -1
        kind, size = self.in_slots(template_index, scale)
        if like is not None:
            old_kind, old_size = like.in_slots(template_index, scale)
            self.same = are_equal(kind, size, old_kind, old_size)
        if self.same:
            self.share(like)
        else:
            self.arrange(kind, size)
        self.number(template_index)
        self.point()

    @property
    def is_mixed(self):
        """Whether not all clumps are alike; the last block may have empty lanes all the same."""
        return len(self.fixed) > 2

    def in_slots(self, template_index, scale):
        """Body and scale of the clump in each slot; -1 and 1 where there is none."""
        kind, size = np.empty(len(self.clump_number), dtype=np.int32), np.empty(len(self.clump_number))
        copy_to_slots(self.clump_number, template_index, scale, kind, size)
        return kind, size

    cdef object arrange(self, const int[::1] kind, const double[::1] scale):
        """Member rows, their spheres, and what never changes, from the bodies in the slots."""
        cdef Py_ssize_t n_blocks = kind.shape[0] // LANES, n_mixtures, n_members
        bodies = self.bodies
        mixture_of_block, block_of_mixture = np.empty(n_blocks, dtype=np.int32), np.empty(n_blocks, dtype=np.int32)
        table = np.full(2 << int(n_blocks).bit_length(), -1, dtype=np.int32)
        n_mixtures = find_mixtures(kind, scale, table, mixture_of_block, block_of_mixture)
        first_kind = np.empty(n_mixtures + 1, dtype=np.intp)
        first_member = np.empty(n_blocks + 1, dtype=np.intp)
        count_rows(kind, bodies.sizes, block_of_mixture, mixture_of_block, first_kind, first_member)
        n_members = first_member[n_blocks]
        if 2 * n_members * LANES >= 2 ** 31:
            raise ValueError(f"these clumps have more spheres than the 2^30 that the lists can number: {n_members} "
                             f"rows of {LANES}")
        self.kinds = aligned((int(first_kind[n_mixtures]), 4, LANES))
        self.fixed = aligned((n_mixtures, FIXED_ROWS, LANES))
        write_kinds(kind, scale, block_of_mixture, first_kind, bodies.sizes, bodies.addresses, self.kinds)
        write_fixed(kind, scale, block_of_mixture, bodies.inertia, bodies.mass, bodies.reach, self.fixed)
        # Ghosts stand behind them: in a run on one thread, memory that is never touched, which takes none.
        self.spheres = aligned((2 * n_members, LANES, 4))[:n_members]
        self.block_of_member = np.empty(n_members, dtype=np.int32)
        self.kind_of_member = np.empty(n_members, dtype=np.int32)
        self.mixture_of_block, self.first_member = mixture_of_block, first_member
        write_members(first_kind, mixture_of_block, first_member, self.kinds, self.block_of_member,
                      self.kind_of_member, self.spheres)

    cdef object share(self, Layout like):
        self.first_member, self.block_of_member, self.kind_of_member = \
            like.first_member, like.block_of_member, like.kind_of_member
        self.kinds, self.spheres = like.kinds, like.spheres
        self.mixture_of_block, self.fixed = like.mixture_of_block, like.fixed

    cdef object number(self, template_index):
        """The user's numbers of clumps and spheres by slot, and slots by number."""
        first_sphere = np.empty(self.n_clumps + 1, dtype=np.int32)
        self.n_spheres = count_spheres(template_index, self.bodies.sizes, first_sphere)
        self.clump_slot = np.empty(self.n_clumps, dtype=np.int32)
        self.sphere_number = np.full((len(self.block_of_member), LANES), -1, dtype=np.int32)
        self.sphere_slot = np.empty(self.n_spheres, dtype=np.int32)
        number_spheres(self.first_member, self.clump_number, first_sphere, self.sphere_number, self.sphere_slot,
                       self.clump_slot)

    cdef object point(self):
        """The pointers for the kernels, but for those to what moves."""
        cdef double[:, :, ::1] kinds = self.kinds
        cdef double[:, :, ::1] spheres = self.spheres
        cdef Py_ssize_t[::1] first_member = self.first_member
        cdef int[::1] block_of_member = self.block_of_member
        cdef int[::1] kind_of_member = self.kind_of_member
        cdef int[::1] mixture_of_block = self.mixture_of_block
        cdef double[:, :, ::1] fixed = self.fixed
        cdef int[::1] clump_number = self.clump_number
        cdef int[:, ::1] sphere_number = self.sphere_number
        self.view.n_blocks = mixture_of_block.shape[0]
        self.view.n_members = kind_of_member.shape[0]
        self.view.first_member = &first_member[0]
        if self.n_clumps:
            self.view.clump_number = &clump_number[0]
            self.view.mixture_of_block = &mixture_of_block[0]
            self.view.fixed = &fixed[0, 0, 0]
        if self.n_spheres:
            self.view.kinds = &kinds[0, 0, 0]
            self.view.kind_of_member = &kind_of_member[0]
            self.view.spheres = &spheres[0, 0, 0]
            self.view.block_of_member = &block_of_member[0]
            self.view.sphere_number = &sphere_number[0, 0]
