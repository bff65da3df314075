# distutils: extra_compile_args = -Og
"""The compiled functions of a contact law as a Python object (interface: law.pxd), and what a law reads of materials.

Moduli and coefficients come from a PairTable. The units of all sums follow from the stiffness of the materials.
"""
from libc.stdint cimport uint64_t
from libc.string cimport memset

import numpy as np

from minidem.contact.pair_table import PROPERTIES

from minidem.contact.onset cimport Onsets, onset_forces
from minidem.contact.rows cimport (
    COEFFICIENTS, DESCRIPTION_ROWS, GOES_ON, MAX_COEFFICIENTS, MAX_RECORDS, NORMAL_ENERGY, OVERLAP, RADIUS, RESULT_ROWS,
    HistoryFunction,
)
from minidem.core.lanes cimport LANES
from minidem.state.state cimport StateView
from minidem.walls.wall_table cimport WallTable

# Window of 1.1 steps, and a margin because stored velocities are half a step old. What overlaps at the first sample of
# a contact has come in during the last step, at that velocity; what overlaps at the last one leaves during the next
# step, at another velocity.
BEGINS, ENDS = 1.21, 1.6

MOST_COEFFICIENTS, MOST_RECORDS = <int> MAX_COEFFICIENTS, <int> MAX_RECORDS


cdef inline double no_force(double overlap, double radius, double modulus, const double *parameters) noexcept nogil:
    return 0.0


cdef Contact overlap_alone(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """A `ContactFunction` for laws with history, whose force is no function of the pose."""
    return over_contact(no_force, False, law, state, i, j)


cdef class Part:
    """The compiled functions of a part of a law (part.pxd), by address, and what it has of its own."""

    def __init__(self, *, size_t forces, size_t describe, int n_records=0, int rare_records=0, bint has_couples=False):
        self.forces, self.describe = <PartFunction> forces, <PartFunction> describe
        self.n_records, self.rare_records, self.has_couples = n_records, rare_records, has_couples


cdef class LawKernels(External):
    """The compiled functions of one law, by address: the first six, or those of a law with history.

    parts : of a law that is composed of them; n_records, has_couples : without theirs;  touch_records : see Law.
    """

    def __init__(self, *, size_t many=0, size_t many_moving=0, size_t one=0, size_t forces=0, size_t many_mixed=0,
                 size_t many_mixed_moving=0, size_t history=0, size_t describe=0, int n_records=0,
                 bint has_couples=False, tuple parts=(), int touch_records=0):
        self.many, self.many_moving = <PairsFunction> many, <PairsFunction> many_moving
        self.many_mixed, self.many_mixed_moving = <PairsFunction> many_mixed, <PairsFunction> many_mixed_moving
        self.one, self.forces = <ContactFunction> one if one else overlap_alone, <ForcesFunction> forces
        self.history, self.describe = <HistoryFunction> history, <HistoryFunction> describe
        self.parts, self.touch_records = parts, touch_records
        self.n_records = n_records + sum(part.n_records for part in parts)
        self.has_couples = has_couples or any(part.has_couples for part in parts)

    def own(self):
        """For one time loop: a copy of a user's own law, so that an error is raised by that loop alone."""
        cdef LawKernels copy
        if not self.sees_bodies:
            return self
        copy = LawKernels(history=<size_t> self.history, describe=<size_t> self.describe, n_records=self.n_records,
                          has_couples=self.has_couples)
        copy.functions, copy.keep, copy.sees_bodies = self.functions, self.keep, True
        return copy

    cdef object fill(self, Law *law, values):
        """Functions and parameter values, for a law without onset correction; all else is zero."""
        cdef Part part
        cdef int k, first = self.n_records - sum(part.n_records for part in self.parts)
        memset(law, 0, sizeof(Law))
        law.evaluate, law.one, law.forces = self.many, self.one, self.forces
        law.history, law.describe = self.history, self.describe
        law.n_records, law.touch_records, law.has_couples = self.n_records, self.touch_records, self.has_couples
        law.context, self.values = <void *> self, values
        for k, part in enumerate(self.parts):
            law.parts[k].forces, law.parts[k].describe, law.parts[k].first = part.forces, part.describe, first
            first += part.n_records
            law.rare_records = part.rare_records        # of the last part
        for k in range(len(values)):
            law.parameters[k] = values[k]

    cdef object mix_materials(self, Law *law, const double *compliance):
        """Set the compliances of clumps; without effect for a law that does not read elastic constants."""
        if self.many_mixed != NULL:
            law.evaluate, law.compliance = self.many_mixed, compliance

    cdef object correct_onsets(self, Law *law, double power, zeta, double dt):
        """Set what the onset correction needs: power p, step dt [s], zeta (2, ZETA_TERMS) of onset_series.py."""
        cdef int k
        law.evaluate = self.many_moving if law.compliance == NULL else self.many_mixed_moving
        law.power, law.dt, law.begins, law.ends = power, dt, BEGINS * dt, ENDS * dt
        for k in range(ZETA_TERMS):
            law.zeta[0][k], law.zeta[1][k] = zeta[0][k], zeta[1][k]

    def force_at(self, double overlap, double radius, double modulus, values):
        """Force [N] at an overlap [m], effective radius [m] and effective modulus [Pa].

        values : of the law's parameters, in the order of the record.
        """
        cdef Law law
        cdef double d[LANES], r[LANES], m[LANES], force[LANES]
        cdef int lane
        if self.forces == NULL:
            raise ValueError("the force of a law with history is no function of the overlap alone; energy_at has the "
                             "elastic part")
        self.fill(&law, values)
        for lane in range(LANES):
            d[lane], r[lane], m[lane] = overlap, radius, modulus
        law.forces(d, r, m, law.parameters, force)
        return force[0]

    def energy_at(self, double overlap, double radius, coefficients, values):
        """Elastic energy [J] of the normal force of a law with history; the arguments are those of force_at.

        coefficients : of the pair of materials, in the order of the law.
        """
        cdef Law law
        cdef double contact[(COEFFICIENTS + MAX_COEFFICIENTS) * LANES]
        cdef double history[MAX_RECORDS * 4 * LANES]
        cdef double result[DESCRIPTION_ROWS * LANES]
        cdef int lane, k
        if self.describe == NULL:
            raise ValueError("the law has no history: force_at has its force")
        self.fill(&law, values)
        memset(contact, 0, sizeof(contact))
        memset(history, 0, sizeof(history))
        for lane in range(LANES):
            contact[OVERLAP * LANES + lane], contact[RADIUS * LANES + lane] = overlap, radius
            for k in range(len(coefficients)):
                contact[(COEFFICIENTS + k) * LANES + lane] = coefficients[k]
        self.n_coefficients = len(coefficients)
        self.describe(contact, history, result, law.parameters)
        self.raise_error()
        return result[NORMAL_ENERGY * LANES]

    def results_at(self, contact, history, values, bint describes=False):
        """Results of a law with history for eight contacts (rows.pxd).

        Parameters
        ----------
        contact : (COEFFICIENTS + coefficients, LANES) array
        history : (n_records, 4, LANES) array
            Replaced by that of this step.
        values : list
            Of the law's parameters, in the order of the record.
        describes : bool
            Energies at the pose instead of forces.

        Returns
        -------
        (RESULT_ROWS or DESCRIPTION_ROWS, LANES) ndarray
        """
        cdef Law law
        cdef double[:, ::1] rows = contact, results = np.zeros((<int> RESULT_ROWS, LANES))
        cdef double[:, :, ::1] records = history
        cdef HistoryFunction function = self.describe if describes else self.history
        if function == NULL or rows.shape[1] != LANES or records.shape[0] < self.n_records:
            raise ValueError("the law has no history, or an array has another shape")
        self.fill(&law, values)
        np.asarray(results)[<int> GOES_ON] = contact[<int> OVERLAP] > 0.0
        function(&rows[0, 0], &records[0, 0, 0], &results[0, 0], law.parameters)
        self.raise_error()
        return np.asarray(results)[:<int> DESCRIPTION_ROWS if describes else <int> RESULT_ROWS]

    def onset_force_at(self, double overlap, double radius, double modulus, values, double power, zeta, double dt,
                       double rate, double acceleration, double mobility):
        """The onset correction [N]; the arguments are those of force_at, correct_onsets and onset.pxd."""
        cdef Law law
        cdef Onsets onsets
        cdef double force[LANES]
        cdef int lane
        self.fill(&law, values)
        self.correct_onsets(&law, power, zeta, dt)
        for lane in range(LANES):
            onsets.overlap[lane], onsets.radius[lane], onsets.modulus[lane] = overlap, radius, modulus
            onsets.rate[lane], onsets.acceleration[lane] = rate, acceleration
            onsets.force[lane], onsets.mobility[lane] = self.force_at(overlap, radius, modulus, values), mobility
        onset_forces(&law, &onsets, force)
        return force[0]


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
