/* Sums without an order: numbers as 64-bit multiples of a unit, added as integers (fixed_point.pxd).
 *
 * Every instruction set rounds to the nearest multiple, ties to even, so that bits do not depend on it. */
#ifndef MINIDEM_FIXED_POINT_H
#define MINIDEM_FIXED_POINT_H
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "core/eight.h"
#include "core/lanes.h"
#include "core/transpose.h"

#define MINIDEM_LIMIT 0x1p55            /* units: larger energies are added one by one */
#define MINIDEM_MOST_ENERGIES 6
#define MINIDEM_SMALL 0x1p51            /* units: below it, one addition converts a number */
#define MINIDEM_LARGEST 0x1p95          /* units: what exceeds it counts as infinite */
#define MINIDEM_BOUND_UNIT 0x1p40       /* of the fourth number of a sum: a bound of the sum of the magnitudes */
#define MINIDEM_BOUND ((int64_t) 1 << 22)       /* 2^62 units: up to here no sum can have overflowed */
#define MINIDEM_EXPONENT ((uint64_t) 0x7ff << 52)       /* bits of a double */
#define MINIDEM_ONE ((uint64_t) 0x3ff << 52)            /* of 1.0 */

typedef uint64_t minidem_eight_bits __attribute__((vector_size(MINIDEM_LANES * sizeof(uint64_t)), aligned(8),
                                                   may_alias));                 /* sums may wrap */
typedef int64_t minidem_record __attribute__((vector_size(32), aligned(8), may_alias));
typedef __int128 minidem_wide;          /* of units: no run is long enough to exceed it */

/* Eight numbers, below 2^62 units, to multiples of the unit. small : a constant, all are below 2^51 units. */
static inline __attribute__((always_inline)) minidem_eight_long minidem_to_fixed(minidem_eight x, int small) {
#if defined(__AVX512DQ__)
    return (minidem_eight_long) _mm512_cvtpd_epi64((__m512d) x);
#else
    const minidem_eight shift = MINIDEM_EIGHT_OF(0x1.8p52);   /* added, it leaves an integer in the lower bits */
    if (small)
        return (minidem_eight_long) (x + shift) - (minidem_eight_long) shift;
    minidem_eight high = x * 0x1p-32 + shift, low = x - (high - shift) * 0x1p32 + shift;
    minidem_eight_long zero = (minidem_eight_long) shift;
    return (((minidem_eight_long) high - zero) << 32) + ((minidem_eight_long) low - zero);
#endif
}

/* Units per newton of eight spheres, powers of two, from the keys of their materials and their radii; and per newton
 * metre: the unit is larger by twice the radius, rounded down to a power of two. */
static inline __attribute__((always_inline)) minidem_eight_bits minidem_per_force(
        const uint64_t *keys, int shift, const double *radii) {
    return *(minidem_eight_bits *) keys - ((*(minidem_eight_bits *) radii & MINIDEM_EXPONENT) << shift);
}

static inline __attribute__((always_inline)) minidem_eight_bits minidem_per_moment(
        minidem_eight_bits per_force, const double *radii) {
    return per_force - (*(minidem_eight_bits *) radii & MINIDEM_EXPONENT) + (MINIDEM_ONE - ((uint64_t) 1 << 52));
}

/* Add `width` rows of units, four or eight, to the sums with these numbers, as many integers of each sphere, in the
 * first n lanes. */
static inline __attribute__((always_inline)) void minidem_add_rows(
        const minidem_eight *rows, int width, int small, int n, const int *index, int64_t *sums) {
    minidem_eight fixed[8], moved[8];                   /* moved as numbers of 64 bits, nothing is computed */
    for (int k = 0; k < width; k++)
        fixed[k] = (minidem_eight) minidem_to_fixed(rows[k], small);
    if (width == 4)
        minidem_records_from_rows((const double *) fixed, (double *) moved);
    else
        minidem_lines_in_order((const double *) fixed, (double *) moved);
    for (int l = 0; l < n; l++)
        if (width == 4)
            *(minidem_record *) (sums + 4 * (ptrdiff_t) index[l]) += *((const minidem_record *) moved + l);
        else
            MINIDEM_EIGHT_LONG(sums + 8 * (ptrdiff_t) index[l]) += (minidem_eight_long) moved[l];
}

/* Add forces (3, LANES) on n spheres, times `sign`, to the sums with these numbers, and moments (3, LANES) behind them
 * unless they are NULL. keys, radii (LANES,), shift: see fixed_point.pxd. */
static inline __attribute__((always_inline)) void minidem_add_side(
        const double *force, double sign, const double *moment, const uint64_t *keys, int shift, const double *radii,
        int n, const int *index, int64_t *sums) {
    const int vectors = moment ? 2 : 1;
    const double *given[2] = {force, moment};
    const minidem_eight most = MINIDEM_EIGHT_OF((double) MINIDEM_BOUND);
    minidem_eight_bits bits = minidem_per_force(keys, shift, radii);
    minidem_eight per_unit[2] = {sign * (minidem_eight) bits, (minidem_eight) minidem_per_moment(bits, radii)};
    minidem_eight rows[8], all = {0.0};
    for (int v = 0; v < vectors; v++)
        for (int k = 0; k < 3; k++) {
            rows[4 * v + k] = per_unit[v] * MINIDEM_EIGHT(given[v] + k * MINIDEM_LANES);
            all += MINIDEM_MAGNITUDE(rows[4 * v + k]);
        }
    all = all * (1.0 / MINIDEM_BOUND_UNIT) + 1.0;
    minidem_eight_long below = (minidem_eight_long) (all < most);               /* false if it is not a number */
    rows[3] = (minidem_eight) (((minidem_eight_long) all & below) | ((minidem_eight_long) most & ~below));
    rows[7] = (minidem_eight) {0.0};
#if !defined(__AVX512DQ__)
    if (__builtin_expect(minidem_bits_below((const double *) &all, MINIDEM_SMALL / MINIDEM_BOUND_UNIT)
                         == (1 << MINIDEM_LANES) - 1, 1)) {
        minidem_add_rows(rows, 4 * vectors, 1, n, index, sums);
        return;
    }
#endif
    minidem_add_rows(rows, 4 * vectors, 0, n, index, sums);
}

/* Forces (3, LANES) [N] on eight spheres, of the sums with these numbers, and moments (3, LANES) [N m] unless these are
 * NULL; zero where the radius is zero. */
static inline __attribute__((always_inline)) void minidem_read_sums(
        const int64_t *sums, const int *index, const uint64_t *keys, int shift, const double *radii, double *force,
        double *moment) {
    double *result[2] = {force, moment}, rows[8 * MINIDEM_LANES];
    minidem_eight_bits bits = minidem_per_force(keys, shift, radii);
    minidem_eight_bits present = (minidem_eight_bits) (MINIDEM_EIGHT(radii) > 0.0);
    if (moment)
        minidem_rows_from_lines((const double *) sums, index, rows);
    else
        minidem_rows_from_records((const double *) sums, index, rows);
    for (int v = 0; v < (moment ? 2 : 1); v++) {
        minidem_eight unit = (minidem_eight) ((2 * MINIDEM_ONE - (v ? minidem_per_moment(bits, radii) : bits)) & present);
        for (int k = 0; k < 3; k++)
            MINIDEM_EIGHT(result[v] + k * MINIDEM_LANES) = unit
                * __builtin_convertvector(MINIDEM_EIGHT_LONG(rows + (4 * v + k) * MINIDEM_LANES), minidem_eight);
    }
    /* all bits set: not a number, where a sum may have overflowed */
    MINIDEM_EIGHT_LONG(force) |= MINIDEM_EIGHT_LONG(rows + 3 * MINIDEM_LANES) >= MINIDEM_BOUND;
}

/* The same of the sums of a member row, which are then zero. */
static inline __attribute__((always_inline)) void minidem_take_sums(
        int64_t *sums, const uint64_t *keys, int shift, const double *radii, double *force, double *moment) {
    const int in_order[MINIDEM_LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    minidem_read_sums(sums, in_order, keys, shift, radii, force, moment);
    memset(sums, 0, (moment ? 8 : 4) * MINIDEM_LANES * sizeof *sums);
}

/* A number of units, rounded; what is not finite, or beyond 2^120 units, counts as none. */
static inline minidem_wide minidem_rounded(double x) {
    if (__builtin_expect(fabs(x) < 0x1p62, 1))          /* a conversion to 128 bits is a call of a function */
        return (int64_t) nearbyint(x);
    return fabs(x) < 0x1p120 ? (minidem_wide) nearbyint(x) : 0;
}

/* Sum of eight numbers of units, each of which is rounded. */
static inline __attribute__((always_inline)) minidem_wide minidem_rounded_sum(minidem_eight x) {
    minidem_eight size = MINIDEM_MAGNITUDE(x);
    minidem_wide total = 0;
    if (__builtin_expect(minidem_bits_below((const double *) &size, MINIDEM_LIMIT) == (1 << MINIDEM_LANES) - 1, 1)) {
        minidem_eight_long fixed = minidem_to_fixed(x, 0);
        return (fixed[0] + fixed[1] + fixed[2] + fixed[3]) + (fixed[4] + fixed[5] + fixed[6] + fixed[7]);
    }
    for (int l = 0; l < MINIDEM_LANES; l++)
        total += minidem_rounded(x[l]);
    return total;
}

/* Energies (n, LANES), added to sums (n, LANES); of blocks with large ones to totals (n,), what is not finite, or
 * beyond MINIDEM_LARGEST, to `lost` (n,). n : a constant, at most MINIDEM_MOST_ENERGIES. */
static inline __attribute__((always_inline)) void minidem_add_energies(
        const double *energies, int n, double per_energy, int64_t *restrict sums, minidem_wide *totals,
        double *restrict lost) {
    minidem_eight rows[MINIDEM_MOST_ENERGIES], all = {0.0};
    for (int k = 0; k < n; k++) {
        rows[k] = per_energy * MINIDEM_EIGHT(energies + k * MINIDEM_LANES);
        all += MINIDEM_MAGNITUDE(rows[k]);
    }
    if (__builtin_expect(minidem_bits_below((const double *) &all, MINIDEM_LIMIT) == (1 << MINIDEM_LANES) - 1, 1)) {
        for (int k = 0; k < n; k++)
            MINIDEM_EIGHT_LONG(sums + k * MINIDEM_LANES) += minidem_to_fixed(rows[k], 0);
        return;
    }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < MINIDEM_LANES; l++)
            if (fabs(rows[k][l]) < MINIDEM_LARGEST)
                totals[k] += minidem_rounded(rows[k][l]);
            else
                lost[k] += energies[k * MINIDEM_LANES + l];
}

/* Move sums (n, LANES), of at most 64 additions each, to totals (n,). */
static inline void minidem_fold(int64_t *sums, int n, minidem_wide *totals) {
    for (int k = 0; k < n * MINIDEM_LANES; k++)
        totals[k / MINIDEM_LANES] += sums[k];
    memset(sums, 0, n * MINIDEM_LANES * sizeof *sums);
}

/* A total in joules as the sum of two numbers, and back; exact if the unit is a power of two. */
static inline void minidem_split_wide(minidem_wide total, double unit, double *parts) {
    double high = (double) total;
    parts[0] = high * unit;
    parts[1] = (double) (total - (minidem_wide) high) * unit;
}

static inline minidem_wide minidem_join_wide(const double *parts, double unit) {
    return (minidem_wide) nearbyint(parts[0] / unit) + (minidem_wide) nearbyint(parts[1] / unit);
}

/* Sums of numbers of any size without an order: for quantities whose scale is not known, such as rates of fields.
 *
 * A number is added as an integer to one of seven sums of 128 bits, chosen by its exponent alone. A sum has room for
 * 2^27 numbers. Numbers below 2^-169 count as zero; one that is not finite, or not below 2^167, makes the total not a
 * number. */
#define MINIDEM_SUM_PARTS 8             /* the last one counts numbers without a place */
#define MINIDEM_PART_BITS 48
#define MINIDEM_SUM_BITS (MINIDEM_PART_BITS * (MINIDEM_SUM_PARTS - 1))

static inline void minidem_add_exactly(double x, minidem_wide *sum) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int place = (int) (bits >> 52 & 0x7ff) - 1022 + MINIDEM_SUM_BITS / 2;
    if (place >= MINIDEM_SUM_BITS) {
        sum[MINIDEM_SUM_PARTS - 1] = 1;
    } else if (place >= 0) {
        int64_t integer = (int64_t) ((bits & (((uint64_t) 1 << 52) - 1)) | (uint64_t) 1 << 52);
        minidem_wide term = (minidem_wide) integer << place % MINIDEM_PART_BITS;
        sum[place / MINIDEM_PART_BITS] += bits >> 63 ? -term : term;
    }
}

static inline double minidem_exact_total(const minidem_wide *sum) {
    double total = sum[MINIDEM_SUM_PARTS - 1] ? NAN : 0.0;
    for (int k = 0; k < MINIDEM_SUM_PARTS - 1; k++)
        if (sum[k])
            total += ldexp((double) sum[k], MINIDEM_PART_BITS * k - MINIDEM_SUM_BITS / 2 - 53);
    return total;
}
#endif
