"""What contact laws and fluxes read and write, eight contacts at a time (contact.h)."""
from minidem.core.lanes cimport LANES
from minidem.core.vec3 cimport Vec3, vec3

cdef enum:
    MAX_COEFFICIENTS = 64
    CENTRAL_COEFFICIENTS = 4    # of a law without history
    MAX_RECORDS = 16        # of a history

cdef extern from "contact/contact.h" nogil:
    enum:
        MAX_COMPONENTS "MINIDEM_MAX_COMPONENTS"     # of all fields of a clump
    ctypedef double Row "minidem_lanes"[LANES]
    ctypedef struct Contact "minidem_contact":
        Row normal[3]
        Row middle_normal[3]
        Row velocity[3]
        Row angular_velocity[3]
        Row spin, overlap, radius, mass, rolling_inertia, step
        Row coefficients[MAX_COEFFICIENTS]
        Row ids[2]
        Row values[2 * MAX_COMPONENTS]
    ctypedef struct Result "minidem_result":
        Row force[3]
        Row couple[3]
        Row dissipated[4]
        Row goes_on, fracture
        Row rates[4 * MAX_COMPONENTS]
    ctypedef struct Energies "minidem_energies":
        Row normal_energy, tangential_energy, rolling_energy, sliding

cdef extern from *:
    """
    /* Inline functions of laws are always inlined: a call in the loop over eight contacts prevents vectorisation. */
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    typedef const minidem_contact *__restrict__ minidem_given_contact;
    typedef minidem_contact *__restrict__ minidem_own_contact;
    typedef minidem_result *__restrict__ minidem_own_result;
    typedef minidem_lanes *__restrict__ minidem_own_rows;
    typedef double *__restrict__ minidem_own_numbers;
    """
    # Arguments that are known not to alias each other.
    ctypedef const Contact *GivenContact "minidem_given_contact"
    ctypedef Contact *OwnContact "minidem_own_contact"
    ctypedef Result *OwnResult "minidem_own_result"
    ctypedef Row *OwnRows "minidem_own_rows"
    ctypedef double *OwnNumbers "minidem_own_numbers"

cdef struct SideBlock:                 # of eight contacts: one of their two sides
    double sphere[4 * LANES]        # centre [m] and radius [m]
    double motion[8 * LANES]        # of a law with history, as in StateView: half a step before the pose


cdef inline Vec3 load3(const Row *rows, int lane) noexcept nogil:
    return vec3(rows[0][lane], rows[1][lane], rows[2][lane])


cdef inline void store3(Row *rows, int lane, Vec3 v) noexcept nogil:
    rows[0][lane], rows[1][lane], rows[2][lane] = v.x, v.y, v.z
