/* Eight numbers as one vector, a language extension of gcc and clang for any processor: compilers left alone do not
 * vectorise a loop over eight lanes that is inlined into a long function. */
#ifndef MINIDEM_EIGHT_H
#define MINIDEM_EIGHT_H
#include <stdint.h>
#include "core/lanes.h"
#if defined(__AVX__)
#include <immintrin.h>
#endif

typedef double minidem_eight __attribute__((vector_size(MINIDEM_LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t minidem_eight_long __attribute__((vector_size(MINIDEM_LANES * sizeof(int64_t)), aligned(8), may_alias));

#define MINIDEM_EIGHT(address) (*(minidem_eight *) (address))
#define MINIDEM_EIGHT_LONG(address) (*(minidem_eight_long *) (address))
#define MINIDEM_EIGHT_OF(number) ((number) - (minidem_eight) {0.0})        /* plus zero would change -0.0 */
#define MINIDEM_MAGNITUDE(eight) ((minidem_eight) ((minidem_eight_long) (eight) & INT64_MAX))

/* Eight ints as doubles. */
static inline __attribute__((always_inline)) minidem_eight minidem_eight_of_ints(const int *row) {
    typedef int ints __attribute__((vector_size(MINIDEM_LANES * sizeof(int)), aligned(4), may_alias));
    return __builtin_convertvector(*(const ints *) row, minidem_eight);
}

/* Item k behind each of eight addresses. Eight stores and a load would wait for each other. */
static inline __attribute__((always_inline)) minidem_eight minidem_eight_at(const double *const *a, int k) {
    return (minidem_eight) {a[0][k], a[1][k], a[2][k], a[3][k], a[4][k], a[5][k], a[6][k], a[7][k]};
}

/* Bits 1 << lane of the lanes whose number is below a limit; a NaN is not. */
static inline __attribute__((always_inline)) int minidem_bits_below(const double *row, double limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask(_mm512_loadu_pd(row), _mm512_set1_pd(limit), _CMP_LT_OQ);
#elif defined(__AVX__)
    __m256d most = _mm256_set1_pd(limit);
    return _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(row), most, _CMP_LT_OQ))
        | _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(row + 4), most, _CMP_LT_OQ)) << 4;
#else
    int bits = 0;
    for (int l = 0; l < MINIDEM_LANES; l++)
        bits |= (row[l] < limit) << l;
    return bits;
#endif
}

/* A number where another one is above zero, else 0. */
static inline __attribute__((always_inline)) minidem_eight minidem_eight_where(minidem_eight other, minidem_eight x) {
    return (minidem_eight) ((minidem_eight_long) (other > 0.0) & (minidem_eight_long) x);
}
#endif
