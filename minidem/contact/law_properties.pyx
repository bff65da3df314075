# distutils: extra_compile_args = -O1
"""What a compiled law reads of materials and pairs, from a PairTable."""
import numpy as np

from minidem.contact.pair_table import PROPERTIES

from libc.stdint cimport uint64_t

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


def powers_of_two(x):
    """The largest ones that are not above the positive numbers x."""
    return np.ldexp(1.0, np.frexp(x)[1] - 1)


def sphere_units(record, values, pair_table, material_index, radius):
    """1 / unit of the sums of forces [1/N] and of moments [1/(N m)] on spheres (fixed_point.pxd), two arrays.

    material_index, radius : of the spheres, of any shape; a radius of zero is that of an empty lane.
    """
    size = powers_of_two(np.where(radius > 0.0, radius, 1.0))
    force = np.empty(np.shape(size))
    for material in np.unique(material_index):
        for length in np.unique(size[material_index == material]):
            which = (material_index == material) & (size == length)
            force[which] = powers_of_two(pair_table.force_scale(record, values, float(length), int(material)))
    return 2.0 ** 58 / force, 2.0 ** 57 / (force * size)


def unit_keys(record, values, pair_table, radius):
    """Keys of the units of the sums of forces (force_sums.pxd), by the index of the material, and their shift.

    radius : a power of two [m], without effect on the keys if the force goes with the radius or its square.
    """
    def forces(size):
        return np.array([pair_table.force_scale(record, values, size, k) for k in range(len(pair_table.materials))])

    whole = forces(radius)
    shift = np.uint64(whole[0] > 3.9 * forces(0.5 * radius)[0])
    return (2.0 ** 54 / powers_of_two(whole)).view(np.uint64) + (np.array([radius]).view(np.uint64) << shift), shift


cdef object set_units(Law *law, record, values, pair_table, state):
    """Units of all sums but those of a law with records on spheres, and the largest gap of a contact.

    Those of energies and of the forces on walls follow from the largest sphere and the stiffest material present, the
    gap from all pairs of materials. Returns an array that a pointer belongs to.

    The forces on walls are added in 128 bits, so that they have the bits that their contacts have.
    """
    cdef uint64_t[::1] keys
    radius = np.max(state.layout.spheres[:, :, 3], initial=0.0) or 1.0
    force = max(pair_table.force_scale(record, values, float(radius), int(material))
                for material in {*state.material_index.tolist(), *pair_table.wall_index.tolist()} or {0})
    law.force_unit = powers_of_two(force) * 2.0 ** -98
    law.energy_unit = powers_of_two(force) * powers_of_two(radius) * 2.0 ** -69
    law.per_energy = 1.0 / law.energy_unit
    law.reach = record.largest_gap(pair_table.properties(PROPERTIES), values, radius)
    law.begins_at_reach = record.begins == "range"
    of_materials, law.unit_shift = unit_keys(record, values, pair_table, float(powers_of_two(radius)))
    keys = of_materials.take(state.material_index if len(state.material_index) else [0])
    law.unit_key, law.unit_keys = keys[0], NULL if law.compliance == NULL else &keys[0]
    return keys
