"""Leapfrog translation: v_(n+1/2) = v_(n-1/2) + dt F_n / m;  x_(n+1) = x_n + dt v_(n+1/2).

R. W. Hockney & J. W. Eastwood, Computer Simulation Using Particles (1988), doi 10.1201/9780367806934.
"""
from libc.math cimport sqrtf
from libc.string cimport memcpy

from minidem.contact.fixed_point cimport Wide, rounded_wide
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, vec3
from minidem.state.periodic_box cimport AFFINE, FLOW, KICK, box_of, center_of, from_center, times_gradient
from minidem.state.rows cimport (
    INVERSE_MASS, ORIENTATION, PATH, POSITION, PREDICTED_VELOCITY, VELOCITY, load, store,
)
from minidem.state.turn_bound cimport turn_squared

cdef extern from *:
    """
    typedef const double *__restrict__ minidem_restrict;
    """
    ctypedef const double *Restrict "minidem_restrict"      # without it the loops do not vectorise


cdef extern from *:
    """
    #define MINIDEM_GROWTH 1.11
    #define MINIDEM_MOST_STRAIN 0.1
    #define MINIDEM_STRAIN_PATH 1.17
    """
    # While lists are used, the strain g of a box is at most MOST_STRAIN. Then displacements relative to the box grow by
    # less than exp(g) < GROWTH, and a distance D changes by less than (exp(g) - 1) exp(g) D < STRAIN_PATH g D.
    const double GROWTH "MINIDEM_GROWTH"
    const double MOST_STRAIN "MINIDEM_MOST_STRAIN"
    const double STRAIN_PATH "MINIDEM_STRAIN_PATH"


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


cdef inline void kick_with_box(double *block, Restrict force, Restrict fixed, const double *box, double dt,
                               double per_energy, Wide *work) noexcept nogil:
    """After `kick`: velocities of the eight clumps change by that of the box at their places; its work is added to `work`.

    Where the box is not affine, the place of a clump is that of the image of the box in which it is.
    """
    cdef Vec3 mean, change, place
    cdef double inverse_mass
    cdef int lane
    for lane in range(LANES):
        inverse_mass = fixed[INVERSE_MASS * LANES + lane]
        if inverse_mass == 0.0:
            continue
        if box[AFFINE] != 0.0:
            place = from_center(box, block + POSITION * LANES + lane, LANES)
        else:
            place = box_of(box, block + POSITION * LANES + lane, LANES)
        change = times_gradient(box + KICK, place)
        mean = add_scaled(load(block + VELOCITY * LANES + lane), -0.5 * dt * inverse_mass, load(force + lane))
        mean = add_scaled(mean, 0.5, change)
        store(block + VELOCITY * LANES + lane, add(load(block + VELOCITY * LANES + lane), change))
        work[0] += rounded_wide(per_energy * dot(change, mean) / inverse_mass)


cdef inline void drift(double *block, double dt, Restrict old_orientation, Restrict turn_bound,
                       double per_square, const double *box, double strain_path, int *exceeded) noexcept nogil:
    """Positions of the eight clumps, advanced by dt; exceeded[lane] = 1 if a sphere may have moved beyond the limit.

    The row PATH sums a bound of the displacement of any sphere of the clump, in units of the limit: dt |v| plus that of
    the rotation (turn_bound.pxd), and the part of a box that moves (rebuild.pyx). Square roots are in single precision; a margin of 1e-6 covers their rounding.

    per_square : 1 / limit^2 [1/m2].
    box : that moves: then displacements are relative to it; a constant NULL where it does not.
    strain_path : its part of PATH.
    old_orientation : (4, LANES), before the rotation scheme changed it.
    """
    cdef double shift[LANES], turn[LANES]               # squares
    cdef double x, y, z, path
    cdef int lane
    cdef double gradient[9]                             # which the block cannot alias
    cdef Vec3 d, center
    if box != NULL:
        center = center_of(box)
        memcpy(gradient, box + FLOW, sizeof(gradient))
    for lane in range(LANES):
        x = dt * block[VELOCITY * LANES + lane]
        y = dt * block[(VELOCITY + 1) * LANES + lane]
        z = dt * block[(VELOCITY + 2) * LANES + lane]
        block[POSITION * LANES + lane] += x
        block[(POSITION + 1) * LANES + lane] += y
        block[(POSITION + 2) * LANES + lane] += z
        if box != NULL:
            d = vec3(block[POSITION * LANES + lane] - 0.5 * x - center.x,
                     block[(POSITION + 1) * LANES + lane] - 0.5 * y - center.y,
                     block[(POSITION + 2) * LANES + lane] - 0.5 * z - center.z)
            x = GROWTH * (x - dt * (gradient[0] * d.x + gradient[1] * d.y + gradient[2] * d.z))
            y = GROWTH * (y - dt * (gradient[3] * d.x + gradient[4] * d.y + gradient[5] * d.z))
            z = GROWTH * (z - dt * (gradient[6] * d.x + gradient[7] * d.y + gradient[8] * d.z))
        shift[lane] = per_square * (x * x + y * y + z * z)
        turn[lane] = per_square * turn_squared(old_orientation + lane, block + ORIENTATION * LANES + lane,
                                               turn_bound + lane)
    for lane in range(LANES):                           # own loop: one with floats in it is half as wide
        path = block[PATH * LANES + lane] + strain_path + (<double> sqrtf(<float> shift[lane]) + <double> sqrtf(<float> turn[lane]))
        block[PATH * LANES + lane] = path
        exceeded[lane] |= not path <= 1.0 - 1e-6        # true as well for a path that is not a number
