"""Transposition between rows (4, LANES), for arithmetic on eight spheres, and records (LANES, 4), one for each sphere.

index : (LANES,) numbers of the records that become the rows.
"""

cdef extern from "core/transpose.h" nogil:
    void check_lanes "MINIDEM_CHECK_LANES"(int lanes, int log_lanes)
    void records_from_rows "minidem_records_from_rows"(const double *rows, double *records)
    void rows_from_records "minidem_rows_from_records"(const double *records, const int *index, double *rows)
    void lines_in_order "minidem_lines_in_order"(const double *rows, double *lines)
    void rows_from_lines "minidem_rows_from_lines"(const double *lines, const int *index, double *rows)
