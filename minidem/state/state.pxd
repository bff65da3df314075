"""The state of all clumps."""
from minidem.state.layout cimport (
    Layout, StateView, clump_of, clumps_of, constants_of, field_of, hole_of, member, wrench_of,
)


cdef class State:
    cdef readonly object blocks, wrench
    cdef readonly object bodies, template_index, scale, material_index
    cdef readonly Layout layout
    cdef readonly object box, shift     # PeriodicBox or None; (n_clumps, 3) int64, see wrap
    cdef readonly int n_scratch
    cdef StateView view
    cdef object wrap(self)
    cdef object take(self, blocks, wrench, Layout layout)


cdef void reorder(double *blocks, Py_ssize_t n_rows, const long long *slots, Py_ssize_t n, double *room) noexcept nogil
cdef void read_rows(const double[:, :, ::1] blocks, const int[::1] block_of, Py_ssize_t first, const int[::1] slots,
                    double[:, ::1] values) noexcept nogil
cdef void write_rows(double[:, :, ::1] blocks, Py_ssize_t first, const int[::1] slots,
                     const double[:, ::1] values) noexcept nogil
cdef void wrap_far(double[:, :, ::1] blocks, const int[::1] slots, const double[:, ::1] box,
                   long long[:, ::1] shift) noexcept nogil
