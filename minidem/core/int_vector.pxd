"""Growing arrays of C ints."""
from libc.stdlib cimport free, realloc

cdef struct IntVector:
    int *data
    Py_ssize_t size
    Py_ssize_t capacity

cdef enum:
    APART = 128                 # bytes between data of two threads: cache lines are fetched in pairs


cdef inline bint reserve(IntVector *a, Py_ssize_t wanted) noexcept nogil:
    """Room for `wanted` entries; contents are kept. False: memory exhausted."""
    cdef Py_ssize_t capacity
    cdef int *data
    if wanted <= a.capacity:
        return True
    capacity = wanted + wanted // 2 + 64
    data = <int *> realloc(a.data, capacity * sizeof(int))
    if data == NULL:
        return False
    a.data = data
    a.capacity = capacity
    return True


cdef inline bint push(IntVector *a, int value) noexcept nogil:
    """Append a value. False: memory exhausted."""
    if not reserve(a, a.size + 1):
        return False
    a.data[a.size] = value
    a.size += 1
    return True


cdef inline void release(IntVector *a) noexcept nogil:
    free(a.data)
    a.data = NULL
    a.size = 0
    a.capacity = 0
