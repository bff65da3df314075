# distutils: extra_compile_args = -O1
"""Clumps half a step before or after the present instant: where runs begin, and where outputs read velocities."""
import numpy as np

from minidem.state.state import COLUMNS

from minidem.loop.leapfrog cimport kick
from minidem.rotation.scheme cimport START, SYNC, call_scheme
from minidem.holds.hold cimport follow_rates, held_wrench
from minidem.state.rows cimport ClumpBlock, WrenchBlock
from minidem.state.state cimport StateView, constants_of, hold_of, wrench_of


cdef object after_kick(State state, Kernels kernels, Step step, double dt, int role, const WallPose *walls):
    """A copy of the blocks after a kick by dt and a role of the rotation scheme; walls : their poses, for SYNC."""
    cdef const StateView *view = &state.view
    copy = state.blocks.copy()
    cdef double[:, :, ::1] blocks = copy
    cdef ClumpBlock *clumps
    cdef WrenchBlock held
    cdef const WrenchBlock *wrench
    cdef Py_ssize_t b
    for b in range(blocks.shape[0]):
        clumps, wrench = <ClumpBlock *> &blocks[b, 0, 0], held_wrench(view, b, wrench_of(view, b), &held)
        kick(clumps, wrench.force, constants_of(view, b), dt)
        if role != START or kernels.roles >> START & 1:
            call_scheme(kernels.function, kernels.roles, role, clumps, wrench, constants_of(view, b), &step)
        if role == SYNC:
            follow_rates(hold_of(view, b), clumps, walls, clumps.velocity)
    kernels.raise_error()
    return copy


cdef object begin_steps(State state, Kernels kernels, Step step, clumps):
    """Half a step back, and `start` of the rotation scheme, for some clumps, (n_clumps,) bool; forces must be known.

    If a scheme written in Python raises, no clump is changed.
    """
    state.blocks[:] = np.where(state.lanes_of(clumps), after_kick(state, kernels, step, -0.5 * step.dt, START, NULL),
                               state.blocks)


cdef tuple rates_at_pose(State state, Kernels kernels, Step step, started, const WallPose *walls):
    """(velocity (n, 3) lab, angular velocity (n, 3) principal frame) at the instant of the pose, with the last forces.

    started : (n,) bool; others have the given velocities.  walls : the poses of walls that carry clumps.
    """
    given = state.column("velocity"), state.column("angular_velocity")
    if not started.any():
        return given
    blocks = after_kick(state, kernels, step, 0.5 * step.dt, SYNC, walls)
    rates = tuple([state.rows(blocks, *COLUMNS[name]) for name in ("velocity", "predicted")])
    return tuple([np.where(started[:, None], rate, old) for rate, old in zip(rates, given)])
