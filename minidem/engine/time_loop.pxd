"""The time loop's own struct: all that the threads share."""
from minidem.core.int_vector cimport APART
from minidem.broadphase.broadphase cimport Broadphase
from minidem.broadphase.neighbours cimport Planes
from minidem.contact.narrow_phase cimport Contacts
from minidem.rotation.scheme cimport MAX_STAGES, BlockFunction, Step
from minidem.state.state cimport StateView

cdef enum Phase:
    BLOCKS = 0                      # gather, kick, rotation, drift and pose of own blocks
    LISTS = 1                       # renewal
    CONTACTS = 2                    # narrow phase and forces on spheres
    WAITING = 3                     # for the other threads; on one thread nothing but the reading of the clock
    OUTSIDE = 4                     # Python: between two calls, order of the clumps, forces of the user
    N_PHASES = 5

ctypedef Loop *LoopPointer
ctypedef void (*Ask)(LoopPointer loop, double steps) noexcept nogil

cdef struct Loop:
    StateView state
    Planes planes
    double modulus                  # effective modulus of two clumps [Pa]
    const double *weights           # (mixtures of templates, LOAD_ROWS, LANES): loads of clumps without a contact
    Step step
    BlockFunction move
    BlockFunction finish            # may be NULL
    BlockFunction predict
    bint keeps_norm                 # the rotation scheme does, but for rounding
    int stored_orientation          # row of the orientation that it carries on; ORIENTATION if it is the pose
    long long first_step            # number of the step at which this loop began
    int n_stages
    double fraction[MAX_STAGES]     # instant of a stage, in steps after t_n
    int n_threads
    bint contacts_matter            # False: free bodies
    Broadphase broad
    Contacts *contacts              # (n_threads,)
    Ask ask                         # forces from elsewhere, added or written into the rows at the pose that lies
                                    # so many steps after the start; may be NULL
    void *owner                     # for `ask`
    double *kept_blocks             # blocks and loads when the present step began; NULL: no step calls Python
    double *kept_loads
    const bint *scheme_failed       # whether a rotation scheme written in Python has raised
    char apart[APART]               # what follows is written in every step, all else is read
    long long steps_done
    bint timed                      # whether thread 0 keeps these
    double seconds[N_PHASES]
    double lap_began                # [s]

cdef void run_loop(Loop *loop, long long steps) noexcept nogil
cdef void lap(Loop *loop, Phase phase) noexcept nogil
