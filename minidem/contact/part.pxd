"""Interface of the parts of a law with friction: normal force, friction, rolling resistance.

A law is the sum of its parts (friction.pyx). Each part is a function of eight contacts, of the form of `PartFunction`:

    contact, result, parameters     as of a HistoryFunction (rows.pxd). The normal part writes FORCE, the others add
                                    to FORCE or COUPLE; each writes its own energies
    history     the records SPRING, SLIP, DASHPOT, shared by the normal and the tangential part
    own         records of this part alone, behind those, as many as its `Part` says
    normal      (NORMAL_ROWS, LANES), written by the normal part, read by the others

A second function of the same form, for observables, has DescriptionRows as its result. Of the rows of `normal` it has
CONTACT_RADIUS and LOAD. Results are zero before the first part.
"""
from minidem.contact.rows cimport OwnRows
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, sub
from minidem.state.rows cimport store

cdef extern from *:
    """
    typedef const double *__restrict__ minidem_given_rows;
    """
    ctypedef const double *GivenRows "minidem_given_rows"       # read only; not among those written

cdef enum NormalRow:
    CONTACT_RADIUS = 0      # a at the pose [m], 1 for linear springs; 0: no contact
    OLD_RADIUS = 1          # one step ago; of a new contact that of its first instant
    STRETCHED = 2           # fraction of the step in which springs are stretched: since touch, or since LOAD was zero
    KEEPS = 3               # 1: springs go on, 0: LOAD was zero in this step, and they are gone
    DASHPOT_COEFFICIENT = 4     # c [N s/m]
    LOAD = 5                # L of the limits of friction and rolling resistance [N]
    OLD = 6                 # 0 in a new contact, else 1
    POSE_VELOCITY = 7       # 3  of i relative to j at the contact point, at the pose [m/s]
    NORMAL_ROWS = 10

cdef enum Coefficient:              # of a pair of materials, rows from COEFFICIENTS on
    STIFFNESS = 0                   # F_e = STIFFNESS a d, contact radius a; of linear springs a = 1
    DAMPING = 1                     # c = DAMPING sqrt(m* a)
    TANGENTIAL_STIFFNESS = 2        # times a [N/m]
    TANGENTIAL_DAMPING = 3          # tangential dashpot / c
    FRICTION = 4
    ROLLING_STIFFNESS = 5           # times a R*^2 [N m]
    ROLLING_FRICTION = 6
    ROLLING_DAMPING = 7             # fraction of the critical one
    ADHESION = 8                    # s = sqrt(2 pi w / E*) of parts/jkr.pyx [m^(1/2)]; with cohesion=jkr only

cdef enum Record:                   # of the history: three numbers, and a fourth one
    SPRING = 0                      # T on i [N]; contact radius a, or -a: see NormalForces.kept
    SLIP = 1                        # velocity at the contact point, half a step before the pose; normal dashpot [N]
    DASHPOT = 2                     # T_d on i [N]; F_n [N]
    FRICTION_RECORDS = 3

cdef enum Parameter:                # of both laws; others follow
    LIMIT_DAMPING = 0               # clip attraction
    FRICTION_LIMIT = 1              # 0: friction is limited by the repulsion, 1: by |F_n|
    BOND_RANGE = 2                  # largest gap of bonded spheres over the effective radius

ctypedef void (*PartFunction)(GivenRows contact, OwnRows history, OwnRows own, OwnRows normal, OwnRows result,
                              GivenRows parameters) noexcept nogil

cdef struct PartCall:
    PartFunction forces     # NULL behind the last part
    PartFunction describe
    int first               # number of the first record of its own


cdef inline OwnRows record(OwnRows history, int number) noexcept nogil:
    return history + 4 * LANES * number


cdef inline void store_record(double *history, int number, Vec3 v, double fourth) noexcept nogil:
    store(history + 4 * LANES * number, v)
    history[(4 * number + 3) * LANES] = fourth


cdef inline Vec3 predicted(Vec3 now, Vec3 last, double old) noexcept nogil:
    """Velocity at the pose by those half and one and a half steps before; old : 0 in a new contact, else 1."""
    return add_scaled(now, 0.5 * old, sub(now, last))
