"""Python's handle on the compiled functions of a rotation scheme (scheme.pxd says what they are)."""


cdef class Kernels:
    """The compiled functions of one scheme; made by its file, used by the time loop."""

    def own(self):
        """The same functions, for one loop: what one of them raises there is of no concern to others."""
        cdef Kernels copy = kernels(self.start, self.move, self.finish, self.predict, self.sync)
        copy.functions, copy.keep = self.functions, self.keep
        copy.n_scratch, copy.n_parameters = self.n_scratch, self.n_parameters
        return copy

    cdef object raise_error(self):
        """Raise what a function written in Python has raised, once."""
        if self.failed:
            error, self.error, self.failed = self.error, None, False
            raise error


cdef inline void w_at_pose(Body *b, const Step *step) noexcept nogil:
    b.predicted = b.w


cdef void synchronous(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    over_bodies(w_at_pose, block, torque, fixed, step)


cdef Kernels kernels(BlockFunction start, BlockFunction move, BlockFunction finish,
                     BlockFunction predict, BlockFunction sync):
    """Any but `move` may be NULL. Without `sync`, w stands at the instant of the pose; without `predict`, it
    is `sync`.
    """
    cdef Kernels made = Kernels()
    if sync == NULL:
        sync = synchronous
    made.start = start
    made.move = move
    made.finish = finish
    made.predict = predict if predict != NULL else sync
    made.sync = sync
    return made
