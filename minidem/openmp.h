/* The few OpenMP calls of the code, with stand-ins for a build without OpenMP. */
#ifndef MINIDEM_OPENMP_H
#define MINIDEM_OPENMP_H
#ifdef _OPENMP
#include <omp.h>
static inline int minidem_has_openmp(void) { return 1; }
static inline int minidem_team_size(void) { return omp_get_num_threads(); }
static inline int minidem_processors(void) { return omp_get_num_procs(); }
static inline void minidem_barrier(void) {
#pragma omp barrier
}
#else
static inline int minidem_has_openmp(void) { return 0; }
static inline int minidem_team_size(void) { return 1; }
static inline int minidem_processors(void) { return 1; }
static inline void minidem_barrier(void) {}
#endif
#endif
