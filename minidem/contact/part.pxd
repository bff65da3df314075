"""Interface of the parts of a law with friction: normal force, friction, rolling resistance, bonds.

A law is the sum of its parts (friction.pyx). Each part is a function of eight contacts, of the form of `PartFunction`:

    contact, result, parameters     as of a law (law.pxd). The normal part writes the force, the others add to force or
                                    couple; each writes its own energies
    history     of the normal part and friction, which share it
    own         history of this part alone, behind that, as many records as its `Part` says
    normal      written by the normal part, read by the others

A second function, for observables, writes energies. Of `normal` it has the contact radii, equal, and the load. Results
are zero before the first part.
"""
from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, sub

cdef enum:
    MAX_PARAMETERS = 16
    MAX_PARTS = 4

cdef enum:                          # of a pair of materials, in contact.coefficients
    STIFFNESS = 0                   # F_e = STIFFNESS a d, contact radius a; of linear springs a = 1
    DAMPING = 1                     # c = DAMPING sqrt(m* a)
    TANGENTIAL_STIFFNESS = 2        # times a [N/m]
    TANGENTIAL_DAMPING = 3          # tangential dashpot / c
    FRICTION = 4
    ROLLING_STIFFNESS = 5           # times a R*^2 [N m]
    ROLLING_FRICTION = 6
    ROLLING_DAMPING = 7             # fraction of the critical one
    ADHESION = 8                    # s = sqrt(2 pi w / E*) of parts/jkr.pyx [m^(1/2)]; 0 without cohesion
    MODEL = 9                       # the first parameter of the tangential model of its own; others follow

cdef enum:                          # of both laws; others follow
    LIMIT_DAMPING = 0               # clip attraction
    FRICTION_LIMIT = 1              # 0: friction is limited by the repulsion, 1: by |F_n|
    BOND_RANGE = 2                  # largest gap of bonded spheres over the effective radius

cdef struct Normal "minidem_normal":    # what the normal part tells the others
    Row contact_radius              # a at the pose [m], 1 for linear springs; 0: no contact
    Row old_radius                  # one step ago; of a new contact that of its first instant
    Row stretched                   # fraction of the step in which springs are stretched: since touch or load = 0
    Row keeps                       # 1: springs persist, 0: the load was zero in this step, and they are gone
    Row dashpot                     # c [N s/m]
    Row load                        # L of the limits of friction and rolling resistance [N]
    Row old                         # 0 in a new contact, else 1
    Row pose_velocity[3]            # of i relative to j at the contact point, at the pose [m/s]

cdef struct FrictionHistory "minidem_friction_history":     # three records
    Row spring[3]                   # T on i [N]
    Row radius                      # contact radius a, or -a: see NormalForces.kept
    Row slip[3]                     # velocity at the contact point, half a step before the pose [m/s]
    Row damping                     # normal dashpot [N]
    Row dashpot[3]                  # T_d on i [N]
    Row normal_force                # F_n [N]

cdef struct Stretch "minidem_stretch":      # what a step does to springs
    Row kept                        # factor of the old force
    Row added                       # new force / (stiffness * displacement of the step), with the stiffness as passed
    Row compliance_old              # elastic energy / force^2, one step ago ...
    Row compliance                  # ... and now

cdef extern from *:
    """
    typedef struct minidem_normal *__restrict__ minidem_own_normal;
    typedef const struct minidem_normal *__restrict__ minidem_given_normal;
    typedef struct minidem_friction_history *__restrict__ minidem_own_friction;
    typedef struct minidem_stretch *__restrict__ minidem_own_stretch;
    """
    ctypedef Normal *OwnNormal "minidem_own_normal"
    ctypedef const Normal *GivenNormal "minidem_given_normal"
    ctypedef FrictionHistory *OwnFriction "minidem_own_friction"
    ctypedef Stretch *OwnStretch "minidem_own_stretch"

cdef struct LawParameters           # see below

# How the stiffness of springs follows the contact radii one step ago and now, which are in `normal`. The stiffness is
# in N/m^2, or in N/m if a is no part of it. Results are finite where a radius or the stiffness is zero. A rule sees
# neither the force of a spring nor its slip. For energies it is called with both radii those of the pose, and of
# `normal` only the radii and the load are set.
ctypedef void (*StretchRule)(GivenContact contact, const double *stiffness, GivenNormal normal,
                             OwnStretch stretch) noexcept nogil
ctypedef void (*PartFunction)(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                              OwnResult result, const LawParameters *parameters) noexcept nogil
ctypedef void (*PartEnergies)(GivenContact contact, OwnFriction history, OwnNumbers own, OwnNormal normal,
                              Energies *energies, const LawParameters *parameters) noexcept nogil

cdef struct PartCall:
    PartFunction forces             # NULL behind the last part
    PartEnergies describe
    Py_ssize_t first                # double of the history where its own begins

cdef struct LawParameters:          # what a law gets as its parameters; a user's law knows the first member
    double values[MAX_PARAMETERS]   # in the order of the description
    void *context                   # the LawKernels, for external_law.pyx
    StretchRule rule                # of friction
    PartCall parts[MAX_PARTS + 1]   # of a law that is composed of them


cdef inline Vec3 predicted(Vec3 now, Vec3 last, double old) noexcept nogil:
    """Velocity at the pose by those half and one and a half steps before; old : 0 in a new contact, else 1."""
    return add_scaled(now, 0.5 * old, sub(now, last))
