"""Skins of the two lists, from a model of what a step costs.

The bits of a run do not depend on the skins; its speed does. All inputs are counts and lengths of
the run itself, no timings.
"""

cdef inline double cubed(double x) noexcept nogil:
    return x * x * x


cdef inline void choose_skins(double diameter, double speed, Py_ssize_t n_spheres, Py_ssize_t n_items,
                              double density, double *outer_skin, double *inner_skin) noexcept nogil:
    """Replace both skins [m] by the pair with the least modelled cost of a step.

    diameter : mean diameter of the spheres [m]
    speed : largest displacement of a sphere in one step [m]
    n_items : spheres, or bounding spheres of clumps, that are searched for the outer list
    density : pairs in a list, divided by the cube of the distance up to which pairs are listed.

    A list lasts until the fastest sphere has moved by half its margin. Costs in ns, only roughly those
    of a core of 2023, since the least is flat: 1.8 to check a pair of the inner list or to prune one of
    the outer list, 4 to pose a sphere and to measure how far it moved, 60 to sort an item into the
    grid and to look around it, and 10 to find and store an outer pair. With AVX-512 the last two are about
    half and a third of that; ten thousand rods then choose much the same skins.
    """
    cdef double outer, inner, steps_outer, steps_inner, cost, best = -1.0, wide, narrow
    cdef int i, k
    outer = 0.1 * diameter
    for i in range(20):
        outer *= 1.25                                   # up to 8.7 diameters
        wide = density * cubed(diameter + outer)
        inner = outer
        for k in range(12):
            inner *= 0.75
            narrow = density * cubed(diameter + inner)
            steps_outer = 1.0 + (outer - inner) / (2.0 * speed)
            steps_inner = 1.0 + inner / (2.0 * speed)
            cost = 1.8 * narrow + (4.0 * n_spheres + 1.8 * wide) / steps_inner \
                + (60.0 * n_items + 10.0 * wide) / steps_outer
            if best < 0.0 or cost < best:
                best = cost
                outer_skin[0] = outer
                inner_skin[0] = inner
