"""Check the compiled code for memory errors, undefined behaviour and data races.

    python tools/sanitize.py address        the tests under AddressSanitizer and UBSan; pytest's arguments may follow
    python tools/sanitize.py thread         the time loop on two threads under ThreadSanitizer

The script first checks that the sanitizer finds deliberate errors. It then builds an instrumented copy of the sources
in a temporary folder (gcc), runs it, and prints the distinct reports with their counts. The sources and their build
do not change. Exit status: 0 no report and all tests passed; 1 otherwise; 77 something is not installed (a message
says what, and how to install it).

ThreadSanitizer does not see the synchronisation of gcc's OpenMP runtime and would report false races. The LLVM
runtime with the tool Archer is used instead; it runs code compiled by gcc. Atzeni et al., "Archer: effectively
spotting data races in large OpenMP applications", IPDPS 2016, doi:10.1109/IPDPS.2016.68.
"""
import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PASSED, FOUND, MISSING = 0, 1, 77
FLAGS = {"address": "-g -fno-omit-frame-pointer -fsanitize=address,undefined -fsanitize-recover=address",
         "thread": "-g -fsanitize=thread"}
ERRORS = {      # deliberate errors in C
    "address": """
        #include <stdlib.h>
        int control(int n) {
            int *a = malloc(n * sizeof *a), b = a[n], c = n + 2147483647;
            free(a);
            return b + c; }""",
    "thread": """
        static int sum;
        int control(int n) {
            #pragma omp parallel for schedule(static, 1)
            for (int k = 0; k < 100000 * n; ++k) sum += k;
            return sum; }"""}
SEEN = {"address": ("heap-buffer-overflow", "signed integer overflow"), "thread": ("data race",)}
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
OPENMP = ["libomp.so.5", "libarcher.so"]
PACKAGES = {"libasan.so": "libasan8 gcc", "libubsan.so": "libubsan1 gcc", "libtsan.so": "libtsan2 gcc",
            "libomp.so.5": "libomp-dev", "libarcher.so": "libomp-dev"}
HEAD = re.compile(r"ERROR: AddressSanitizer: [\w-]+|runtime error: .*|WARNING: ThreadSanitizer: [\w -]+(?= \(pid)")
PLACE = re.compile(r"\S*minidem/[\w/]+\.(?:pyx|pxd|c|h):\d+")


class Missing(Exception):
    pass


def library(name, folders=()):
    """Path of a library in one of the folders, or in the search path of gcc."""
    found = [path for folder in folders for path in sorted(Path(folder).glob(f"**/{name}"))]
    if not found and shutil.which("gcc"):
        done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True)
        path = Path(done.stdout.strip())
        found = [path] if path.is_absolute() else []
    if not found:
        raise Missing(f"{name} is missing. On Debian or Ubuntu:  apt-get install {PACKAGES[name]}")
    return str(found[-1].resolve())


def prepare(kind, openmp_folders):
    """Environment variables of the instrumented runs; raises Missing before any work."""
    for module in ("Cython", "setuptools", "pytest", "numpy"):
        if importlib.util.find_spec(module) is None:
            raise Missing(f"the Python package {module} is missing:  python -m pip install {module}")
    preload = [library(name) for name in LIBRARIES[kind]]
    environment = {"LD_PRELOAD": " ".join(preload), "PYTHONMALLOC": "malloc"}      # guard zones around each allocation
    if kind == "address":
        environment["UBSAN_LIBRARY"] = preload[1]
    if kind == "thread":
        omp, archer = (library(name, openmp_folders) for name in OPENMP)
        environment |= {"LD_PRELOAD": f"{preload[0]} {omp}", "OMP_TOOL_LIBRARIES": archer, "OMP_NUM_THREADS": "2"}
    return environment


def find_deliberate_errors(kind, folder, environment):
    """Raise Missing unless the sanitizers report the errors of ERRORS."""
    folder.mkdir()
    (folder / "control.c").write_text(ERRORS[kind])
    subprocess.run(["gcc", *FLAGS[kind].split(), "-fopenmp", "-shared", "-fPIC", "control.c", "-o", "control.so"],
                   cwd=folder, check=True)
    found = run(["-c", "import ctypes; ctypes.CDLL('./control.so').control(3)"], folder, environment)[1]
    for error in SEEN[kind]:
        if not any(error in report for report in found):
            raise Missing(f"this {kind} sanitizer does not work here: it does not find a deliberate {error}")


def build(kind, folder):
    """Build an instrumented copy of the sources in `folder`."""
    made = shutil.ignore_patterns("__pycache__", "*.so", ".*")
    for name in ("minidem", "tests", "scenarios", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    setup = folder / "setup.py"         # instrumented, -O3 takes many minutes
    setup.write_text(setup.read_text().replace('"-O3"', '"-O1"'))
    flags = {"CC": f"gcc {FLAGS[kind]}", "MINIDEM_OPENMP": "1", "MINIDEM_ARCH": "native"}     # also for linking
    log = folder / "build.log"
    with log.open("w") as file:
        done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, stdout=file,
                              stderr=subprocess.STDOUT, env=os.environ | flags)
    if done.returncode:
        sys.exit(f"the instrumented build failed:\n{log.read_text()[-3000:]}")


def run(command, folder, environment):
    """Exit status of the command, and the sanitizer reports with their counts."""
    reports = folder / "reports"
    reports.mkdir()
    # Leaks and mismatches of new and free, which C has not, come from Python and C++ libraries.
    common = (f"log_path={reports}/report:print_stacktrace=1:detect_leaks=0:alloc_dealloc_mismatch=0:halt_on_error=0:"
             "ignore_noninstrumented_modules=1")
    options = {f"{name}_OPTIONS": common for name in ("ASAN", "UBSAN", "TSAN")}
    if "UBSAN_LIBRARY" in environment:
        # With both sanitizers, UBSan ignores its own log_path, and pytest hides stderr.
        (folder / "sitecustomize.py").write_text(
            "import ctypes, os\nctypes.CDLL(os.environ['UBSAN_LIBRARY']).__sanitizer_set_report_path("
            f"b'{reports}/undefined')\n")
    done = subprocess.run([sys.executable, *command], cwd=folder,
                          env=os.environ | {"PYTHONPATH": str(folder)} | environment | options)
    found = Counter()
    for file in sorted(reports.iterdir()):
        text = file.read_text(errors="replace")
        heads = list(HEAD.finditer(text))
        for head, following in zip(heads, [*heads[1:], None]):
            line_start = text.rfind("\n", 0, head.start()) + 1
            part = text[line_start:following.start() if following else None]
            places = list(dict.fromkeys(Path(place).name for place in PLACE.findall(part)))
            found[f"{head.group()}   at {', '.join(places[:4]) or 'no line of minidem'}"] += 1
    return done.returncode, found


def loop():
    """Runs on two threads: lists, forces, walls, several stages, clumps of many spheres, onset correction, friction;
    clumps that are held and that a wall carries."""
    sys.path.insert(0, "tests")
    import scenes

    import minidem as md
    from minidem.loop import bare_loop
    defaults = bare_loop.SLOTS_IN_CACHE, bare_loop.LOG_SLAB
    for name, scene in {"rods": scenes.packed_rods(2, (8, 12, 14)), "mixture": scenes.packed_mixture(3, (8, 12, 14)),
                        "bunches": scenes.packed_bunches(4, 6),
                        "slabs": scenes.packed_rods(6, (8, 12, 14)),
                        "soft": scenes.packed_rods(5, (8, 12, 14)).changed(young=1e7, gravity=(0, 0, -9.81))}.items():
        bare_loop.SLOTS_IN_CACHE, bare_loop.LOG_SLAB = (1000, 9) if name == "slabs" else defaults
        for scheme, contact in (("spiral", "hertz"), ("rk4", "hertz"), ("improved-pcdm", "hertz"),
                                ("spiral", "hertz:onset=corrected"), ("spiral", "hertz-mindlin:rolling=epsd"),
                                ("exact", "hertz-mindlin:mass=single")):
            sim = scene.simulation(rotation=scheme, contact=contact, threads=2)
            if scheme == "exact":
                sim.set_motion(sim.ids[::5], turns="x")
                sim.set_motion(sim.ids[1::5], motion=md.Servo(direction=(0, 0, 1), force=1.0, mass=1.0))
            sim.run(150)
            sim.run(50, every=10, callback=lambda sim: (sim.energy(), sim.contacts()))
            if sim.threads < 2:
                sys.exit(f"{name}: ran on {sim.threads} thread; data races need two")
            print(f"{name}, {scheme}, {contact}: {sim.step_count} steps, {len(sim.contacts())} contacts", flush=True)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["address", "thread", "loop"],
                        help="what to check; loop: the runs of `thread` in this process, without instrumentation")
    parser.add_argument("--openmp", action="append", default=["/usr/lib/llvm*/lib"], metavar="DIR",
                        help="folder of libomp.so.5 and libarcher.so (default: %(default)s)")
    options, pytest_arguments = parser.parse_known_args(argv)
    if options.kind == "loop":
        return loop()
    folders = [folder for pattern in options.openmp
               for folder in sorted(Path("/").glob(str(Path(pattern).absolute())[1:]))]
    command = ["tools/sanitize.py", "loop"] if options.kind == "thread" else ["-m", "pytest", "-q", *pytest_arguments]
    with tempfile.TemporaryDirectory(prefix="minidem-sanitize-") as temporary:
        folder = Path(temporary, "minidem")
        folder.mkdir()
        try:
            environment = prepare(options.kind, folders)
            find_deliberate_errors(options.kind, Path(temporary, "control"), environment)
        except Missing as missing:
            print(f"sanitize: {missing}", file=sys.stderr)
            return MISSING
        build(options.kind, folder)
        status, found = run(command, folder, environment)
    for report, times in found.most_common():
        print(f"{times:6d} x  {report}")
    print(f"sanitize {options.kind}: {sum(found.values())} reports, exit status of the run {status}")
    return FOUND if found or status else PASSED


if __name__ == "__main__":
    sys.exit(main())
