/* Sums of central forces without an order: see force_sums.pxd. */
#ifndef MINIDEM_FORCE_SUMS_H
#define MINIDEM_FORCE_SUMS_H
#include "contact/fixed_point.h"

#define MINIDEM_EXPONENT ((uint64_t) 0x7ff << 52)       /* bits of a double */
#define MINIDEM_ONE ((uint64_t) 0x3ff << 52)            /* of 1.0 */

typedef uint64_t minidem_eight_bits __attribute__((vector_size(MINIDEM_LANES * sizeof(uint64_t)), aligned(8),
                                                   may_alias));                 /* sums may wrap */
typedef int64_t minidem_record __attribute__((vector_size(32), aligned(8), may_alias));

/* Bits of the numbers of units per newton of eight spheres, powers of two. */
static inline __attribute__((always_inline)) minidem_eight_bits minidem_bits_per_force(
        const uint64_t *keys, int shift, const double *radii) {
    return *(minidem_eight_bits *) keys - ((*(minidem_eight_bits *) radii & MINIDEM_EXPONENT) << shift);
}

/* Records of the forces (3, LANES) on eight spheres, times `sign`; row 3 of `force` are their magnitudes. */
static inline __attribute__((always_inline)) void minidem_force_records(
        const double *force, double sign, const uint64_t *keys, int shift, const double *radii, int64_t *records) {
    const minidem_eight most = MINIDEM_EIGHT_OF((double) MINIDEM_BOUND);
    minidem_eight per_force = (minidem_eight) minidem_bits_per_force(keys, shift, radii);
    minidem_eight bound = MINIDEM_MAGNITUDE(MINIDEM_EIGHT(force + 3 * MINIDEM_LANES)) * per_force
        * (1.0 / MINIDEM_BOUND_UNIT) + 1.0;
    minidem_eight_long below = (minidem_eight_long) (bound < most), fixed[4];      /* false if it is not a number */
    fixed[3] = minidem_to_fixed(
        (minidem_eight) (((minidem_eight_long) bound & below) | ((minidem_eight_long) most & ~below)));
    for (int k = 0; k < 3; k++)
        fixed[k] = minidem_to_fixed(sign * per_force * MINIDEM_EIGHT(force + k * MINIDEM_LANES));
    minidem_records_from_rows((const double *) fixed, (double *) records);         /* moved, nothing is computed */
}

/* Units per newton of a sphere. */
static inline __attribute__((always_inline)) double minidem_per_force(uint64_t key, int shift, double radius) {
    uint64_t bits;
    memcpy(&bits, &radius, sizeof bits);
    bits = key - ((bits & MINIDEM_EXPONENT) << shift);
    memcpy(&radius, &bits, sizeof bits);
    return radius;
}

/* A force (3,) on a sphere, rounded to multiples of its unit. */
static inline void minidem_round_force(double *force, uint64_t key, int shift, double radius) {
    double per_force = minidem_per_force(key, shift, radius);
    for (int k = 0; k < 3; k++)
        force[k] = nearbyint(force[k] * per_force) / per_force;
}

/* The record of a force (4,) on one sphere. */
static inline __attribute__((always_inline)) void minidem_force_record(
        const double *force, double sign, uint64_t key, int shift, double radius, int64_t *record) {
    const double most = (double) MINIDEM_BOUND;
    double per_force = minidem_per_force(key, shift, radius), bound;
    bound = fabs(force[3]) * per_force * (1.0 / MINIDEM_BOUND_UNIT) + 1.0;
    bound = bound < most ? bound : most;
    per_force *= sign;
    /* Stored as a whole, as it is read: a load that is wider than the stores before it has to wait for them. */
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
    *(minidem_record *) record = (minidem_record) _mm256_cvtpd_epi64(
        _mm256_set_pd(bound, per_force * force[2], per_force * force[1], per_force * force[0]));
#else
    *(minidem_record *) record = (minidem_record) {
        llrint(per_force * force[0]), llrint(per_force * force[1]), llrint(per_force * force[2]), llrint(bound)};
#endif
}

static inline __attribute__((always_inline)) void minidem_add_record(const int64_t *record, int64_t *sum) {
    *(minidem_record *) sum += *(const minidem_record *) record;
}

/* Forces (3, LANES) [N] of eight spheres, of the sums with these numbers; zero where the radius is zero. */
static inline __attribute__((always_inline)) void minidem_forces_of_sums(
        const int64_t *sums, const int *index, const uint64_t *keys, int shift, const double *radii, double *force) {
    double records[4 * MINIDEM_LANES];
    minidem_eight_bits unit = 2 * MINIDEM_ONE - minidem_bits_per_force(keys, shift, radii);
    minidem_eight_bits present = (minidem_eight_bits) (MINIDEM_EIGHT(radii) > 0.0);
    minidem_rows_from_records((const double *) sums, index, records);
    for (int k = 0; k < 3; k++)
        MINIDEM_EIGHT(force + k * MINIDEM_LANES) = (minidem_eight) (unit & present) * __builtin_convertvector(
            MINIDEM_EIGHT_LONG(records + k * MINIDEM_LANES), minidem_eight);
    /* All bits set: not a number, where a sum may have overflowed. */
    MINIDEM_EIGHT_LONG(force) |= MINIDEM_EIGHT_LONG(records + 3 * MINIDEM_LANES) >= MINIDEM_BOUND;
}
#endif
