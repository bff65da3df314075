"""Build of the compiled modules; pyproject.toml has all else about the package, minidem/guide/build.md the options.

Every minidem/**/*.pyx becomes one extension module. The flags that the compiler accepts are found by probes. Results
have the same bits with all of them: no fast-math, no contraction of a*b+c. A module outside the time loop lowers the
optimisation level in its first line: # distutils: extra_compile_args = -O1. Modules that mainly call Python
have -Og, which compiles in three quarters of that time. With MINIDEM_ARCH=levels those of the time loop are made at
three levels of x86-64, from the same C; minidem/isa/__init__.py chooses when it is imported.

Modules are kept in build/kernels, one folder per Python and MINIDEM_ARCH, each with a record: the names of the files of
which it was made, after a digest of their content, of the compiler, its command, and Cython. A module whose digest has
changed is built again; dates do not matter. An installation copies modules from there.
"""
import copy
import gc
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import Cython.Build
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

PACKAGE = Path("minidem")
SHARED = "minidem._cyutility"       # Cython's code for memoryviews and functions, once instead of in every module
DIRECTIVES = dict(language_level=3, boundscheck=False, cdivision=True, initializedcheck=False, embedsignature=True,
                  freethreading_compatible=True)        # a Python without GIL does not take it back for minidem
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off",
         "-mllvm -unroll-full-max-count=7"]         # clang does not vectorise loops over eight lanes once unrolled
# By the first macro that the compiler defines: vectors of 512 bits, which gcc avoids by itself; copies as wide as the
# loads that read them, which would wait otherwise; and copies without "rep movs", which has a long start.
INLINE_COPIES = "vector_loop:2048:noalign,libcall:-1:noalign"
WIDTHS = {"__AVX512F__": ["-mprefer-vector-width=512", "-mmove-max=512", "-mstore-max=512"],
          "__AVX2__": ["-mmove-max=256", "-mstore-max=256"],
          "__x86_64__": [f"-mmemcpy-strategy={INLINE_COPIES}", f"-mmemset-strategy={INLINE_COPIES}"]}
APPLE, HOMEBREW = ["-Xpreprocessor", "-fopenmp", "-lomp"], "/opt/homebrew/opt/libomp"
OPENMP = [["-fopenmp"], APPLE, [*APPLE, f"-I{HOMEBREW}/include", f"-L{HOMEBREW}/lib"]]
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]        # the first: every 64-bit PC since 2009


def extensions():
    """One for each .pyx file, the longest first, so that no core waits at the end."""
    modules = [Extension(".".join(path.with_suffix("").parts), [path.as_posix()], include_dirs=[str(PACKAGE)],
                         extra_compile_args=re.findall(r"^# distutils: extra_compile_args = (-O\w)", path.read_text()))
               for path in sorted(PACKAGE.rglob("*.pyx"), key=lambda path: -path.stat().st_size)]
    return [*modules, Extension(SHARED, [SHARED.replace(".", "/") + ".c"], extra_compile_args=["-Og"])]


def tell(message):
    """Print to the terminal, if there is one, since pip hides what a build prints."""
    try:
        Path("/dev/tty").write_text(f"\n{message}\n")
    except OSError:
        print(message, file=sys.stderr)


class BuildKernels(build_ext):
    """Build, on all cores, what is not up to date, with those of the flags that the compiler accepts."""

    def run(self):
        self.target = Path("." if self.inplace or self.editable_mode else self.build_lib)
        super().run()

    def compiles(self, declarations, *flags):
        """Whether the compiler makes a program that begins with these declarations."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "probe.c").write_text(f"{declarations}\nint main(void) {{ return 0; }}\n")
            command = [*self.compiler.compiler_so, *(f"-I{path}" for path in self.compiler.include_dirs),
                       f"{folder}/probe.c", "-o", f"{folder}/probe", *flags, *os.environ.get("LDFLAGS", "").split()]
            return bool(shutil.which(command[0])) and subprocess.run(command, capture_output=True).returncode == 0

    def macros(self, flags):
        """The macros that the compiler defines: its version, and what -march=native means here, are among them."""
        return subprocess.run([*self.compiler.compiler_so, *flags, "-dM", "-E", "-x", "c", os.devnull],
                              capture_output=True, check=True).stdout.decode()

    def openmp_flags(self):
        wish = os.environ.get("MINIDEM_OPENMP", "auto")
        if wish not in ("auto", "0", "1"):
            sys.exit(f"MINIDEM_OPENMP must be auto, 0 or 1, not {wish!r}")
        for flags in OPENMP if wish != "0" else []:
            if self.compiles("#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }", *flags):
                return flags
        problem = "built WITHOUT OpenMP: every run uses one thread; install libgomp of gcc or libomp of clang for more"
        if wish == "1":
            sys.exit(f"MINIDEM_OPENMP=1, but minidem would be {problem}, or set MINIDEM_OPENMP=auto")
        print(f"{'*' * 99}\nminidem: {problem}\n{'*' * 99}", file=sys.stderr)
        return []

    def choose_archs(self):
        """The -march names of this build, the lowest first; what the compiler makes counts, not where it runs."""
        asked = os.environ.get("MINIDEM_ARCH") or ("native" if self.target == Path() else "levels")
        if asked == "levels":
            if "__x86_64__" not in self.macros([]):
                return ["baseline"]
            if self.compiles('int level(void) { return __builtin_cpu_supports("x86-64-v4"); }'):
                return LEVELS
            print(f"minidem: built for {LEVELS[0]} alone: levels need gcc 12 or clang 18", file=sys.stderr)
            return LEVELS[:1]
        if asked not in ("native", "baseline") and not self.compiles("", f"-march={asked}", "-Werror"):
            sys.exit(f"MINIDEM_ARCH={asked}: this compiler has no -march={asked}; native and baseline always work")
        return [asked]

    def choose_flags(self, arch):
        """Compiler flags for an -march name, without those of OpenMP."""
        march = [flag for flag in [f"-march={arch}"] if arch != "baseline" and self.compiles("", flag, "-Werror")]
        macros = self.macros(march)
        wanted = FLAGS + march + next((flags for macro, flags in WIDTHS.items() if macro in macros), [])
        if not re.search(r"(^|\s)-g", f"{os.environ.get('CC')} {os.environ.get('CFLAGS')}"):
            wanted.append("-g0")        # Python's own flags have -g, which costs a quarter of the time
        return [word for flag in map(str.split, wanted) if self.compiles("", *flag, "-Werror") for word in flag]

    def for_arch(self, arch, archs):
        """Copies of the extensions to build for an -march name: at the first all, then those of the time loop."""
        package = "minidem" if arch == archs[0] else f"minidem.isa.{arch[-2:]}"
        flags = self.choose_flags(arch) + self.openmp
        command = " ".join(self.compiler.compiler_so + flags)
        made_by = [command, self.macros(flags), *self.compiler.linker_so, str(DIRECTIVES), Cython.__version__]
        macros = {"MINIDEM_COMMAND": command, "MINIDEM_DIRECTIVES": ",".join(f"{k}={v}" for k, v in DIRECTIVES.items())}
        if len(archs) > 1:
            macros["MINIDEM_LEVELS"] = " ".join(arch[-2:] for arch in archs)
        for extension in map(copy.copy, self.extensions):
            if package == "minidem" or not extension.extra_compile_args:
                extension.name = extension._full_name = extension.name.replace("minidem", package, 1)
                extension.extra_compile_args = [*flags, *extension.extra_compile_args, "-MMD"]
                extension.define_macros = [(name, json.dumps(text)) for name, text in macros.items()]
                extension.made_by = made_by
                yield extension

    def build_extensions(self):
        if not self.compiles("#include <Python.h>"):
            sys.exit("minidem needs a C compiler and the headers of Python (Python.h). On Debian or Ubuntu:  "
                     "apt-get install build-essential python3-dev python3-venv")
        archs, self.openmp = self.choose_archs(), self.openmp_flags()
        self.extensions = [extension for arch in archs for extension in self.for_arch(arch, archs)]
        self.folder = Path("build", "kernels", f"{sys.implementation.cache_tag}-{'-'.join(archs)}")
        self.parallel = self.parallel or os.cpu_count()
        self.contents = {path.as_posix(): path.read_bytes() for path in PACKAGE.rglob("*.*")
                         if path.suffix in (".pyx", ".pxd", ".h")}      # what is edited from now on is built next time
        self.stale = [extension for extension in self.extensions if self.force or not self.is_current(extension)]
        if self.stale:
            seconds = 5 * round(len(self.stale) * 1.5 / self.parallel / 5) or 5
            tell(f"minidem: compiling {len(self.stale)} modules on {self.parallel} processors, about {seconds} s")
        self.translate({extension.sources[0] for extension in self.stale})
        self.force = True               # to copy also what is older than the copy that another build left
        super().build_extensions()
        mine = {self.module_file(self.target, extension) for extension in self.extensions}
        for path in set(self.target.glob("minidem/**/*" + self.get_ext_filename("x")[1:])) - mine:
            path.unlink()               # of other levels, or without source now: it could be imported
        if self.target == Path():
            self.extensions = []        # they are in their places

    def module_file(self, folder, extension):
        return folder / self.get_ext_filename(extension.name)

    def digest(self, extension, names):
        made_of = [*extension.made_by, *(f"{name}: {self.contents.get(name)}" for name in names)]
        return hashlib.sha256("\n".join(made_of).encode()).hexdigest()

    def is_current(self, extension):
        record = self.module_file(self.folder, extension).with_suffix(".record")
        digest, *names = record.read_text().splitlines() if record.exists() else [""]
        return digest == self.digest(extension, names) and self.module_file(self.folder, extension).exists()

    def translate(self, sources):
        """Translate modules to C, once for all levels."""
        gc.set_threshold(700_000)       # also of Cython's workers, which else collect garbage for a third of their time
        wanted = [extension for extension in extensions() if extension.sources[0] in sources]
        Cython.Build.cythonize(wanted, build_dir=str(self.folder / "c"), compiler_directives=DIRECTIVES, force=True,
                               depfile=True, nthreads=self.parallel, shared_utility_qualified_name=SHARED)
        for header in (self.folder / "c").rglob("*.h"):
            header.unlink()             # Cython's: the compiler has to read, and to name, the header itself

    def build_extension(self, extension):
        made, place = self.module_file(self.folder, extension), self.module_file(self.target, extension)
        if extension in self.stale:
            made.with_suffix(".record").unlink(missing_ok=True)
            source = (self.folder / "c" / extension.sources[0]).with_suffix(".c")
            objects = self.compiler.compile([str(source)], str(made.parent), extension.define_macros,
                                            extension.include_dirs, extra_postargs=extension.extra_compile_args)
            self.compiler.link_shared_object(objects, str(made), extra_postargs=self.openmp)
            listed = [Path(objects[0]).with_suffix(".d"), source.with_suffix(".c.dep")]
            names = {name for path in listed if path.exists() for name in path.read_text().split()} & set(self.contents)
            names |= {Path(name).with_suffix(".pxd").as_posix() for name in names}      # read as soon as there is one
            made.with_suffix(".record").write_text("\n".join([self.digest(extension, sorted(names)), *sorted(names)]))
        place.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(made), str(place))


class SourceDistribution(sdist):
    """The sdist carries the scenarios with their pictures, tests and tools."""

    def make_release_tree(self, base_dir, files):
        beside = [path.as_posix() for folder in ("scenarios", "tests", "tools") for path in Path(folder).rglob("[!.]*")
                  if path.is_file() and "__pycache__" not in path.parts]
        super().make_release_tree(base_dir, sorted({*files, *beside}))


def description(repository):
    """The README for PyPI: its relative links lead to files of the repository, and pictures to their raw files."""
    text = Path("README.md").read_text(encoding="utf-8")
    kinds = {r"(!\[[^]]*\]\()": "raw", r"((?<!!)\[[^]]*\]\()": "blob"} if repository else {}
    for link, folder in kinds.items():
        text = re.sub(link + r"(?!https://)", rf"\1{repository}/{folder}/main/", text)
    return text


def addresses(repository):
    """Project URLs, by name."""
    return {"Repository": repository, "Issues": f"{repository}/issues",
            "Changelog": f"{repository}/blob/main/minidem/CHANGELOG.md"} if repository else {}


if __name__ == "__main__":          # Cython's workers may import this file
    if sys.version_info < (3, 11):  # noqa: UP036   pip would first try all versions of other packages
        sys.exit(f"minidem needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}")
    if sys.platform == "darwin":    # the Python of python.org would build for two processors at once, with one -march
        os.environ.setdefault("ARCHFLAGS", f"-arch {os.uname().machine}")
    packages, folders = find_packages(include=["minidem", "minidem.*"]), {"": "."}
    if "editable_wheel" not in sys.argv:        # scenarios are in the wheel, for `minidem run`, and at hand in a clone
        topics = {f"minidem.scenarios.{path.parent.name}" for path in Path("scenarios").glob("*/*.py")}
        packages, folders = [*packages, "minidem.scenarios", *sorted(topics)], {"minidem.scenarios": "scenarios"}
    repository = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["minidem"]["repository"]
    # {"": "."}: `pip install -e` writes an entry of sys.path, no finder, which would come after a clone named minidem
    setup(ext_modules=extensions(), packages=packages, package_dir=folders, project_urls=addresses(repository),
          long_description=description(repository), long_description_content_type="text/markdown",
          cmdclass={"build_ext": BuildKernels, "sdist": SourceDistribution})
