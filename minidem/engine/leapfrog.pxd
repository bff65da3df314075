"""Leapfrog translation: v_(n+1/2) = v_(n-1/2) + dt F_n / m;  x_(n+1) = x_n + dt v_(n+1/2).

R. W. Hockney & J. W. Eastwood, Computer Simulation Using Particles (1988), doi 10.1201/9780367806934.
"""
from libc.math cimport sqrtf

from minidem.core.lanes cimport LANES
from minidem.state.rows cimport INVERSE_MASS, ORIENTATION, PATH, POSITION, PREDICTED_VELOCITY, VELOCITY
from minidem.state.turn_bound cimport turn_squared

cdef extern from *:
    """
    typedef const double *__restrict__ minidem_restrict;
    """
    ctypedef const double *Restrict "minidem_restrict"      # without it the loops do not vectorise


cdef inline void kick(double *block, Restrict force, Restrict fixed, double dt) noexcept nogil:
    """Velocities of the eight clumps of a block, advanced by dt under the force (3, LANES) at the pose."""
    cdef int lane
    for lane in range(LANES):
        block[VELOCITY * LANES + lane] += dt * (force[lane] * fixed[INVERSE_MASS * LANES + lane])
        block[(VELOCITY + 1) * LANES + lane] += dt * (force[LANES + lane] * fixed[INVERSE_MASS * LANES + lane])
        block[(VELOCITY + 2) * LANES + lane] += dt * (force[2 * LANES + lane] * fixed[INVERSE_MASS * LANES + lane])


cdef inline void predict_velocity(double *block, Restrict force, Restrict fixed, double ahead) noexcept nogil:
    """Velocities `ahead` [s] later than the stored ones, under the last force (3, LANES), into PREDICTED_VELOCITY."""
    cdef int k, lane
    for k in range(3):
        for lane in range(LANES):
            block[(PREDICTED_VELOCITY + k) * LANES + lane] = block[(VELOCITY + k) * LANES + lane] \
                + ahead * (force[k * LANES + lane] * fixed[INVERSE_MASS * LANES + lane])


cdef inline void drift(double *block, double dt, Restrict old_orientation, Restrict turn_bound,
                       double per_square, int *exceeded) noexcept nogil:
    """Positions of the eight clumps, advanced by dt; exceeded[lane] = 1 if a sphere may have moved beyond the limit.

    The row PATH sums a bound of the displacement of any sphere of the clump, in units of the limit: dt |v| plus that of
    the rotation (turn_bound.pxd). Square roots are in single precision; a margin of 1e-6 covers their rounding.

    per_square : 1 / limit^2 [1/m2].
    old_orientation : (4, LANES), before the rotation scheme changed it.
    """
    cdef double shift[LANES], turn[LANES]               # squares
    cdef double x, y, z, path
    cdef int lane
    for lane in range(LANES):
        x = dt * block[VELOCITY * LANES + lane]
        y = dt * block[(VELOCITY + 1) * LANES + lane]
        z = dt * block[(VELOCITY + 2) * LANES + lane]
        block[POSITION * LANES + lane] += x
        block[(POSITION + 1) * LANES + lane] += y
        block[(POSITION + 2) * LANES + lane] += z
        shift[lane] = per_square * (x * x + y * y + z * z)
        turn[lane] = per_square * turn_squared(old_orientation + lane, block + ORIENTATION * LANES + lane,
                                               turn_bound + lane)
    for lane in range(LANES):                           # own loop: one with floats in it is half as wide
        path = block[PATH * LANES + lane] + (<double> sqrtf(<float> shift[lane]) + <double> sqrtf(<float> turn[lane]))
        block[PATH * LANES + lane] = path
        exceeded[lane] |= not path <= 1.0 - 1e-6        # true as well for a path that is not a number
