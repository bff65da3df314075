"""OpenMP behind one small header, so that the code also compiles and runs without it."""

cdef extern from "openmp.h" nogil:
    bint has_openmp "minidem_has_openmp"()
    int team_size "minidem_team_size"()
    int processors "minidem_processors"()
    void barrier "minidem_barrier"()
