# distutils: extra_compile_args = -O1
"""Rotation schemes in other languages (core/external.pyx).

`registry.register` documents the signatures. The `context` of the step is the `Kernels` that hold the Python functions.
"""
from minidem.core.checks import short_repr
from minidem.core.external import Assignable, resolve
from minidem.rotation.scheme import ROLES

from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE

from minidem.core.external cimport array_at
from minidem.rotation.scheme cimport N_ROLES, BlockFunction, BodyBlock, Kernels
from minidem.state.rows cimport scratch_of

SIGNATURE = "void (double *bodies, const double *wrench, const double *constants, const double *step)"


class SchemeBodies(Assignable):
    """Eight bodies, for a Python scheme: arrays to change in place or to assign to.

    Attributes
    ----------
    q : (8, 4) array
        Orientation, principal body frame to lab.
    w, predicted : (8, 3) arrays
        Stored angular velocity, and that at t_n, principal body frame [rad/s].
    scratch : (8, n_scratch) array
    torque, inertia : (8, 3) arrays, read-only
        Torque at t_n, principal body frame [N m]; principal moments [kg m2].
    """

    def __init__(self, **rows):
        super().__init__(**{name: values.T for name, values in rows.items()})


cdef void call_python(const BodyBlock *b) noexcept with gil:
    cdef Kernels owner = <Kernels> b.step.context
    if owner.failed:                                    # the driver raises the error after the step
        return
    try:
        torque = array_at(b.wrench.torque, 3, PyBUF_READ).copy()       # the buffer is reused for the next block
        torque.flags.writeable = False
        answer = owner.functions[ROLES[b.wanted]](SchemeBodies(
            q=array_at(b.clumps.orientation, 4, PyBUF_WRITE), w=array_at(b.clumps.angular_velocity, 3, PyBUF_WRITE),
            predicted=array_at(b.clumps.predicted, 3, PyBUF_WRITE),
            scratch=array_at(scratch_of(b.clumps), owner.n_scratch, PyBUF_WRITE), torque=torque,
            inertia=array_at(b.constants.inertia, 3, PyBUF_READ)), b.step.dt, b.step.stage, *owner.values)
        if answer is not None:
            raise ValueError(f"{ROLES[b.wanted]} returned {short_repr(answer)}: return nothing, and change bodies.q, "
                             "w, predicted and scratch in place")
    except BaseException as error:
        owner.error, owner.failed = error, True


cdef int call(const BodyBlock *b) noexcept nogil:
    """A user's scheme as a SchemeFunction. It is called in its own roles only, so its own answer is not needed."""
    cdef BlockFunction compiled = b.step.of_user[b.wanted]
    if compiled != NULL:
        compiled(<double *> b.clumps, b.wrench.torque, <const double *> b.constants, b.step)
    else:
        call_python(b)
    return 0


def make_kernels(functions, int n_scratch, parameters):
    """Kernels of {role: function or None}; each function through any of the interfaces."""
    addresses, in_python = resolve(functions, dict.fromkeys(ROLES, 0), SIGNATURE,
                                   ("bodies", "dt", "stage", *parameters))
    cdef Kernels made = Kernels(<size_t> call, sum(1 << ROLES.index(role) for role in addresses))
    cdef int k
    for k in range(N_ROLES):
        made.of_user[k] = <BlockFunction> <size_t> addresses.get(ROLES[k], 0)
    made.functions, made.keep, made.n_scratch = in_python, functions, n_scratch
    return made
