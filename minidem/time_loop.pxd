"""The time loop's own struct: all that the threads share."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.broadphase.neighbours cimport Planes
from minidem.contact.contacts cimport Contacts
from minidem.rotation.scheme cimport BlockFunction, Step
from minidem.state cimport StateView

cdef enum:
    MAX_STAGES = 8

cdef struct Loop:
    StateView state
    Planes planes
    double modulus                  # effective modulus of two clumps [Pa]
    double gravity[3]
    Step step
    BlockFunction move
    BlockFunction finish            # may be NULL
    BlockFunction predict
    int n_stages
    double fraction[MAX_STAGES]     # instant of a stage, in steps after t_n
    int n_threads
    bint contacts_matter            # False: free bodies
    Broadphase broad
    Contacts *contacts              # (n_threads,)
    void (*ask)(Loop *loop, double steps) noexcept nogil    # forces from elsewhere, added or written into the
                                    # rows at the pose that lies so many steps after the start; may be NULL
    void *owner                     # for `ask`
    long long steps_done

cdef void run_loop(Loop *loop, long long steps) noexcept nogil
