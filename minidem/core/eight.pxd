"""Eight numbers as one vector, and eight vectors in space: for formulas that compilers do not vectorise by themselves.

An Eight is a double to Cython, and a vector to the C compiler, which applies + - * / to all eight numbers.
"""
from minidem.core.lanes cimport LANES

cdef extern from "core/eight.h" nogil:
    ctypedef double Eight "minidem_eight"
    Eight load_eight "MINIDEM_EIGHT"(const double *row)
    Eight eight_of "MINIDEM_EIGHT_OF"(double x)
    Eight eight_at "minidem_eight_at"(const double *const *addresses, int k)
    Eight eight_of_ints "minidem_eight_of_ints"(const int *row)
    Eight eight_where "minidem_eight_where"(Eight other, Eight x)       # x where the other one is positive, else 0
    int bits_below "minidem_bits_below"(const double *row, double limit)

cdef extern from *:
    """
    #define MINIDEM_STORE_EIGHT(row, x) (MINIDEM_EIGHT(row) = (x))
    """
    void store_eight "MINIDEM_STORE_EIGHT"(double *row, Eight x) nogil

cdef struct Eight3:                 # eight vectors in space
    Eight x
    Eight y
    Eight z


cdef inline Eight3 load_eight3(const double *rows) noexcept nogil:
    cdef Eight3 v
    v.x, v.y, v.z = load_eight(rows), load_eight(rows + LANES), load_eight(rows + 2 * LANES)
    return v


cdef inline void store_eight3(double *rows, Eight3 v) noexcept nogil:
    store_eight(rows, v.x)
    store_eight(rows + LANES, v.y)
    store_eight(rows + 2 * LANES, v.z)


cdef inline Eight3 add3(Eight3 a, Eight3 b) noexcept nogil:
    a.x, a.y, a.z = a.x + b.x, a.y + b.y, a.z + b.z
    return a


cdef inline Eight3 sub3(Eight3 a, Eight3 b) noexcept nogil:
    a.x, a.y, a.z = a.x - b.x, a.y - b.y, a.z - b.z
    return a


cdef inline Eight3 scale3(Eight s, Eight3 a) noexcept nogil:
    a.x, a.y, a.z = s * a.x, s * a.y, s * a.z
    return a


cdef inline Eight3 by_axis3(Eight3 a, Eight3 b) noexcept nogil:
    """Products of components."""
    a.x, a.y, a.z = a.x * b.x, a.y * b.y, a.z * b.z
    return a


cdef inline Eight3 eight3_where(Eight other, Eight3 a) noexcept nogil:
    """a where the other one is positive, else 0."""
    a.x, a.y, a.z = eight_where(other, a.x), eight_where(other, a.y), eight_where(other, a.z)
    return a


cdef inline Eight3 add_scaled3(Eight3 a, Eight s, Eight3 b) noexcept nogil:
    """a + s b"""
    a.x, a.y, a.z = a.x + s * b.x, a.y + s * b.y, a.z + s * b.z
    return a


cdef inline Eight dot3(Eight3 a, Eight3 b) noexcept nogil:
    return a.x * b.x + a.y * b.y + a.z * b.z


cdef inline Eight3 cross3(Eight3 a, Eight3 b) noexcept nogil:
    cdef Eight3 c
    c.x, c.y, c.z = a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x
    return c
