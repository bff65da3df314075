"""The course of walls and periodic box, and what moves them."""
from minidem.core.guard cimport Guard
from minidem.loop.loop cimport Course, Loop
from minidem.steering.moving cimport Moving
from minidem.walls.wall_table cimport WallPrimitives

cdef class Steering:
    cdef Course course                  # the loop points to it
    cdef Moving own                     # of the phases `steer` and `work`
    cdef readonly bint steered          # forces move some of this
    cdef double dt                      # [s]
    cdef WallPrimitives walls           # None: free bodies
    cdef object box, clumps             # PeriodicBox or None: no axis is periodic; State
    cdef Guard guard
    cdef long long n_known                # steps of the course for which poses are known
    cdef object servo_states, box_states, arrays, tables    # what course and `own` point to
    cdef object attach(self, Loop *loop)
    cdef long long prepare(self, Loop *loop, long long steps) except -1
    cdef object specify_box(self)
    cdef object speeds(self, Loop *loop)
    cdef object tabulate(self, Loop *loop, long long step, long long least, long long steps)
