/* The distance tests of near_pairs.h with AVX2: eight or four at once; those that pass are packed by a permutation, which
 * is read from a table. */
#include <immintrin.h>

/* Store those of four pairs whose bit is set; eight ints are written. Returns how many ints are. */
static inline ptrdiff_t minidem_store_selected(int *out, __m256i four, unsigned bits) {
#define TAKE(a, b, c, d) {2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 2 * c, 2 * c + 1, 2 * d, 2 * d + 1}
    static const int order[16][8] = {
        TAKE(0, 0, 0, 0), TAKE(0, 0, 0, 0), TAKE(1, 0, 0, 0), TAKE(0, 1, 0, 0), TAKE(2, 0, 0, 0), TAKE(0, 2, 0, 0),
        TAKE(1, 2, 0, 0), TAKE(0, 1, 2, 0), TAKE(3, 0, 0, 0), TAKE(0, 3, 0, 0), TAKE(1, 3, 0, 0), TAKE(0, 1, 3, 0),
        TAKE(2, 3, 0, 0), TAKE(0, 2, 3, 0), TAKE(1, 2, 3, 0), TAKE(0, 1, 2, 3)};
#undef TAKE
    __m256i selected = _mm256_permutevar8x32_epi32(four, _mm256_loadu_si256((const __m256i *) order[bits]));
    _mm256_storeu_si256((__m256i *) out, selected);
    return 2 * __builtin_popcount(bits);
}

static inline __m256i minidem_eight_ints(const int *ints) {
    return _mm256_loadu_si256((const __m256i *) ints);
}

static inline ptrdiff_t minidem_find_pairs(const int *candidates, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = candidates, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
    ptrdiff_t n = 0;
    const __m256i own = _mm256_set1_epi32(slot), lanes = _mm256_set1_epi32(MINIDEM_LANES - 1);
    const __m256i in_clump = _mm256_set1_epi32(clump_slots);
    unsigned valid = 0xffu << (first & 7);
    for (int q = first & ~7; q < count; q += 8) {
        __m256 dx = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32(cx), minidem_eight_ints(x + q)));
        __m256 dy = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32(cy), minidem_eight_ints(y + q)));
        __m256 dz = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_set1_epi32(cz), minidem_eight_ints(z + q)));
        __m256 limit = _mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_set1_epi32(reach), minidem_eight_ints(radius + q)));
        __m256 squared = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)),
                                       _mm256_mul_ps(dz, dz));
        __m256i other = minidem_eight_ints(slots + q);
        __m256i other_lane = _mm256_and_si256(_mm256_xor_si256(other, own), lanes);
        __m256i in_block = _mm256_sub_epi32(other, _mm256_set1_epi32(clump_first));
        __m256i elsewhere = _mm256_cmpeq_epi32(_mm256_max_epu32(in_block, in_clump), in_block);
        __m256i same_clump = _mm256_andnot_si256(elsewhere, _mm256_cmpeq_epi32(other_lane, _mm256_setzero_si256()));
        __m256 near = _mm256_cmp_ps(squared, _mm256_mul_ps(limit, limit), _CMP_LT_OQ);
        unsigned hits = _mm256_movemask_ps(_mm256_andnot_ps(_mm256_castsi256_ps(same_clump), near)) & valid;
        if (count - q < 8) hits &= (1u << (count - q)) - 1;
        valid = 0xffu;
        other = _mm256_permute4x64_epi64(other, 0xd8);          /* 0 1 4 5 2 3 6 7: then the pairs are in order */
        n += minidem_store_selected(pairs + n, _mm256_unpacklo_epi32(own, other), hits & 15);
        n += minidem_store_selected(pairs + n, _mm256_unpackhi_epi32(own, other), hits >> 4);
    }
    return n;
}

/* Two numbers at `low` and two at `high`. */
static inline __m256d minidem_two_and_two(const double *low, const double *high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}

static inline __attribute__((always_inline)) ptrdiff_t minidem_select_many(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near,
        ptrdiff_t *selected) {
    ptrdiff_t k = 0, kept = 0;
    for (; k + 8 <= n; k += 8) {
        __m256i four = minidem_eight_ints(pairs + k);
        const double *a[4], *b[4];
        __m256d xy[2], zr[2];
        for (int l = 0; l < 4; ++l) {
            uint64_t pair;                              /* one load for both: loads limit this loop */
            memcpy(&pair, pairs + k + 2 * l, sizeof pair);
            a[l] = spheres + 4 * (ptrdiff_t) (uint32_t) pair;
            b[l] = spheres + 4 * (ptrdiff_t) (pair >> 32);
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + 2 * l]);
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + 1 + 2 * l]);
        }
        for (int l = 0; l < 2; ++l) {                   /* of pairs l and l + 2: differences, but the sum of radii */
            xy[l] = _mm256_sub_pd(minidem_two_and_two(a[l], a[l + 2]), minidem_two_and_two(b[l], b[l + 2]));
            zr[l] = _mm256_addsub_pd(minidem_two_and_two(a[l] + 2, a[l + 2] + 2),
                                     minidem_two_and_two(b[l] + 2, b[l + 2] + 2));
        }
        __m256d x = _mm256_unpacklo_pd(xy[0], xy[1]), y = _mm256_unpackhi_pd(xy[0], xy[1]);
        __m256d z = _mm256_unpacklo_pd(zr[0], zr[1]), radii = _mm256_unpackhi_pd(zr[0], zr[1]);
        if (box) MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        __m256d reach = _mm256_add_pd(radii, _mm256_set1_pd(skin));
        __m256d squared = _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(x, x), _mm256_mul_pd(y, y)),
                                        _mm256_mul_pd(z, z));
        __m256d hits = _mm256_cmp_pd(squared, _mm256_mul_pd(reach, reach), _CMP_LT_OQ);
        kept += minidem_store_selected(near + kept, four, _mm256_movemask_pd(hits));
    }
    *selected = kept;
    return k;
}
