"""User forces in the time loop, and its two phases."""
from libc.stdint cimport uint64_t

from minidem.contact.contact cimport MAX_COMPONENTS
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.fields.rates cimport FieldPass, FieldRates
from minidem.loop.loop cimport Loop
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport State

cdef extern from "forces/user_force.h" nogil:
    enum:
        MAX_RANDOM "MINIDEM_MAX_RANDOM"
    ctypedef struct Clumps "minidem_clumps":        # eight clumps, as a compiled user force sees them
        double position[3 * LANES]
        double velocity[3 * LANES]
        double orientation[4 * LANES]
        double angular_velocity[3 * LANES]
        double mass[LANES]
        double id[LANES]
        double values[(MAX_COMPONENTS + MAX_RANDOM) * LANES]
    ctypedef struct Wrenches "minidem_wrenches":
        double force[3 * LANES]
        double torque[3 * LANES]
        double rates[MAX_COMPONENTS * LANES]


ctypedef void (*ForceFunction)(const double *time, const Clumps *clumps, Wrenches *wrenches,
                               const double *parameters) noexcept nogil

cdef struct UserForce:              # compiled
    ForceFunction function
    const double *parameters
    uint64_t seed                   # of its random numbers for a clump in a step
    int n_random

cdef struct ForceBlock:             # what user forces need of the clumps of a block, besides their motion
    double template_frame[4 * LANES]    # quaternions, template frame -> principal frame
    double mass[LANES]
    double id[LANES]
    WrenchBlock others              # without user forces
    WrenchBlock last                # from which velocities were predicted

cdef struct ForcePass:
    void *owner                     # the ForceCalls
    bint calls                      # False: the forces at this pose are known
    bint calls_python
    int n_forces
    const UserForce *functions      # (n_forces,), compiled
    ForceBlock *blocks              # (n_blocks,); NULL: free bodies, whose wrenches a function in Python writes
    int corrections                 # of the velocities that forces see: calls in each step but the first
    bint last_call                  # of the function in Python, in a step
    const long long *shifts         # (n_clumps, 3): State.shift, in a periodic box
    FieldPass fields                # a copy; all zero: there are none


cdef class ForceCalls:
    cdef Loop *loop
    cdef ForcePass own
    cdef list arrays
    cdef object function
    cdef void *driver
    cdef object error
    cdef readonly object blocks
    cdef object attach(self, Loop *loop, function, driver)
    cdef object bind(self, State state, user_forces, ids, FieldRates fields, bint checks)
    cdef object take_error(self)
    cdef object check(self, parameters)


cdef bint predict_rates(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint add_user_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
