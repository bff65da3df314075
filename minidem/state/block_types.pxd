"""Block types: constants and sphere offsets, stored once for all blocks whose lanes hold the same bodies."""

cdef Py_ssize_t find_block_types(const int[::1] body_of_slot, const double[::1] scale, int[::1] table,
                                 int[::1] block_type, int[::1] first_of_type) noexcept nogil
cdef void count_rows(const int[::1] body_of_slot, const Py_ssize_t[::1] sizes, const int[::1] first_of_type,
                     const int[::1] block_type, Py_ssize_t[::1] first_offset_row,
                     Py_ssize_t[::1] first_member) noexcept nogil
cdef void write_offset_table(const int[::1] body_of_slot, const double[::1] scale, const int[::1] first_of_type,
                             const Py_ssize_t[::1] first_offset_row, const Py_ssize_t[::1] sizes,
                             const size_t[::1] addresses, double[:, :, ::1] offset_table) noexcept nogil
cdef void write_fixed(const int[::1] body_of_slot, const double[::1] scale, const int[::1] first_of_type,
                      const double[:, ::1] inertia, const double[::1] mass, const double[:, ::1] turn_bound,
                      double[:, :, ::1] fixed) noexcept nogil
cdef void write_members(const Py_ssize_t[::1] first_offset_row, const int[::1] block_type,
                        const Py_ssize_t[::1] first_member, const double[:, :, ::1] offset_table,
                        int[::1] block_of_member, int[::1] offset_row, double[:, :, ::1] spheres) noexcept nogil
