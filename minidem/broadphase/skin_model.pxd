"""Skins of the two lists, from a model of the cost of a step.

Results do not depend on the skins; speed does. All inputs are counts and lengths, no timings.
"""

cdef inline double cubed(double x) noexcept nogil:
    return x * x * x


cdef inline double squared(double x) noexcept nogil:
    return x * x


cdef inline void choose_skins(double diameter, double speed, Py_ssize_t n_spheres, Py_ssize_t n_items,
                              double density, bint carries, double triangle_diameter, double triangle_density,
                              double widest, double *outer_skin, double *inner_skin) noexcept nogil:
    """Replace both skins [m] by those with the least modelled cost of a step.

    diameter : mean diameter of the spheres [m]
    speed : largest displacement of a sphere in one step [m]
    n_items : items of the grids, spheres or bounding spheres of clumps
    density : pairs in a list / (mean diameter + skin)^3
    carries : contacts have a history, which is carried over when the inner list is pruned
    triangle_diameter : mean diameter of the spheres near triangles [m]
    triangle_density : triangles in a list / (triangle_diameter + skin)^2
    widest : largest outer skin [m]

    A list is valid until the fastest sphere has moved by half its margin. Costs in ns, roughly those of a core of 2023;
    the minimum is flat: 1.8 to test a pair of the inner list or to prune one of the outer list, 4 to pose a sphere and
    to measure its displacement, 60 to sort an item into the grid and to search around it, 10 to find and store an outer
    pair. With AVX-512 the last two are about half and a third of that; the skins of ten thousand rods are much the same
    then. With records, 60 to carry a contact over, a figure of 0.8.0: then lists of a drum of 38 000 spheres took 40 %
    less time than without this term. A triangle takes 40 in a step, and 40 to be
    pruned or found.
    """
    cdef double outer, inner, steps_outer, steps_inner, cost, best = -1.0, wide, narrow, wide_triangles, triangles
    cdef double carrying = 60.0 if carries else 0.0
    cdef int _
    outer = 0.1 * diameter
    for _ in range(20):
        outer *= 1.25                                   # up to 8.7 diameters
        if outer > widest and best >= 0.0:
            break
        wide = density * cubed(diameter + outer)
        wide_triangles = triangle_density * squared(triangle_diameter + outer)
        inner = outer
        for _ in range(12):
            inner *= 0.75
            narrow = density * cubed(diameter + inner)
            triangles = triangle_density * squared(triangle_diameter + inner)
            steps_outer = 1.0 + (outer - inner) / (2.0 * speed)
            steps_inner = 1.0 + inner / (2.0 * speed)
            cost = 1.8 * narrow + 40.0 * triangles \
                + (4.0 * n_spheres + 1.8 * wide + carrying * narrow + 40.0 * wide_triangles) / steps_inner \
                + (60.0 * n_items + 10.0 * wide + 40.0 * wide_triangles) / steps_outer
            if best < 0.0 or cost < best:
                best = cost
                outer_skin[0] = outer
                inner_skin[0] = inner
