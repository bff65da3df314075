"""Leapfrog translation: v_(n+1/2) = v_(n-1/2) + dt F_n / m;  x_(n+1) = x_n + dt v_(n+1/2).

R. W. Hockney & J. W. Eastwood, Computer Simulation Using Particles (1988), doi 10.1201/9780367806934.
"""
from libc.math cimport sqrtf

from minidem.state.turn_bound cimport turn_squared
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport INVERSE_MASS, ORIENTATION, PATH, POSITION, PREDICTED_VELOCITY, VELOCITY

cdef extern from *:
    """
    typedef const double *__restrict__ minidem_apart;
    """
    ctypedef const double *Apart "minidem_apart"        # of rows apart from all that is written: else no vectors


cdef inline void kick(double *block, Apart force, Apart fixed, double dt) noexcept nogil:
    """Velocities of the eight clumps of a block, dt ahead under the force (3, LANES) at the pose."""
    cdef int l
    for l in range(LANES):
        block[VELOCITY * LANES + l] += dt * (force[l] * fixed[INVERSE_MASS * LANES + l])
        block[(VELOCITY + 1) * LANES + l] += dt * (force[LANES + l] * fixed[INVERSE_MASS * LANES + l])
        block[(VELOCITY + 2) * LANES + l] += dt * (force[2 * LANES + l] * fixed[INVERSE_MASS * LANES + l])


cdef inline void predict_velocity(double *block, Apart force, Apart fixed, double ahead) noexcept nogil:
    """Velocities `ahead` [s] of the stored ones, under the last known force (3, LANES), into PREDICTED_VELOCITY."""
    cdef int k, l
    for k in range(3):
        for l in range(LANES):
            block[(PREDICTED_VELOCITY + k) * LANES + l] = block[(VELOCITY + k) * LANES + l] \
                + ahead * (force[k * LANES + l] * fixed[INVERSE_MASS * LANES + l])


cdef inline void drift(double *block, double dt, Apart old_orientation, Apart reach,
                       double per_square, int *beyond) noexcept nogil:
    """Positions of the eight clumps, dt ahead; beyond[lane] = 1 if a sphere may have moved by more than it may.

    per_square : 1 over the square of the limit of that [1/m2].
    The row PATH gathers a bound of what a sphere of the clump has moved, in units of the limit: dt |v|
    and that of the rotation (reach.pxd). The roots are taken in single precision; 1e-6 of the limit
    is kept for their rounding.
    old_orientation : (4, LANES), before the rotation scheme moved it.
    """
    cdef double shift[LANES], turn[LANES]               # squares
    cdef double x, y, z, path
    cdef int l
    for l in range(LANES):
        x = dt * block[VELOCITY * LANES + l]
        y = dt * block[(VELOCITY + 1) * LANES + l]
        z = dt * block[(VELOCITY + 2) * LANES + l]
        block[POSITION * LANES + l] += x
        block[(POSITION + 1) * LANES + l] += y
        block[(POSITION + 2) * LANES + l] += z
        shift[l] = per_square * (x * x + y * y + z * z)
        turn[l] = per_square * turn_squared(old_orientation + l, block + ORIENTATION * LANES + l, reach + l)
    for l in range(LANES):                              # apart: a loop with floats in it is half as wide
        path = block[PATH * LANES + l] + (<double> sqrtf(<float> shift[l]) + <double> sqrtf(<float> turn[l]))
        block[PATH * LANES + l] = path
        beyond[l] |= not path <= 1.0 - 1e-6             # not: a path that is not a number counts
