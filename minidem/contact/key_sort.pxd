"""Radix sort of numbered keys, in linear time: a sphere may have thousands of contacts.

An entry is key << 32 | number; entries are sorted by their keys of 32 bits.
"""
from libc.string cimport memset

ctypedef unsigned long long Entry

cdef enum:
    FEW = 48                    # up to so many entries insertion sort is faster
    DIGITS = 256                # values of a digit of eight bits


cdef inline void sort_few(Entry *entries, Py_ssize_t n) noexcept nogil:
    """Insertion sort."""
    cdef Py_ssize_t k, place
    cdef Entry entry
    for k in range(1, n):
        entry = entries[k]
        place = k
        while place > 0 and entries[place - 1] > entry:
            entries[place] = entries[place - 1]
            place -= 1
        entries[place] = entry


cdef inline bint sort_by_digit(const Entry *entries, Entry *sorted, Py_ssize_t n, int shift) noexcept nogil:
    """One pass of the radix sort. False: all entries have the same digit, and nothing was written."""
    cdef Py_ssize_t place[DIGITS]
    cdef Py_ssize_t k, count, total = 0
    cdef int digit
    memset(place, 0, sizeof(place))
    for k in range(n):
        place[entries[k] >> shift & (DIGITS - 1)] += 1
    if place[entries[0] >> shift & (DIGITS - 1)] == n:
        return False
    for digit in range(DIGITS):
        count = place[digit]
        place[digit] = total
        total += count
    for k in range(n):
        digit = entries[k] >> shift & (DIGITS - 1)
        sorted[place[digit]] = entries[k]
        place[digit] += 1
    return True


cdef inline const Entry *sort_entries(Entry *entries, Entry *spare, Py_ssize_t n) noexcept nogil:
    """Sort n entries by their keys. Returns the sorted array: `entries` or `spare`."""
    cdef int shift
    if n <= FEW:
        sort_few(entries, n)
        return entries
    for shift in range(32, 64, 8):
        if sort_by_digit(entries, spare, n, shift):
            entries, spare = spare, entries
    return entries
