"""Instruction sets in one build: the x86-64 levels v2, v3 (AVX2) and v4 (AVX-512), of which an import uses one.

In a build of several levels all modules are in their usual places at the lowest level. The modules of the time
loop are also in the folders v3 and v4 of this one. The environment variable MINIDEM_ISA selects a level; the default is
the best one that the processor has. Results have the same bits at all levels. `md.build_info()` contains the level in
use.
"""
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import spec_from_file_location

VARIABLE = "MINIDEM_ISA"
NAMES = "v2", "v3", "v4"


class LevelError(ImportError):
    """The level of MINIDEM_ISA does not exist here, or the processor is older than the build."""


def levels():
    """Names of the levels that are in this build and that the processor has, the lowest first; none in other builds."""
    from minidem.isa import processor
    return [name for name in processor.built() if name in processor.supported()]


def choose(wanted, built, supported):
    """Name of the level to use, wanted by MINIDEM_ISA or the best one, None without any; LevelError for another."""
    usable = [name for name in built if name in supported]
    if wanted in usable:
        return wanted
    if built and not usable and not wanted:
        raise LevelError(f"this build of minidem needs a processor of x86-64-{built[0]} or newer; build from the "
                         "source folder on this machine, python -m pip install -e .")
    if not wanted:
        return usable[-1] if usable else None
    if wanted in NAMES and not built:
        raise LevelError(f"{VARIABLE}={wanted}: this build is for one instruction set; unset {VARIABLE}, or build the "
                         "levels from the source folder, MINIDEM_ARCH=levels python -m pip install -e .")
    known = (f"the levels are {', '.join(NAMES)}" if wanted not in NAMES else
             f"this build has {', '.join(built)} only" if wanted not in built else
             f"this processor has {', '.join(usable) or 'none'} only")
    raise LevelError(f"{VARIABLE}={wanted}: {known}; choose one of them or unset {VARIABLE}")


class Finder:
    """Finds compiled modules in the folder of a level; those it does not have are imported from their usual places."""

    def __init__(self, level):
        top = os.path.join(os.path.dirname(__file__), level)
        self.files = {}
        for folder, _, names in os.walk(top):
            package = "minidem" + folder[len(top):].replace(os.sep, ".")
            for name in names:
                if name.endswith(EXTENSION_SUFFIXES[0]):
                    self.files[f"{package}.{name.partition('.')[0]}"] = os.path.join(folder, name)

    def find_spec(self, name, path=None, target=None):
        file = self.files.get(name)
        return file and spec_from_file_location(name, file)


def install():
    """Choose the level; compiled modules of the package that are imported from now on are of this level."""
    from minidem.isa import processor
    level = choose(os.environ.get(VARIABLE, ""), processor.built(), processor.supported())
    others = [finder for finder in sys.meta_path if type(finder).__module__ != __name__]
    sys.meta_path[:] = [Finder(level), *others] if level and level != processor.built()[0] else others
