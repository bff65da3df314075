"""Eight numbers at a time, where a compiler does not vectorise a loop over them by itself."""

cdef extern from "core/eight.h" nogil:
    int bits_below "minidem_bits_below"(const double *row, double limit)
    void where_positive "minidem_where_positive"(const double *row, double *result)
    void cross_rows "minidem_cross"(const double *a, const double *b, double *result)
