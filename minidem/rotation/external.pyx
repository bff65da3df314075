# distutils: extra_compile_args = -O1
"""Rotation schemes in other languages: C functions by address, and Python functions.

`registry.register` documents the signatures. A C function (numba, ctypes, Cython, SciPy) is called by the loop
directly. A Python function is called through a small C function, which passes the rows of a block as arrays; the
`context` of the step is the `Kernels` that hold the Python function.
"""
import ctypes
import re

import numpy as np

from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer, PyCapsule_IsValid

from minidem.core.lanes cimport LANES
from minidem.rotation.scheme cimport Kernels, Step, address
from minidem.state.rows cimport ANGULAR_VELOCITY, FIXED_ROWS, INERTIA, ORIENTATION, PREDICTED, SCRATCH

SIGNATURE = "void (double *block, const double *torque, const double *fixed, const double *step)"


class Bodies:
    """Eight bodies, for a Python scheme: arrays to change in place or to assign to.

    Attributes
    ----------
    q : (8, 4) array
        Pose, principal body frame to lab.
    w, predicted : (8, 3) arrays
        Stored angular velocity, and that at the instant of the pose, principal body frame [rad/s].
    scratch : (8, n_scratch) array
    torque, inertia : (8, 3) arrays, read-only
        At the pose, principal body frame [N m]; principal moments [kg m2].
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
    if owner.failed:                                    # the driver raises the error after the step
        return
    try:
        rows = array_at(block, SCRATCH + owner.n_scratch, PyBUF_WRITE)
        moments = array_at(torque, 3, PyBUF_READ).copy()                # the buffer is reused for the next block
        moments.flags.writeable = False
        constants = array_at(fixed, FIXED_ROWS, PyBUF_READ)
        parameters = [step.integers[k] if is_integer else step.parameters[k]
                      for k, is_integer in enumerate(owner.is_integer)]
        owner.functions[role](Bodies(rows, moments, constants), step.dt, step.stage, *parameters)
    except BaseException as error:
        owner.error, owner.failed = error, True


cdef void start(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("start", block, torque, fixed, step)


cdef void move(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("move", block, torque, fixed, step)


cdef void finish(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("finish", block, torque, fixed, step)


cdef void sync(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("sync", block, torque, fixed, step)


cdef void predict(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    with gil:
        call("predict", block, torque, fixed, step)


CALLERS = {"start": address(start), "move": address(move), "finish": address(finish), "sync": address(sync),
           "predict": address(predict)}


def make_kernels(functions, int n_scratch, parameters):
    """Kernels of {role: function or None}; each function through any of the interfaces."""
    given = {role: function for role, function in functions.items() if function is not None}
    addresses = {role: compiled_address(role, function) for role, function in given.items()}
    cdef Kernels made = Kernels(**{role: place or CALLERS[role] for role, place in addresses.items()})
    made.functions = {role: given[role] for role, place in addresses.items() if place is None}
    made.keep = given                                   # the owners of C functions, which must outlive the scheme
    made.n_scratch = n_scratch
    made.is_integer = [not isinstance(default, float) for default in parameters.values()]
    return made


def compiled_address(role, function):
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
