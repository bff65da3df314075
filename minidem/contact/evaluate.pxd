"""One contact, evaluated from its two bodies alone; exchanging i and j changes the sign of the normal and no other bit.

So contacts are not stored: where one is needed again at the same pose, it is evaluated again.
"""
from libc.math cimport sqrt

from minidem.broadphase.neighbours cimport Planes, height
from minidem.contact.laws.hertz cimport hertz_force
from minidem.core.vec3 cimport Vec3, scale, sub, vec3

cdef struct Law:                    # what a force depends on, in addition to the spheres
    const Planes *planes
    double modulus                  # effective modulus between two clumps [Pa]

cdef struct Contact:
    double overlap                  # [m]
    double force                    # magnitude [N], along the normal
    Vec3 normal                     # unit, from j to i


cdef inline Contact sphere_contact(Vec3 between, double radius_i, double radius_j, double modulus) noexcept nogil:
    """between : from the centre of j to that of i [m]. Coincident centres: no direction, no force."""
    cdef Contact contact
    cdef double touching = radius_i + radius_j
    cdef double distance = sqrt(between.x * between.x + between.y * between.y + between.z * between.z)
    contact.normal = scale(1.0 / distance if distance > 0.0 else 0.0, between)
    contact.overlap = touching - distance
    contact.force = hertz_force(contact.overlap, modulus, radius_i * radius_j / touching)
    return contact


cdef inline Contact wall_contact(const double *sphere, Py_ssize_t wall, const Law *law) noexcept nogil:
    cdef const double *normal = law.planes.normal + 3 * wall
    cdef Contact contact
    contact.normal = vec3(normal[0], normal[1], normal[2])
    contact.overlap = sphere[3] - height(law.planes, wall, sphere)
    contact.force = hertz_force(contact.overlap, law.planes.modulus[wall], sphere[3])
    return contact


cdef inline Contact evaluate_contact(const double *spheres, int i, int j, const Law *law) noexcept nogil:
    """i : slot of a sphere or ghost; j : likewise, or -1 - wall."""
    cdef const double *a = spheres + 4 * <Py_ssize_t> i
    cdef const double *b = spheres + 4 * <Py_ssize_t> j
    if j < 0:
        return wall_contact(a, -1 - <Py_ssize_t> j, law)
    return sphere_contact(sub(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2])), a[3], b[3], law.modulus)
