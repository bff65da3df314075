"""Leapfrog translation: v_(n+1/2) = v_(n-1/2) + dt F_n / m;  x_(n+1) = x_n + dt v_(n+1/2).

R. W. Hockney & J. W. Eastwood, Computer Simulation Using Particles (1988), doi 10.1201/9780367806934.
"""
from libc.math cimport sqrtf

from minidem.contact.fixed_point cimport Wide, rounded_sum
from minidem.core.eight cimport (
    Eight, Eight3, add3, add_scaled3, dot3, eight_of, eight_where, load_eight, load_eight3, scale3, store_eight,
    store_eight3,
)
from minidem.core.lanes cimport LANES
from minidem.state.periodic_box cimport BoxPose, box_of, times_gradient, from_center, gradient_norm
from minidem.state.rows cimport ClumpBlock, ConstantBlock, store
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


cdef inline Eight3 kicked(const ClumpBlock *clumps, Restrict force, const ConstantBlock *constants,
                          double dt) noexcept nogil:
    """Velocities of the eight clumps of a block after a time dt under the force (3, LANES) at the pose."""
    return add_scaled3(load_eight3(clumps.velocity), eight_of(dt),
                       scale3(load_eight(constants.inverse_mass), load_eight3(force)))


cdef inline void kick(ClumpBlock *clumps, Restrict force, const ConstantBlock *constants, double dt) noexcept nogil:
    """Advance the velocities by dt."""
    store_eight3(clumps.velocity, kicked(clumps, force, constants, dt))


cdef inline Eight3 flow_change(const BoxPose *box, Restrict kick, const ClumpBlock *clumps) noexcept nogil:
    """What a change `kick` (3, 3) of the velocity gradient of the box adds to the velocities of eight clumps.

    If the box is not affine, a clump only takes part in the motion of the periodic image that it is in: use the offset
    of that image.
    """
    cdef Eight3 place = from_center(box, load_eight3(clumps.position))
    cdef double room[3 * LANES]
    cdef int lane
    if not box.affine:
        for lane in range(LANES):
            store(room + lane, box_of(box, clumps.position + lane, LANES))
        place = load_eight3(room)
    return times_gradient(kick, place)


cdef inline void kick_with_box(ClumpBlock *clumps, Restrict force, const ConstantBlock *constants, const BoxPose *box,
                               double dt, double per_energy, Wide *work) noexcept nogil:
    """After `kick`: velocities of eight clumps change with the flow of the box; its work is added to `work`."""
    cdef Eight inverse_mass = load_eight(constants.inverse_mass)
    cdef Eight3 v = load_eight3(clumps.velocity), change = flow_change(box, box.kick, clumps), mean
    mean = add_scaled3(add_scaled3(v, -0.5 * dt * inverse_mass, load_eight3(force)), eight_of(0.5), change)
    work[0] += rounded_sum(eight_where(inverse_mass, per_energy * dot3(change, mean) / inverse_mass))
    change.x, change.y = eight_where(inverse_mass, change.x), eight_where(inverse_mass, change.y)
    change.z = eight_where(inverse_mass, change.z)
    store_eight3(clumps.velocity, add3(v, change))


cdef inline double path_of_flow(const BoxPose *box, double dt, double reach, double skin) noexcept nogil:
    """What the motion of the box in a time adds to `path`.

    reach : largest distance of the centres of two clumps that may touch [m].  skin : inner one [m].
    """
    return STRAIN_PATH * dt * gradient_norm(box.flow) * (reach + skin) / skin


cdef inline Eight squares_beside(const ClumpBlock *clumps, double dt, const BoxPose *box) noexcept nogil:
    """Squares of the displacements relative to the box in the dt that ends at the positions of the block."""
    cdef Eight3 d = scale3(eight_of(dt), load_eight3(clumps.velocity))
    cdef Eight3 middle = from_center(box, add_scaled3(load_eight3(clumps.position), eight_of(-0.5), d))
    d = add_scaled3(d, eight_of(-dt), times_gradient(box.flow, middle))
    return dot3(d, d)


cdef inline void drift(ClumpBlock *clumps, double dt, Restrict old_orientation, const ConstantBlock *constants,
                       double per_square, const BoxPose *box, double path_of_box, int *exceeded) noexcept nogil:
    """Positions of the eight clumps, advanced by dt; exceeded[lane] = 1 if a sphere may have moved beyond the limit.

    `path` sums a bound of the displacement of any sphere of the clump, in units of the limit: dt |v|, plus the
    bound of the rotation (pose.pxd), plus the part of a box that moves (broadphase.pyx). Square roots are in single
    precision; a margin of 1e-6 covers their rounding.

    per_square : 1 / limit^2 [1/m2].
    box : that moves: then displacements are relative to it; a constant NULL where it does not.
    path_of_box : see path_of_flow.
    old_orientation : (4, LANES), before the rotation scheme changed it.
    """
    cdef double shift[LANES], turn[LANES]               # squares
    cdef Eight3 moved = scale3(eight_of(dt), load_eight3(clumps.velocity))
    cdef double path
    cdef int lane
    store_eight3(clumps.position, add3(load_eight3(clumps.position), moved))
    store_eight(shift, eight_of(per_square) * dot3(moved, moved))
    if box != NULL:
        store_eight(shift, GROWTH * GROWTH * per_square * squares_beside(clumps, dt, box))
    for lane in range(LANES):
        turn[lane] = per_square * turn_squared(old_orientation + lane, clumps.orientation + lane,
                                               constants.turn_bound + lane)
    for lane in range(LANES):                           # own loop: one with floats in it is half as wide
        path = clumps.path[lane] + (<double> sqrtf(<float> shift[lane]) + <double> sqrtf(<float> turn[lane]))
        if box != NULL:
            path += path_of_box
        clumps.path[lane] = path
        exceeded[lane] |= not path <= 1.0 - 1e-6        # true as well for a path that is not a number
