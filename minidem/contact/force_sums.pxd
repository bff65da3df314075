"""Sums of the forces of laws without records, which have no order either (fixed_point.pxd).

Such forces are central, without moments about the centres of the spheres. Each sphere in contact has a record of four
64-bit integers: the force in units of its own, and a bound of the sum of the magnitudes. The unit is 2^-54 F: F is next
to the elastic force at an overlap of the radius, with a sphere of the same material. With an overlap of 1 % of the
radius, a force between equal spheres has a relative resolution of 6e-14.

Forces are added in one part. Where their magnitudes sum up to more than 256 F, by overlaps of many radii, the force on
the clump is not a number, and the run stops with an error.

No unit is stored. F is proportional to the radius rounded to a power of two, or to its square, so the exponent of the
unit follows from that of the radius, which the narrow phase has loaded, and from the key of the material:
bits of 1 / unit = key - (exponent bits of the radius << shift); shift = 0, 1: F goes with the radius, with its square.
"""
from libc.stdint cimport int64_t, uint64_t

cdef extern from "contact/force_sums.h" nogil:
    void force_records "minidem_force_records"(const double *force, double sign, const uint64_t *keys, int shift,
                                               const double *radii, int64_t *records)
    void force_record "minidem_force_record"(const double *force, double sign, uint64_t key, int shift, double radius,
                                             int64_t *record)
    void round_force "minidem_round_force"(double *force, uint64_t key, int shift, double radius)
    void add_record "minidem_add_record"(const int64_t *record, int64_t *sum)
    void forces_of_sums "minidem_forces_of_sums"(const int64_t *sums, const int *index, const uint64_t *keys, int shift,
                                                 const double *radii, double *force)
