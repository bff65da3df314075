"""OpenMP, and a barrier; the code also compiles and runs without OpenMP."""

cdef extern from "core/openmp.h" nogil:
    ctypedef struct Barrier "minidem_barrier_t":
        pass
    bint has_openmp "minidem_has_openmp"()
    int team_size "minidem_team_size"()
    int processors "minidem_processors"()
    int wanted_threads "minidem_wanted_threads"()
    int thread_limit "minidem_thread_limit"()
    int require_full_team "minidem_require_full_team"()
    void restore_team_setting "minidem_restore_team_setting"(int before)
    void release_threads "minidem_release_threads"()
    void set_spins "minidem_set_spins"(Barrier *barrier, int n_threads)
    int barrier_wait "minidem_barrier_wait"(Barrier *barrier, int n_threads, int bits)
    void set_flag "minidem_set_flag"(unsigned char *flag)
