/* The few OpenMP calls of the code, with stand-ins for a build without OpenMP, and a barrier.
 *
 * The barrier is our own because OpenMP's waits in a way that the caller cannot choose: gcc's spins for
 * milliseconds, so that on a machine with other work a step took six times as long. This one spins for some
 * ten microseconds, the length of a short step, and then yields the processor. */
#ifndef MINIDEM_OPENMP_H
#define MINIDEM_OPENMP_H
#include <sched.h>
#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
static inline int minidem_has_openmp(void) { return 1; }
static inline int minidem_team_size(void) { return omp_get_num_threads(); }
static inline int minidem_processors(void) { return omp_get_num_procs(); }
static inline int minidem_wanted_threads(void) { return omp_get_max_threads(); }
static inline int minidem_thread_limit(void) { return omp_get_thread_limit(); }
/* Exactly the threads that are asked for; returns what `minidem_restore_team_setting` puts back. */
static inline int minidem_require_full_team(void) {
    int before = omp_get_dynamic();
    omp_set_dynamic(0);
    return before;
}
static inline void minidem_restore_team_setting(int before) { omp_set_dynamic(before); }
static inline void minidem_release_threads(void) {
#if _OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9)
    omp_pause_resource_all(omp_pause_soft);
#endif
}
#else
static inline int minidem_has_openmp(void) { return 0; }
static inline int minidem_team_size(void) { return 1; }
static inline int minidem_processors(void) { return 1; }
static inline int minidem_wanted_threads(void) { return 1; }
static inline int minidem_thread_limit(void) { return 1; }
static inline int minidem_require_full_team(void) { return 0; }
static inline void minidem_restore_team_setting(int before) { (void) before; }
static inline void minidem_release_threads(void) {}
#endif

enum { MINIDEM_SPINS = 2000 };

typedef struct {                    /* all zero at the start; the two on cache lines of their own */
    char before[64];
    atomic_int arrived;
    char apart[60];
    atomic_int round;
    char behind[60];
} minidem_barrier_t;

typedef struct {                    /* how often a thread has done something, for the others to read */
    atomic_llong value;
} minidem_epoch_t;

static inline void minidem_relax_or_yield(int spins) {
    if (spins >= MINIDEM_SPINS) sched_yield();
#if defined(__x86_64__)
    else __builtin_ia32_pause();
#endif
}

static inline void minidem_barrier_wait(minidem_barrier_t *barrier, int n_threads) {
    int round = atomic_load_explicit(&barrier->round, memory_order_acquire);
    if (n_threads == 1) return;
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == n_threads) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; ++spins)
        minidem_relax_or_yield(spins);
}

/* Once more, and all that the thread wrote before can be read by those who see it. */
static inline void minidem_advance_epoch(minidem_epoch_t *own) {
    long long value = atomic_load_explicit(&own->value, memory_order_relaxed);
    atomic_store_explicit(&own->value, value + 1, memory_order_release);
}

/* Has another thread done one thing at least as often as this one another? */
static inline int minidem_reached(minidem_epoch_t *other, minidem_epoch_t *own) {
    return atomic_load_explicit(&other->value, memory_order_acquire)
        >= atomic_load_explicit(&own->value, memory_order_relaxed);
}

static inline void minidem_await(minidem_epoch_t *other, minidem_epoch_t *own) {
    for (int spins = 0; !minidem_reached(other, own); ++spins) minidem_relax_or_yield(spins);
}
#endif
