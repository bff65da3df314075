"""Growing arrays of C numbers."""
from libc.stdlib cimport free, realloc

cdef struct IntVector:
    int *data
    Py_ssize_t size
    Py_ssize_t capacity

cdef struct DoubleVector:
    double *data
    Py_ssize_t size
    Py_ssize_t capacity

ctypedef fused Vector:
    IntVector
    DoubleVector

cdef enum:
    APART = 128                 # bytes between data of two threads: cache lines are fetched in pairs


cdef inline bint reserve(Vector *a, Py_ssize_t wanted) noexcept nogil:
    """Room for `wanted` entries; contents are kept. False: memory exhausted."""
    cdef Py_ssize_t capacity
    cdef void *data
    if wanted <= a.capacity:
        return True
    capacity = wanted + wanted // 2 + 64
    data = realloc(a.data, capacity * sizeof(a.data[0]))
    if data == NULL:
        return False
    if Vector is IntVector:
        a.data = <int *> data
    else:
        a.data = <double *> data
    a.capacity = capacity
    return True


cdef inline bint push(IntVector *a, int value) noexcept nogil:
    """Append a value. False: memory exhausted."""
    if not reserve(a, a.size + 1):
        return False
    a.data[a.size] = value
    a.size += 1
    return True


cdef inline void release(Vector *a) noexcept nogil:
    free(a.data)
    a.data = NULL
    a.size = a.capacity = 0
