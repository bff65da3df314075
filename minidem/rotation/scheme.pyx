"""Python's handle on the compiled functions of a rotation scheme (scheme.pxd says what they are)."""


cdef class Kernels:
    """The compiled functions of one scheme; made by its file, used by the time loop."""


cdef Kernels kernels(BlockFunction start, BlockFunction move, BlockFunction finish,
                     BlockFunction predict, BlockFunction sync):
    """`finish` may be NULL; `predict` NULL means the same as `sync`; `start` NULL: nothing to do."""
    cdef Kernels made = Kernels()
    made.start = start
    made.move = move
    made.finish = finish
    made.predict = predict if predict != NULL else sync
    made.sync = sync
    return made
