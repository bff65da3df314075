/* Sum of the results of the contacts of one sphere: see history_sum.pyx.
 *
 * In C, because compilers left alone keep the sums in memory, and each addition waits for the one before to be stored;
 * the vectors are a language extension of gcc and clang for any processor. */
#ifndef MINIDEM_SUMS_H
#define MINIDEM_SUMS_H
#include <stddef.h>
#include <string.h>

typedef double minidem_sum __attribute__((vector_size(32)));
typedef float minidem_energies __attribute__((vector_size(16)));

/* contacts : n numbers, 2 contact + side.  couples : NULL if the law has none.
 * sum : 8 doubles, force and moment about the centre.  dissipated : 4 energies. */
static inline void minidem_sum_results(const double *results, const double *couples, const float *energies,
                                       const int *contacts, int n, double radius, double *sum, double *dissipated) {
    minidem_sum force = {0.0, 0.0, 0.0, 0.0}, moment = force, energy = force;
    for (int e = 0; e < n; e++) {
        ptrdiff_t k = contacts[e] >> 1;
        double sign = 1.0 - 2.0 * (contacts[e] & 1);    /* -1 on the second body */
        minidem_sum of_force, of_moment, couple;        /* copied: no alignment is assumed */
        minidem_energies of_energy;
        memcpy(&of_force, results + 8 * k, sizeof of_force);
        memcpy(&of_moment, results + 8 * k + 4, sizeof of_moment);
        memcpy(&of_energy, energies + 4 * k, sizeof of_energy);
        force += sign * of_force;
        moment += (results[8 * k + 3] - radius) * of_moment;
        energy += __builtin_convertvector(of_energy, minidem_sum);
        if (couples) {
            memcpy(&couple, couples + 4 * k, sizeof couple);
            moment += sign * couple;
        }
    }
    memcpy(sum, &force, sizeof force);
    memcpy(sum + 4, &moment, sizeof moment);
    memcpy(dissipated, &energy, sizeof energy);
}
#endif
