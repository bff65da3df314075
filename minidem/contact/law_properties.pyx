# distutils: extra_compile_args = -O1
"""What a compiled law reads of materials and pairs, from a PairTable."""
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
        keep.append(coefficients)
    return keep
