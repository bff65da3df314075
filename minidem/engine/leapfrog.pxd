"""Leapfrog translation: v_(n+1/2) = v_(n-1/2) + dt F_n / m;  x_(n+1) = x_n + dt v_(n+1/2).

R. W. Hockney & J. W. Eastwood, Computer Simulation Using Particles (1988), doi 10.1201/9780367806934.
"""
from libc.math cimport sqrtf

from minidem.contact.fixed_point cimport Wide, rounded_wide
from minidem.core.eight cimport (
    Eight, Eight3, add3, add_scaled3, dot3, eight_of, load_eight, load_eight3, scale3, store_eight, store_eight3,
)
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot
from minidem.state.periodic_box cimport (
    BoxPose, box_of, from_center, gradient_norm, times_gradient,
)
from minidem.state.rows cimport ClumpBlock, ConstantBlock, load, store
from minidem.state.pose cimport turn_squared

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


cdef inline void kick(ClumpBlock *clumps, Restrict force, const ConstantBlock *constants, double dt) noexcept nogil:
    """Velocities of the eight clumps of a block, advanced by dt under the force (3, LANES) at the pose."""
    store_eight3(clumps.velocity, add_scaled3(load_eight3(clumps.velocity), eight_of(dt),
                                              scale3(load_eight(constants.inverse_mass), load_eight3(force))))


cdef inline void predict_velocity(ClumpBlock *clumps, Restrict force, const ConstantBlock *constants,
                                  double ahead) noexcept nogil:
    """Velocities `ahead` [s] later than the stored ones, under the last force (3, LANES)."""
    cdef int k, lane
    for k in range(3):
        for lane in range(LANES):
            clumps.predicted_velocity[k * LANES + lane] = clumps.velocity[k * LANES + lane] \
                + ahead * (force[k * LANES + lane] * constants.inverse_mass[lane])


cdef inline void kick_with_box(ClumpBlock *clumps, Restrict force, const ConstantBlock *constants, const BoxPose *box,
                               double dt, double per_energy, Wide *work) noexcept nogil:
    """After `kick`: velocities of eight clumps change by that of the box at their places; its work is added to `work`.

    Where the box is not affine, the place of a clump is that of the image of the box in which it is.
    """
    cdef Vec3 mean, change, place
    cdef double inverse_mass
    cdef int lane
    for lane in range(LANES):
        inverse_mass = constants.inverse_mass[lane]
        if inverse_mass == 0.0:
            continue
        if box.affine:
            place = from_center(box, clumps.position + lane, LANES)
        else:
            place = box_of(box, clumps.position + lane, LANES)
        change = times_gradient(box.kick, place)
        mean = add_scaled(load(clumps.velocity + lane), -0.5 * dt * inverse_mass, load(force + lane))
        mean = add_scaled(mean, 0.5, change)
        store(clumps.velocity + lane, add(load(clumps.velocity + lane), change))
        work[0] += rounded_wide(per_energy * dot(change, mean) / inverse_mass)


cdef struct Flow:                   # of a box that moves, in a time dt
    int across                      # gradient axis
    double center[3]                # of the box [m]
    double shift[3]                 # displacement per distance across from the centre
    double stretch[3]               # displacement per distance from the centre
    bint stretches                  # not all are zero
    double path                     # its part of PATH


cdef inline Flow flow_of(const BoxPose *box, double dt, double reach, double skin) noexcept nogil:
    """reach : largest distance of the centres of two clumps that may touch [m].  skin : inner one [m]."""
    cdef Flow flow
    cdef int axis
    flow.across, flow.stretches = box.gradient_axis, box.stretches
    for axis in range(3):
        flow.center[axis] = box.low[axis] + 0.5 * box.length[axis]
        flow.stretch[axis] = dt * box.flow[4 * axis]
        flow.shift[axis] = dt * box.flow[3 * axis + flow.across] if axis != flow.across else 0.0
    flow.path = STRAIN_PATH * dt * gradient_norm(box.flow) * (reach + skin) / skin
    return flow


cdef inline Eight squares_beside(const ClumpBlock *clumps, double dt, const Flow *flow) noexcept nogil:
    """Squares of the displacements relative to the box in dt, after which the positions are those of the block."""
    cdef Eight3 x = load_eight3(clumps.position), d = load_eight3(clumps.velocity)
    cdef Eight across = load_eight(clumps.position + flow.across * LANES) \
        - 0.5 * dt * load_eight(clumps.velocity + flow.across * LANES) - flow.center[flow.across]
    d.x, d.y, d.z = dt * d.x, dt * d.y, dt * d.z
    if flow.stretches:
        d.x = d.x - flow.stretch[0] * (x.x - 0.5 * d.x - flow.center[0])
        d.y = d.y - flow.stretch[1] * (x.y - 0.5 * d.y - flow.center[1])
        d.z = d.z - flow.stretch[2] * (x.z - 0.5 * d.z - flow.center[2])
    d.x, d.y, d.z = d.x - flow.shift[0] * across, d.y - flow.shift[1] * across, d.z - flow.shift[2] * across
    return dot3(d, d)


cdef inline void drift(ClumpBlock *clumps, double dt, Restrict old_orientation, const ConstantBlock *constants,
                       double per_square, const Flow *flow, int *exceeded) noexcept nogil:
    """Positions of the eight clumps, advanced by dt; exceeded[lane] = 1 if a sphere may have moved beyond the limit.

    `path` sums a bound of the displacement of any sphere of the clump, in units of the limit: dt |v| plus that of
    the rotation (pose.pxd), and the part of a box that moves (broadphase.pyx). Square roots are in single precision;
    a margin of 1e-6 covers their rounding.

    per_square : 1 / limit^2 [1/m2].
    flow : of a box that moves: then displacements are relative to it; a constant NULL where it does not.
    old_orientation : (4, LANES), before the rotation scheme changed it.
    """
    cdef double shift[LANES], turn[LANES]               # squares
    cdef Eight3 moved = scale3(eight_of(dt), load_eight3(clumps.velocity))
    cdef double path
    cdef int lane
    store_eight3(clumps.position, add3(load_eight3(clumps.position), moved))
    store_eight(shift, eight_of(per_square) * dot3(moved, moved))
    if flow != NULL:
        store_eight(shift, GROWTH * GROWTH * per_square * squares_beside(clumps, dt, flow))
    for lane in range(LANES):
        turn[lane] = per_square * turn_squared(old_orientation + lane, clumps.orientation + lane,
                                               constants.turn_bound + lane)
    for lane in range(LANES):                           # own loop: one with floats in it is half as wide
        path = clumps.path[lane] + (<double> sqrtf(<float> shift[lane]) + <double> sqrtf(<float> turn[lane]))
        if flow != NULL:
            path += flow.path
        clumps.path[lane] = path
        exceeded[lane] |= not path <= 1.0 - 1e-6        # true as well for a path that is not a number
