"""Sums without an order.

Forces, moments and energies are converted to 64-bit multiples of a unit and added as integers. Integer addition is
associative: a sum has the same bits for any order of the contacts, any number of threads and any order of the clumps in
memory, without an order being prepared or followed.

The unit of the forces is the power of two next to 2^-58 of the elastic force at an overlap of one radius, of the largest
sphere and the stiffest pair of materials present; that of the moments is larger by that radius, that of the energies
2^-12 times that of the moments. A force below an eighth of that elastic force is added in one part, up to 2^37 times
that elastic force in two, of which the larger one has 2^40 units for its unit (the coarse lines). Beyond it, and where the
magnitudes on a sphere sum up to more than sixteen times that elastic force in one part, the force on the clump is not a
number, and the run stops with an error: nothing ever wraps.
"""
from libc.stdint cimport int64_t

cdef extern from "contact/fixed_point.h" nogil:
    ctypedef long long Wide "minidem_wide"      # of 128 bits, in fact
    const int64_t BOUND "MINIDEM_BOUND"
    const double COARSE "MINIDEM_COARSE"
    void to_fixed "minidem_to_fixed"(const double *row, int64_t *fixed)
    void add_to_lines "minidem_add_to_lines"(const int64_t *rows, const int *index, int64_t *lines)
    void take_lines "minidem_take_lines"(int64_t *lines, double *rows)
    bint side_rows "minidem_side_rows"(const double *force, const double *turned, const double *couple,
                                       const double *lever, double sign, double per_force, double per_moment,
                                       double *rows)
    void split_large "minidem_split_large"(double *rows, const int *index, int64_t *coarse)
    void add_energies "minidem_add_energies"(const double *energies, double per_energy, int64_t *sums, double *lost)
    void fold "minidem_fold"(int64_t *sums, int n, Wide *totals)
    Wide rounded_wide "minidem_rounded"(double x)
    void split_wide "minidem_split_wide"(Wide total, double unit, double *parts)
    Wide join_wide "minidem_join_wide"(const double *parts, double unit)

cdef enum:
    LINE = 8                        # integers of a sphere: force, bound of the magnitudes, moment about its centre, zero
