"""Functions of a C file, compiled at run time, for `md.contact.register` and `md.rotation.register`."""
import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

from scipy import LowLevelCallable

import minidem as md


def ctypes_functions(source, names):
    """Compile a C file: name -> ctypes function of its functions `names`; None without a C compiler (cc or gcc).

    They have four pointers, such as those of contact/contact.h, which is found (`md.get_include`). If the file cannot
    be compiled, the compiler prints the reason, and subprocess.CalledProcessError is raised.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "functions.so")
        # No fused multiply-add, which rounds once where Python rounds twice.
        options = "-O3", "-ffp-contract=off", "-shared", "-fPIC", f"-I{md.get_include()}"
        subprocess.run([compiler, *options, source, "-o", library], check=True)
        loaded = ctypes.CDLL(str(library))
    functions = {name: getattr(loaded, name) for name in names}
    for function in functions.values():
        function.restype, function.argtypes = None, 4 * [ctypes.POINTER(ctypes.c_double)]
    return functions


def scipy_functions(source, names):
    """The same as `scipy.LowLevelCallable`."""
    functions = ctypes_functions(source, names)
    return functions and {name: LowLevelCallable(function) for name, function in functions.items()}
