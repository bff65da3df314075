# distutils: extra_compile_args = -O1
"""Rotation schemes from outside: C functions by address, and Python functions.

`registry.register` says what they look like. A function in C (numba, ctypes, Cython, SciPy) goes into
the loop as it is. A Python function is called through a small one in C, which gives it the rows of a
block as arrays; the Python function is found by the `context` of the step.
"""
import ctypes
import re

import numpy as np

from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_IsValid

from minidem.rotation.scheme cimport BlockFunction, Kernels, Step, kernels
from minidem.core.lanes cimport LANES
from minidem.state.rows cimport ANGULAR_VELOCITY, FIXED_ROWS, INERTIA, ORIENTATION, PREDICTED, SCRATCH

ROLES = ("start", "move", "finish", "predict", "sync")
SIGNATURE = "void (double *block, const double *torque, const double *fixed, const double *step)"


class Bodies:
    """Eight bodies, as a Python scheme sees them: arrays that it changes in place, or assigns to.

    q (8, 4) pose, w (8, 3), predicted (8, 3), scratch (8, n_scratch); torque and inertia (8, 3) are
    to be read. Everything but q is in the principal body frame.
    """

    def __init__(self, rows, torque, fixed):
        vars(self).update(
            q=rows[ORIENTATION:ORIENTATION + 4].T, w=rows[ANGULAR_VELOCITY:ANGULAR_VELOCITY + 3].T,
            predicted=rows[PREDICTED:PREDICTED + 3].T, scratch=rows[SCRATCH:].T,
            torque=torque.T, inertia=fixed[INERTIA:INERTIA + 3].T)

    def __setattr__(self, name, values):
        getattr(self, name)[...] = values


cdef object array_at(const double *rows, int count, int access):
    memory = PyMemoryView_FromMemory(<char *> rows, count * LANES * sizeof(double), access)
    return np.frombuffer(memory).reshape(count, LANES)


cdef void call(str role, double *block, const double *torque, const double *fixed,
               const Step *step) noexcept with gil:
    cdef Kernels owner = <Kernels> step.context
    if owner.failed:                                    # the driver raises its error when the step is done
        return
    try:
        rows = array_at(block, SCRATCH + owner.n_scratch, PyBUF_WRITE)
        moments = array_at(torque, 3, PyBUF_READ).copy()                # it stands where the next block's will
        moments.flags.writeable = False
        constants = array_at(fixed, FIXED_ROWS, PyBUF_READ)
        parameters = [step.parameters[k] for k in range(owner.n_parameters)]
        owner.functions[role](Bodies(rows, moments, constants), step.dt, int(step.stage), *parameters)
    except BaseException as error:
        owner.error, owner.failed = error, True


cdef void python_start(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("start", block, torque, fixed, step)


cdef void python_move(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("move", block, torque, fixed, step)


cdef void python_finish(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("finish", block, torque, fixed, step)


cdef void python_predict(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("predict", block, torque, fixed, step)


cdef void python_sync(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("sync", block, torque, fixed, step)


def make_kernels(functions, int n_scratch, int n_parameters):
    """Kernels of {role: function or None}; each function by any of the doors."""
    cdef BlockFunction[5] python = [python_start, python_move, python_finish, python_predict, python_sync]
    cdef BlockFunction[5] chosen = [NULL, NULL, NULL, NULL, NULL]
    cdef Kernels made
    cdef int k
    written = {}
    for k in range(5):
        function = functions[ROLES[k]]
        if function is None:
            continue
        place = address(ROLES[k], function)
        if place is None:
            written[ROLES[k]] = function
            chosen[k] = python[k]
        else:
            chosen[k] = <BlockFunction> <size_t> place
    made = kernels(chosen[0], chosen[1], chosen[2], chosen[3], chosen[4])
    made.functions, made.keep = written, functions      # keep: what a C address belongs to must live on
    made.n_scratch, made.n_parameters = n_scratch, n_parameters
    return made


def address(role, function):
    """Address of a C function after a check of its signature; None for a Python function."""
    if isinstance(function, ctypes._CFuncPtr):
        pointer = ctypes.POINTER(ctypes.c_double)
        if function.restype is not None or tuple(function.argtypes or ()) != 4 * (pointer,):
            raise ValueError(f"{role}: the ctypes function must have restype None and argtypes "
                             f"4 * [POINTER(c_double)], for {SIGNATURE}")
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
                     f"scipy.LowLevelCallable or a capsule, in C {SIGNATURE}")


cdef object capsule_address(str role, object capsule):
    cdef const char *name = PyCapsule_GetName(capsule)
    text = name.decode() if name != NULL else ""
    bare = re.sub(r"\bconst\b|\s", "", text)
    if bare not in ("void(double*,double*,double*,double*)", "void(double*,double*,double*,void*)") \
            or not PyCapsule_IsValid(capsule, name):
        raise ValueError(f"{role}: the capsule is named {text!r}; its name must be the signature "
                         "void (double *, double *, double *, double *)")
    return <size_t> PyCapsule_GetPointer(capsule, name)
