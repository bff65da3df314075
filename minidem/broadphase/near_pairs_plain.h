/* The distance tests of near_pairs.h for any processor. */
#include "core/transpose.h"

enum { MINIDEM_CHUNK = 16 };

static inline ptrdiff_t minidem_find_pairs(const int *candidates, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = candidates, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
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

static inline __attribute__((always_inline)) ptrdiff_t minidem_select_many(
        const double *spheres, const BoxPose *box, int tilt, const int *pairs, ptrdiff_t n, double skin, int *near,
        ptrdiff_t *selected) {
    ptrdiff_t k = 0, kept = 0;
    for (; k + 4 <= n; k += 4) {                        /* two pairs at a time */
        const double *a = spheres + 4 * (ptrdiff_t) pairs[k], *b = spheres + 4 * (ptrdiff_t) pairs[k + 1];
        const double *c = spheres + 4 * (ptrdiff_t) pairs[k + 2], *d = spheres + 4 * (ptrdiff_t) pairs[k + 3];
        minidem_two ab = minidem_load_two(a) - minidem_load_two(b), cd = minidem_load_two(c) - minidem_load_two(d);
        minidem_two za = minidem_load_two(a + 2), zb = minidem_load_two(b + 2);         /* z and radius */
        minidem_two zc = minidem_load_two(c + 2), zd = minidem_load_two(d + 2);
        minidem_two z_ab = za - zb, z_cd = zc - zd, r_ab = za + zb, r_cd = zc + zd;
        minidem_two x = {ab[0], cd[0]}, y = {ab[1], cd[1]}, z = {z_ab[0], z_cd[0]}, reach = {r_ab[1], r_cd[1]};
        if (box) MINIDEM_TO_NEAREST(x, y, z, box, tilt);
        minidem_two squared = x * x + y * y + z * z;
        uint64_t first, second;
        for (int l = 0; l < 4; ++l)
            __builtin_prefetch(spheres + 4 * (ptrdiff_t) pairs[k + MINIDEM_PREFETCH_DISTANCE + l]);
        memcpy(&first, pairs + k, sizeof first);
        memcpy(&second, pairs + k + 2, sizeof second);
        reach += skin;
        reach *= reach;
        memcpy(near + kept, &first, sizeof first);
        kept += 2 * (squared[0] < reach[0]);
        memcpy(near + kept, &second, sizeof second);
        kept += 2 * (squared[1] < reach[1]);
    }
    *selected = kept;
    return k;
}
