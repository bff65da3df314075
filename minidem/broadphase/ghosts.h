/* A cache line copied for other cores to read.
 *
 * In C because it goes past the caches, which no compiler does of itself. A line that another core has read must be
 * taken from it before it can be written again, which stops the writer for 30 ns where the cores are far from each
 * other; a store past the caches takes 4. */
#ifndef MINIDEM_GHOSTS_H
#define MINIDEM_GHOSTS_H
#include <string.h>

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>

static inline void minidem_store_ghost_line(const double *line, double *copy) {
    for (int k = 0; k < 8; k += 2) _mm_stream_pd(copy + k, _mm_load_pd(line + k));
}

/* To be called before other threads are told: such stores may be late. */
static inline void minidem_ghost_fence(void) { _mm_sfence(); }
#else
static inline void minidem_store_ghost_line(const double *line, double *copy) { memcpy(copy, line, 8 * sizeof *line); }
static inline void minidem_ghost_fence(void) {}
#endif
#endif
