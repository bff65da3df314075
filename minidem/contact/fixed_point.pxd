"""Sums without an order.

Forces, moments and energies are converted to 64-bit multiples of a unit and added as integers. Integer addition is
associative: a sum has the same bits for any order of the contacts, any number of threads and any order of the clumps
in memory, without an order being prepared or followed.

A sphere has units of its own, powers of two, so that no other sphere changes its bits: that of the force is next to
2^-58 of the elastic force F at an overlap of its radius, with a sphere of its own material; that of the moment is
larger by the radius. With an overlap of 1 % of the radius, a force between equal spheres has a relative resolution of
4e-15; where a sphere touches a much smaller one, that of its sum is coarser by the square of the ratio of the radii.

Up to F / 8 a force is added in one part, up to 2^37 F in two, of which the larger one has 2^40 units for its unit (the
coarse lines). Beyond it, and where the magnitudes on a sphere sum up to more than 16 F in one part, the force on the
clump is not a number, and the run stops with an error: nothing ever wraps. Energies are added likewise, with one unit
for all (law.pyx). Laws without records have simpler sums: force_sums.pxd.
"""
from libc.stdint cimport int64_t

from minidem.core.eight cimport Eight

cdef extern from "contact/fixed_point.h" nogil:
    ctypedef long long Wide "minidem_wide"      # of 128 bits, in fact
    ctypedef struct Lines "minidem_lines":      # sums of spheres
        int64_t *fine               # (capacity, LINE)
        int64_t *coarse             # likewise, of the larger parts of large forces; NULL: not needed so far
        Py_ssize_t capacity
        bint has_large              # there are such forces, in this step
    const int64_t BOUND "MINIDEM_BOUND"
    const double COARSE "MINIDEM_COARSE"
    const double LARGEST "MINIDEM_LARGEST"
    void take_lines "minidem_take_lines"(int64_t *lines, Eight *rows)
    bint add_side "minidem_add_side"(const double *force, const double *turned, const double *couple,
                                     const double *side, double sign, const int *index, Lines *lines)
    bint add_line "minidem_add_line"(Lines *lines, Py_ssize_t to, const Lines *others, Py_ssize_t of, bint large)
    void add_energies "minidem_add_energies"(const double *energies, double per_energy, int64_t *sums,
                                             double *lost)
    void fold "minidem_fold"(int64_t *sums, int n, Wide *totals)
    Wide rounded_wide "minidem_rounded"(double x)
    void split_wide "minidem_split_wide"(Wide total, double unit, double *parts)
    Wide join_wide "minidem_join_wide"(const double *parts, double unit)
    # Numbers of any size, such as rates of fields, in SUM_PARTS parts.
    const int SUM_PARTS "MINIDEM_SUM_PARTS"
    void add_exactly "minidem_add_exactly"(double x, Wide *sum)
    double exact_total "minidem_exact_total"(const Wide *sum)

cdef enum:
    LINE = 8                        # integers of a sphere: force, bound of magnitudes, moment about its centre, zero
