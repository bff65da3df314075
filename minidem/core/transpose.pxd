"""Between rows (4, LANES), which are computed with, and records (LANES, 4), which are read one by one.

place : (LANES,) numbers of the records that become the rows.
"""

cdef extern from "core/transpose.h" nogil:
    void records_from_rows "minidem_records_from_rows"(const double *rows, double *records)
    void rows_from_records "minidem_rows_from_records"(const double *records, const int *place, double *rows)
    void clear_places "minidem_clear_places"(int *place)
