"""Rows of blocks: see rows.pxd."""

cdef void reorder(double *blocks, Py_ssize_t n_rows, const long long *slots, Py_ssize_t n, double *room) noexcept nogil
cdef void read_rows(const double[:, :, ::1] blocks, const int[::1] block_of, Py_ssize_t first, const int[::1] slots,
                    double[:, ::1] values) noexcept nogil
cdef void write_rows(double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                     const double[:, ::1] values) noexcept nogil
cdef void wrap_far(double[:, :, ::1] blocks, const int[::1] slots, const double[:, ::1] box,
                   long long[:, ::1] shift) noexcept nogil
