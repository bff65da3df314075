"""The effective mass of a contact, which its dashpots need, and its effective rolling inertia: see FRICTION.md.

A body of a contact is a sphere of a clump, which may be held, or a primitive of a wall. A wall with a `Driven` yields
with what it carries, by its mass or its moment of inertia; other walls do not.
"""
import numpy as np

from libc.math cimport sqrt

from minidem.core.lanes cimport lane_of, row_of
from minidem.core.vec3 cimport cross, dot, scale, sub, vec3
from minidem.state.mobility cimport carrier_of, mobility_of, response, turning_of
from minidem.state.periodic_box cimport nearest_image
from minidem.state.rows cimport HoldBlock, load
from minidem.state.state cimport clump_of, constants_of, hold_of
from minidem.walls.surface cimport Walls, arm_at, touch_wall, vector

cdef extern from *:
    # Over the inverse mass of the heavier clump: mobility of a contact along whose normal no force moves it, and ...
    const double LEAST_MOBILITY "0.1"
    const double NO_MOBILITY "1e-4"     # ... below which it counts as such


cdef inline double inverse_mass_of(const StateView *state, int sphere) noexcept nogil:
    """Of the clump of a sphere [1/kg]."""
    cdef int clump = clump_of(state, sphere)
    return constants_of(state, row_of(clump)).inverse_mass[lane_of(clump)]


cdef inline double smaller_inverse_mass(const StateView *state, int i, int j) noexcept nogil:
    """Of the clumps of a contact of the sphere i with the sphere or primitive j [1/kg]."""
    cdef double inverse_mass = inverse_mass_of(state, i)
    return min(inverse_mass, inverse_mass_of(state, j)) if j >= 0 else inverse_mass


cdef inline int driven_with(const Walls *walls, const StateView *state, int body) noexcept nogil:
    """Number of the `Driven` wall that carries a sphere, or has the primitive -1 - body; -1: none."""
    cdef int wall
    if walls.drives == NULL:
        return -1
    wall = carrier_of(state, body) if body >= 0 else walls.wall_of[-1 - body]
    return wall if wall >= 0 and walls.drives[wall].mobility > 0.0 else -1


cdef inline double lever_of(const Walls *walls, int wall, const StateView *state, int i, int body,
                            Vec3 normal) noexcept nogil:
    """Part of a driven wall in a push along the normal at the sphere i: along its line, or moment about its axis.

    body : a sphere that the wall carries, or -1 - its primitive that touches the sphere i
    """
    cdef Vec3 axis = vector(walls.drives[wall].axis)
    cdef const double *x = state.spheres + 4 * <Py_ssize_t> (body if body >= 0 else i)
    if not walls.drives[wall].turns:
        return dot(axis, normal)
    return dot(axis, cross(sub(vector(x), vector(walls.now[wall].position)) if body >= 0
                           else arm_at(walls, -1 - <Py_ssize_t> body, vector(x)), normal))


cdef inline double inverse_rolling_inertia(const StateView *state, int sphere) noexcept nogil:
    """Part of a sphere in the inverse of the rolling inertia of a contact; zero if torques do not turn its clump."""
    cdef int clump = clump_of(state, sphere), lane = lane_of(clump)
    cdef const HoldBlock *hold = hold_of(state, row_of(clump))
    cdef double radius = state.spheres[4 * <Py_ssize_t> sphere + 3]
    cdef Vec3 axis = vec3(0.0, 0.0, 0.0) if hold == NULL else load(hold.axis + lane)
    if hold != NULL and hold.turns[lane] == 0.0 and dot(axis, axis) == 0.0:
        return 0.0
    return inverse_mass_of(state, sphere) / (radius * radius)


cdef Vec3 normal_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Unit, to the sphere i, from the sphere or primitive j; zero if centres coincide."""
    cdef const double *a = state.spheres + 4 * <Py_ssize_t> i
    cdef const double *b = state.spheres + 4 * <Py_ssize_t> j
    cdef Vec3 d
    cdef double distance
    if j < 0:
        return touch_wall(law.walls, -1 - <Py_ssize_t> j, a).normal
    d = nearest_image(law.box, sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2])))
    distance = sqrt(dot(d, d))
    return scale(1.0 / distance if distance > 0.0 else 0.0, d)


cdef double mobility_in(const Law *law, const StateView *state, int i, int body, Vec3 normal) noexcept nogil:
    """Acceleration of a body of a contact of the sphere i, a sphere or -1 - primitive, per force along the normal."""
    cdef const Walls *walls = law.walls
    cdef int wall = driven_with(walls, state, body)
    cdef double lever
    if wall >= 0:
        lever = lever_of(walls, wall, state, i, body, normal)
        return walls.drives[wall].mobility * (lever * lever)
    return mobility_of(state, body, normal, not law.mass_of_clumps) if body >= 0 else 0.0


cdef double own_mobility(const Law *law, const StateView *state, int i, int j, Vec3 normal) noexcept nogil:
    """Approach acceleration of the bodies of a contact per force along the normal, as if there were no other [1/kg].

    It is next to none at a hinge, or along what is held: there the mass of the normal dashpot must be bounded.
    """
    cdef double mobility = mobility_in(law, state, i, i, normal) + mobility_in(law, state, i, j, normal)
    cdef double inverse_mass = smaller_inverse_mass(state, i, j)
    return mobility if mobility > NO_MOBILITY * inverse_mass else LEAST_MOBILITY * inverse_mass


cdef void find_inertia(const Law *law, const StateView *state, int i, int j, Vec3 normal, double *mass,
                       double *rolling_inertia) noexcept nogil:
    """Effective mass and rolling inertia of a contact of the sphere i with the sphere or primitive j."""
    cdef double rolling = inverse_rolling_inertia(state, i), radius = state.spheres[4 * <Py_ssize_t> i + 3]
    if j >= 0:
        rolling += inverse_rolling_inertia(state, j)
    mass[0] = 1.0 / own_mobility(law, state, i, j, normal)
    rolling_inertia[0] = 1.4 / max(rolling, LEAST_MOBILITY * smaller_inverse_mass(state, i, j) / (radius * radius))


cdef Vec3 turning_in(const Walls *walls, const StateView *state, int i, int body, Vec3 normal) noexcept nogil:
    """As turning_of, for a body of a contact of the sphere i. Of a driven wall x is its lever, of another one zero."""
    cdef int wall = driven_with(walls, state, body)
    if wall >= 0:
        return vec3(lever_of(walls, wall, state, i, body, normal), 0.0, 0.0)
    return turning_of(state, body, normal) if body >= 0 else vec3(0.0, 0.0, 0.0)


cdef double response_in(const Walls *walls, const StateView *state, int body, Vec3 normal, Vec3 turning, Vec3 force,
                        Vec3 torque) noexcept nogil:
    """As response, for a body of a contact; turning, torque : of turning_in."""
    cdef int wall = driven_with(walls, state, body)
    if wall >= 0:
        return walls.drives[wall].mobility * (turning.x * torque.x)
    return response(state, body, normal, turning, force, torque) if body >= 0 else 0.0


cdef object effective_inertia(const Law *law, State state, pairs, const double[:, :] normals):
    """(mass, rolling inertia), (n,) each, of contacts between spheres (n, 2), the user's numbers; normals : (n, 3)."""
    cdef double[::1] mass = np.empty(len(pairs)), rolling = np.empty(len(pairs))
    cdef const int[:, ::1] slots = state.sphere_slot.take(pairs)
    cdef Py_ssize_t k
    for k in range(slots.shape[0]):
        find_inertia(law, &state.view, slots[k, 0], slots[k, 1], vec3(normals[k, 0], normals[k, 1], normals[k, 2]),
                     &mass[k], &rolling[k])
    return np.asarray(mass), np.asarray(rolling)
