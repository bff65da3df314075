"""The schedule of walls and periodic box."""
from minidem.core.guard cimport Guard
from minidem.core.instant cimport Instant
from minidem.loop.loop cimport BoxSpec, Course, Loop
from minidem.walls.wall_table cimport WallPrimitives

cdef class Schedule:
    cdef Course course                  # the loop points to it
    cdef BoxSpec spec
    cdef WallPrimitives walls             # None: free bodies
    cdef object box, clumps             # PeriodicBox or None: no axis is periodic; State
    cdef Guard guard
    cdef long long known                # steps of the course for which poses are known
    cdef object servo_states, box_states, arrays        # what the course points to
    cdef long long prepare(self, Loop *loop, long long steps) except -1
    cdef object specify_box(self)
    cdef object speeds(self, Loop *loop)
    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps)

cdef bint steer(Loop *loop, int thread, Instant *now, void *own) noexcept nogil
