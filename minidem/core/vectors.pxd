"""Growing arrays of numbers and structs.

A function that is refused memory does without: sizes stay valid, and nothing is stored where there is no room. What it
computes is then incomplete. A flag of the thread says so, as errno does, until it is read: by `wait` where the threads
meet (broadphase/broadphase.pxd), by `require_memory` in Python.
"""

cdef struct IntVector:
    int *data
    Py_ssize_t size
    Py_ssize_t capacity

cdef struct DoubleVector:
    double *data
    Py_ssize_t size
    Py_ssize_t capacity

ctypedef fused Vector:              # others have the same members, and call `grow`
    IntVector
    DoubleVector

cdef enum:
    LINE_PAIR = 128             # bytes between data of two threads: cache lines are fetched in pairs
    KEPT = 1 << 23              # bytes of a vector that it keeps for its next use: to get them anew takes time

cdef bint *memory_refused() noexcept nogil
cdef int require_memory(str purpose) except -1
cdef void *aligned_memory(size_t size) noexcept nogil
cdef void *zeroed_memory(size_t size) noexcept nogil
cdef bint grow(void *vector, Py_ssize_t wanted, size_t item) noexcept nogil
cdef void release(void *vector) noexcept nogil
cdef void shrink(IntVector *a, Py_ssize_t wanted) noexcept nogil


cdef inline bint reserve(Vector *a, Py_ssize_t wanted) noexcept nogil:
    """Room for `wanted` entries; contents are kept. Whether there is."""
    return wanted <= a.capacity or grow(a, wanted, sizeof(a.data[0]))


cdef inline void release_large(IntVector *a) noexcept nogil:
    """Free the memory of a vector that is not read before it is filled again, if it is much."""
    if a.capacity * <Py_ssize_t> sizeof(int) > KEPT:
        release(a)


cdef inline void push(IntVector *a, int value) noexcept nogil:
    """Append a value."""
    if reserve(a, a.size + 1):
        a.data[a.size] = value
        a.size += 1


cdef inline void push_pair(IntVector *a, int first, int second) noexcept nogil:
    """Append two values."""
    if reserve(a, a.size + 2):
        a.data[a.size], a.data[a.size + 1] = first, second
        a.size += 2
