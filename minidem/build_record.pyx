# distutils: extra_compile_args = -O1
"""How the kernels were compiled, for whoever reads a timing later."""

cdef extern from *:
    """
    #ifndef MINIDEM_COMMAND             /* setup.py gives it */
    #define MINIDEM_COMMAND ""
    #endif
    #ifndef __VERSION__                 /* gcc and clang have it */
    #define __VERSION__ "unknown"
    #endif
    #if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
    #define MINIDEM_VECTORS "AVX-512"
    #elif defined(__AVX2__)
    #define MINIDEM_VECTORS "AVX2"
    #elif defined(__SSE4_2__)
    #define MINIDEM_VECTORS "SSE4.2"
    #else
    #define MINIDEM_VECTORS "baseline"
    #endif
    """
    const char *command "MINIDEM_COMMAND"
    const char *version "__VERSION__"
    const char *vectors "MINIDEM_VECTORS"


def build_record():
    """{"command": compiler and flags, "compiler": its version, "vectors": widest vector instructions used}"""
    return {"command": command.decode(), "compiler": version.decode(), "vectors": vectors.decode()}
