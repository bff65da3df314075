/* Which spheres are near: the two loops that every search for candidates and contacts spends its time in.
 *
 * In C because the outcome of each test decides where the next one is stored: a compiler leaves that to one
 * number at a time. With AVX-512, eight are tested at once and those that pass are packed by one instruction.
 * The plain loops make the same decisions, by the same operations in the same order. */
#ifndef MINIDEM_NEAR_H
#define MINIDEM_NEAR_H
#include <stddef.h>

enum { MINIDEM_BEYOND = 144 };

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include <immintrin.h>
#define MINIDEM_EIGHT_AT_ONCE 1
#else
#define MINIDEM_EIGHT_AT_ONCE 0
#endif

/* Indices q, first <= q < last, of spheres (x, y, z, r) whose gap to the one at (cx, cy, cz) is below reach
 * less that one's radius, into `near`; returns their number. The arrays can be read, and `near` be written,
 * seven places beyond. */
static inline int minidem_find_near(const double *x, const double *y, const double *z, const double *r,
                                    int first, int last, double cx, double cy, double cz, double reach, int *near) {
    int n = 0;
#if MINIDEM_EIGHT_AT_ONCE
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (int q = first; q < last; q += 8) {
        __m512d dx = _mm512_sub_pd(_mm512_set1_pd(cx), _mm512_loadu_pd(x + q));
        __m512d dy = _mm512_sub_pd(_mm512_set1_pd(cy), _mm512_loadu_pd(y + q));
        __m512d dz = _mm512_sub_pd(_mm512_set1_pd(cz), _mm512_loadu_pd(z + q));
        __m512d limit = _mm512_add_pd(_mm512_set1_pd(reach), _mm512_loadu_pd(r + q));
        __m512d squared = _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dy, dy)),
                                        _mm512_mul_pd(dz, dz));
        __mmask8 hits = _mm512_cmp_pd_mask(squared, _mm512_mul_pd(limit, limit), _CMP_LT_OQ);
        if (last - q < 8) hits &= (__mmask8) ((1 << (last - q)) - 1);
        __m256i places = _mm256_add_epi32(_mm256_set1_epi32(q), lanes);
        _mm256_storeu_si256((__m256i *) (near + n), _mm256_maskz_compress_epi32(hits, places));
        n += __builtin_popcount(hits);
    }
#else
    for (int q = first; q < last; ++q) {
        double dx = cx - x[q], dy = cy - y[q], dz = cz - z[q], limit = reach + r[q];
        near[n] = q;
        n += dx * dx + dy * dy + dz * dz < limit * limit;
    }
#endif
    return n;
}

/* Those of the pairs of slots (n ints, two by two) whose gap is below `skin`, copied to `near` in their order;
 * returns how many ints. spheres: centre and radius of each slot. `near` may be where `pairs` is, and has room for n.
 * What stands in the MINIDEM_BEYOND places after the pairs is read, and asked for from memory, but not used. */
static inline ptrdiff_t minidem_select_near(const double *spheres, const int *pairs, ptrdiff_t n, double skin,
                                            int *near) {
    ptrdiff_t k = 0, kept = 0;
#if MINIDEM_EIGHT_AT_ONCE
    const __m512i even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    for (; k + 16 <= n; k += 16) {
        __m512i eight = _mm512_loadu_si512(pairs + k);
        __m256d between[8];                             /* (dx, dy, dz, sum of radii) */
        __m512d two[4], xy[2], zr[2];
        for (int l = 0; l < 8; ++l) {
            __m256d a = _mm256_loadu_pd(spheres + 4 * (ptrdiff_t) pairs[k + 2 * l]);
            __m256d b = _mm256_loadu_pd(spheres + 4 * (ptrdiff_t) pairs[k + 2 * l + 1]);
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + 128 + 2 * l]);
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + 129 + 2 * l]);
            between[l] = _mm256_mask_add_pd(_mm256_sub_pd(a, b), 8, a, b);
        }
        for (int l = 0; l < 4; ++l)
            two[l] = _mm512_insertf64x4(_mm512_castpd256_pd512(between[2 * l]), between[2 * l + 1], 1);
        for (int l = 0; l < 2; ++l) {                   /* eight records become four rows */
            xy[l] = _mm512_permutex2var_pd(two[2 * l], even, two[2 * l + 1]);
            zr[l] = _mm512_permutex2var_pd(two[2 * l], odd, two[2 * l + 1]);
        }
        __m512d x = _mm512_shuffle_f64x2(xy[0], xy[1], 0x44), y = _mm512_shuffle_f64x2(xy[0], xy[1], 0xee);
        __m512d z = _mm512_shuffle_f64x2(zr[0], zr[1], 0x44), radii = _mm512_shuffle_f64x2(zr[0], zr[1], 0xee);
        __m512d reach = _mm512_add_pd(radii, _mm512_set1_pd(skin));
        __m512d squared = _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(x, x), _mm512_mul_pd(y, y)),
                                        _mm512_mul_pd(z, z));
        __mmask8 hits = _mm512_cmp_pd_mask(squared, _mm512_mul_pd(reach, reach), _CMP_LT_OQ);
        _mm512_storeu_si512(near + kept, _mm512_maskz_compress_epi64(hits, eight));
        kept += 2 * __builtin_popcount(hits);
    }
#endif
    for (; k < n; k += 2) {
        const double *a = spheres + 4 * (ptrdiff_t) pairs[k], *b = spheres + 4 * (ptrdiff_t) pairs[k + 1];
        double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], reach = a[3] + b[3] + skin;
        int i = pairs[k], j = pairs[k + 1];
        near[kept] = i;
        near[kept + 1] = j;
        kept += 2 * (x * x + y * y + z * z < reach * reach);
    }
    return kept;
}
#endif
