# distutils: extra_compile_args = -O1
"""What a compiled law reads of materials and pairs, from a PairTable."""
from math import frexp

import numpy as np

from minidem.contact.law cimport Law, LawKernels
from minidem.walls.wall_table cimport WallTable


cdef object set_properties(Law *law, WallTable walls, LawKernels kernels, record, values, pair_table, material_index):
    """Set moduli, or compliances where clumps differ in them, and coefficients of a law with history.

    record, values : of the law, and its parameters;  material_index : (n_clumps,).
    Returns the arrays that the pointers belong to.
    """
    cdef double[::1] compliance
    cdef double[:, :, ::1] coefficients
    law.walls = &walls.walls
    law.modulus, wall_modulus, compliance, wall_compliance, mixed = pair_table.moduli(material_index)
    walls.set_modulus(wall_modulus)
    keep = [compliance]
    if mixed:
        walls.set_compliance(wall_compliance)
        kernels.mix_materials(law, &compliance[0])
    if record.has_history:
        coefficients = pair_table.coefficients(record, values)
        walls.set_materials(pair_table.wall_index)
        law.n_materials, law.coefficients = len(coefficients), &coefficients[0, 0, 0]       # with room for others
        law.n_coefficients = kernels.n_coefficients = coefficients.shape[2]
        law.mass_of_clumps = record.mass_of_clumps(values)
        keep.append(coefficients)
    return keep


cdef double power_of_two(double x):
    """The largest one that is not above x."""
    return 2.0 ** (frexp(x)[1] - 1)


cdef object set_units(Law *law, record, values, pair_table, state):
    """The units of the sums (fixed_point.pxd), and the largest gap of a contact.

    They depend on the largest sphere and the materials of the clumps and walls that are present.
    """
    cdef double radius = np.max(state.layout.spheres[:, :, 3], initial=0.0) or 1.0
    cdef double force = pair_table.force_scale(record, values, radius, state.material_index)
    law.force_unit = power_of_two(force) * 2.0 ** -58
    law.moment_unit = law.force_unit * 2.0 * power_of_two(radius)
    law.energy_unit = law.moment_unit * 2.0 ** -12
    law.per_force, law.per_moment, law.per_energy = 1 / law.force_unit, 1 / law.moment_unit, 1 / law.energy_unit
