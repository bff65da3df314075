"""The compiled function of a rotation scheme as a Python object (interface: scheme.pxd)."""
from libc.string cimport memcpy, memset

ROLES = "start", "move", "finish", "sync", "predict"          # as the enum Role


cdef class Kernels(External):
    """A scheme's function of a block, by address.  roles : roles of a user's scheme, which cannot be asked."""

    def __init__(self, size_t function, int roles=0):
        cdef Step step
        cdef BodyBlock nothing
        memset(&step, 0, sizeof(step))
        memset(&nothing, 0, sizeof(nothing))
        nothing.wanted, nothing.step = N_ROLES, &step
        self.function = <SchemeFunction> function
        self.roles = roles or self.function(&nothing)

    def has(self, name):
        """Whether there is a function of the role of this name."""
        return bool(self.roles >> ROLES.index(name) & 1)

    def own(self):
        """A copy for one time loop, so that an error of a Python function is raised by that loop alone."""
        cdef Kernels copy = Kernels(<size_t> self.function, self.roles)
        copy.functions, copy.keep, copy.n_scratch = self.functions, self.keep, self.n_scratch
        memcpy(copy.of_user, self.of_user, sizeof(self.of_user))
        return copy

    cdef object set_parameters(self, Step *step, values):
        """Store parameter values, from `Scheme.values`, in the step, which must not outlive this object."""
        cdef int k
        self.values = values
        for k in range(len(values)):
            step.parameters[k] = values[k]
            if isinstance(values[k], int):
                step.integers[k] = values[k]
        step.context, step.of_user = <void *> self, self.of_user
