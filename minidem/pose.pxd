from minidem.state cimport StateView

cdef Py_ssize_t pose_members(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t k,
                             Py_ssize_t count) noexcept nogil
cdef void pose_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
