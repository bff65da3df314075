"""OpenMP behind one small header, so that the code also compiles and runs without it."""

cdef extern from "core/openmp.h" nogil:
    ctypedef struct Barrier "minidem_barrier_t":
        pass
    ctypedef struct Count "minidem_count_t":
        pass
    bint has_openmp "minidem_has_openmp"()
    int team_size "minidem_team_size"()
    int processors "minidem_processors"()
    int wanted_threads "minidem_wanted_threads"()
    int thread_limit "minidem_thread_limit"()
    int forbid_fewer "minidem_forbid_fewer"()
    void allow_fewer "minidem_allow_fewer"(int before)
    void rest "minidem_rest"()
    void meet "minidem_meet"(Barrier *barrier, int n_threads)
    void count_on "minidem_count_on"(Count *own)
    bint has_come "minidem_has_come"(Count *other, Count *own)
    void await_count "minidem_await"(Count *other, Count *own)
