"""Sums without an order: of forces and moments on spheres in 64 bits, of energies and other totals in 128 bits.

Numbers are converted to multiples of a unit and added as integers. Integer addition is associative: a sum has the same
bits for any order of the contacts, any number of threads and any order of the clumps in memory, without an order being
prepared or followed.

Each sphere has a sum of four integers: the force in units of its own, and a bound of the sum of the magnitudes. If the
law has moments about the centres of spheres, four more follow: the moment, and zero. F is next to the elastic force at
an overlap of the radius, with a sphere of the same material, so that no other sphere changes the bits of a sphere. The
unit of the force is 2^-58 F for laws with friction, and 2^-54 F for laws without history and laws of the user. With an
overlap of 1 % of the radius, a force between equal spheres has a relative resolution of 4e-15 and 6e-14; where a sphere
touches a much smaller one, the resolution of its sum is coarser by the square of the ratio of the radii. Where the
magnitudes sum up to more than 16 F and 256 F, by overlaps of many radii or by bonds far stiffer than the material, the
force on the clump is not a number, and the run stops with an error: nothing ever wraps.

No unit is stored. F is proportional to the radius rounded to a power of two, or to its square, so the exponent of the
unit follows from the exponent of the radius, which has been loaded, and from the key of the material:
bits of 1 / unit = key - (exponent bits of the radius << shift); shift = 0, 1: F goes with the radius, with its square.
The unit of moments is larger by twice the radius, rounded down.

Energies have one unit for all (law.pyx).
"""
from libc.stdint cimport int64_t, uint64_t

from minidem.core.eight cimport Eight

cdef extern from "contact/fixed_point.h" nogil:
    ctypedef long long Wide "minidem_wide"      # of 128 bits, in fact
    const double LARGEST "MINIDEM_LARGEST"
    void add_side "minidem_add_side"(const double *force, double sign, const double *moment, const uint64_t *keys,
                                     int shift, const double *radii, int n, const int *index, int64_t *sums)
    void read_sums "minidem_read_sums"(const int64_t *sums, const int *index, const uint64_t *keys, int shift,
                                       const double *radii, double *force, double *moment)
    void take_sums "minidem_take_sums"(int64_t *sums, const uint64_t *keys, int shift, const double *radii,
                                       double *force, double *moment)
    void add_energies "minidem_add_energies"(const double *energies, int n, double per_energy, int64_t *sums,
                                             Wide *totals, double *lost)
    void fold "minidem_fold"(int64_t *sums, int n, Wide *totals)
    Wide rounded_wide "minidem_rounded"(double x)
    Wide rounded_sum "minidem_rounded_sum"(Eight x)
    void split_wide "minidem_split_wide"(Wide total, double unit, double *parts)
    Wide join_wide "minidem_join_wide"(const double *parts, double unit)
    # Numbers of any size, such as rates of fields, in SUM_PARTS parts.
    const int SUM_PARTS "MINIDEM_SUM_PARTS"
    void add_exactly "minidem_add_exactly"(double x, Wide *sum)
    double exact_total "minidem_exact_total"(const Wide *sum)
