"""Spheres that other threads need as ghosts, by cache lines: two spheres each, four to a member row."""
from minidem.core.vectors cimport reserve
from minidem.core.lanes cimport row_of


cdef void mark_lines(unsigned char *marks, const int *pairs, Py_ssize_t n, Py_ssize_t first_row,
                     Py_ssize_t last_row) noexcept nogil:
    """Mark the lines of own spheres, in member rows first_row <= row < last_row, that occur in pairs (n ints).

    marks : (n_members,), a bit for each line of a row.
    """
    cdef Py_ssize_t k, row
    for k in range(n):
        row = row_of(pairs[k])
        if first_row <= row < last_row:
            marks[row] |= 1 << (pairs[k] >> 1 & 3)


cdef bint list_marked(IntVector *lines, unsigned char *marks, Py_ssize_t first_row, Py_ssize_t last_row) noexcept nogil:
    """List the marked lines, ascending, and clear the marks. False: memory exhausted."""
    cdef Py_ssize_t row
    cdef int line
    lines.size = 0
    for row in range(first_row, last_row):
        if marks[row]:
            if not reserve(lines, lines.size + 4):
                return False
            for line in range(4):
                lines.data[lines.size] = 4 * <int> row + line
                lines.size += marks[row] >> line & 1
            marks[row] = 0
    return True
