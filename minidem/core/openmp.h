/* OpenMP calls, with replacements for a build without OpenMP; a barrier.
 *
 * The waiting of an OpenMP barrier cannot be chosen by the caller. This one spins for some tens of microseconds, the
 * length of a short step, and then sleeps until the last thread has come, on systems other than Linux by yielding its
 * processor again and again. Where there are more threads than processors, it sleeps at once. A thread that sleeps
 * returns as soon as it is woken; one that yields may wait for a time slice of a program of low priority. */
#ifndef MINIDEM_OPENMP_H
#define MINIDEM_OPENMP_H
#include <stdatomic.h>
#ifdef __linux__
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

#ifdef _OPENMP
#include <omp.h>
static inline int minidem_has_openmp(void) { return 1; }
static inline int minidem_team_size(void) { return omp_get_num_threads(); }
static inline int minidem_processors(void) { return omp_get_num_procs(); }
static inline int minidem_wanted_threads(void) { return omp_get_max_threads(); }
static inline int minidem_thread_limit(void) { return omp_get_thread_limit(); }
/* Disable dynamic teams; returns the setting for minidem_restore_team_setting. */
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

typedef struct {                    /* initially zero; each counter on its own cache line */
    int spins;                      /* of a wait before it sleeps */
    char before[60];
    atomic_int arrived;
    char between[60];
    atomic_uint round;
    atomic_int sleepers;
    atomic_int reported[2];         /* bits of all threads, in even and odd rounds */
    char behind[48];
} minidem_barrier_t;

static inline void minidem_set_spins(minidem_barrier_t *barrier, int n_threads) {
    barrier->spins = n_threads <= minidem_processors() ? 5000 : 0;
}

static inline void minidem_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile ("yield");
#endif
}

static inline void minidem_sleep_in_round(minidem_barrier_t *barrier, unsigned int round) {
#ifdef __linux__
    atomic_fetch_add(&barrier->sleepers, 1);
    while (atomic_load(&barrier->round) == round)       /* the kernel compares again before the thread sleeps */
        syscall(SYS_futex, &barrier->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
    atomic_fetch_sub(&barrier->sleepers, 1);
#else
    while (atomic_load(&barrier->round) == round) sched_yield();
#endif
}

static inline void minidem_end_round(minidem_barrier_t *barrier, unsigned int round) {
    atomic_store(&barrier->round, round + 1);
#ifdef __linux__
    if (atomic_load(&barrier->sleepers) > 0)
        syscall(SYS_futex, &barrier->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#endif
}

/* Wait for all threads. Each reports some bits, and all get those that any has reported. */
static inline int minidem_barrier_wait(minidem_barrier_t *barrier, int n_threads, int bits) {
    unsigned int round = atomic_load_explicit(&barrier->round, memory_order_acquire);
    if (n_threads == 1) return bits;
    if (bits) atomic_fetch_or_explicit(&barrier->reported[round & 1], bits, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) + 1 == n_threads) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->reported[~round & 1], 0, memory_order_relaxed);
        minidem_end_round(barrier, round);
    } else {
        int spins = 0;
        for (; spins < barrier->spins && atomic_load(&barrier->round) == round; ++spins) minidem_pause();
        if (spins == barrier->spins) minidem_sleep_in_round(barrier, round);
    }
    return atomic_load_explicit(&barrier->reported[round & 1], memory_order_relaxed);
}

/* Set a flag that other threads may set as well; they read it after a barrier. */
static inline void minidem_set_flag(unsigned char *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }
#endif
