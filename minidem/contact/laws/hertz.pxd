"""Hertz's law for one overlap of two elastic spheres, or of a sphere and a plane.

H. Hertz, J. reine angew. Math. 92, 156 (1882), doi 10.1515/crll.1882.92.156;
K. L. Johnson, Contact Mechanics (1985), Eqs 4.22 to 4.24, doi 10.1017/CBO9781139171731.
"""
from libc.math cimport sqrt


cdef inline double hertz_force(double overlap, double modulus, double radius) noexcept nogil:
    """F = 4/3 E* sqrt(R*) d^(3/2) [N], repulsive; zero without overlap.

    overlap d [m], negative across a gap; effective modulus E* [Pa]; effective radius R* [m].
    """
    return 4.0 / 3.0 * modulus * overlap * sqrt(radius * overlap) if overlap > 0.0 else 0.0


cdef inline double hertz_energy(double force, double overlap) noexcept nogil:
    """Elastic energy 8/15 E* sqrt(R*) d^(5/2) = 2/5 F d [J]."""
    return 0.4 * force * overlap
