"""Parts of a law with friction, normal force, friction, bridges, bonds and so on: interface, and what they share.

A law is the sum of its parts (friction.pyx). Each part is a function of eight contacts, of the form of `PartFunction`:

    contact, result, parameters     as of a law (law.pxd). The normal part writes the force, the others add to force or
                                    couple; each writes its own energies
    history     of the normal part and friction, which share it
    own         history of this part alone, behind that, as many records as its `Part` says
    normal      written by the normal part, read by the others

A second function, for observables, writes energies. Of `normal` it has the contact radii, equal, and the load. Results
are zero before the first part.
"""
from minidem.contact.contact cimport Energies, GivenContact, OwnNumbers, OwnResult, Row, load3, store3
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, cross, dot, scale, sub

cdef enum:
    MAX_PARAMETERS = 32
    MAX_PARTS = 6

cdef enum:                          # of a pair of materials, in contact.coefficients
    STIFFNESS = 0                   # F_e = STIFFNESS a d, contact radius a; of linear springs a = 1
    DAMPING = 1                     # c = DAMPING sqrt(m* a)
    TANGENTIAL_STIFFNESS = 2        # times a [N/m]
    TANGENTIAL_DAMPING = 3          # tangential dashpot / c
    FRICTION = 4
    ROLLING_STIFFNESS = 5           # times a R*^2 [N m]
    ROLLING_FRICTION = 6
    ROLLING_DAMPING = 7             # fraction of the critical one
    LOADING = 8                     # k / k_2 of parts/plastic.pyx
    ADHESION = 8                    # s = sqrt(2 pi w / E*) of parts/jkr.pyx [m^(1/2)]; 0 without cohesion
    ADHESIVE_STIFFNESS = 9          # k_c of parts/plastic.pyx [N/m]
    BRIDGE_PULL = 9                 # of a liquid bridge at touch, or of DMT, over R* [N/m]; 0: none
    BRIDGE_SHORTNESS = 10           # sqrt(2 / V), times sqrt(R*): 1 over the gap where the pull falls [1/m]
    BRIDGE_END = 11                 # gap at which it ruptures [m]
    STATIC_FRICTION = 12            # of contacts that stick, not below FRICTION
    MODEL = 13                      # the first parameter of the tangential model of its own; others follow

cdef enum:                          # of both laws; others follow
    LIMIT_DAMPING = 0               # clip attraction
    FRICTION_LIMIT = 1              # 0: friction is limited by the repulsion, 1: by |F_n|
    BOND_RANGE = 2                  # largest gap of bonded spheres over the effective radius
    MOBILISED_DAMPING = 3           # fraction of the rolling dashpot that acts in addition to the limit

cdef struct Normal "minidem_normal":    # what the normal part tells the others
    Row contact_radius              # a at the pose [m], 1 for linear springs; 0: no contact
    Row old_radius                  # one step ago; of a new contact at its first instant
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

cdef struct NormalForces:           # of eight contacts: what normal parts compute
    Row rate                        # approach velocity at the pose
    Row elastic                     # F_e [N]
    Row damping                     # c * rate: normal dashpot [N]
    Row force                       # F_n [N]
    Row kept                        # contact radius for the history; negative if the damping until lift-off has acted

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
# neither the force of a spring nor its slip. For energies it is called with both radii at the pose, and of
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
    bint across                     # it acts across gaps; such parts come last

cdef struct LawParameters:          # what a law gets as its parameters; a user's law knows the first member
    double values[MAX_PARAMETERS]   # in the order of the description
    void *context                   # the LawKernels, for external_law.pyx
    StretchRule rule                # of friction
    bint linear, attracts           # contact radii are 1; plastic contacts attract
    PartCall parts[MAX_PARTS + 1]   # of a law that is composed of them
    void *undamped                  # of a user's law with a dashpot (external_law.pyx): its own HistoryFunction, ...
    Py_ssize_t record, factor       # ... double of the history where the dashpot's own begins, and its coefficient


cdef inline Vec3 predicted(Vec3 now, Vec3 last, double old) noexcept nogil:
    """Velocity at the pose by those half and one and a half steps before; old : 0 in a new contact, else 1."""
    return add_scaled(now, 0.5 * old, sub(now, last))


cdef inline double most_across(GivenContact contact, int lane) noexcept nogil:
    """Bound of the mass of dashpots across the normal, times R*^2 [kg m2].

    Near a hinge clumps hardly approach each other, and yet slide: there the mass of the contact counts for the normal
    dashpot only. It is below this bound for all clumps that are free, of which it is ten times the mass or more.
    """
    return 10.0 / 1.4 * contact.rolling_inertia[lane]


cdef inline double positive(double x, double instead) noexcept nogil:
    return x if x > 0.0 else instead


cdef inline Vec3 flat(Vec3 v, Vec3 normal, Vec3 middle) noexcept nogil:
    """Into the plane of the normal."""
    return add_scaled(v, -dot(v, normal), middle)


cdef inline Vec3 turned(Vec3 old, Vec3 stretched, Vec3 normal, Vec3 middle, double turn) noexcept nogil:
    """A spring after a step: the old one, turned with the contact and by `turn` about it, and what was added."""
    cdef Vec3 sum = flat(add_scaled(stretched, 1.0 - 0.5 * turn * turn, old), normal, middle)
    return add_scaled(sum, turn, cross(normal, flat(add_scaled(old, 0.5, stretched), normal, middle)))


cdef inline double mean_over_step(double part) noexcept nogil:
    """Mean of d^(1/4) over overlap * (1 +- part), divided by its value at overlap: a series, within 1 % at part = 1."""
    cdef double square = part * part
    square = square if square < 1.0 else 1.0
    return 1.0 - square * (1.0 / 32.0 + 77.0 / 10240.0 * square)


cdef inline double load_of(double force, double by_magnitude) noexcept nogil:
    """L of the limits mu L of friction and mu_r R* L of rolling resistance [N], of a normal force."""
    return force if force > 0.0 else -force * by_magnitude + 0.0        # never -0.0


cdef inline bint lifts_off(double overlap, double mass, double step, double rate, double force) noexcept nogil:
    """Whether the contact will have ended at the next pose, by its own force."""
    return mass * (overlap + step * rate) <= 0.5 * step * step * force


cdef inline void restart_spring(OwnNormal normal, double now, double last, int lane) noexcept nogil:
    """If the force that limits friction changed its sign in this step; now, last : at the pose, one step ago [N]."""
    cdef bint changed = now * last < 0.0
    normal.stretched[lane] *= now / (now - last) if changed else 1.0
    normal.keeps[lane] = 0.0 if changed else 1.0


cdef inline void store_normal(GivenContact contact, OwnFriction history, OwnResult result,
                              const NormalForces *forces) noexcept nogil:
    """Force, energy dissipated by the dashpot, and history."""
    cdef Vec3 u
    cdef int lane
    for lane in range(LANES):
        u = load3(contact.velocity, lane)
        result.dissipated[0][lane] = -0.5 * contact.step[lane] \
            * (history.damping[lane] + forces.damping[lane]) \
            * dot(u, load3(contact.middle_normal, lane))
        store3(result.force, lane, scale(forces.force[lane], load3(contact.normal, lane)))
        history.radius[lane] = forces.kept[lane]
        store3(history.slip, lane, u)
        history.damping[lane] = forces.damping[lane]
        history.normal_force[lane] = forces.force[lane]
