# distutils: extra_compile_args = -O2
"""Rows of the structured array of contacts (contact_table.py), in the user's order.

Compiled, because a scenario lists all contacts a thousand times in a run.
"""
import numpy as np

from minidem.contact.contact_table import CONTACT

from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add, add_scaled, dot, scale, vec3
from minidem.state.state cimport State

cdef struct Row:                    # of CONTACT
    int clump_i, clump_j, sphere_i, sphere_j
    double overlap
    Vec3 normal, force, point
    double energy
    Vec3 tangential, couple
    double energy_tangential, energy_rolling
    unsigned char sliding

if sizeof(Row) != CONTACT.itemsize:
    raise ImportError("a contact has another layout in C than in NumPy")


cdef inline Vec3 at(const double *values) noexcept nogil:
    return vec3(values[0], values[1], values[2])


cdef inline Vec3 signed(double sign, const double *values) noexcept nogil:
    """Without a negative zero."""
    return add(scale(sign, at(values)), vec3(0.0, 0.0, 0.0))


cdef inline void add_friction(Row *row, const double *friction, double sign, bint point_known) noexcept nogil:
    row.force, row.couple = signed(sign, friction), signed(sign, friction + 6)
    if point_known:
        row.point = at(friction + 3)
    row.tangential = add(add_scaled(row.force, -dot(row.force, row.normal), row.normal), vec3(0.0, 0.0, 0.0))
    row.energy_tangential, row.energy_rolling = friction[9], friction[10]
    row.sliding = friction[11] > 0.0


cdef object in_order(State state, const int[:, ::1] slots, Py_ssize_t n):
    """Numbers of n contacts by ascending sphere_i and sphere_j, walls first; see `describe`."""
    cdef Py_ssize_t k
    cdef const int *number = state.view.sphere_number
    cdef long long first, second
    cdef long long[::1] keys = np.empty(n, dtype=np.int64)
    for k in range(n):
        first, second = number[slots[k, 0]], slots[k, 1]
        if second >= 0:
            second = number[slots[k, 1]]
            first, second = min(first, second), max(first, second)
        keys[k] = (first << 32) + second
    return np.argsort(keys)


cdef object describe(State state, const int[:, ::1] slots, const double[:, ::1] values, const double[:, ::1] friction,
                     Py_ssize_t n):
    """Rows of CONTACT of n contacts, sphere_i < sphere_j, sorted by both.

    slots : (n, 2) sphere slots, -1 - k for element k of the walls
    values : (n, 6) overlap, force, energy, normal
    friction : (n, 12) of a law with history, force (3) on the first sphere, point (3), couple (3), energies of the
        tangential and rolling springs, whether it slides; else None
    """
    cdef Py_ssize_t place, k
    cdef int i, j
    cdef bint wall, has_friction = friction is not None, in_box = state.box is not None
    cdef double sign
    cdef Row *row
    cdef const int *number = state.view.sphere_number
    cdef const double *sphere
    found = np.zeros(n, dtype=CONTACT)
    if n == 0:
        return found
    cdef const long long[::1] order = in_order(state, slots, n)
    cdef unsigned char[::1] room = found.view(np.uint8)
    for place in range(n):
        k, row = order[place], <Row *> &room[0] + place
        i, j = slots[k, 0], slots[k, 1]
        wall, sign = j < 0, 1.0
        if not wall and number[j] < number[i]:
            i, j, sign = j, i, -1.0
        sphere = state.view.spheres + 4 * <Py_ssize_t> i
        row.clump_i, row.sphere_i = clump_of(state, i), number[i]
        row.clump_j, row.sphere_j = j if wall else clump_of(state, j), j if wall else number[j]
        row.overlap, row.energy = values[k, 0], values[k, 2]
        row.normal = scale(sign, at(&values[k, 3]))
        row.point = add_scaled(at(sphere), (1.0 if wall else 0.5) * row.overlap - sphere[3], row.normal)
        if has_friction:                # its point in a periodic box: mean of two images, one of which may be elsewhere
            add_friction(row, &friction[k, 0], sign, wall or not in_box)
        else:
            row.force = scale(values[k, 1], row.normal)
    if in_box:
        found["point"] += state.shift[found["clump_i"]] * state.box.start.length
    return found


cdef inline int clump_of(State state, int slot) noexcept:
    return state.view.clump_number[<Py_ssize_t> state.view.block_of_member[slot // LANES] * LANES + slot % LANES]
