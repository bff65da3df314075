"""Build record: compiler, flags and instruction set of the compiled modules.

Built at every level, like the modules of the time loop: it records its own flags.
"""
import re

import minidem
from minidem import isa

cdef extern from *:
    """
    #ifndef MINIDEM_COMMAND             /* setup.py gives it */
    #define MINIDEM_COMMAND ""
    #define MINIDEM_DIRECTIVES ""
    #endif
    #ifndef __VERSION__                 /* gcc and clang have it */
    #define __VERSION__ "unknown"
    #endif
    #if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
    #define MINIDEM_VECTORS "AVX-512"
    #define MINIDEM_LEVEL "v4"
    #elif defined(__AVX2__)
    #define MINIDEM_VECTORS "AVX2"
    #define MINIDEM_LEVEL "v3"
    #elif defined(__SSE4_2__)
    #define MINIDEM_VECTORS "SSE4.2"
    #define MINIDEM_LEVEL "v2"
    #else
    #define MINIDEM_VECTORS "baseline"
    #define MINIDEM_LEVEL "generic"
    #endif
    #ifdef _OPENMP
    #define MINIDEM_HAS_OPENMP 1
    #else
    #define MINIDEM_HAS_OPENMP 0
    #endif
    #ifdef __clang__                    /* its version begins with its name */
    #define MINIDEM_COMPILER ""
    #else
    #define MINIDEM_COMPILER "gcc "
    #endif
    """
    const char *command "MINIDEM_COMMAND"
    const char *directives "MINIDEM_DIRECTIVES"
    const char *version "__VERSION__"
    const char *vectors "MINIDEM_VECTORS"
    const char *level "MINIDEM_LEVEL"
    const char *name "MINIDEM_COMPILER"
    bint openmp "MINIDEM_HAS_OPENMP"


def build_record():
    """{"command": compiler and flags, "compiler": its version, "vectors": widest vector instructions used,
    "directives": of Cython}"""
    return {"command": command.decode(), "compiler": version.decode(), "vectors": vectors.decode(),
            "directives": directives.decode()}


def build_info():
    """How this minidem was built; every summary.json has it too.

    Returns
    -------
    dict
        With version: of minidem; isa: instructions that the kernels use, "native" (all of the machine that built
        it), the x86-64 level "v2", "v3" or "v4", or "generic"; isa_levels: levels that the environment variable
        MINIDEM_ISA can choose here, the lowest first, empty in a build for one instruction set; openmp: whether runs
        can use several threads; compiler: name, version and the options that bear on speed or results.
    """
    words = command.decode().split()
    flags = dict.fromkeys(word for word in words if re.match("-O|-m(?!llvm)|-f.*(math|contract|openmp)", word))
    return {"version": minidem.__version__,
            "isa": "native" if "-march=native" in words else level.decode(),
            "isa_levels": isa.levels(),
            "openmp": bool(openmp),
            "compiler": " ".join([name.decode() + version.decode(), *flags])}
