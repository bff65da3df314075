# distutils: extra_compile_args = -Og
"""x86-64 levels of this build and of the processor."""

cdef extern from *:
    """
    #ifdef MINIDEM_LEVELS               /* setup.py gives it, if the compiler knows the names below */
    static int minidem_supports(int level)
    {
        __builtin_cpu_init();
        switch (level) {
        case 2: return __builtin_cpu_supports("x86-64-v2") != 0;
        case 3: return __builtin_cpu_supports("x86-64-v3") != 0;
        case 4: return __builtin_cpu_supports("x86-64-v4") != 0;
        }
        return 0;
    }
    #else
    #define MINIDEM_LEVELS ""
    #define minidem_supports(level) 0
    #endif
    """
    const char *levels "MINIDEM_LEVELS"
    bint supports "minidem_supports"(int level)


def built():
    """Names of the levels of this build, the lowest first; none in a build for one instruction set."""
    return levels.decode().split()


def supported():
    """Names of the levels that the processor has; none in a build for one instruction set."""
    return [f"v{level}" for level in (2, 3, 4) if supports(level)]
