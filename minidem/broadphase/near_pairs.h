/* Distance tests: the loops in which searches for candidates and contacts spend their time.
 *
 * In C, because the result of each test decides where the next one is stored, which compilers do for one number at a
 * time. Each instruction set has its own file; all make the same decisions by the same operations. */
#ifndef MINIDEM_NEAR_PAIRS_H
#define MINIDEM_NEAR_PAIRS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "core/lanes.h"
#include "core/nearest_image.h"
#include "state/box_pose.h"

/* Spheres are prefetched so many ints ahead: the time of 128 pairs is about the latency of memory. */
enum { MINIDEM_PREFETCH_DISTANCE = 256, MINIDEM_PADDING = MINIDEM_PREFETCH_DISTANCE + 16 };

/* Write the pairs (slot, other) of a sphere and those of the candidates first <= q < count whose gap is below the skin,
 * without spheres of its own clump, into `pairs`; returns how many ints.
 * candidates: rows (x, y, z, radius, slot) of `room` ints each, in the fixed-point numbers of a grid (cell_grid.pyx).
 * cx, cy, cz, reach, slot: the sphere, its radius plus the skin; its clump has the slots clump_first <= s < clump_first
 * + clump_slots of the same lane. Candidate rows are readable up to the next multiple of 16; entries from `count` on
 * are not used. `pairs` has room for twice the candidates and 32 ints more. */
static inline ptrdiff_t minidem_find_pairs(const int *candidates, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs);

/* The first part of minidem_select_near, whole vectors of pairs; returns how many of the n ints have been tested. */
static inline __attribute__((always_inline)) ptrdiff_t minidem_select_many(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near,
        ptrdiff_t *selected);

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#include "broadphase/near_pairs_avx512.h"
#elif defined(__AVX2__)
#include "broadphase/near_pairs_avx2.h"
#else
#include "broadphase/near_pairs_plain.h"
#endif

static inline __attribute__((always_inline)) ptrdiff_t minidem_select(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near) {
    ptrdiff_t kept, k = minidem_select_many(spheres, box, tilt, pairs, n, skin, near, &kept);
    for (; k < n; k += 2) {
        const double *a = spheres + 4 * (ptrdiff_t) pairs[k], *b = spheres + 4 * (ptrdiff_t) pairs[k + 1];
        double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], reach = a[3] + b[3] + skin;
        int i = pairs[k], j = pairs[k + 1];
        if (box) MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        near[kept] = i;
        near[kept + 1] = j;
        kept += 2 * (x * x + y * y + z * z < reach * reach);
    }
    return kept;
}

/* Each on its own, so that the one without a box is compiled as if there were none. */
static __attribute__((noinline, unused)) ptrdiff_t minidem_select_periodic(
        const double *spheres, const BoxPose *box, const int *pairs, ptrdiff_t n, double skin, int *near) {
    return minidem_select(spheres, box, 0, pairs, n, skin, near);
}

/* In a box that moves. */
static __attribute__((noinline, unused)) ptrdiff_t minidem_select_tilted(
        const double *spheres, const BoxPose *box, const int *pairs, ptrdiff_t n, double skin, int *near) {
    switch (1 + 3 * box->flow_axis + box->gradient_axis) {
    case 3: return minidem_select(spheres, box, 3, pairs, n, skin, near);
    case 4: return minidem_select(spheres, box, 4, pairs, n, skin, near);
    case 6: return minidem_select(spheres, box, 6, pairs, n, skin, near);
    case 7: return minidem_select(spheres, box, 7, pairs, n, skin, near);
    case 8: return minidem_select(spheres, box, 8, pairs, n, skin, near);
    }
    return minidem_select(spheres, box, 2, pairs, n, skin, near);
}

static __attribute__((noinline, unused)) ptrdiff_t minidem_select_open(
        const double *spheres, const int *pairs, ptrdiff_t n, double skin, int *near) {
    return minidem_select(spheres, NULL, 0, pairs, n, skin, near);
}

/* Copy those pairs of slots (n ints, two by two) whose gap is below `skin` to `near`, in their order; returns how many
 * ints. spheres: centre and radius of each slot; box: periodic, or NULL. `near` may be `pairs`, and has room for n ints.
 * The MINIDEM_PADDING ints after the pairs are read and prefetched, but not used. */
static inline __attribute__((always_inline)) ptrdiff_t minidem_select_near(
        const double *spheres, const BoxPose *box, const int *pairs, ptrdiff_t n, double skin, int *near) {
    return box && box->moves ? minidem_select_tilted(spheres, box, pairs, n, skin, near)
        : box ? minidem_select_periodic(spheres, box, pairs, n, skin, near)
               : minidem_select_open(spheres, pairs, n, skin, near);
}
#endif
