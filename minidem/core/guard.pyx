# distutils: extra_compile_args = -O1
"""Exclusive use of a simulation: by one Python thread at a time, and not during a step."""
from functools import wraps

from cpython.pythread cimport PyThread_get_thread_ident

BUSY = ("another thread is using this simulation: wait until its call returns, or give each thread a simulation of its "
        "own, copy.deepcopy(simulation)")
DURING_A_STEP = ("this call comes during a step, when the state of the simulation is incomplete: user forces, rotation "
                 "schemes, contact laws and motions of walls in Python must use their arguments only; use the callback "
                 "of run instead")


cdef class Guard:
    """Context manager that every use of a simulation enters; RuntimeError if another use is active.

    Compiled, because Python handles signals between two of its own instructions: no Ctrl-C can come between `__enter__`
    and the block that it protects.
    """

    def __enter__(self):
        cdef unsigned long thread = PyThread_get_thread_ident()
        if self.depth > 0 and self.thread != thread:
            raise RuntimeError(BUSY)
        if self.during_step:
            raise RuntimeError(DURING_A_STEP)
        self.thread = thread
        self.depth += 1

    def __exit__(self, kind, error, trace):
        self.depth -= 1


def exclusive(method):
    """Decorator of the methods of a simulation: enter its guard; RuntimeError if its state is incomplete."""
    @wraps(method)
    def guarded(self, *arguments, **options):
        with self.engine.guard:
            if self.engine.loop.broken is not None:
                raise RuntimeError(f"this simulation cannot go on: {self.engine.loop.broken}; load its last checkpoint")
            return method(self, *arguments, **options)
    return guarded
