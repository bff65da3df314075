"""Motions of spheres over a step, for contact laws with history: see layout.pxd."""
from minidem.state.state cimport StateView

cdef void write_motions(const StateView *state, Py_ssize_t block, const int *members, Py_ssize_t count) noexcept nogil
cdef void motions_range(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void spins_of_turn(const StateView *state, Py_ssize_t block, const double *old, double dt) noexcept nogil
cdef void spins_as_stored(const StateView *state, Py_ssize_t first, Py_ssize_t last) noexcept nogil
