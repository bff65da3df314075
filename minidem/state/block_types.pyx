# distutils: extra_compile_args = -O2
"""Block types: blocks whose lanes hold the same bodies share one set of constants and one set of sphere offsets."""
from libc.string cimport memcmp

from minidem.core.lanes cimport LANES
from minidem.state.rows cimport INERTIA, INVERSE_INERTIA, INVERSE_MASS, MASS, TURN_BOUND


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


cdef void write_offset_table(const int[::1] body_of_slot, const double[::1] scale, const int[::1] first_of_type,
                             const Py_ssize_t[::1] first_offset_row, const Py_ssize_t[::1] sizes,
                             const size_t[::1] addresses, double[:, :, ::1] offset_table) noexcept nogil:
    """Offsets and radii of the spheres of each block type; offset_table is zero before."""
    cdef const double *shape
    cdef Py_ssize_t kind, slot, k
    cdef int lane, column
    for kind in range(first_offset_row.shape[0] - 1):
        for lane in range(LANES):
            slot = <Py_ssize_t> first_of_type[kind] * LANES + lane
            if body_of_slot[slot] >= 0:
                shape = <const double *> addresses[body_of_slot[slot]]
                for k in range(sizes[body_of_slot[slot]]):
                    for column in range(4):
                        offset_table[first_offset_row[kind] + k, column, lane] = scale[slot] * shape[4 * k + column]


cdef void write_fixed(const int[::1] body_of_slot, const double[::1] scale, const int[::1] first_of_type,
                      const double[:, ::1] inertia, const double[::1] mass, const double[:, ::1] turn_bound,
                      double[:, :, ::1] fixed) noexcept nogil:
    """Constants of each block type (rows.pxd); fixed is zero before."""
    cdef Py_ssize_t kind, slot
    cdef int lane, k, body
    cdef double square, cube
    cdef double *rows
    for kind in range(fixed.shape[0]):
        for lane in range(LANES):
            slot = <Py_ssize_t> first_of_type[kind] * LANES + lane
            body = body_of_slot[slot]
            rows = &fixed[kind, 0, lane]
            square = scale[slot] * scale[slot]
            cube = square * scale[slot]
            rows[MASS * LANES] = cube * mass[body] if body >= 0 else 1.0
            rows[INVERSE_MASS * LANES] = 1.0 / rows[MASS * LANES] if body >= 0 else 0.0
            for k in range(3):
                rows[(INERTIA + k) * LANES] = cube * square * inertia[body, k] if body >= 0 else 1.0
                rows[(INVERSE_INERTIA + k) * LANES] = 1.0 / rows[(INERTIA + k) * LANES]
            for k in range(4):
                rows[(TURN_BOUND + k) * LANES] = square * turn_bound[body, k] if body >= 0 else 0.0


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
