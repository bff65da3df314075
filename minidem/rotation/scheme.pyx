"""The compiled functions of a rotation scheme as a Python object (interface: scheme.pxd)."""


cdef class Kernels(External):
    """The compiled functions of one scheme, by address; `move` is required.

    Without `sync`, the stored angular velocity belongs to the instant of the pose; `predict` defaults to `sync`.
    """

    def __init__(self, *, size_t start=0, size_t move=0, size_t finish=0, size_t sync=0, size_t predict=0):
        self.start = <BlockFunction> start
        self.move = <BlockFunction> move
        self.finish = <BlockFunction> finish
        self.sync = <BlockFunction> sync if sync else synchronous
        self.predict = <BlockFunction> predict if predict else self.sync

    def own(self):
        """A copy for one time loop, so that an error of a Python function is raised by that loop alone."""
        cdef Kernels copy = Kernels(start=address(self.start), move=address(self.move), finish=address(self.finish),
                                    sync=address(self.sync), predict=address(self.predict))
        copy.functions, copy.keep, copy.n_scratch = self.functions, self.keep, self.n_scratch
        return copy

    cdef object set_parameters(self, Step *step, values):
        """Store parameter values, from `Scheme.values`, in the step."""
        cdef int k
        self.values = values
        for k in range(len(values)):
            step.parameters[k] = values[k]
            if isinstance(values[k], int):
                step.integers[k] = values[k]
        step.context = <void *> self


cdef inline void w_at_pose(Body *b, const Step *step) noexcept nogil:
    b.predicted = b.w


cdef void synchronous(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    over_bodies(w_at_pose, block, torque, fixed, step)
