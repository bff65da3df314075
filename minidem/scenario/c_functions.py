"""Functions of a C file, compiled at run time, for `md.contact.register` and `md.rotation.register`."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scipy import LowLevelCallable


def ctypes_functions(source: Path | str, names: Sequence[str]) -> dict | None:
    """Compile a C file and return some of its functions.

    Parameters
    ----------
    source : path
        C file.
    names : sequence of str
        Names of functions of four pointers, such as those of contact/contact.h, which is found (`md.get_include`).

    Returns
    -------
    dict or None
        name -> ctypes function; None without a C compiler (cc or gcc).

    Raises
    ------
    subprocess.CalledProcessError
        If the file cannot be compiled; the compiler prints the reason.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    include = Path(__file__).parents[1]                 # md.get_include()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "functions.so")
        # No fused multiply-add, which rounds once where Python rounds twice.
        options = "-O3", "-ffp-contract=off", "-shared", "-fPIC", f"-I{include}"
        subprocess.run([compiler, *options, source, "-o", library], check=True)
        loaded = ctypes.CDLL(str(library))
    functions = {name: getattr(loaded, name) for name in names}
    for function in functions.values():
        function.restype, function.argtypes = None, 4 * [ctypes.POINTER(ctypes.c_double)]
    return functions


def scipy_functions(source: Path | str, names: Sequence[str]) -> dict | None:
    """The same as `scipy.LowLevelCallable`."""
    functions = ctypes_functions(source, names)
    return functions and {name: LowLevelCallable(function) for name, function in functions.items()}
