# distutils: extra_compile_args = -O1
"""Exclusive use of a simulation: by one Python thread at a time, and not during a step."""
from functools import update_wrapper
from types import MethodType

from minidem.core.keywords import by_keyword

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident

BUSY = ("another thread is using this simulation: wait until its call returns, or give each thread a simulation of its "
        "own, copy.deepcopy(simulation)")
DURING_A_STEP = ("this call comes during a step, when the state of the simulation is incomplete: user forces, rotation "
                 "schemes, contact laws and motions of walls in Python must use their arguments only; use the callback "
                 "of run instead")


cdef class Guard:
    """Context manager that every use of a simulation enters; RuntimeError if another use is active.

    Compiled, because Python handles signals between two of its own instructions: no Ctrl-C can come between `__enter__`
    and the block that it protects. In a Python without GIL, critical sections make one step of test and entry.
    """

    def __enter__(self):
        cdef unsigned long thread = PyThread_get_thread_ident()
        with cython.critical_section(self):
            if self.depth > 0 and self.thread != thread:
                raise RuntimeError(BUSY)
            if self.during_step:
                raise RuntimeError(DURING_A_STEP)
            self.thread = thread
            self.depth += 1

    def __exit__(self, kind, error, trace):
        with cython.critical_section(self):
            self.depth -= 1


cdef class exclusive:
    """Decorator of the methods of a simulation or an `Accessor`: enter the guard; RuntimeError if the state is
    incomplete."""
    cdef object method
    cdef dict __dict__                  # name, docstring and signature of the method

    def __init__(self, method):
        self.method = by_keyword(method)
        update_wrapper(self, method)

    def __get__(self, it, owner):
        return self if it is None else MethodType(self, it)

    def __call__(self, it, *arguments, **options):
        simulation = vars(it).get("_sim", it)
        with simulation.settings.guard:
            if simulation.loop.broken is not None:
                raise RuntimeError(f"this simulation cannot go on: {simulation.loop.broken}; load its last checkpoint")
            return self.method(it, *arguments, **options)

    def __getattr__(self, name):
        method = self.method.__name__
        raise AttributeError(f"{method} is a method, which has no {name!r}; call it first: {method}().{name}")
