"""Walls that forces move: with a Servo or a Driven."""
from minidem.contact.fixed_point cimport Wide, rounded_wide
from minidem.core.vec3 cimport Vec3
from minidem.loop.loop cimport Course, Loop
from minidem.walls.surface cimport WallPose

cdef enum:                          # sums for each wall that a force moves
    FORCE = 0                       # on clumps, by contacts with the wall
    MOMENT = 3                      # about the centre of the wall
    RESISTS = 6                     # of contacts with the wall and with clumps that it carries
    CARRIED_LOAD = 7                # minus forces, or moments where it turns, on clumps that it carries
    SERVO_SUMS = 10

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

cdef struct Servos:
    int n
    const ServoWall *walls          # (n,)
    const double *loads             # (steps, n): Servo.loads
    ServoState *states              # (steps + 1, number of walls) from the first step of the course on
    double top_speed                # of these walls [m/s]
    double path                     # bound of the distance that they have moved since the first step of the course [m]


cdef inline int servo_of(const Servos *servos, int wall) noexcept nogil:
    """Number of the servo that moves a wall; -1: none."""
    cdef int m
    for m in range(servos.n):
        if servos.walls[m].wall == wall:
            return m
    return -1


cdef inline void add_vector(Vec3 v, double unit, Wide *sums) noexcept nogil:
    """Add a vector to three sums."""
    sums[0] += rounded_wide(v.x / unit)
    sums[1] += rounded_wide(v.y / unit)
    sums[2] += rounded_wide(v.z / unit)


cdef void place_servo(const ServoWall *servo, double time, double along, double speed, WallPose *pose) noexcept nogil
cdef double area_of(const Course *course, const Servos *servos, long long n, int m) noexcept nogil
cdef double accelerated(const Loop *loop, const Servos *servos, int m, const Wide *sums, double speed, double force,
                        double span) noexcept nogil
cdef void add_carried(const Loop *loop, int thread, const Servos *servos, Wide *sums) noexcept nogil
cdef Wide work_of_servos(const Loop *loop, const Servos *servos, const Wide *sums, long long n) noexcept nogil
cdef void advance_servos(Loop *loop, Servos *servos, const Wide *sums, long long n) noexcept nogil
