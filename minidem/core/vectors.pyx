"""Memory of the time loop: growing arrays, and the flag of a thread to which memory was refused."""
from libc.stdlib cimport free, realloc

cdef extern from *:
    """
    static _Thread_local int minidem_refused;
    """
    bint refused "minidem_refused"

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void **address, size_t alignment, size_t size)

cdef extern from *:
    """
    #include <string.h>
    #ifdef __linux__
    #include <sys/mman.h>
    #include <unistd.h>
    #endif
    /* Ask for large pages for large memory, as NumPy does. 100 000 rods take 1 to 3 % less time. */
    static void minidem_use_large_pages(void *data, size_t size) {
    #ifdef MADV_HUGEPAGE
        const size_t page = (size_t) sysconf(_SC_PAGESIZE), inside = ((size_t) data + page - 1) / page * page;
        if (size >= (size_t) 1 << 22)
            madvise((void *) inside, (size_t) data + size - inside, MADV_HUGEPAGE);
    #endif
    }
    /* Zeros. Whole pages of large memory are given back to Linux, which takes zeros where they are used. */
    static void minidem_set_zero(void *data, size_t size) {
    #ifdef __linux__
        const size_t page = (size_t) sysconf(_SC_PAGESIZE), inside = ((size_t) data + page - 1) / page * page;
        const size_t end = ((size_t) data + size) / page * page;
        if (size >= (size_t) 1 << 22 && madvise((void *) inside, end - inside, MADV_DONTNEED) == 0) {
            memset(data, 0, inside - (size_t) data);
            memset((void *) end, 0, (size_t) data + size - end);
            return;
        }
    #endif
        memset(data, 0, size);
    }
    """
    void use_large_pages "minidem_use_large_pages"(void *data, size_t size) nogil
    void set_zero "minidem_set_zero"(void *data, size_t size) nogil

cdef extern from *:
    """
    /* Give large memory back to the system as it is freed. By default the GNU C library keeps pieces of up to 32 MB,
       between others that are in use: of a bed of a million spheres a fifth of all memory. */
    #ifdef __GLIBC__
    #include <malloc.h>
    static void minidem_return_large_memory(void) {
        mallopt(M_MMAP_THRESHOLD, 1 << 22);
        mallopt(M_TRIM_THRESHOLD, 1 << 23);
    }
    #else
    static void minidem_return_large_memory(void) {}
    #endif
    """
    void return_large_memory "minidem_return_large_memory"()

return_large_memory()

cdef enum:
    CACHE_LINE = 64                 # bytes

cdef struct Untyped:                # any vector
    void *data
    Py_ssize_t size
    Py_ssize_t capacity


cdef bint *memory_refused() noexcept nogil:
    """The flag of this thread. Who reads it clears it."""
    return &refused


cdef int require_memory(str purpose) except -1:
    """Raise MemoryError if memory was refused to this thread, and clear the flag."""
    cdef bint *flag = memory_refused()
    if flag[0]:
        flag[0] = False
        raise MemoryError(f"no memory for {purpose}")
    return 0


cdef void *aligned_memory(size_t size) noexcept nogil:
    """Allocate `size` bytes from the beginning of a cache line, for `free`; NULL: refused."""
    cdef void *data = NULL
    if posix_memalign(&data, CACHE_LINE, size) != 0:
        memory_refused()[0] = True
        return NULL
    use_large_pages(data, size)
    return data


cdef void *zeroed_memory(size_t size) noexcept nogil:
    """The same, of zeros."""
    cdef void *memory = aligned_memory(size)
    if memory != NULL:
        set_zero(memory, size)
    return memory


cdef bint grow(void *vector, Py_ssize_t wanted, size_t item) noexcept nogil:
    """Do what `reserve` does, for any vector, with entries of `item` bytes."""
    cdef Untyped *a = <Untyped *> vector
    cdef Py_ssize_t capacity = wanted + wanted // 2 + 64
    cdef void *data
    if wanted > a.capacity:
        data = realloc(a.data, capacity * item)
        if data == NULL:
            memory_refused()[0] = True
            return False
        use_large_pages(data, capacity * item)
        a.data, a.capacity = data, capacity
    return True


cdef void release(void *vector) noexcept nogil:
    """Free the memory of any vector."""
    cdef Untyped *a = <Untyped *> vector
    free(a.data)
    a.data = NULL
    a.size = a.capacity = 0


cdef void shrink(IntVector *a, Py_ssize_t wanted) noexcept nogil:
    """Free what a vector has beyond `wanted` entries, if it is much."""
    cdef void *data = NULL
    if (a.capacity - wanted) * <Py_ssize_t> sizeof(int) > KEPT:
        data = realloc(a.data, wanted * sizeof(int))
    if data != NULL:
        a.data, a.capacity = <int *> data, wanted
