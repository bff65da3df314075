"""The struct of the time loop: all that its threads share. Modules of the time loop import it, not each other."""
from minidem.broadphase.broadphase cimport Broadphase
from minidem.contact.law cimport Law
from minidem.contact.contacts cimport Contacts
from minidem.core.instant cimport Instant
from minidem.core.vectors cimport LINE_PAIR
from minidem.rotation.scheme cimport MAX_STAGES, SchemeFunction, Step
from minidem.state.periodic_box cimport BoxPose
from minidem.state.rows cimport WrenchBlock
from minidem.state.state cimport StateView
from minidem.walls.surface cimport WallPose, Walls

ctypedef Loop *LoopPointer
# A phase of a step, which all threads go through; own : what belongs to the phase. False, for all threads: something
# has failed, and the run ends.
ctypedef bint (*PhaseFunction)(LoopPointer loop, int thread, Instant *now, void *own) noexcept nogil

cdef enum:
    MAX_PHASES = 24

cdef struct Phase:
    const char *name
    PhaseFunction run
    void *own

cdef struct Course:                 # of walls and box (steering.pyx): entries for a step and each half step after it
    long long first                 # number of this step
    Py_ssize_t walls, boxes         # poses in an entry; 0: none moves, and there is one entry
    WallPose *wall_poses            # (entries, walls)
    double *path                    # (entries,): bound of the distance that any surface has moved [m]
    BoxPose *box_poses              # (entries,); NULL: no axis is periodic

# Of clumps that are held, block by block: which part of a wrench moves them, and how they follow pins and walls.
ctypedef const WrenchBlock *(*RestrainFunction)(const StateView *state, Py_ssize_t block, const WrenchBlock *wrench,
                                                WrenchBlock *room) noexcept nogil
ctypedef void (*FollowFunction)(const StateView *state, Py_ssize_t block, const double *old, double dt,
                                const WallPose *walls, Py_ssize_t n_walls) noexcept nogil

cdef struct Loop:
    StateView state
    Law law                         # of all contacts
    Walls *walls
    Course *course
    const WrenchBlock *body_force   # (block types,): wrench of clumps without a contact
    RestrainFunction restrain       # NULL: no clump is held
    FollowFunction follow
    Step step
    SchemeFunction scheme
    int roles                       # bits 1 << role of the functions that the scheme has
    bint keeps_norm                 # the rotation scheme conserves the norm of quaternions, except for rounding
    bint checks_rotation            # it is a user's own
    int stored_orientation          # first scratch row of the orientation that the scheme integrates; -1: the pose
    long long first_step            # number of the step at which this loop began
    int n_stages
    double fraction[MAX_STAGES]     # instant of each stage, in steps after t_n
    int n_threads
    bint has_contacts               # False: free bodies
    Phase phases[MAX_PHASES]        # of a step, in their order: phases.pyx
    int n_phases
    bint stores_wrenches            # something reads the wrenches of a step before the next move of the clumps
    Broadphase broad
    Contacts *contacts              # (n_threads,)
    const bint *scheme_failed       # a rotation scheme written in Python has raised
    const bint *law_failed          # a contact law written in Python has raised
    char padding[LINE_PAIR]               # members above are read in each step, members below are written
    long long steps_done

cdef inline void place(Loop *loop, int thread, Py_ssize_t entry) noexcept nogil:
    """Place walls and box of a thread as in an entry of the course."""
    cdef const Course *course = loop.course
    loop.contacts[thread].walls.now = course.wall_poses + entry * course.walls
    loop.contacts[thread].walls.path = course.path[entry if course.walls else 0]
    loop.contacts[thread].own_law.box = course.box_poses + entry * course.boxes


cdef inline const WrenchBlock *restrained(const Loop *loop, Py_ssize_t block, const WrenchBlock *wrench,
                                          WrenchBlock *room) noexcept nogil:
    """The part of the wrenches of a block that moves its clumps."""
    return wrench if loop.restrain == NULL else loop.restrain(&loop.state, block, wrench, room)


cdef inline double since_last_pose(const Loop *loop, const Instant *now) noexcept nogil:
    """Fraction of the step."""
    return now.fraction - (loop.fraction[now.stage - 1] if now.stage > 0 else 0.0)


cdef inline double steps_since_start(const Loop *loop, const Instant *now) noexcept nogil:
    """Of a pose, since the loop was made."""
    return (now.step - 1 - loop.first_step) + now.fraction


# Phases: see loop.pyx
cdef bint move(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint stay(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint join(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint search(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint begin(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint find_forces(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint exchange(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint reduce(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef bint finish(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
cdef void run_loop(Loop *loop, long long steps, bint between) noexcept nogil
cdef int full_team(int n_threads) noexcept nogil
