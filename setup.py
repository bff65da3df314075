"""Build of the Cython kernels; everything else about the package stands in pyproject.toml.

Every minidem/**/*.pyx becomes one extension module, so that a new rotation integrator is one new
file and no edit here. What the compiler can do is probed by compiling, with a remedy where it
cannot. Two environment variables overrule the probes:

    MINIDEM_ARCH     native, baseline, or an -march name such as x86-64-v3. Default: native for a build
                     that stays in this folder (pip install -e, build_ext --inplace), PORTABLE for a
                     wheel (pip install ., python -m build), which may leave the machine
    MINIDEM_OPENMP   auto (default), 1 (fail without OpenMP), 0 (one thread only)

The bits of the results depend on neither: no fast-math, no contraction of a*b+c.
"""
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

PACKAGE = Path("minidem")
DIRECTIVES = dict(language_level=3, boundscheck=False, cdivision=True,
                  initializedcheck=False, embedsignature=True)
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
OPENMP_CHOICES = [(["-fopenmp"], ["-fopenmp"]), (["-Xpreprocessor", "-fopenmp"], ["-lomp"])]
OPENMP_PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
PORTABLE = "x86-64-v2"      # every 64-bit PC since 2009, and what numpy's own wheels ask for
DEBIAN_REMEDY = "On Debian or Ubuntu:  apt-get install build-essential python3-dev python3-venv"


def extensions():
    headers = sorted(str(p) for pattern in ("*.pxd", "*.h") for p in PACKAGE.rglob(pattern))
    return [Extension(".".join(path.with_suffix("").parts), [str(path)], depends=headers,
                      include_dirs=[str(PACKAGE)])
            for path in sorted(PACKAGE.rglob("*.pyx"))]


class BuildKernels(build_ext):
    """Probes the compiler, adds the flags it understands, and builds on all cores."""

    def run(self):
        self.stays_here = self.inplace or self.editable_mode
        super().run()

    def compiles(self, source, flags=(), link_flags=None):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "probe.c"
            path.write_text(source)
            silence = os.dup(2)
            try:
                with open(os.devnull, "w") as devnull:
                    os.dup2(devnull.fileno(), 2)
                objects = self.compiler.compile([str(path)], output_dir=folder, extra_postargs=list(flags),
                                                include_dirs=self.compiler.include_dirs)
                if link_flags is not None:
                    self.compiler.link_executable(objects, "probe", output_dir=folder,
                                                  extra_postargs=list(link_flags))
                return True
            except Exception:
                return False
            finally:
                os.dup2(silence, 2)
                os.close(silence)

    def openmp_flags(self):
        wish = os.environ.get("MINIDEM_OPENMP", "auto")
        if wish not in ("auto", "0", "1"):
            sys.exit(f"MINIDEM_OPENMP must be auto, 0 or 1, not {wish!r}")
        if wish != "0":
            for flags, link_flags in OPENMP_CHOICES:
                if self.compiles(OPENMP_PROBE, flags, link_flags):
                    return flags, link_flags
        if wish == "1":
            sys.exit("MINIDEM_OPENMP=1, but this compiler has no OpenMP. Install its runtime (gcc: libgomp,"
                     " clang: libomp-dev) or set MINIDEM_OPENMP=auto.")
        line = "*" * 78
        print(f"{line}\nminidem: built WITHOUT OpenMP: every run uses one thread.\n"
              f"For more threads install gcc, or libomp-dev for clang, and build again.\n{line}",
              file=sys.stderr, flush=True)
        return [], []

    def build_extensions(self):
        if not self.compiles("int answer(void) { return 42; }\n"):
            sys.exit(f"minidem needs a C compiler and found none that works. {DEBIAN_REMEDY}")
        if not self.compiles("#include <Python.h>\n"):
            sys.exit(f"minidem needs the headers of Python (Python.h) and did not find them. {DEBIAN_REMEDY}")
        arch = os.environ.get("MINIDEM_ARCH") or ("native" if self.stays_here else PORTABLE)
        wanted = FLAGS + ([] if arch == "baseline" else [f"-march={arch}", "-mprefer-vector-width=512"])
        flags = [flag for flag in wanted if self.compiles("int answer;\n", [flag, "-Werror"])]
        openmp, openmp_link = self.openmp_flags()
        for extension in self.extensions:
            extension.extra_compile_args = flags + openmp
            extension.extra_link_args = list(openmp_link)
        # distutils looks at dates alone, and would put modules made for this machine into a wheel: what the
        # build folder has is made again, unless a whole build with this very command left it.
        command = " ".join(self.compiler.compiler_so + flags + openmp)
        for extension in self.extensions:
            if extension.name == "minidem.build_record":
                extension.define_macros = [("MINIDEM_COMMAND", json.dumps(command))]
        record = Path(self.build_temp, "made-with.txt")
        self.force = self.force or not (record.exists() and record.read_text() == command)
        record.unlink(missing_ok=True)
        self.parallel = self.parallel or os.cpu_count()
        super().build_extensions()
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(command)
        if not self.stays_here:
            # `pip install .` leaves the modules beside their sources too: the source tree, which comes
            # first on sys.path for `python -m pytest` in the checkout, then works like the installed one.
            self.copy_extensions_to_source()


class SourceDistribution(sdist):
    """The sdist carries the scenarios, tests and tools, which are not part of the package."""

    def make_release_tree(self, base_dir, files):
        hidden = re.compile(r"(^|/)(\.|__pycache__/)")
        beside = [path.as_posix() for folder in ("scenarios", "tests", "tools")
                  for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        super().make_release_tree(base_dir, files + [path for path in beside if not hidden.search(path)])


setup(ext_modules=cythonize(extensions(), build_dir="build/cython", compiler_directives=DIRECTIVES,
                            nthreads=0),
      cmdclass={"build_ext": BuildKernels, "sdist": SourceDistribution})
