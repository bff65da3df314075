"""Interface between a contact law and the time loop: compiled functions of eight contacts.

A law without history is central: its force is a function of overlap, effective radius and coefficients of the materials
(laws/NAME.pyx). All others are functions of the geometry and motion of the contacts, of their history, and of
coefficients and parameters (contact.h). evaluate.pyx evaluates them all.

A formula must read its numbers unconditionally: a loop over eight contacts with a conditional read is not vectorised.
"""
from libc.stdint cimport uint64_t

from minidem.contact.contact cimport Contact, Energies, Result
from minidem.contact.part cimport LawParameters, PartEnergies, PartFunction, StretchRule
from minidem.core.external cimport External
from minidem.state.periodic_box cimport BoxPose
from minidem.state.state cimport StateView, clump_of
from minidem.walls.surface cimport Walls

# Of a contact, force : magnitudes (LANES,) along the normals [N]. Overlap, radius and coefficients are given.
ctypedef void (*CentralFunction)(const Contact *contact, double *force) noexcept nogil
# Replaces the history (n_records, 4, LANES) of the last step by the history of this one. Of the result, goes_on and
# fracture are set before: see contact.h. Energies are for observables, not for the step.
ctypedef void (*HistoryFunction)(const Contact *contact, double *history, Result *result,
                                 const LawParameters *parameters) noexcept nogil
ctypedef void (*EnergyFunction)(const Contact *contact, double *history, Energies *energies,
                                const LawParameters *parameters) noexcept nogil

ctypedef Law *LawPointer
# What a law or a flux of a user reads besides: ids and fields of both bodies. i, j : (LANES,), see gather_contacts.
ctypedef void (*BodiesFunction)(const LawPointer law, const StateView *state, const int *i, const int *j, bint walls,
                                Contact *contact) noexcept nogil

cdef struct Law:                        # all that a force depends on, in addition to the spheres
    CentralFunction central             # of a law without history
    HistoryFunction history             # of a law with history
    EnergyFunction describe
    LawParameters parameters
    const Walls *walls
    const BoxPose *box                  # periodic, at the pose of this thread: see periodic_box.pxd; NULL: none
    double power                        # p of the force k d^p
    double energy_factor                # elastic energy / (force * overlap)
    double dt                           # [s]
    int n_records                       # of its history
    int rare_records                    # the last ones, which few contacts have; 0 without bonds
    bint has_couples                    # it exerts couples
    double reach                        # largest gap at which a contact may exist [m]
    bint begins_at_reach                # a contact begins there, else at touch
    bint mass_of_clumps                 # the effective mass is of the clumps, without their rotation
    bint shares_mass                    # mass=shared, see shared_mass.pyx
    const int *materials                # (n_blocks * LANES,) of the clumps by slot
    int log_materials                   # 0: one material; a pair a, b has the number (a << log_materials) + b
    int n_coefficients                  # a multiple of 4
    const double *coefficients          # (pairs, n_coefficients)
    double energy_unit, per_energy      # of the sums of energies, a power of two [J], and its inverse
    double force_unit                   # of the sums of the forces on walls, a power of two [N]
    const uint64_t *unit_keys           # (n_materials,) of the sums of the forces on spheres, and ...
    int unit_shift                      # ... their shift: see fixed_point.pxd
    BodiesFunction load_bodies          # NULL: neither the law nor a flux of a user sees the bodies
    const void *fields                  # what it reads


cdef class Part:
    cdef PartFunction forces
    cdef PartEnergies describe
    cdef StretchRule rule
    cdef readonly int n_records, rare_records
    cdef readonly bint has_couples, is_normal, linear, attracts
    cdef readonly tuple needs, reads
    cdef readonly dict parameters, excludes
    cdef readonly object coefficients, reach


cdef class LawKernels(External):
    cdef CentralFunction central
    cdef HistoryFunction history
    cdef EnergyFunction describe
    cdef HistoryFunction undamped       # of a user's law with a dashpot: without it
    cdef readonly tuple parts
    cdef readonly int n_records
    cdef public int n_coefficients      # of the law with its materials, known when it is used
    cdef readonly bint has_couples
    cdef public bint sees_bodies        # it is a user's own
    cdef public object fields           # (name, first component, components) of each field; None: not in a time loop
    cdef public int n_components        # of all fields
    cdef object fill(self, Law *law, values)


cdef inline int pair_of(const Law *law, const StateView *state, int i, int j) noexcept nogil:
    """Number of the pair of materials of a sphere i, and another one or -1 - primitive of a wall."""
    return (law.materials[clump_of(state, i)] << law.log_materials) + (
        law.materials[clump_of(state, j)] if j >= 0
        else <int> law.walls.materials[law.walls.wall_of[-1 - j]])


cdef object set_units(Law *law, description, values, pair_table, state)
cdef object set_properties(Law *law, Walls *walls, LawKernels kernels, description, values, pair_table, state)
