/* Copy of a cache line for other cores, with streaming stores, which compilers do not generate by themselves.
 *
 * A line that another core has read must be fetched from it before an ordinary store, which delays the writer by 30 ns
 * between distant cores; a streaming store takes 4. */
#ifndef MINIDEM_GHOSTS_H
#define MINIDEM_GHOSTS_H
#include <string.h>

#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__)
#include <emmintrin.h>

static inline void minidem_store_ghost_line(const double *line, double *copy) {
    for (int k = 0; k < 8; k += 2) _mm_stream_pd(copy + k, _mm_load_pd(line + k));
}

/* Needed before the epoch is advanced: streaming stores are weakly ordered. */
static inline void minidem_ghost_fence(void) { _mm_sfence(); }
#else
static inline void minidem_store_ghost_line(const double *line, double *copy) { memcpy(copy, line, 8 * sizeof *line); }
static inline void minidem_ghost_fence(void) {}
#endif
#endif
