"""What a contact law with history reads and writes: rows of eight numbers, one for each of eight contacts.

The law is a function of four arrays (`HistoryFunction`):

    contact     (COEFFICIENTS + coefficients of the law, LANES), read: geometry and motion of the two bodies, and
                coefficients of their materials
    history     (n_records, 4, LANES): of the last step, replaced by that of this one. All zero in a new contact
    result      (RESULT_ROWS, LANES), written: force and couple on i, and energy dissipated in this step. Before the
                call GOES_ON is 1 where OVERLAP is positive, else 0, a law that acts across a gap changes it; FRACTURE
                is 0, and a law sets it where something breaks, which is then listed (stored.pxd)
    parameters  of the law, in the order of its record

Of two spheres, i is the one with the lower number of the user, as long as the contact lasts. A contact with GOES_ON
zero ends in this step: its force is zero, and what its springs hold is dissipated.

Laws of the user, and all where clumps have fields (Fields), get BodyRows behind the coefficients and may write
rates of the fields behind the results, and behind these the amounts that a contact transfers at this pose. A flux
(`FluxFunction`) has (contact, result, rates, parameters) and writes such rates and amounts alone.
"""
from minidem.contact.fixed_point cimport SUM_PARTS, Wide

cdef enum ContactRow:
    NORMAL = 0              # 3  unit, from j to i, at the pose, lab
    MIDDLE_NORMAL = 3       # 3  along the normal half a step before the pose; its product with NORMAL is 1
    VELOCITY = 6            # 3  of i relative to j at the contact point, half a step before the pose, lab [m/s]
    ANGULAR_VELOCITY = 9    # 3  of i relative to j, likewise [rad/s]
    SPIN = 12               # mean angular velocity of i and j about NORMAL [rad/s]
    OVERLAP = 13            # at the pose [m]
    RADIUS = 14             # effective: R_i R_j / (R_i + R_j), at a plane R [m]
    MASS = 15               # effective, when the contact began (mobility.pxd) [kg]
    ROLLING_INERTIA = 16    # effective, likewise, of spheres of the clumps' masses about the contact point [kg m2]
    STEP = 17               # [s]; zero where forces are evaluated between two steps
    COEFFICIENTS = 18       # as many as the law has, of the pair of materials

cdef enum ResultRow:
    FORCE = 0               # 3  on i, lab [N]
    COUPLE = 3              # 3  on i, in addition to the moment of the force, lab [N m]
    DISSIPATED = 6          # 4  energy by damping, tangential damping, sliding, rolling [J]
    GOES_ON = 10            # 1 or 0
    FRACTURE = 11           # energy of what broke in this contact at this pose [J], else 0
    RESULT_ROWS = 12

cdef enum DescriptionRow:   # of a second function, for observables
    NORMAL_ENERGY = 0       # elastic [J]
    TANGENTIAL_ENERGY = 1
    ROLLING_ENERGY = 2
    SLIDING = 3             # 1 if the limit of friction is reached, else 0
    DESCRIPTION_ROWS = 4

cdef enum HistoryLimits:
    MAX_COEFFICIENTS = 64
    MAX_RECORDS = 13
    MAX_COMPONENTS = 8      # of all fields of a clump

cdef enum BodyRow:          # of the array `contact`
    IDS = COEFFICIENTS + MAX_COEFFICIENTS   # 2  of i and j; -1 - number of a wall
    VALUES = IDS + 2        # as many as there are components, of i, then of j
    CONTACT_ROWS = VALUES + 2 * MAX_COMPONENTS

cdef enum RateRow:          # of the array `result`
    RATES = 12              # as many as there are components, of i, then of j; amounts likewise; zero before the call
    ALL_RESULT_ROWS = RATES + 4 * MAX_COMPONENTS

ctypedef void (*HistoryFunction)(const double *contact, double *history, double *result,
                                 const double *parameters) noexcept nogil

ctypedef void (*FluxFunction)(const double *contact, const double *result, double *rates,
                              const double *parameters) noexcept nogil

cdef extern from *:
    """
    /* Inline functions of laws are always inlined: a call in the loop over eight contacts prevents vectorisation. */
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    typedef double *__restrict__ minidem_own_rows;
    """
    ctypedef double *OwnRows "minidem_own_rows"     # of an inlined function: known not to alias other arguments

cdef struct Flux:
    FluxFunction function
    const double *parameters

cdef struct Fields:                 # of clumps, as contact laws and fluxes see and change them
    int n                           # components; 0: there are no fields
    const double *ids               # (n_clumps,) by the user's number; NULL: neither law nor fluxes see the bodies
    const double *of_walls          # (n_walls, n), not a number: as the clump
    bint law_writes                 # the law is a user's own and may write rates
    int n_fluxes
    const Flux *fluxes
    Wide *sums                      # (n_blocks * LANES, n, SUM_PARTS): of the rates; NULL: contacts change no field
    Wide *amounts                   # (n_blocks * LANES, n, SUM_PARTS): of the amounts ...
    unsigned char *transfers        # ... (n_blocks,): whether those of a block may differ from zero
