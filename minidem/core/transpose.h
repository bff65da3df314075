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

#if defined(__AVX__) && defined(MINIDEM_SHUFFLE)
typedef double minidem_four __attribute__((vector_size(32)));

static inline minidem_four minidem_load_four(const double *four) {
    minidem_four r;
    memcpy(&r, four, sizeof r);
    return r;
}

/* The rows of a 4 x 4 matrix become its columns. */
static inline void minidem_transpose(minidem_four *r) {
    minidem_four ab_even = MINIDEM_SHUFFLE(r[0], r[1], 0, 4, 2, 6), ab_odd = MINIDEM_SHUFFLE(r[0], r[1], 1, 5, 3, 7);
    minidem_four cd_even = MINIDEM_SHUFFLE(r[2], r[3], 0, 4, 2, 6), cd_odd = MINIDEM_SHUFFLE(r[2], r[3], 1, 5, 3, 7);
    r[0] = MINIDEM_SHUFFLE(ab_even, cd_even, 0, 1, 4, 5);
    r[1] = MINIDEM_SHUFFLE(ab_odd, cd_odd, 0, 1, 4, 5);
    r[2] = MINIDEM_SHUFFLE(ab_even, cd_even, 2, 3, 6, 7);
    r[3] = MINIDEM_SHUFFLE(ab_odd, cd_odd, 2, 3, 6, 7);
}

static inline void minidem_store_row(double *row, minidem_four low, minidem_four high) {
#if defined(__AVX512F__)
    _mm512_storeu_pd(row, _mm512_insertf64x4(_mm512_castpd256_pd512((__m256d) low), (__m256d) high, 1));
#else
    memcpy(row, &low, sizeof low);
    memcpy(row + 4, &high, sizeof high);
#endif
}

/* Eight numbers at a time: with fours, a step of thirty rods takes a tenth longer; with one copy of four of them behind
 * each other a quarter, since loads that are wider than the stores before them wait. From records fours are as fast. */
#if defined(__AVX512F__)
typedef double minidem_row __attribute__((vector_size(64)));

static inline void minidem_records_from_rows(const double *rows, double *records) {
    minidem_row r[4];
    for (int k = 0; k < 4; k++)
        memcpy(r + k, rows + k * MINIDEM_LANES, sizeof *r);
    minidem_row ab = MINIDEM_SHUFFLE(r[0], r[1], 0, 8, 2, 10, 4, 12, 6, 14);
    minidem_row cd = MINIDEM_SHUFFLE(r[2], r[3], 0, 8, 2, 10, 4, 12, 6, 14);
    minidem_row even = MINIDEM_SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
    minidem_row next_even = MINIDEM_SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    ab = MINIDEM_SHUFFLE(r[0], r[1], 1, 9, 3, 11, 5, 13, 7, 15);
    cd = MINIDEM_SHUFFLE(r[2], r[3], 1, 9, 3, 11, 5, 13, 7, 15);
    minidem_row odd = MINIDEM_SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
    minidem_row next_odd = MINIDEM_SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    r[0] = MINIDEM_SHUFFLE(even, odd, 0, 1, 2, 3, 8, 9, 10, 11);
    r[1] = MINIDEM_SHUFFLE(next_even, next_odd, 0, 1, 2, 3, 8, 9, 10, 11);
    r[2] = MINIDEM_SHUFFLE(even, odd, 4, 5, 6, 7, 12, 13, 14, 15);
    r[3] = MINIDEM_SHUFFLE(next_even, next_odd, 4, 5, 6, 7, 12, 13, 14, 15);
    for (int k = 0; k < 4; k++)
        memcpy(records + 8 * k, r + k, sizeof *r);
}
#else
static inline void minidem_records_from_rows(const double *rows, double *records) {
    for (int l = 0; l < MINIDEM_LANES; l += 4) {
        minidem_four r[4];
        for (int k = 0; k < 4; k++)
            r[k] = minidem_load_four(rows + k * MINIDEM_LANES + l);
        minidem_transpose(r);
        minidem_store_row(records + 4 * l, r[0], r[1]);         /* one copy of r would wait: its loads are wider than */
        minidem_store_row(records + 4 * l + 8, r[2], r[3]);     /* the stores before */
    }
}
#endif

static inline void minidem_rows_from_records(const double *records, const int *index, double *rows) {
    minidem_four low[4], high[4];
    for (int k = 0; k < 4; k++) {
        low[k] = minidem_load_four(records + 4 * (ptrdiff_t) index[k]);
        high[k] = minidem_load_four(records + 4 * (ptrdiff_t) index[k + 4]);
    }
    minidem_transpose(low);
    minidem_transpose(high);
    for (int k = 0; k < 4; k++)
        minidem_store_row(rows + k * MINIDEM_LANES, low[k], high[k]);
}
#else
/* Rows a, b of a 2 x 2 matrix become its columns, `stride` doubles apart. */
static inline void minidem_transpose(minidem_two a, minidem_two b, double *columns, ptrdiff_t stride) {
    minidem_two even = {a[0], b[0]}, odd = {a[1], b[1]};
    memcpy(columns, &even, sizeof even);
    memcpy(columns + stride, &odd, sizeof odd);
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

static inline void minidem_store_line(double *line, const double *low, const double *high) {
#if defined(__AVX512F__)
    __m512d r = _mm512_castpd256_pd512(_mm256_loadu_pd(low));
    _mm512_storeu_pd(line, _mm512_insertf64x4(r, _mm256_loadu_pd(high), 1));
#else
    memcpy(line, low, 4 * sizeof *low);
    memcpy(line + 4, high, 4 * sizeof *high);
#endif
}

/* Rows (8, LANES) to eight lines of eight numbers, one behind the other, and back from any: a line fills a cache line
 * and is two records. */
static inline void minidem_lines_in_order(const double *rows, double *lines) {
    double halves[2][4 * MINIDEM_LANES];
    minidem_records_from_rows(rows, halves[0]);
    minidem_records_from_rows(rows + 4 * MINIDEM_LANES, halves[1]);
    for (int l = 0; l < MINIDEM_LANES; l++)
        minidem_store_line(lines + 8 * l, halves[0] + 4 * l, halves[1] + 4 * l);
}

static inline void minidem_rows_from_lines(const double *lines, const int *index, double *rows) {
    int doubled[MINIDEM_LANES];
    for (int l = 0; l < MINIDEM_LANES; l++)
        doubled[l] = 2 * index[l];
    minidem_rows_from_records(lines, doubled, rows);
    minidem_rows_from_records(lines + 4, doubled, rows + 4 * MINIDEM_LANES);
}
#endif
