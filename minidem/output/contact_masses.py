"""Effective masses of contacts from the masses of the clumps, as with mass=clump."""
import numpy as np


def contact_masses(spheres, sizes, mass, radii, index, scale):
    """Effective mass [kg] and rolling inertia [kg m2] of contacts, (n,) each.

    Mass m_i m_j / (m_i + m_j), rolling inertia 1.4 / (1 / (m_i R_i^2) + 1 / (m_j R_j^2)), of spheres of the clumps'
    masses about the contact point; at a wall those of i.

    spheres : (n, 2) spheres of each contact; a negative second one is a wall
    sizes, mass : (templates,) number of spheres, and mass of each template [kg]
    radii : (sizes.sum(),) of the spheres of the templates, one after the other [m]
    index, scale : (clumps,) template, and scale of the lengths of each clump
    """
    sphere = np.maximum(spheres, 0)
    ends = np.cumsum(sizes[index])
    clump = np.searchsorted(ends, sphere, side="right")
    of_clump = index[clump]
    place = np.cumsum(sizes)[of_clump] - ends[clump] + sphere       # from the end of template and clump
    m, r = mass[of_clump] * scale[clump] ** 3, radii[place] * scale[clump]
    inertia, wall = 1.4 * m * (r * r), spheres[:, 1] < 0
    return tuple(np.where(wall, a, a * b / (a + b)) for a, b in (m.T, inertia.T))
