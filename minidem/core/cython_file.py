"""A Cython file of a user, compiled like the modules of this package: the same compiler, options and instruction set.

It cimports from the .pxd files and headers that are installed with minidem. The compiled module is kept in the folder
`__pycache__` beside the file, under a digest of all that it was made of, so that it is compiled again when the file,
minidem or Cython changes. Processes that need it at the same time may all compile it; the file is replaced as a whole.
"""
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from minidem.core.atomic import replacing
from minidem.core.build_record import build_record

PACKAGE = Path(__file__).resolve().parents[1]
READ = ".pxd", ".pxi", ".h"             # suffixes of files that a Cython file reads


def import_cython(path, argument):
    """Compile a .pyx file if that is not done, and import it; ValueError, which names the argument, if it fails."""
    path = Path(path).absolute()
    if path.suffix != ".pyx" or not path.is_file() or not path.stem.isidentifier():
        reason = ("give a file .pyx" if path.suffix != ".pyx" else "there is no such file" if not path.is_file() else
                  "the name of a module has letters, digits and underscores only; rename the file")
        raise ValueError(f"{argument}: {path}: {reason}")
    library = Path(importlib.util.cache_from_source(str(path))).with_name(
        f"{path.stem}-{_digest(path)}{EXTENSION_SUFFIXES[0]}")
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with replacing(library) as temporary, tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(_compile(path, Path(folder), argument), temporary)
    spec = importlib.util.spec_from_file_location(path.stem, library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _digest(path):
    """Of the file, of what it may read, and of the tools; short, as it is part of a file name."""
    files = [path, *(file for folder, pattern in ((path.parent, "*"), (PACKAGE, "**/*"))
                     for file in sorted(folder.glob(pattern)) if file.suffix in READ)]
    digest = hashlib.sha256(f"{sys.version} {_cython_version()} {build_record()}".encode())
    for file in files:
        digest.update(f"\n{file.name}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _cython_version():
    if importlib.util.find_spec("Cython") is None:
        return None
    from Cython import __version__
    return __version__


def _accepts(compiler, flags):
    return subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c", os.devnull],
                          capture_output=True).returncode == 0


def _compile(path, folder, argument):
    """Translate a file to C and compile it; returns the library in the folder."""
    def run(words, remedy):
        """Run a program; ValueError with the end of what it prints, and the remedy, if it fails."""
        done = subprocess.run(words, capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise ValueError(f"{argument}: {path} cannot be compiled; {remedy}:\n{done.stderr[-4000:]}")

    if _cython_version() is None:
        raise ValueError(f"{argument}: a .pyx file needs Cython; {sys.executable} -m pip install 'Cython>=3.3'")
    record = build_record()
    name, *flags = record["command"].split()
    compiler = next(filter(shutil.which, (os.environ.get("CC", ""), name, "cc", "gcc", "clang")), None)
    if compiler is None:
        raise ValueError(f"{argument}: a .pyx file needs a C compiler; on Debian or Ubuntu apt-get install "
                         "build-essential python3-dev")
    source, library = folder / f"{path.stem}.c", folder / f"{path.stem}.so"
    run([sys.executable, "-m", "cython", "-X", record["directives"], "--module-name", path.stem,
         "-I", path.parent, "-I", PACKAGE.parent, path, "-o", source], "Cython says")
    if not _accepts(compiler, flags):       # not that of minidem; it may lack options that are for speed
        flags = [flag for flag in flags if _accepts(compiler, [flag])]
    paths = [path.parent, PACKAGE, *{sysconfig.get_path(kind) for kind in ("include", "platinclude")}]
    run([compiler, *flags, *(f"-I{include}" for include in paths), source, "-o", library,
         *sysconfig.get_config_var("LDSHARED").split()[1:]], f"{compiler} says")
    return library
