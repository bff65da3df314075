# distutils: extra_compile_args = -O1
"""What a compiled law reads of materials and pairs, from a PairTable."""
import numpy as np

from minidem.contact.pair_table import PROPERTIES

from minidem.broadphase.neighbours cimport Planes
from minidem.contact.law cimport Law, LawKernels


cdef object set_properties(Law *law, Planes *planes, LawKernels kernels, record, values, pair_table, material_index):
    """Set moduli, or compliances where clumps differ in them, and coefficients of a law with history.

    record, values : of the law, and its parameters;  material_index : (n_clumps,).
    Returns the arrays that the pointers belong to.
    """
    cdef double[::1] wall_modulus, compliance, wall_compliance, wall_materials
    cdef double[:, :, ::1] coefficients
    cdef int n = len(pair_table.materials)
    modulus, wall_modulus, compliance, wall_compliance, mixed = pair_table.moduli(material_index)
    law.modulus, planes.modulus = modulus, &wall_modulus[0]
    keep = [wall_modulus, compliance, wall_compliance]
    if mixed:
        kernels.mix_materials(law, &compliance[0], &wall_compliance[0])
    if record.has_history:
        coefficients = np.stack(record.coefficient_rows(pair_table.properties(PROPERTIES), values), axis=-1)
        wall_materials = np.append(pair_table.wall_index, 0.0)
        law.n_materials, law.coefficients, law.wall_materials = n, &coefficients[0, 0, 0], &wall_materials[0]
        keep += [coefficients, wall_materials]
    return keep
