"""Coefficients, parameters and history of laws with friction, and the velocity at the pose."""
from minidem.contact.rows cimport OwnRows
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, add_scaled, sub
from minidem.state.rows cimport store

cdef extern from *:
    """
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    """

cdef enum Coefficient:              # of a pair of materials, rows from COEFFICIENTS on
    STIFFNESS = 0                   # F_e = STIFFNESS a d, contact radius a; of linear springs a = 1
    DAMPING = 1                     # c = DAMPING sqrt(m* a)
    TANGENTIAL_STIFFNESS = 2        # times a [N/m]
    TANGENTIAL_DAMPING = 3          # tangential dashpot / c
    FRICTION = 4
    ROLLING_STIFFNESS = 5           # times a R*^2 [N m]
    ROLLING_FRICTION = 6
    ROLLING_DAMPING = 7             # fraction of the critical one

cdef enum Record:                   # of the history: three numbers, and a fourth one
    SPRING = 0                      # T on i [N]; contact radius a, or -a: see NormalForces.kept
    SLIP = 1                        # velocity at the contact point, half a step before the pose; normal dashpot [N]
    DASHPOT = 2                     # T_d on i [N]; F_n [N]
    FRICTION_RECORDS = 3

cdef enum Parameter:                # of both laws; others follow
    LIMIT_DAMPING = 0               # clip attraction
    FRICTION_LIMIT = 1              # 0: friction is limited by the repulsion, 1: by |F_n|


cdef inline OwnRows record_of(OwnRows history, int number) noexcept nogil:
    return history + 4 * LANES * number


cdef inline const double *record(const double *history, int number) noexcept nogil:
    return history + 4 * LANES * number


cdef inline void store_record(double *history, int number, Vec3 v, double fourth) noexcept nogil:
    store(history + 4 * LANES * number, v)
    history[(4 * number + 3) * LANES] = fourth


cdef inline Vec3 predicted(Vec3 now, Vec3 last, double old) noexcept nogil:
    """Velocity at the pose by those half and one and a half steps before; old : 0 in a new contact, else 1."""
    return add_scaled(now, 0.5 * old, sub(now, last))
