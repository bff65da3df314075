"""Clumps that are held: fixed, moved with a constant velocity, free along some axes, or turning about an axis or a pin.

HOLD of bodies.py says how. Forces move the centre along the axes of the lab that are free; along the others
the velocity stays what it is. A torque turns a clump that is free to rotate, or its component along the only axis does;
else the angular velocity stays. In both cases the three moments are equal, so that any rotation scheme keeps the axis.
At a pin, forces at the centre add to the torque, the moments of inertia are about the pin, and the velocity of the
centre follows from the rotation. A clump that a wall carries has the displacement and the turn of this wall.
"""
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport ClumpBlock, HoldBlock, WrenchBlock
from minidem.state.state cimport StateView
from minidem.walls.surface cimport WallPose

cdef const WrenchBlock *held_wrench(const StateView *state, Py_ssize_t block, const WrenchBlock *wrench,
                                    WrenchBlock *room) noexcept nogil
cdef void follow(const StateView *state, Py_ssize_t block, const double *old, double dt, const WallPose *walls,
                 Py_ssize_t n_walls) noexcept nogil
cdef void follow_rates(const HoldBlock *hold, ClumpBlock *clumps, const WallPose *walls,
                       double *velocity) noexcept nogil
