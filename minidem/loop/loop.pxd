"""The struct of the time loop: all that its threads share. Modules of the time loop import it, not each other."""
from libc.stdint cimport uint64_t

from minidem.broadphase.broadphase cimport Broadphase
from minidem.contact.contact cimport MAX_COMPONENTS
from minidem.contact.fixed_point cimport Wide
from minidem.contact.law cimport Law
from minidem.contact.contacts cimport Contacts
from minidem.core.instant cimport Instant
from minidem.core.lanes cimport LANES
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

cdef struct ServoWall:              # a wall that a force moves
    long long wall
    double since                    # when it was at its centre [s]
    double center[3]                # [m]
    double velocity[3]              # that the force does not change [m/s]
    double direction[3]             # unit
    double mass, damping            # [kg], [N s/m], of one that turns [kg m2], [N m s]
    double reach                    # by which its surface moves at most per displacement
    long long driven, turns         # whether it is a md.Driven, and turns about `direction`
    long long first                 # step at which it begins: here its velocity does not lag
    long long axes[2]               # across
    long long beside[2][2]          # walls at the low and high end of each; the number of walls, which is at rest: none
    double distances[2]             # of these without their displacements [m]; 1 where a load is a force

cdef struct ServoState:             # of a wall at a whole step, along the direction of its force
    double displacement             # [m], [rad] about it
    double velocity                 # half a step before [m/s], [rad/s]

cdef struct BoxState:               # at a whole step; Snapshot.box_state has its ten numbers
    double strain[3]                # logarithmic
    double shift                    # displacement of the image across, in lengths of the flow axis
    double shear                    # shear strain
    double path                     # of the strain, on which the lists depend
    double rate[3]                  # of the logarithmic strains in the step before, 0 before the first one [1/s]
    double shear_rate               # of the shear strain in the step before, 0 before the first one [1/s]

cdef struct BoxSpec:                # of a PeriodicBox
    double dt                       # [s]
    double start[3]                 # lengths before the first step, also of open axes [m]
    double low[3]
    double least[3]                 # lengths above which the box is long enough for the clumps [m]
    double pressure[3]              # of axes under a Pressure, else 0 [Pa]
    double time[3]                  # of axes under a Pressure, else 0 [s]
    double damping[3]
    long long first                 # step at which the Pressures begin ...
    double begins[3]                # ... with these rates of the logarithmic strains [1/s]
    bint moves
    bint periodic[3]
    bint stretches[3]               # the length changes
    int flow, across                # axes of the shear; 0, 1 without
    bint affine

cdef struct Course:                 # of walls and box (schedule.pyx): entries for a step and each half step after it
    long long first                 # number of this step
    Py_ssize_t walls, boxes         # poses in an entry; 0: none moves, and there is one entry
    WallPose *wall_poses            # (entries, walls)
    const double *path              # (entries,): bound of the distance that any surface has moved [m] ...
    double servo_path               # ... and by forces
    BoxPose *box_poses              # (entries,); NULL: no axis is periodic
    bint steered                    # forces move some of this
    int n_servos, n_sums
    const ServoWall *servos         # (n_servos,)
    const double *loads             # (steps, n_servos): Servo.loads
    double top_speed                # of these walls [m/s]
    ServoState *servo_states        # (steps + 1, number of walls)
    const BoxSpec *box
    BoxState *box_states            # (steps + 1,)
    bint presses                    # an axis of the box is under a pressure
    double *rates                   # (steps, 4): see advance_box
    Wide *sums                      # (threads, n_sums): see add_steering_forces

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
    const unsigned char *started    # (n_clumps,): velocities are half a step behind the pose
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
    loop.contacts[thread].walls.path = course.path[entry if course.walls else 0] + course.servo_path
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
