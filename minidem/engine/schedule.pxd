"""The schedule of walls and periodic box."""
from minidem.core.guard cimport Guard
from minidem.engine.loop cimport Course, Loop
from minidem.state.box_motion cimport BoxMotion
from minidem.walls.wall_table cimport WallElements

cdef class Schedule:
    cdef Course course              # of the present run; the loop points to it
    cdef WallElements walls         # None: free bodies
    cdef BoxMotion box              # None: no axis is periodic
    cdef Guard guard
    cdef double dt
    cdef long long first, known     # step at which the arrays begin, and for how many steps poses are known
    cdef object poses, travel, box_poses, box_states, rates, servo_states, servos, sums     # what the course points to
    cdef long long prepare(self, Loop *loop, long long steps) except -1
    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps)
    cdef object point_to(self, Loop *loop, long long step)

cdef bint steer(Loop *loop, int thread, long long n) noexcept nogil
