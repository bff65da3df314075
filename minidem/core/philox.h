/* Philox4x64-10: random numbers that are a function of a counter and a key, without a state.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3, SC'11 (2011),
 * doi 10.1145/2063384.2063405. The tests compare it with NumPy's, bit by bit. */
#ifndef MINIDEM_PHILOX_H
#define MINIDEM_PHILOX_H
#include <stdint.h>

/* Four numbers, uniform in [0, 1), as numpy.random.Generator.random has them. */
static inline void minidem_philox(uint64_t number, uint64_t id, uint64_t step, uint64_t seed, double *out) {
    uint64_t c[4] = {number, id, step, 0}, k0 = seed, k1 = 0;
    for (int round = 0; round < 10; round++) {
        unsigned __int128 a = (unsigned __int128) c[0] * 0xD2E7470EE14C6C93u;
        unsigned __int128 b = (unsigned __int128) c[2] * 0xCA5A826395121157u;
        c[0] = (uint64_t) (b >> 64) ^ c[1] ^ k0;
        c[1] = (uint64_t) b;
        c[2] = (uint64_t) (a >> 64) ^ c[3] ^ k1;
        c[3] = (uint64_t) a;
        k0 += 0x9E3779B97F4A7C15u;
        k1 += 0xBB67AE8584CAA73Bu;
    }
    for (int n = 0; n < 4; n++)
        out[n] = (double) (c[n] >> 11) * 0x1p-53;
}

/* The first n of the numbers of a clump in a step, `stride` apart. */
static inline void minidem_random_numbers(uint64_t seed, uint64_t id, uint64_t step, int n, double *out, int stride) {
    double four[4];
    for (int k = 0; k < n; k++) {
        if (k % 4 == 0)
            minidem_philox(1 + k / 4, id, step, seed, four);
        out[k * stride] = four[k % 4];
    }
}
#endif
