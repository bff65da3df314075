# distutils: extra_compile_args = -Og
"""The compiled functions of a contact law as a Python object (interface: law.pxd), and what a law reads of materials.

Coefficients come from a PairTable. The units of all sums follow from the stiffness of the materials.
"""
from libc.string cimport memcpy, memset

import numpy as np

from minidem.contact.columns import COEFFICIENTS, NORMAL_ENERGY, OVERLAP, RADIUS, RATES
from minidem.contact.pair_table import PROPERTIES

from minidem.contact.contact cimport MAX_COEFFICIENTS, MAX_COMPONENTS, MAX_RECORDS, Row
from minidem.contact.part cimport MAX_PARAMETERS
from minidem.core.lanes cimport LANES
from minidem.state.state cimport pointer_to

MOST_COEFFICIENTS, MOST_RECORDS, MOST_PARAMETERS = <int> MAX_COEFFICIENTS, <int> MAX_RECORDS, <int> MAX_PARAMETERS
MOST_COMPONENTS = <int> MAX_COMPONENTS


cdef class Part:
    """A part of a law (part.pxd): its compiled functions, by address, and what it has of its own.

    rule : of a tangential model, which has no function; parameters : of its own, name to default
    is_normal, linear, attracts : whether it is a normal force; with a contact radius of 1; plastic, and attracts
    needs : properties of pairs and parameters of the law, without each of which it is of no use
    reads : what no other part reads besides
    excludes : options that cannot be beside it, to the reason
    coefficients : function (pair, values) of its own coefficients, by their numbers in part.pxd
    reach : function (pair, values, radius) of the largest gap of its contacts [m]
    """

    def __init__(self, *, size_t forces=0, size_t describe=0, size_t rule=0, int n_records=0, int rare_records=0,
                 bint has_couples=False, bint is_normal=False, bint linear=False, bint attracts=False, tuple needs=(),
                 tuple reads=(), dict parameters=None, dict excludes=None, coefficients=None, reach=None):
        self.forces, self.describe, self.rule = <PartFunction> forces, <PartEnergies> describe, <StretchRule> rule
        self.n_records, self.rare_records, self.has_couples = n_records, rare_records, has_couples
        self.is_normal, self.linear, self.attracts = is_normal, linear, attracts
        self.needs, self.reads, self.parameters, self.excludes = needs, reads, parameters or {}, excludes or {}
        self.coefficients, self.reach = coefficients, reach

    @property
    def across(self):
        """Whether it acts across gaps beside the normal force."""
        return self.reach is not None and not self.is_normal


cdef class LawKernels(External):
    """The compiled functions of one law, by address: `central`, or the functions of a law with history.

    parts : of a law that is composed of them; n_records, has_couples : without theirs.
    undamped : of a user's law with a dashpot, its function; n_records : with the record of the dashpot, the last one.
    """

    def __init__(self, *, size_t central=0, size_t history=0, size_t describe=0, size_t undamped=0, int n_records=0,
                 bint has_couples=False, tuple parts=()):
        self.central = <CentralFunction> central
        self.history, self.describe = <HistoryFunction> history, <EnergyFunction> describe
        self.undamped = <HistoryFunction> undamped
        self.parts = parts
        self.n_records = n_records + sum(part.n_records for part in parts)
        self.has_couples = has_couples or any(part.has_couples for part in parts)

    def own(self):
        """Return the kernels for one time loop: of a user-defined law a copy, so that it alone raises its errors."""
        cdef LawKernels copy
        if not self.sees_bodies:
            return self
        copy = LawKernels(history=<size_t> self.history, describe=<size_t> self.describe,
                          undamped=<size_t> self.undamped, n_records=self.n_records, has_couples=self.has_couples)
        copy.functions, copy.keep, copy.sees_bodies = self.functions, self.keep, True
        return copy

    cdef object fill(self, Law *law, values):
        """Functions and parameter values; all else is zero."""
        cdef Part part
        cdef int k = 0, first = self.n_records - sum(part.n_records for part in self.parts)
        memset(law, 0, sizeof(Law))
        law.central, law.history, law.describe = self.central, self.history, self.describe
        law.n_records, law.has_couples = self.n_records, self.has_couples
        law.parameters.context, self.values = <void *> self, values
        if self.undamped != NULL:
            self.values = values[:-1]                   # without `mass`
            law.parameters.undamped, law.parameters.record = <void *> self.undamped, 4 * LANES * (self.n_records - 1)
        for part in self.parts:
            if part.rule != NULL:
                law.parameters.rule = part.rule
                continue
            law.parameters.linear |= part.linear
            law.parameters.attracts |= part.attracts
            law.parameters.parts[k].forces, law.parameters.parts[k].describe = part.forces, part.describe
            law.parameters.parts[k].first, law.parameters.parts[k].across = 4 * LANES * first, part.across
            first, k = first + part.n_records, k + 1
            law.rare_records = part.rare_records        # of the last part
        for k, value in enumerate(values):
            law.parameters.values[k] = value

    def force_at(self, double overlap, double radius, coefficients, values=(), double power=0.0):
        """Elastic normal force [N] at an overlap and an effective radius [m].

        coefficients : of the pair of materials;  values : of the parameters; both in the order of the law.
        power : p of the force k d^p, for a law with history, of which the energy is known.
        """
        cdef double force[LANES]
        cdef double[:, ::1] rows = np.zeros((COEFFICIENTS + MAX_COEFFICIENTS, LANES))
        rows[OVERLAP], rows[RADIUS] = overlap, radius
        np.asarray(rows)[COEFFICIENTS:COEFFICIENTS + len(coefficients)] = np.reshape(coefficients, (-1, 1))
        if self.central != NULL:
            self.central(<const Contact *> &rows[0, 0], force)
            return force[0]
        self.n_coefficients = len(coefficients)
        energies = self.results_at(rows, np.zeros((MAX_RECORDS, 4, LANES)), values, True)
        return (power + 1.0) / overlap * energies[NORMAL_ENERGY, 0]

    def results_at(self, contact, history, values, bint energies_only=False):
        """Rows of results, without rates, of a law with history for eight contacts: see contact.h.

        contact : rows up to the last coefficient, (rows, LANES)
        history : (n_records, 4, LANES) of the last step, replaced by the history of this one
        values : of the law's parameters, in the order of the description
        energies_only : energies at the pose instead of forces
        """
        cdef Law law
        cdef Contact given
        cdef Result result
        cdef Energies energies
        cdef double[:, ::1] rows = contact
        cdef double[:, :, ::1] records = history
        cdef int lane
        if self.history == NULL or rows.shape[1] != LANES or records.shape[0] < self.n_records:
            raise ValueError("the law has no history, or an array has another shape")
        self.fill(&law, values)
        memset(&given, 0, sizeof(given))
        memset(&result, 0, sizeof(result))
        memcpy(&given, &rows[0, 0], rows.shape[0] * sizeof(Row))
        for lane in range(LANES):
            result.goes_on[lane] = 1.0 if given.overlap[lane] > 0.0 else 0.0
        if energies_only:
            self.describe(&given, &records[0, 0, 0], &energies, &law.parameters)
        else:
            self.history(&given, &records[0, 0, 0], &result, &law.parameters)
        self.raise_error()
        return np.array(<double[:sizeof(Energies) // sizeof(Row), :LANES]> <double *> &energies) if energies_only \
            else np.array(<double[:RATES, :LANES]> <double *> &result)


cdef object set_properties(Law *law, Walls *walls, LawKernels kernels, description, values, pair_table, state):
    """Set materials and coefficients of their pairs.

    description, values : of the law, and its parameters.
    Returns the arrays that the pointers belong to.
    """
    coefficients, of_walls = pair_table.coefficients(description, values), pair_table.wall_index.astype(float)
    of_slots = np.append(state.material_index, np.int32(0)).take(state.clump_number)
    law.walls, walls.materials = walls, <const double *> pointer_to(of_walls)
    law.coefficients, law.materials = <const double *> pointer_to(coefficients), <const int *> pointer_to(of_slots)
    law.log_materials, law.n_coefficients = len(coefficients).bit_length() - 1, coefficients.shape[2]
    law.mass_of_clumps, law.shares_mass = description.mass_of_clumps(values), description.has("mass=shared", values)
    kernels.n_coefficients, law.parameters.factor = law.n_coefficients, law.n_coefficients - 1
    return [coefficients, of_slots, of_walls]


def powers_of_two(x):
    """The largest ones that are not above the positive numbers x."""
    return np.ldexp(1.0, np.frexp(x)[1] - 1)


def unit_keys(description, values, pair_table, radius):
    """Keys of the units of the sums of forces (fixed_point.pxd), by the index of the material, and their shift.

    radius : a power of two [m], without effect on the keys if the force goes with the radius or its square.
    """
    def forces(size):
        return np.array([pair_table.force_scale(description, values, size, k)
                         for k in range(len(pair_table.materials))])

    whole, bits = forces(radius), 58 if description.kernels_for(values).parts else 54   # the unit is 2^-bits of it
    shift = np.uint64(whole[0] > 3.9 * forces(0.5 * radius)[0])
    return (2.0 ** bits / powers_of_two(whole)).view(np.uint64) + (np.array([radius]).view(np.uint64) << shift), shift


def largest_sums(description, values, pair_table, radii, materials):
    """(n,) up to which the magnitudes of the forces on spheres may sum up [N], of their radii [m] and materials."""
    radii = np.ascontiguousarray(radii, dtype=float)
    keys, shift = unit_keys(description, values, pair_table, float(powers_of_two(radii.max(initial=0.0) or 1.0)))
    exponents = radii.view(np.uint64) & np.array([np.inf]).view(np.uint64)
    return 2.0 ** 62 / (keys[materials] - (exponents << shift)).view(float)


cdef object set_units(Law *law, description, values, pair_table, state):
    """Units of all sums, and the largest gap of a contact.

    The units of energies and of the forces on walls follow from the largest sphere and the stiffest material present,
    the gap from all pairs of materials. Returns an array that a pointer belongs to.

    The forces on walls are added in 128 bits, so that they have the bits that their contacts have.
    """
    radius = np.max(state.spheres[:, :, 3], initial=0.0) or 1.0
    force = max(pair_table.force_scale(description, values, float(radius), int(material))
                for material in {*state.material_index.tolist(), *pair_table.wall_index.tolist()} or {0})
    law.force_unit = powers_of_two(force) * 2.0 ** -98
    law.energy_unit = powers_of_two(force) * powers_of_two(radius) * 2.0 ** -69
    law.per_energy = 1.0 / law.energy_unit
    law.reach = description.largest_gap(pair_table.properties(PROPERTIES), values, radius)
    law.begins_at_reach = description.begins == "range"
    keys, law.unit_shift = unit_keys(description, values, pair_table, float(powers_of_two(radius)))
    law.unit_keys = <const uint64_t *> pointer_to(keys)
    return keys
