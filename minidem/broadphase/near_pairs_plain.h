/* The distance tests of near_pairs.h for any processor. */

static inline ptrdiff_t minidem_find_pairs(const int *candidates, ptrdiff_t room, int first, int count, int cx, int cy,
                                           int cz, int reach, int slot, int clump_first, int clump_slots, int *pairs) {
    const int *x = candidates, *y = x + room, *z = y + room, *radius = z + room, *slots = radius + room;
    ptrdiff_t n = 0;
    for (int q = first; q < count; ++q) {
        float dx = (float) (int) ((unsigned) cx - (unsigned) x[q]);     /* modulo 2^32, like the coordinates */
        float dy = (float) (int) ((unsigned) cy - (unsigned) y[q]);
        float dz = (float) (int) ((unsigned) cz - (unsigned) z[q]);
        float limit = (float) (reach + radius[q]);
        unsigned slot_in_block = (unsigned) slots[q] - (unsigned) clump_first;
        int same_clump = ((slots[q] ^ slot) & (MINIDEM_LANES - 1)) == 0 && slot_in_block < (unsigned) clump_slots;
        pairs[n] = slot;
        pairs[n + 1] = slots[q];
        n += 2 * ((dx * dx + dy * dy + dz * dz < limit * limit) & !same_clump);
    }
    return n;
}

static inline unsigned minidem_near_plane(const double *rows, const double *point, const double *normal, double skin) {
    unsigned near = 0;
    for (int l = 0; l < MINIDEM_LANES; ++l) {
        double x = rows[l] - point[0], y = rows[MINIDEM_LANES + l] - point[1];
        double z = rows[2 * MINIDEM_LANES + l] - point[2];
        near |= (unsigned) (x * normal[0] + y * normal[1] + z * normal[2] < rows[3 * MINIDEM_LANES + l] + skin) << l;
    }
    return near;
}

static inline ptrdiff_t minidem_select_many(const double *spheres, const int *pairs, ptrdiff_t n, double skin, int *near,
                                            ptrdiff_t *selected) {
    (void) spheres, (void) pairs, (void) n, (void) skin, (void) near;
    *selected = 0;
    return 0;
}
