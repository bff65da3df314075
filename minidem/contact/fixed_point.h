/* Sums without an order: numbers as 64-bit multiples of a unit, added as integers (fixed_point.pxd).
 *
 * Every instruction set rounds to the nearest multiple, ties to even, so that bits do not depend on it. */
#ifndef MINIDEM_FIXED_POINT_H
#define MINIDEM_FIXED_POINT_H
#include "contact/fixed_point.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/eight.h"
#include "core/lanes.h"
#include "core/transpose.h"

#define MINIDEM_LIMIT 0x1p55            /* units: what exceeds it is added in two parts */
#define MINIDEM_COARSE 0x1p40           /* units of the second part */
#define MINIDEM_LARGEST 0x1p95          /* units: what exceeds it counts as infinite */
#define MINIDEM_BOUND_UNIT 0x1p40       /* of the fourth number of a line: a bound of the sum of the magnitudes */
#define MINIDEM_BOUND ((int64_t) 1 << 22)       /* 2^62 units: up to here no sum can have overflowed */

/* Eight numbers, below 2^62 units, to multiples of the unit. */
static inline __attribute__((always_inline)) minidem_eight_long minidem_to_fixed(minidem_eight x) {
#if defined(__AVX512DQ__)
    return (minidem_eight_long) _mm512_cvtpd_epi64((__m512d) x);
#else
    const minidem_eight shift = MINIDEM_EIGHT_OF(0x1.8p52);   /* added, it leaves an integer in the lower bits */
    minidem_eight high = x * 0x1p-32 + shift, low = x - (high - shift) * 0x1p32 + shift;
    minidem_eight_long zero = (minidem_eight_long) shift;
    return (((minidem_eight_long) high - zero) << 32) + ((minidem_eight_long) low - zero);
#endif
}

/* Add rows (8, LANES) of units to the lines of eight integers with these numbers. */
static inline __attribute__((always_inline)) void minidem_add_to_lines(const minidem_eight *rows, const int *index,
                                                                       int64_t *lines) {
    minidem_eight fixed[8], moved[8];                   /* moved as numbers of 64 bits, nothing is computed */
    for (int k = 0; k < 8; k++)
        fixed[k] = (minidem_eight) minidem_to_fixed(rows[k]);
    minidem_lines_in_order((const double *) fixed, (double *) moved);
    for (int l = 0; l < MINIDEM_LANES; l++)
        MINIDEM_EIGHT_LONG(lines + 8 * (ptrdiff_t) index[l]) += (minidem_eight_long) moved[l];
}

/* Sums of lines (LANES, 8) as rows (8, LANES) of multiples of the unit; the lines are set to zero. */
static inline __attribute__((always_inline)) void minidem_take_lines(int64_t *lines, minidem_eight *rows) {
    static const int order[MINIDEM_LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    minidem_eight fixed[8];
    minidem_rows_from_lines((const double *) lines, order, (double *) fixed);
    for (int k = 0; k < 8; k++)
        rows[k] = __builtin_convertvector((minidem_eight_long) fixed[k], minidem_eight);
    for (int l = 0; l < MINIDEM_LANES; l++)
        MINIDEM_EIGHT_LONG(lines + 8 * l) = (minidem_eight_long) {0};
}

/* Whether any of eight numbers is not below the limit; also if it is not a number. */
static inline __attribute__((always_inline)) int minidem_any_beyond(minidem_eight magnitudes) {
    return minidem_bits_below((const double *) &magnitudes, MINIDEM_LIMIT) != (1 << MINIDEM_LANES) - 1;
}

typedef struct {                        /* sums of spheres: lines of eight integers */
    int64_t *fine;
    int64_t *coarse;                    /* likewise, of the larger parts of large forces; NULL: not needed so far */
    ptrdiff_t capacity;                 /* lines */
    int has_large;                      /* there are such forces, in this step */
} minidem_lines;

/* Coarse lines for the forces of this step. Returns 0 if memory is exhausted. */
static inline int minidem_reserve_coarse(minidem_lines *lines) {
    if (lines->coarse == NULL)
        lines->coarse = (int64_t *) calloc(lines->capacity, 8 * sizeof(int64_t));
    lines->has_large = lines->coarse != NULL;
    return lines->has_large;
}

/* Split what exceeds the limit into two parts, and add the larger ones to the coarse lines. Returns 0 if memory is
 * exhausted. all (LANES,): magnitudes that are compared with the limit; whether a contact is split depends on nothing
 * else, so that no other contact of the block changes its bits. */
static __attribute__((noinline, unused)) int minidem_split_large(double *rows, const double *all, const int *index,
                                                                 minidem_lines *lines) {
    if (!minidem_reserve_coarse(lines))
        return 0;
    for (int l = 0; l < MINIDEM_LANES; l++) {
        int64_t *line = lines->coarse + 8 * (ptrdiff_t) index[l];
        if (all[l] < MINIDEM_LIMIT)
            continue;
        for (int k = 0; k < 7; k++) {
            double *x = rows + k * MINIDEM_LANES + l;
            if (k == 3) {
                *x = 1.0;
            } else if (fabs(*x) < MINIDEM_LARGEST) {
                double high = nearbyint(*x * (1.0 / MINIDEM_COARSE));
                line[k] += (int64_t) high;
                *x -= high * MINIDEM_COARSE;
            } else {
                line[3] = 1;                            /* not a number from here on */
                *x = 0.0;
            }
        }
    }
    return 1;
}

/* Add a line of the sums of another thread; large: the coarse one, too. Returns 0 if memory is exhausted. */
static inline int minidem_add_line(minidem_lines *lines, ptrdiff_t to, const minidem_lines *others, ptrdiff_t from,
                                   int large) {
    MINIDEM_EIGHT_LONG(lines->fine + 8 * to) += MINIDEM_EIGHT_LONG(others->fine + 8 * from);
    if (!large)
        return 1;
    if (!minidem_reserve_coarse(lines))
        return 0;
    MINIDEM_EIGHT_LONG(lines->coarse + 8 * to) += MINIDEM_EIGHT_LONG(others->coarse + 8 * from);
    return 1;
}

/* Add forces and moments to the spheres on one side of eight contacts, to the lines with these numbers.
 * force (3, LANES) on the first body, times `sign`. The moment is -side[0] times `turned` plus `sign` times `couple`,
 * which may be NULL. side (3, LANES): lever, units per force and per moment. Returns 0 if memory is exhausted. */
static inline __attribute__((always_inline)) int minidem_add_side(
        const double *force, const double *turned, const double *couple, const double *side, double sign,
        const int *index, minidem_lines *lines) {
    minidem_eight rows[8], all = {0.0}, away = -MINIDEM_EIGHT(side);
    minidem_eight per_force = sign * MINIDEM_EIGHT(side + MINIDEM_LANES);
    minidem_eight per_moment = MINIDEM_EIGHT(side + 2 * MINIDEM_LANES);
    for (int k = 0; k < 3; k++) {
        minidem_eight moment = away * MINIDEM_EIGHT(turned + k * MINIDEM_LANES);
        if (couple)
            moment += sign * MINIDEM_EIGHT(couple + k * MINIDEM_LANES);
        rows[k] = per_force * MINIDEM_EIGHT(force + k * MINIDEM_LANES);
        rows[4 + k] = per_moment * moment;
        all += MINIDEM_MAGNITUDE(rows[k]) + MINIDEM_MAGNITUDE(rows[4 + k]);
    }
    rows[3] = all * (1.0 / MINIDEM_BOUND_UNIT) + 1.0;   /* of the magnitudes */
    rows[7] = (minidem_eight) {0.0};
    if (__builtin_expect(minidem_any_beyond(all), 0)) {
        double large[8 * MINIDEM_LANES];
        memcpy(large, rows, sizeof large);
        if (!minidem_split_large(large, (const double *) &all, index, lines))
            return 0;
        minidem_eight split[8];
        memcpy(split, large, sizeof split);
        minidem_add_to_lines(split, index, lines->fine);
        return 1;
    }
    minidem_add_to_lines(rows, index, lines->fine);
    return 1;
}

/* Energies of one kind, of which some are beyond the limit. */
static __attribute__((noinline, unused)) void minidem_split_energies(double *row, double unit, int64_t *coarse,
                                                                     double *lost) {
    for (int l = 0; l < MINIDEM_LANES; l++)
        if (fabs(row[l]) < MINIDEM_LARGEST) {
            double high = nearbyint(row[l] * (1.0 / MINIDEM_COARSE));
            coarse[l] += (int64_t) high;
            row[l] -= high * MINIDEM_COARSE;
        } else {
            *lost += row[l] * unit;
            row[l] = 0.0;
        }
}

/* Energies (4, LANES), added to sums of both parts (2, 4, LANES); what is not finite to `lost` (4,). */
static inline __attribute__((always_inline)) void minidem_add_energies(const double *energies, double per_energy,
                                                                       int64_t *restrict sums, double *restrict lost) {
    minidem_eight rows[4], all = {0.0};
    for (int k = 0; k < 4; k++) {
        rows[k] = per_energy * MINIDEM_EIGHT(energies + k * MINIDEM_LANES);
        all += MINIDEM_MAGNITUDE(rows[k]);
    }
    if (minidem_any_beyond(all))
        for (int k = 0; k < 4; k++)
            minidem_split_energies((double *) (rows + k), 1.0 / per_energy, sums + (4 + k) * MINIDEM_LANES, lost + k);
    for (int k = 0; k < 4; k++)
        MINIDEM_EIGHT_LONG(sums + k * MINIDEM_LANES) += minidem_to_fixed(rows[k]);
}

typedef __int128 minidem_wide;          /* of units: no run is long enough to exceed it */

/* Move sums of both parts (2, n, LANES), of at most 64 additions each, to totals (n,). */
static inline void minidem_fold(int64_t *sums, int n, minidem_wide *totals) {
    for (int k = 0; k < n; k++)
        for (int l = 0; l < MINIDEM_LANES; l++)
            totals[k] += (minidem_wide) sums[k * MINIDEM_LANES + l]
                + (minidem_wide) sums[(n + k) * MINIDEM_LANES + l] * ((minidem_wide) 1 << 40);
    memset(sums, 0, 2 * n * MINIDEM_LANES * sizeof *sums);
}

/* A number of units, rounded; what is not finite, or beyond 2^120 units, counts as none. */
static inline minidem_wide minidem_rounded(double x) {
    if (__builtin_expect(fabs(x) < 0x1p62, 1))          /* a conversion to 128 bits is a call of a function */
        return (int64_t) nearbyint(x);
    return fabs(x) < 0x1p120 ? (minidem_wide) nearbyint(x) : 0;
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
