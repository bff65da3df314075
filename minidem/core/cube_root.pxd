"""The cube root of a positive normal number, within 4e-16: as vectors of eight, and with equal bits on every machine.

A third of the bits of a double, as an integer, with a constant added, equals the bits of its cube root within 3.2 %.
Two steps with the series of (z / x^3)^(1/3) up to the third power follow.
"""
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    static inline double minidem_cube_root_start(double z) {
        uint64_t bits, third;
        memcpy(&bits, &z, sizeof bits);
        third = (bits >> 2) + (bits >> 4);      /* 1/3 = 5/16 (1 + 1/16) (1 + 1/256) ... */
        third += third >> 4;
        third += third >> 8;
        third += third >> 16;
        third += third >> 32;
        third += 0x2a9f789300000000u;
        memcpy(&z, &third, sizeof z);
        return z;
    }
    """
    double cube_root_start "minidem_cube_root_start"(double z) noexcept nogil


cdef inline double closer_root(double z, double x) noexcept nogil:
    cdef double part = z / (x * x * x) - 1.0
    return x + x * (part * (1.0 / 3.0 - part * (1.0 / 9.0 - part * (5.0 / 81.0))))


cdef inline double cube_root(double z) noexcept nogil:
    return closer_root(z, closer_root(z, cube_root_start(z)))
