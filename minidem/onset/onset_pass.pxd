"""The onset pass of a time loop, and its two phases."""
from minidem.contact.contacts cimport GROUPS, WALLS
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
from minidem.core.vectors cimport LINE_PAIR, DoubleVector, IntVector
from minidem.loop.loop cimport Loop
from minidem.onset.formula cimport ZETA_TERMS, OnsetConstants

cdef struct ClumpMotions:           # of the clumps of a block, or of their pins, at the instant of the pose
    double velocity[3 * LANES]              # lab [m/s]
    double acceleration[3 * LANES]          # lab [m/s2]
    double angular_velocity[3 * LANES]      # principal frame [rad/s]
    double angular_acceleration[3 * LANES]  # principal frame [rad/s2]

cdef struct NearOnset:              # what a thread has found at this pose
    double begins, ends             # overlap / normal speed below which a contact may begin, end within a step [s]
    IntVector lanes[GROUPS]         # of these contacts
    DoubleVector forces[GROUPS]     # their corrections [N]
    char padding[LINE_PAIR]

cdef struct OnsetPass:
    OnsetConstants constants
    NearOnset *near                 # (n_threads,)
    ClumpMotions *motions           # (n_blocks,), where contacts may begin or end
    unsigned char *marks            # (n_blocks,): a contact of a clump may begin or end
    unsigned char any               # whether there is one
    const unsigned char *started    # (n_clumps,), between steps: velocities are half a step behind the pose


cdef class OnsetCorrection:
    cdef Loop *loop
    cdef int n_threads
    cdef OnsetPass own
    cdef object started                 # to which `own` points
    cdef object attach(self, Loop *loop, double power)
    cdef object listed(self)
    cdef object prepare(self, started)
    cdef object take(self, known, clumps)
    cdef object take_of_thread(self, int thread, by_pair, const unsigned char *clumps)


cdef bint mark_onsets(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint add_onset_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
