/* Transposition: four rows of eight numbers into eight records of four, and from eight records, anywhere, back.
 *
 * In C, because compilers left alone move the numbers one by one at three times the cost; the vectors are a language
 * extension of gcc and clang for any processor. Nothing is computed, so all widths give the same bits. Rows are loaded
 * and stored with whole vectors: a load that is wider than the stores before it has to wait for them. */
#ifndef MINIDEM_TRANSPOSE_H
#define MINIDEM_TRANSPOSE_H
#include <stddef.h>
#include <string.h>
#include "core/lanes.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

typedef double minidem_two __attribute__((vector_size(16)));

static inline minidem_two minidem_load_two(const double *two) {
    minidem_two r;
    memcpy(&r, two, sizeof r);
    return r;
}

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define MINIDEM_SHUFFLE __builtin_shufflevector
#endif

#if defined(__AVX512F__) && defined(MINIDEM_SHUFFLE)
typedef double minidem_row __attribute__((vector_size(64)));

static inline minidem_row minidem_load_row(const double *row) {
    minidem_row r;
    memcpy(&r, row, sizeof r);
    return r;
}

static inline void minidem_store_row(double *row, minidem_row r) {
    memcpy(row, &r, sizeof r);
}

static inline void minidem_records_from_rows(const double *rows, double *records) {
    minidem_row a = minidem_load_row(rows), b = minidem_load_row(rows + MINIDEM_LANES);
    minidem_row c = minidem_load_row(rows + 2 * MINIDEM_LANES), d = minidem_load_row(rows + 3 * MINIDEM_LANES);
    minidem_row ab = MINIDEM_SHUFFLE(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    minidem_row cd = MINIDEM_SHUFFLE(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
    minidem_row even = MINIDEM_SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);           /* records 0, 4 */
    minidem_row next_even = MINIDEM_SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);    /* 2, 6 */
    ab = MINIDEM_SHUFFLE(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    cd = MINIDEM_SHUFFLE(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
    minidem_row odd = MINIDEM_SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);            /* 1, 5 */
    minidem_row next_odd = MINIDEM_SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);     /* 3, 7 */
    minidem_store_row(records, MINIDEM_SHUFFLE(even, odd, 0, 1, 2, 3, 8, 9, 10, 11));
    minidem_store_row(records + 8, MINIDEM_SHUFFLE(next_even, next_odd, 0, 1, 2, 3, 8, 9, 10, 11));
    minidem_store_row(records + 16, MINIDEM_SHUFFLE(even, odd, 4, 5, 6, 7, 12, 13, 14, 15));
    minidem_store_row(records + 24, MINIDEM_SHUFFLE(next_even, next_odd, 4, 5, 6, 7, 12, 13, 14, 15));
}

/* Records i and j, side by side. */
static inline minidem_row minidem_two_records(const double *records, int i, int j) {
    return (minidem_row) _mm512_insertf64x4(
        _mm512_castpd256_pd512(_mm256_loadu_pd(records + 4 * (ptrdiff_t) i)),
        _mm256_loadu_pd(records + 4 * (ptrdiff_t) j), 1);
}

static inline void minidem_rows_from_records(const double *records, const int *index, double *rows) {
    minidem_row a = minidem_two_records(records, index[0], index[1]);
    minidem_row b = minidem_two_records(records, index[2], index[3]);
    minidem_row c = minidem_two_records(records, index[4], index[5]);
    minidem_row d = minidem_two_records(records, index[6], index[7]);
    minidem_row ab = MINIDEM_SHUFFLE(a, b, 0, 4, 8, 12, 1, 5, 9, 13);
    minidem_row cd = MINIDEM_SHUFFLE(c, d, 0, 4, 8, 12, 1, 5, 9, 13);
    minidem_store_row(rows, MINIDEM_SHUFFLE(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11));
    minidem_store_row(rows + MINIDEM_LANES, MINIDEM_SHUFFLE(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15));
    ab = MINIDEM_SHUFFLE(a, b, 2, 6, 10, 14, 3, 7, 11, 15);
    cd = MINIDEM_SHUFFLE(c, d, 2, 6, 10, 14, 3, 7, 11, 15);
    minidem_store_row(rows + 2 * MINIDEM_LANES, MINIDEM_SHUFFLE(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11));
    minidem_store_row(rows + 3 * MINIDEM_LANES, MINIDEM_SHUFFLE(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15));
}
#elif defined(__AVX__) && defined(MINIDEM_SHUFFLE)
typedef double minidem_four __attribute__((vector_size(32)));

static inline minidem_four minidem_load_four(const double *four) {
    minidem_four r;
    memcpy(&r, four, sizeof r);
    return r;
}

static inline void minidem_store_four(double *four, minidem_four r) {
    memcpy(four, &r, sizeof r);
}

/* Rows a, b, c, d of a 4 x 4 matrix become its columns, `apart` doubles apart. */
static inline void minidem_transpose(minidem_four a, minidem_four b, minidem_four c, minidem_four d, double *columns,
                                     ptrdiff_t apart) {
    minidem_four ab_even = MINIDEM_SHUFFLE(a, b, 0, 4, 2, 6), ab_odd = MINIDEM_SHUFFLE(a, b, 1, 5, 3, 7);
    minidem_four cd_even = MINIDEM_SHUFFLE(c, d, 0, 4, 2, 6), cd_odd = MINIDEM_SHUFFLE(c, d, 1, 5, 3, 7);
    minidem_store_four(columns, MINIDEM_SHUFFLE(ab_even, cd_even, 0, 1, 4, 5));
    minidem_store_four(columns + apart, MINIDEM_SHUFFLE(ab_odd, cd_odd, 0, 1, 4, 5));
    minidem_store_four(columns + 2 * apart, MINIDEM_SHUFFLE(ab_even, cd_even, 2, 3, 6, 7));
    minidem_store_four(columns + 3 * apart, MINIDEM_SHUFFLE(ab_odd, cd_odd, 2, 3, 6, 7));
}

static inline void minidem_records_from_rows(const double *rows, double *records) {
    for (int l = 0; l < MINIDEM_LANES; l += 4, rows += 4)
        minidem_transpose(minidem_load_four(rows), minidem_load_four(rows + MINIDEM_LANES),
                          minidem_load_four(rows + 2 * MINIDEM_LANES), minidem_load_four(rows + 3 * MINIDEM_LANES),
                          records + 4 * l, 4);
}

static inline void minidem_rows_from_records(const double *records, const int *index, double *rows) {
    for (int l = 0; l < MINIDEM_LANES; l += 4, index += 4)
        minidem_transpose(minidem_load_four(records + 4 * (ptrdiff_t) index[0]),
                          minidem_load_four(records + 4 * (ptrdiff_t) index[1]),
                          minidem_load_four(records + 4 * (ptrdiff_t) index[2]),
                          minidem_load_four(records + 4 * (ptrdiff_t) index[3]), rows + l, MINIDEM_LANES);
}
#else
/* Rows a, b of a 2 x 2 matrix become its columns, `apart` doubles apart. */
static inline void minidem_transpose(minidem_two a, minidem_two b, double *columns, ptrdiff_t apart) {
    minidem_two even = {a[0], b[0]}, odd = {a[1], b[1]};
    memcpy(columns, &even, sizeof even);
    memcpy(columns + apart, &odd, sizeof odd);
}

static inline void minidem_records_from_rows(const double *rows, double *records) {
    for (int l = 0; l < MINIDEM_LANES; l += 2)
        for (int k = 0; k < 4; k += 2)
            minidem_transpose(minidem_load_two(rows + k * MINIDEM_LANES + l),
                              minidem_load_two(rows + (k + 1) * MINIDEM_LANES + l), records + 4 * l + k, 4);
}

static inline void minidem_rows_from_records(const double *records, const int *index, double *rows) {
    for (int l = 0; l < MINIDEM_LANES; l += 2)
        for (int k = 0; k < 4; k += 2)
            minidem_transpose(minidem_load_two(records + 4 * (ptrdiff_t) index[l] + k),
                              minidem_load_two(records + 4 * (ptrdiff_t) index[l + 1] + k),
                              rows + k * MINIDEM_LANES + l, MINIDEM_LANES);
}
#endif

/* Rows (8, LANES) to eight lines of eight numbers, one behind the other, and back from any: a line fills a
 * cache line. */
#if defined(__AVX512F__) && defined(MINIDEM_SHUFFLE)
static inline void minidem_transpose_eight(minidem_row *r) {
    for (int k = 0; k < 8; k += 2) {                    /* pairs of numbers */
        minidem_row even = MINIDEM_SHUFFLE(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        r[k + 1] = MINIDEM_SHUFFLE(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
        r[k] = even;
    }
    for (int k = 0; k < 8; k += k % 4 == 1 ? 3 : 1) {   /* fours */
        minidem_row low = MINIDEM_SHUFFLE(r[k], r[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        r[k + 2] = MINIDEM_SHUFFLE(r[k], r[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        r[k] = low;
    }
    for (int k = 0; k < 4; k++) {
        minidem_row low = MINIDEM_SHUFFLE(r[k], r[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[k + 4] = MINIDEM_SHUFFLE(r[k], r[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        r[k] = low;
    }
}

static inline void minidem_lines_in_order(const double *rows, double *lines) {
    minidem_row r[8];
    for (int k = 0; k < 8; k++)
        r[k] = minidem_load_row(rows + k * MINIDEM_LANES);
    minidem_transpose_eight(r);
    for (int k = 0; k < 8; k++)
        minidem_store_row(lines + 8 * k, r[k]);
}

static inline void minidem_rows_from_lines(const double *lines, const int *index, double *rows) {
    minidem_row r[8];
    for (int k = 0; k < 8; k++)
        r[k] = minidem_load_row(lines + 8 * (ptrdiff_t) index[k]);
    minidem_transpose_eight(r);
    for (int k = 0; k < 8; k++)
        minidem_store_row(rows + k * MINIDEM_LANES, r[k]);
}
#else
static inline void minidem_lines_in_order(const double *rows, double *lines) {
    double halves[2][4 * MINIDEM_LANES];
    minidem_records_from_rows(rows, halves[0]);
    minidem_records_from_rows(rows + 4 * MINIDEM_LANES, halves[1]);
    for (int l = 0; l < MINIDEM_LANES; l++)
        for (int k = 0; k < 2; k++)
            memcpy(lines + 8 * l + 4 * k, halves[k] + 4 * l, 4 * sizeof(double));
}

static inline void minidem_rows_from_lines(const double *lines, const int *index, double *rows) {
    int halves[2][MINIDEM_LANES];
    for (int l = 0; l < MINIDEM_LANES; l++)
        for (int k = 0; k < 2; k++)
            halves[k][l] = 2 * index[l] + k;
    minidem_rows_from_records(lines, halves[0], rows);
    minidem_rows_from_records(lines, halves[1], rows + 4 * MINIDEM_LANES);
}
#endif

/* Set eight indices to zero. With memset the compiler would not keep the sums of the surrounding loop in registers. */
static inline void minidem_clear_indices(int *index) {
    int zeros __attribute__((vector_size(MINIDEM_LANES * sizeof(int)))) = {0};
    memcpy(index, &zeros, sizeof zeros);
}
#endif
