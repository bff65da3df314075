/* The distance tests of near_pairs.h with AVX-512: eight or sixteen at once; those that pass are packed by one
 * instruction. */
#include <immintrin.h>

static inline ptrdiff_t minidem_find_pairs(const int *candidates, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = candidates, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
    ptrdiff_t n = 0;
    const __m512i low = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8)), own = _mm512_set1_epi32(slot);
    unsigned valid = 0xffffu << (first & 15);
    for (int q = first & ~15; q < count; q += 16) {
        __m512 dx = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(cx), _mm512_loadu_si512(x + q)));
        __m512 dy = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(cy), _mm512_loadu_si512(y + q)));
        __m512 dz = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_set1_epi32(cz), _mm512_loadu_si512(z + q)));
        __m512 limit = _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_set1_epi32(reach), _mm512_loadu_si512(radius + q)));
        __m512 squared = _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)),
                                       _mm512_mul_ps(dz, dz));
        __m512i other = _mm512_loadu_si512(slots + q);
        __mmask16 same_lane = _mm512_testn_epi32_mask(_mm512_xor_si512(other, own),
                                                      _mm512_set1_epi32(MINIDEM_LANES - 1));
        __mmask16 same_clump = _mm512_mask_cmplt_epu32_mask(
            same_lane, _mm512_sub_epi32(other, _mm512_set1_epi32(clump_first)), _mm512_set1_epi32(clump_slots));
        unsigned hits = _mm512_cmp_ps_mask(squared, _mm512_mul_ps(limit, limit), _CMP_LT_OQ) & valid & ~same_clump;
        if (count - q < 16) hits &= (1u << (count - q)) - 1;
        valid = 0xffffu;
        __m512i near = _mm512_maskz_compress_epi32((__mmask16) hits, other);
        int n_hits = __builtin_popcount(hits);
        _mm512_storeu_si512(pairs + n, _mm512_mask_permutexvar_epi32(own, 0xaaaa, low, near));
        if (n_hits > 8) _mm512_storeu_si512(pairs + n + 16, _mm512_mask_permutexvar_epi32(own, 0xaaaa, high, near));
        n += 2 * n_hits;
    }
    return n;
}

/* The first part of minidem_select_near; returns how many of the n ints are tested. */
static inline __attribute__((always_inline)) ptrdiff_t minidem_select_many(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near,
        ptrdiff_t *selected) {
    ptrdiff_t k = 0, kept = 0;
    const __m512i even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
    const __m512i odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    for (; k + 16 <= n; k += 16) {
        __m512i eight = _mm512_loadu_si512(pairs + k);
        __m256d between[8];                             /* (dx, dy, dz, sum of radii) */
        __m512d two[4], xy[2], zr[2];
        for (int l = 0; l < 8; ++l) {
            uint64_t pair;                              /* one load for both: loads limit this loop */
            memcpy(&pair, pairs + k + 2 * l, sizeof pair);
            __m256d a = _mm256_loadu_pd(spheres + 4 * (ptrdiff_t) (uint32_t) pair);
            __m256d b = _mm256_loadu_pd(spheres + 4 * (ptrdiff_t) (pair >> 32));
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + 2 * l]);
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + 1 + 2 * l]);
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
        if (box) MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        __m512d reach = _mm512_add_pd(radii, _mm512_set1_pd(skin));
        __m512d squared = _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(x, x), _mm512_mul_pd(y, y)),
                                        _mm512_mul_pd(z, z));
        __mmask8 hits = _mm512_cmp_pd_mask(squared, _mm512_mul_pd(reach, reach), _CMP_LT_OQ);
        _mm512_storeu_si512(near + kept, _mm512_maskz_compress_epi64(hits, eight));
        kept += 2 * __builtin_popcount(hits);
    }
    *selected = kept;
    return k;
}
