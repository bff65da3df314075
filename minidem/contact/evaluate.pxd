"""One contact, from its two bodies alone; exchanging i and j changes the sign of its normal and no bit else.

Contacts are therefore not stored: who needs one that was found at the same pose computes it again.
"""
from libc.math cimport sqrt

from minidem.broadphase.neighbours cimport Planes, height
from minidem.contact.laws.hertz cimport hertz_force
from minidem.core.vec3 cimport Vec3, scale, sub, vec3

cdef struct Law:                # what a force depends on, beside the spheres
    const Planes *planes
    double modulus              # effective, between two clumps [Pa]
    double dt                   # [s]

cdef struct Touch:
    double overlap              # [m]
    double force                # magnitude [N], along the normal
    Vec3 normal                 # unit, from j to i


cdef inline Touch touch_spheres(Vec3 between, double radius_i, double radius_j, double modulus,
                                double dt) noexcept nogil:
    """between : from the centre of j to that of i [m]. Coincident centres: no direction, no force."""
    cdef Touch found
    cdef double reach = radius_i + radius_j
    cdef double distance = sqrt(between.x * between.x + between.y * between.y + between.z * between.z)
    found.normal = scale(1.0 / distance if distance > 0.0 else 0.0, between)
    found.overlap = reach - distance
    found.force = hertz_force(found.overlap, 0.0, dt, modulus, radius_i * radius_j / reach)
    return found


cdef inline Touch touch_wall(const double *sphere, Py_ssize_t wall, const Law *law) noexcept nogil:
    cdef const double *normal = law.planes.normal + 3 * wall
    cdef Touch found
    found.normal = vec3(normal[0], normal[1], normal[2])
    found.overlap = sphere[3] - height(law.planes, wall, sphere)
    found.force = hertz_force(found.overlap, 0.0, law.dt, law.planes.modulus[wall], sphere[3])
    return found


cdef inline Touch touch(const double *spheres, int i, int j, const Law *law) noexcept nogil:
    """i : slot of a sphere or ghost; j : too, or -1 - wall."""
    cdef const double *a = spheres + 4 * <Py_ssize_t> i
    cdef const double *b = spheres + 4 * <Py_ssize_t> j
    if j < 0:
        return touch_wall(a, -1 - <Py_ssize_t> j, law)
    return touch_spheres(sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2])), a[3], b[3], law.modulus, law.dt)
