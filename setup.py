"""Build of the compiled modules; pyproject.toml has all else about the package.

Every minidem/**/*.pyx becomes one extension module: a new rotation scheme needs no edit here. The flags that the
compiler accepts are found by compiling probes. Two environment variables override them:

    MINIDEM_ARCH     native, baseline, an -march name such as x86-64-v3, or levels. Default: native for a build
                     that stays in this folder (pip install -e, build_ext --inplace), levels for a wheel
                     (pip install ., python -m build), which may leave the machine
    MINIDEM_OPENMP   auto (default), 1 (fail without OpenMP), 0 (one thread only)

Results have the same bits with all of them: no fast-math, no contraction of a*b+c. A module outside the time loop
lowers the optimisation level in its first line: # distutils: extra_compile_args = -O1

levels stands for x86-64-v2,x86-64-v3,x86-64-v4 if the compiler is one for x86-64, else for baseline. All modules are
built at the first, in their usual places. Those without an optimisation level of their own are built at the others too,
into minidem/isa/v3 and v4, from the same C; minidem/isa/__init__.py chooses when the package is imported.

Modules are kept in build/kernels, one folder per Python and MINIDEM_ARCH, each with a record of its source files.
A module is rebuilt if the content of one of these files, the compiler, its command, Cython or this file has changed;
dates do not matter. An installation copies them from there.
"""
import contextlib
import copy
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

PACKAGE = Path("minidem")
SHARED = "minidem._cyutility"       # Cython's code for memoryviews and functions, once instead of in every module
DIRECTIVES = dict(language_level=3, boundscheck=False, cdivision=True, initializedcheck=False, embedsignature=True)
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
         "-mllvm -unroll-full-max-count=7"]         # clang does not vectorise loops over eight lanes once unrolled
# By the first macro that the compiler defines: vectors of 512 bits, which gcc avoids by itself; copies as wide as the
# loads that read them, which would wait otherwise; and copies without "rep movs", which has a long start.
INLINE_COPIES = "vector_loop:2048:noalign,libcall:-1:noalign"
WIDTHS = {"__AVX512F__": ["-mprefer-vector-width=512", "-mmove-max=512", "-mstore-max=512"],
          "__AVX2__": ["-mmove-max=256", "-mstore-max=256"],
          "__x86_64__": [f"-mmemcpy-strategy={INLINE_COPIES}", f"-mmemset-strategy={INLINE_COPIES}"]}
HOMEBREW = ["/opt/homebrew/opt/libomp", "/usr/local/opt/libomp"]       # its libomp is outside the search paths of clang
OPENMP_CHOICES = [(["-fopenmp"], ["-fopenmp"]), (["-Xpreprocessor", "-fopenmp"], ["-lomp"]),
                  *((["-Xpreprocessor", "-fopenmp", f"-I{prefix}/include"], [f"-L{prefix}/lib", "-lomp"])
                    for prefix in HOMEBREW)]
OPENMP_PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]        # the first: every 64-bit PC since 2009
X86_PROBE = "#ifndef __x86_64__\n#error\n#endif\n"
LEVEL_PROBE = 'int main(void) { return __builtin_cpu_supports("x86-64-v4"); }\n'
CYTHON = 3, 3               # older ones refuse an enum's constant as the length of an array
DEBIAN_REMEDY = "On Debian or Ubuntu:  apt-get install build-essential python3-dev python3-venv"


def extensions():
    modules = [Extension(".".join(path.with_suffix("").parts), [path.as_posix()], include_dirs=[str(PACKAGE)])
               for path in sorted(PACKAGE.rglob("*.pyx"))]
    return [*modules, Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=["-O1"])]


def chooses_optimisation(extension):
    """Whether a module has an optimisation level of its own: it is outside the time loop, and one build is enough."""
    source = Path(extension.sources[0])
    return not source.exists() or source.read_text().startswith("# distutils: extra_compile_args = -O")


def digests():
    """{file: digest of its content} of all source files of modules."""
    return {path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for suffix in ("pyx", "pxd", "h") for path in PACKAGE.rglob(f"*.{suffix}")}


def check_cython():
    """Version of Cython; pip installs it, except with --no-build-isolation."""
    version = importlib.metadata.version("Cython") if importlib.util.find_spec("Cython") else "missing"
    if version == "missing" or tuple(int(n) for n in re.findall(r"\d+", version)[:2]) < CYTHON:
        sys.exit(f"minidem needs Cython {CYTHON[0]}.{CYTHON[1]} or newer, and here it is {version}:"
                 f"  {sys.executable} -m pip install -U Cython")
    return version


class BuildKernels(build_ext):
    """Probes the compiler, adds the flags that it accepts, and builds on all cores what is not up to date."""

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
                    self.compiler.link_executable(objects, "probe", output_dir=folder, extra_postargs=[
                        *link_flags, *os.environ.get("LDFLAGS", "").split()])
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
                     " clang: libomp-dev, macOS: brew install libomp) or set MINIDEM_OPENMP=auto.")
        print(f"{'*' * 78}\nminidem: built WITHOUT OpenMP: every run uses one thread. For more threads install gcc,\n"
              f"or libomp-dev for clang (macOS: brew install libomp), and build again.\n{'*' * 78}", file=sys.stderr)
        return [], []

    def check_compiler(self):
        if not self.compiles("int answer(void) { return 42; }\n"):
            sys.exit(f"minidem needs a C compiler and found none that works. {DEBIAN_REMEDY}")
        if not self.compiles("#include <Python.h>\n"):
            sys.exit(f"minidem needs the headers of Python (Python.h) and did not find them. {DEBIAN_REMEDY}")

    def choose_archs(self):
        """The -march names of this build, the lowest first; what the compiler makes counts, not where it runs."""
        asked = os.environ.get("MINIDEM_ARCH") or ("native" if self.stays_here else "levels")
        if asked == "levels" and not self.compiles(X86_PROBE):
            return ["baseline"]
        archs = LEVELS if asked == "levels" else asked.split(",")
        if len(archs) > 1 and archs != [arch for arch in LEVELS if arch in archs]:
            sys.exit(f"MINIDEM_ARCH={asked}: a list may have {', '.join(LEVELS)} only, in this order")
        if len(archs) > 1 and not self.compiles(LEVEL_PROBE, link_flags=()):
            print(f"minidem: built for {archs[0]} alone: levels need gcc 12, clang 18 or newer ones", file=sys.stderr)
            return archs[:1]
        for arch in set(archs) - {"native", "baseline"}:
            if not self.accepts(f"-march={arch}"):
                sys.exit(f"MINIDEM_ARCH={asked}: this compiler has no -march={arch}; native and baseline always work")
        return archs

    def accepts(self, flag):
        return self.compiles("int answer;\n", [*flag.split(), "-Werror"])

    def macros(self, flags):
        """The macros that the compiler defines: its version, and what -march=native means here, are among them."""
        return subprocess.run([*self.compiler.compiler_so, *flags, "-dM", "-E", "-x", "c", os.devnull],
                              capture_output=True, check=True).stdout.decode()

    def choose_flags(self, arch):
        """Compiler flags for an -march name, without those of OpenMP."""
        march = [flag for flag in [f"-march={arch}"] if arch != "baseline" and self.accepts(flag)]
        macros = self.macros(march)
        wanted = FLAGS + march + next((flags for macro, flags in WIDTHS.items() if macro in macros), [])
        asked = " ".join(os.environ.get(name, "") for name in ("CC", "CFLAGS"))
        if not self.debug and not re.search(r"(^|\s)-g", asked):
            wanted.append("-g0")        # Python's own flags have -g, which costs a quarter of the time
        return " ".join(filter(self.accepts, wanted)).split()

    def at_level(self, arch, flags, made_by):
        """Copies of the extensions to build with these flags: at the first level all, then those of the time loop."""
        names = {arch: arch.removeprefix("x86-64-") for arch in self.archs}
        package = "minidem" if arch == self.archs[0] else f"minidem.isa.{names[arch]}"
        macros = {"minidem.core.build_record": [("MINIDEM_COMMAND", json.dumps(made_by[0]))]}
        if len(self.archs) > 1:
            macros["minidem.isa.processor"] = [("MINIDEM_LEVELS", json.dumps(" ".join(names.values())))]
        for origin in self.extensions:
            if package == "minidem" or not chooses_optimisation(origin):
                extension = copy.copy(origin)
                extension.name = extension._full_name = origin.name.replace("minidem", package, 1)
                extension.define_macros = macros.get(origin.name, [])
                extension.origin, extension.arch, extension.flags, extension.made_by = origin, arch, flags, made_by
                yield extension

    def build_extensions(self):
        cython_version = check_cython()
        self.check_compiler()
        self.archs = self.choose_archs()
        openmp, self.link_flags = self.openmp_flags()
        everything = []
        for arch in self.archs:
            flags = self.choose_flags(arch) + openmp
            settings = self.macros(flags) + Path("setup.py").read_text()
            made_by = [" ".join(self.compiler.compiler_so + flags), " ".join(self.compiler.linker_so + self.link_flags),
                       cython_version, sys.version, hashlib.sha256(settings.encode()).hexdigest()]
            everything += self.at_level(arch, flags, made_by)
        self.extensions = everything
        self.folder = Path("build", "kernels", f"{sys.implementation.cache_tag}-{','.join(self.archs)}")
        self.parallel = self.parallel or os.cpu_count()
        self.digests = digests()        # before anything is read: what is edited meanwhile is made again next time
        self.translated = self.translate([e for e in self.extensions if self.force or not self.is_current(e)])
        self.extensions.sort(key=self.length, reverse=True)     # the longest first, so that no core waits at the end
        self.force = True               # to copy also what is older than the copy that another build left
        super().build_extensions()
        self.remove_others(PACKAGE if self.stays_here else Path(self.build_lib, PACKAGE))

    def copy_extensions_to_source(self):
        for extension in self.extensions:
            Path(self.get_ext_filename(extension.name)).parent.mkdir(parents=True, exist_ok=True)
        super().copy_extensions_to_source()

    def module_file(self, extension):
        return self.folder / "lib" / self.get_ext_filename(extension.name)

    def record(self, extension):
        return self.folder / "records" / f"{extension.name}.json"

    def is_current(self, extension):
        if not (self.record(extension).exists() and self.module_file(extension).exists()):
            return False
        record = json.loads(self.record(extension).read_text())
        return record["made_by"] == extension.made_by and all(
            self.digests.get(name) == digest for name, digest in record["made_of"].items())

    def translate(self, wanted):
        """Translates modules to C, once for all levels: {name: extension of the C file}."""
        from Cython.Build import cythonize
        for extension in wanted:
            self.record(extension).unlink(missing_ok=True)
            self.module_file(extension).unlink(missing_ok=True)
        origins = {extension.origin.name: extension.origin for extension in wanted}
        made = cythonize(list(origins.values()), build_dir=str(self.folder / "c"), compiler_directives=DIRECTIVES,
                         force=True, nthreads=self.parallel, depfile=True, shared_utility_qualified_name=SHARED)
        for header in (self.folder / "c").rglob("*.h"):
            header.unlink()             # Cython's: the compiler has to read, and to name, the header itself
        translated = {extension.name: extension for extension in made}
        return {extension.name: translated[extension.origin.name] for extension in wanted}

    def length(self, extension):
        made = self.translated.get(extension.name)
        return Path(made.sources[0]).stat().st_size if made else 0

    def build_extension(self, extension):
        if extension.name in self.translated:
            self.compile(extension, self.translated[extension.name])
        place = Path(self.get_ext_fullpath(extension.name))
        place.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(self.module_file(extension)), str(place))

    def compile(self, extension, translated):
        source = Path(translated.sources[0])
        objects = self.compiler.compile([str(source)], output_dir=str(self.folder / extension.arch), debug=self.debug,
                                        macros=extension.define_macros, include_dirs=extension.include_dirs,
                                        extra_postargs=[*extension.flags, *translated.extra_compile_args, "-MMD"])
        self.compiler.link_shared_object(objects, str(self.module_file(extension)), debug=self.debug,
                                         libraries=self.get_libraries(extension), extra_postargs=self.link_flags)
        read = [path.read_text() for path in (Path(objects[0]).with_suffix(".d"), source.with_suffix(".c.dep"))
                if path.exists()]
        names = {name for name in " ".join(read).split() if name in self.digests}
        names |= {Path(name).with_suffix(".pxd").as_posix() for name in names}      # read as soon as there is one
        names |= {name for name in self.digests if name.endswith("/__init__.pxd")}
        made_of = {name: self.digests.get(name) for name in sorted(names)}
        record = self.record(extension)
        record.parent.mkdir(parents=True, exist_ok=True)
        unfinished = record.with_suffix(".part")
        unfinished.write_text(json.dumps({"made_by": extension.made_by, "made_of": made_of}, indent=1))
        unfinished.replace(record)

    def remove_others(self, folder):
        """Removes modules of other levels, and of sources that have been moved or deleted: they could be imported."""
        mine = {Path(self.get_ext_filename(e.name)).relative_to(PACKAGE) for e in self.extensions}
        for path in list(folder.rglob("*" + self.get_ext_filename("x")[1:])):
            if path.relative_to(folder) not in mine:
                path.unlink()
                with contextlib.suppress(OSError):
                    os.removedirs(path.parent)          # what is empty now


class EditableInstall(editable_wheel):
    """pip install -e: an entry of sys.path, in place of a finder that is asked when sys.path has no such name.

    Beside a clone named minidem it has: the clone, a folder without __init__.py, is a package without code. One with
    code is preferred, wherever on sys.path it is.
    """

    def finalize_options(self):
        project = self.distribution
        project.packages = [name for name in project.packages if not name.startswith("minidem.scenarios")]  # at hand
        project.package_dir = {"": "."}                 # setuptools writes the entry for such a layout alone
        super().finalize_options()


class SourceDistribution(sdist):
    """The sdist carries the scenarios with their pictures, tests and tools."""

    def make_release_tree(self, base_dir, files):
        hidden = re.compile(r"(^|/)(\.|__pycache__/)")
        beside = [path.as_posix() for folder in ("scenarios", "tests", "tools")
                  for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        super().make_release_tree(base_dir, sorted({*files, *(path for path in beside if not hidden.search(path))}))


if __name__ == "__main__":          # Cython's workers may import this file
    if sys.version_info < (3, 11):  # noqa: UP036   pip would first try all versions of other packages
        sys.exit(f"minidem needs Python 3.11 or newer, and {sys.executable} is {platform.python_version()}")
    if sys.platform == "darwin":    # the Python of python.org would build for two processors at once, with one -march
        os.environ.setdefault("ARCHFLAGS", f"-arch {platform.machine()}")
    setup(ext_modules=extensions(),
          cmdclass={"build_ext": BuildKernels, "editable_wheel": EditableInstall, "sdist": SourceDistribution},
          packages=[*find_packages(include=["minidem", "minidem.*"]), "minidem.scenarios", *(
              f"minidem.scenarios.{folder.name}" for folder in sorted(Path("scenarios").glob("[a-z]*/"))
              if any(folder.glob("*.py")))],
          package_dir={"minidem.scenarios": "scenarios"})       # for `minidem run` where a wheel is installed
