# distutils: extra_compile_args = -O1
"""Rows of blocks: other orders of the clumps, copies for Python, and positions wrapped into the periodic box."""
from libc.math cimport fabs

from minidem.core.lanes cimport LANES, LOG_LANES, lane_of, row_of
from minidem.state.periodic_box cimport rounded
from minidem.state.rows cimport POSITION

cdef enum:
    MOST_LENGTHS = 1 << 30      # of the box in one step of a position


cdef void reorder(double *blocks, Py_ssize_t n_rows, const long long *slots, Py_ssize_t n, double *room) noexcept nogil:
    """Put n clumps of blocks (n_blocks, n_rows, LANES) into the order given by their present slots (n,).

    room : (n,), for one row at a time.
    """
    cdef Py_ssize_t row, k
    cdef double *first
    for row in range(n_rows):
        first = blocks + row * LANES
        for k in range(n):
            room[k] = first[(slots[k] >> LOG_LANES) * n_rows * LANES + (slots[k] & (LANES - 1))]
        for k in range(n):
            first[(k >> LOG_LANES) * n_rows * LANES + (k & (LANES - 1))] = room[k]


cdef void read_rows(const double[:, :, ::1] blocks, const int[::1] block_of, Py_ssize_t first, const int[::1] slots,
                    double[:, ::1] values) noexcept nogil:
    """Copy the rows first, first + 1, ... of the clumps in slots (n,) into values (n, width).

    block_of : index into `blocks` for each block of slots; empty: the same.
    """
    cdef Py_ssize_t k, b
    cdef int i
    for k in range(slots.shape[0]):
        b = block_of[row_of(slots[k])] if block_of.shape[0] else row_of(slots[k])
        for i in range(values.shape[1]):
            values[k, i] = blocks[b, first + i, lane_of(slots[k])]


cdef void write_rows(double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                     const double[:, ::1] values) noexcept nogil:
    """Copy values (n, width) to the rows; values of one row are those of all clumps."""
    cdef Py_ssize_t k, row
    cdef int i
    for k in range(slots.shape[0]):
        row = k if values.shape[0] > 1 else 0
        for i in range(values.shape[1]):
            blocks[row_of(slots[k]), first + i, lane_of(slots[k])] = values[row, i]


cdef void wrap_far(double[:, :, ::1] blocks, const int[::1] slots, const double[:, ::1] box,
                   long long[:, ::1] shift) noexcept nogil:
    """Move positions that are more than a length of the box away from its middle into it, and count the lengths.

    box : rows of lengths, their inverses, and the low corner, of the axes at rest; the others are zero.
    """
    cdef Py_ssize_t k
    cdef int axis
    cdef double d, length, inverse, lengths
    for k in range(slots.shape[0]):
        for axis in range(3):
            length, inverse = box[0, axis], box[1, axis]
            d = blocks[row_of(slots[k]), POSITION + axis, lane_of(slots[k])] - box[2, axis] - 0.5 * length
            if length > 0.0 and fabs(d) > length and fabs(d * inverse) < MOST_LENGTHS:
                lengths = rounded(d * inverse)
                blocks[row_of(slots[k]), POSITION + axis, lane_of(slots[k])] -= lengths * length
                shift[k, axis] += <long long> lengths
