"""Sums of numbers of any size without an order: see exact_sum.h."""
from minidem.contact.fixed_point cimport Wide

cdef extern from "contact/exact_sum.h" nogil:
    const int SUM_PARTS "MINIDEM_SUM_PARTS"
    void add_exactly "minidem_add_exactly"(double x, Wide *sum)
    double exact_total "minidem_exact_total"(const Wide *sum)
