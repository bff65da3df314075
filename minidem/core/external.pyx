# distutils: extra_compile_args = -O1
"""Functions in other languages: C functions by address, and Python functions.

A C function (numba, ctypes, Cython, SciPy) is called by the loop directly. A Python function is called through a small
C function, which passes the rows of eight bodies or contacts as arrays.
"""
import ctypes
import re
from collections.abc import Mapping

import numpy as np

from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_IsValid

from minidem.core.checks import check_call, did_you_mean

from minidem.core.lanes cimport LANES


cdef class External:
    """Base class of compiled functions, of which some may be a user's own."""

    cdef object raise_error(self):
        """Raise the exception of a Python function, once."""
        if self.failed:
            error, self.error, self.failed = self.error, None, False
            raise error


class Assignable:
    """Arrays as attributes. An assignment changes their elements; ValueError for another shape."""

    def __init__(self, **arrays):
        vars(self).update(arrays)

    def __getattr__(self, name):
        raise AttributeError(f"{type(self).__name__} has no {name!r}, but {', '.join(vars(self))}"
                             f"{did_you_mean(name, vars(self))}")

    def __setattr__(self, name, values):
        array = getattr(self, name)
        if isinstance(array, Mapping):
            raise ValueError(f"{name}: give the arrays one by one, as in {name}[{next(iter(array), '...')!r}] = ...")
        if np.shape(values) != array.shape and not (array.ndim == 1 and np.ndim(values) == 0):
            raise ValueError(f"{name} has shape {np.shape(values)}; give shape {array.shape}"
                             f"{' or one number' if array.ndim == 1 else ''}")
        array[...] = values


cdef object array_at(const double *rows, int count, int access):
    """Rows (count, LANES) as an array on the same memory."""
    memory = PyMemoryView_FromMemory(<char *> rows, count * LANES * sizeof(double), access)
    return np.frombuffer(memory).reshape(count, LANES)


def resolve(functions, callers, signature, arguments):
    """Addresses of functions given through any of the interfaces, and the functions that are written in Python.

    functions : {role: function or None};  callers : {role: address of a C function that calls one in Python}
    signature : in C, for messages;  arguments : names of the arguments of a function in Python.
    """
    given = {role: function for role, function in functions.items() if function is not None}
    compiled = {role: compiled_address(role, function, signature) for role, function in given.items()}
    in_python = {role: given[role] for role, place in compiled.items() if place is None}
    for role, function in in_python.items():
        check_call(role, function, *arguments)
    return {role: place or callers[role] for role, place in compiled.items()}, in_python


def compiled_address(role, function, signature):
    """Address of a C function after a check of its signature; None for a Python function."""
    if isinstance(function, ctypes._CFuncPtr):
        pointer = ctypes.POINTER(ctypes.c_double)
        if function.restype is not None or tuple(function.argtypes or ()) != 4 * (pointer,):
            raise ValueError(f"{role}: the ctypes function must have restype None and argtypes "
                             f"4 * [POINTER(c_double)], for {signature}")
        return ctypes.cast(function, ctypes.c_void_p).value
    if hasattr(function, "address") and hasattr(function, "_sig"):                     # numba.cfunc
        if str(function._sig) != "(float64*, float64*, float64*, float64*) -> none":
            raise ValueError(f"{role}: the numba cfunc has signature {function._sig}; give "
                             "void(CPointer(float64), CPointer(float64), CPointer(float64), CPointer(float64))")
        return function.address
    capsule = tuple.__getitem__(function, 0) if isinstance(function, tuple) and len(function) else function  # scipy's
    if type(capsule).__name__ == "PyCapsule":
        return capsule_address(role, capsule)
    if callable(function):
        return None
    raise ValueError(f"{role} = {function!r}: give a Python function, a numba cfunc, a ctypes function, a "
                     f"scipy.LowLevelCallable or a capsule, in C {signature}")


cdef object capsule_address(str role, object capsule):
    cdef const char *name = PyCapsule_GetName(capsule)
    text = name.decode() if name != NULL else ""
    bare = re.sub(r"\bconst\b|\s", "", text)
    if bare not in ("void(double*,double*,double*,double*)", "void(double*,double*,double*,void*)") \
            or not PyCapsule_IsValid(capsule, name):
        raise ValueError(f"{role}: the capsule is named {text!r}; its name must be the signature "
                         "void (double *, double *, double *, double *)")
    return <size_t> PyCapsule_GetPointer(capsule, name)
