"""Clumps half a step before or after the present instant."""
from minidem.rotation.scheme cimport Kernels, Step
from minidem.state.state cimport State
from minidem.walls.surface cimport WallPose


cdef object begin_steps(State state, Kernels kernels, Step step, clumps)
cdef tuple rates_at_pose(State state, Kernels kernels, Step step, started, const WallPose *walls)
