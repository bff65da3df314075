/* Distance tests: the loops in which searches for neighbor pairs and contacts spend their time.
 *
 * In C, because the result of each test decides where the next one is stored, which compilers do for one number at a
 * time. AVX-512 packs what passes by one instruction, AVX2 by a permutation that is read from a table. All processors
 * make the same decisions by the same operations. */
#ifndef MINIDEM_NEAR_PAIRS_H
#define MINIDEM_NEAR_PAIRS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/lanes.h"
#include "core/nearest_image.h"
#include "core/transpose.h"
#include "state/box_pose.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define MINIDEM_AVX512
#endif

/* Spheres are prefetched so many ints ahead: the time of 128 pairs is about the latency of memory. */
enum { MINIDEM_PREFETCH_DISTANCE = 256, MINIDEM_PADDING = MINIDEM_PREFETCH_DISTANCE + 16 };

/* Write the pairs (slot, other) of a sphere and the others q, first <= q < count, whose gap is below the skin,
 * without spheres of its own clump, into `pairs`; returns how many ints.
 * others: rows (x, y, z, radius, slot) of `room` ints each, in the fixed-point numbers of a grid (cell_grid.pyx).
 * cx, cy, cz, reach, slot: the sphere, its radius plus the skin; its clump has the slots clump_first <= s < clump_first
 * + clump_slots of the same lane. Their rows are readable up to the next multiple of 16; entries from `count` on
 * are not used. `pairs` has room for twice the others and 32 ints more. */
static inline ptrdiff_t minidem_find_pairs(const int *others, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs);

#if defined(MINIDEM_AVX512)
static inline ptrdiff_t minidem_find_pairs(const int *others, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = others, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
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
        if (count - q < 16)
            hits &= (1u << (count - q)) - 1;
        valid = 0xffffu;
        __m512i near = _mm512_maskz_compress_epi32((__mmask16) hits, other);
        int n_hits = __builtin_popcount(hits);
        _mm512_storeu_si512(pairs + n, _mm512_mask_permutexvar_epi32(own, 0xaaaa, low, near));
        if (n_hits > 8)
            _mm512_storeu_si512(pairs + n + 16, _mm512_mask_permutexvar_epi32(own, 0xaaaa, high, near));
        n += 2 * n_hits;
    }
    return n;
}
#elif defined(__AVX2__)
/* Store the pairs out of four whose bits are set; eight ints are written. Returns how many of them count. */
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

/* Two numbers at `low` and two at `high`. */
static inline __m256d minidem_two_and_two(const double *low, const double *high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}

static inline ptrdiff_t minidem_find_pairs(const int *others, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = others, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
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
        if (count - q < 8)
            hits &= (1u << (count - q)) - 1;
        valid = 0xffu;
        other = _mm256_permute4x64_epi64(other, 0xd8);          /* 0 1 4 5 2 3 6 7: then the pairs are in order */
        n += minidem_store_selected(pairs + n, _mm256_unpacklo_epi32(own, other), hits & 15);
        n += minidem_store_selected(pairs + n, _mm256_unpackhi_epi32(own, other), hits >> 4);
    }
    return n;
}
#else
enum { MINIDEM_CHUNK = 16 };

static inline ptrdiff_t minidem_find_pairs(const int *others, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = others, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
    ptrdiff_t n = 0;
    for (int chunk = first & ~(MINIDEM_CHUNK - 1); chunk < count; chunk += MINIDEM_CHUNK) {
        int near[MINIDEM_CHUNK];
        for (int l = 0; l < MINIDEM_CHUNK; ++l) {       /* on its own, since compilers vectorise it */
            int q = chunk + l;
            float dx = (float) (int) ((unsigned) cx - (unsigned) x[q]);     /* modulo 2^32, like the coordinates */
            float dy = (float) (int) ((unsigned) cy - (unsigned) y[q]);
            float dz = (float) (int) ((unsigned) cz - (unsigned) z[q]);
            float limit = (float) (int) ((unsigned) reach + (unsigned) radius[q]);
            int same_lane = ((slots[q] ^ slot) & (MINIDEM_LANES - 1)) == 0;
            int same_block = (unsigned) slots[q] - (unsigned) clump_first < (unsigned) clump_slots;
            near[l] = (dx * dx + dy * dy + dz * dz < limit * limit) & !(same_lane & same_block);
        }
        int end = count - chunk < MINIDEM_CHUNK ? count - chunk : MINIDEM_CHUNK;
        for (int l = first > chunk ? first - chunk : 0; l < end; ++l) {
            pairs[n] = slot;
            pairs[n + 1] = slots[chunk + l];
            n += 2 * near[l];
        }
    }
    return n;
}
#endif

/* See minidem_select_near. box, tilt: constants of each copy. */
static inline __attribute__((always_inline)) ptrdiff_t minidem_select(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near) {
    ptrdiff_t k = 0, kept = 0;
#if defined(MINIDEM_AVX512)
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
        if (box)
            MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        __m512d reach = _mm512_add_pd(radii, _mm512_set1_pd(skin));
        __m512d squared = _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(x, x), _mm512_mul_pd(y, y)),
                                        _mm512_mul_pd(z, z));
        __mmask8 hits = _mm512_cmp_pd_mask(squared, _mm512_mul_pd(reach, reach), _CMP_LT_OQ);
        _mm512_storeu_si512(near + kept, _mm512_maskz_compress_epi64(hits, eight));
        kept += 2 * __builtin_popcount(hits);
    }
#elif defined(__AVX2__)
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
        if (box)
            MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        __m256d reach = _mm256_add_pd(radii, _mm256_set1_pd(skin));
        __m256d squared = _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(x, x), _mm256_mul_pd(y, y)),
                                        _mm256_mul_pd(z, z));
        __m256d hits = _mm256_cmp_pd(squared, _mm256_mul_pd(reach, reach), _CMP_LT_OQ);
        kept += minidem_store_selected(near + kept, four, _mm256_movemask_pd(hits));
    }
#endif
    for (; k < n; k += 2) {
        int i = pairs[k], j = pairs[k + 1];
        const double *a = spheres + 4 * (ptrdiff_t) i, *b = spheres + 4 * (ptrdiff_t) j;
        double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], reach = a[3] + b[3] + skin;
        __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE]);
        __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + 1]);
        if (box)
            MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        near[kept] = i;
        near[kept + 1] = j;
        kept += 2 * (x * x + y * y + z * z < reach * reach);
    }
    return kept;
}

/* Copy those pairs of slots (n ints, two by two) whose gap is below `skin` to `near`, in their order; returns how many
 * ints. spheres: centre and radius of each slot; box: periodic, or NULL. `near` may be `pairs`, and has room for n ints.
 * The MINIDEM_PADDING ints after the pairs are read and prefetched, but not used. */
static __attribute__((noinline, unused)) ptrdiff_t minidem_select_near(
        const double *spheres, const BoxPose *box, const int *pairs, ptrdiff_t n, double skin, int *near) {
    if (!box)
        return minidem_select(spheres, NULL, 0, pairs, n, skin, near);
    switch (box->moves ? 1 + 3 * box->flow_axis + box->gradient_axis : 0) {
    case 0: return minidem_select(spheres, box, 0, pairs, n, skin, near);
    case 3: return minidem_select(spheres, box, 3, pairs, n, skin, near);
    case 4: return minidem_select(spheres, box, 4, pairs, n, skin, near);
    case 6: return minidem_select(spheres, box, 6, pairs, n, skin, near);
    case 7: return minidem_select(spheres, box, 7, pairs, n, skin, near);
    case 8: return minidem_select(spheres, box, 8, pairs, n, skin, near);
    }
    return minidem_select(spheres, box, 2, pairs, n, skin, near);
}
#endif
