# distutils: extra_compile_args = -O2
"""Half steps: leapfrog velocities are half a step behind the pose; back at the start, forward for output."""
from libc.string cimport memcpy

import numpy as np

from minidem.state.state import COLUMNS

from minidem.core.lanes cimport LANES, lane_of, row_of
from minidem.engine.leapfrog cimport kick
from minidem.rotation.scheme cimport START, SYNC, Kernels, Step, call_scheme
from minidem.state.rows cimport ClumpBlock
from minidem.state.state cimport State, StateView, constants_of, wrench_of


cdef bint any_lane(const unsigned char *lanes) noexcept nogil:
    cdef int lane, found = 0
    for lane in range(LANES):
        found |= lanes[lane]
    return found != 0


cdef object start_clumps(State state, Kernels kernels, Step step, const unsigned char[::1] started):
    """Half a step back, and `start` of the rotation scheme; forces must be known.

    started : (n_clumps,) 0 for each clump to start
    step : with dt = 0 the half step is omitted.

    If a scheme written in Python raises, no clump is changed.
    """
    cdef const StateView *view = &state.view
    cdef Py_ssize_t b, size = view.n_rows * LANES
    cdef int lane, row
    cdef double *block
    cdef ClumpBlock *clumps = NULL
    cdef double[::1] room = np.empty(size)
    cdef unsigned char[:, ::1] new = np.zeros((view.n_blocks, LANES), dtype=np.uint8)
    cdef const int[::1] slots = state.clump_slot
    changed = state.blocks.copy() if kernels.functions else state.blocks
    cdef double[:, :, ::1] blocks = changed
    for b in range(slots.shape[0]):
        new[row_of(slots[b]), lane_of(slots[b])] = not started[b]
    # From here on only a scheme in Python, which may be interrupted, calls Python; it works on a copy.
    for b in range(blocks.shape[0]):
        if not any_lane(&new[b, 0]):
            continue
        block = &blocks[b, 0, 0]
        memcpy(&room[0], block, size * sizeof(double))
        clumps = <ClumpBlock *> &room[0]
        kick(clumps, wrench_of(view, b).force, constants_of(view, b), -0.5 * step.dt)
        if kernels.roles >> START & 1:
            call_scheme(kernels.function, kernels.roles, START, clumps, wrench_of(view, b), constants_of(view, b),
                        &step)
        for row in range(view.n_rows):
            for lane in range(LANES):
                if new[b, lane]:
                    block[row * LANES + lane] = room[row * LANES + lane]
    kernels.raise_error()
    if changed is not state.blocks:
        state.blocks[:] = changed


cdef object synchronised(State state, Kernels kernels, Step step):
    """(velocity (n, 3) lab, angular velocity (n, 3) principal body frame) at the instant of the pose."""
    cdef const StateView *view = &state.view
    copy = state.blocks.copy()
    cdef double[:, :, ::1] blocks = copy
    cdef ClumpBlock *clumps
    cdef Py_ssize_t b
    for b in range(blocks.shape[0]):
        clumps = <ClumpBlock *> &blocks[b, 0, 0]
        kick(clumps, wrench_of(view, b).force, constants_of(view, b), 0.5 * step.dt)
        call_scheme(kernels.function, kernels.roles, SYNC, clumps, wrench_of(view, b), constants_of(view, b), &step)
    kernels.raise_error()
    return state.rows(copy, *COLUMNS["velocity"]), state.rows(copy, *COLUMNS["predicted"])
