/* Sums of numbers of any size without an order: for quantities whose scale is not known, such as rates of fields.
 *
 * A number is added as an integer to one of seven sums of 128 bits, chosen by its exponent alone. A sum has room for
 * 2^27 numbers. Numbers below 2^-169 count as zero; one that is not finite, or not below 2^167, makes the total not a
 * number. The total has the same bits for any order. */
#ifndef MINIDEM_EXACT_SUM_H
#define MINIDEM_EXACT_SUM_H
#include <math.h>
#include "contact/fixed_point.h"

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
