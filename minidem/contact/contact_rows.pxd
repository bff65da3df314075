from minidem.state.state cimport State


cdef object describe(State state, const int[:, ::1] slots, const double[:, ::1] values, const double[:, ::1] friction,
                     Py_ssize_t n)
