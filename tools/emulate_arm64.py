#!/usr/bin/env python3
"""Build minidem for arm64 on an x86-64 machine, run it under emulation, and compare the bits of both builds.

    python tools/emulate_arm64.py
    python tools/emulate_arm64.py --march armv8.2-a+sve --cpu max

The script downloads the arm64 Python of this Debian release (apt-get, without installing anything and without root)
and the wheels of NumPy, SciPy and meshio (pip), compiles a copy of the sources with the flags of setup.py, and runs it
by qemu's user emulation. Both builds start from the same checkpoints of the standard cases, with Hertz contacts, with
the onset correction, and with friction, on one thread and on two, and integrate a free body with each rotation scheme.
The table lists the digests of the states at the end, which certificates have, and of the motions of the body.

Emulation shows that the arithmetic and the generated code are right. It shows neither the speed nor the weak memory
order of arm64, since qemu leaves the order of loads and stores to the x86 processor: `tools/sanitize.py thread` checks
the synchronisation of threads by the rules of C. Initial states that are made on arm64 differ from x86-64 in
the last bits, because NumPy's einsum, matmul and exp do.

Exit status: 0 all bits are equal; 1 otherwise; 77 something is not installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmark_cases import EPILOG, known_cases, print_table
from compare_trees import with_contact

ROOT = Path(__file__).resolve().parents[1]
EQUAL, DIFFERENT, MISSING = 0, 1, 77
STEPS = {"A": 20_000, "B": 20_000, "C": 200, "D": 20, "E": 200, "F": 5, "G": 20, "H": 20}
CONTACTS = {            # and properties of the material
    "hertz": {}, "hertz:onset=corrected": {},
    "hertz-mindlin:rolling=epsd": {"restitution": 0.6, "friction": 0.4, "rolling_friction": 0.1},
    "hertz-mindlin:cohesion=jkr": {"restitution": 0.6, "friction": 0.4, "adhesion": 10.0},
}
TRIPLET = "aarch64-linux-gnu"
PROGRAMS = {f"{TRIPLET}-gcc": f"gcc-{TRIPLET}", "qemu-aarch64": "qemu-user", "apt-get": "apt", "dpkg": "dpkg"}
DEBIAN_PACKAGES = ["python3-minimal", "python3-dev", "libgomp1", "libstdc++6"]
APT_SETTINGS = """
APT::Architecture "arm64"; APT::Architectures "arm64"; APT::Install-Recommends "false"; Debug::NoLocking "true";
Dir::State "{0}"; Dir::State::status "{0}/status"; Dir::Cache "{0}";
"""
WORKER = """
import hashlib, json, platform, sys
import minidem as md
from minidem.accuracy.certificate import state_digest
def show(name, digest):
    print(name, digest, sep="\\t", flush=True)
print(platform.machine(), md.build_info()["compiler"], sep=": ", flush=True)
for scheme in md.rotation.available():
    end = md.rotation.integrate(scheme, (1.0, 2.0, 2.5), (1, 0, 0, 0), (0.3, 2.0, -0.1), (0.1, 0.2, 0.3), 1e-3, 2000,
                                record_every=10)
    show(scheme, hashlib.sha256(end.orientation.tobytes() + end.angular_velocity.tobytes()).hexdigest())
for name, path, steps in json.loads(sys.argv[1]):
    for threads in 1, 2:
        sim = md.Simulation.load(path, threads=threads)
        sim.run(steps)
        show(f"{name}, {steps} steps, {sim.threads} of {threads} threads", state_digest(sim))
"""


def run(command, log, **options):
    """Run a command; its output goes to a log, which is printed if it fails."""
    with log.open("w") as file:
        done = subprocess.run([*map(str, command)], stdout=file, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{log.read_text()[-3000:]}")


def make_system(folder, log):
    """Unpack an arm64 Python with its libraries and headers into folder/system."""
    apt, system = folder / "apt", folder / "system"
    for name in ("lists/partial", "archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "settings").write_text(APT_SETTINGS.format(apt))
    environment = os.environ | {"APT_CONFIG": str(apt / "settings")}
    run(["apt-get", "update"], log, env=environment)
    run(["apt-get", "install", "--download-only", "--yes", *DEBIAN_PACKAGES], log, env=environment)
    unfinished = folder / "system.part"
    for package in sorted((apt / "archives").glob("*.deb")):
        run(["dpkg", "-x", package, unfinished], log)
    unfinished.rename(system)


def build(folder, system, python, march, log):
    """Compile a copy of the sources in folder/tree; only what has changed is compiled again."""
    tree, settings = folder / "tree", folder / "settings"
    shutil.rmtree(tree / "minidem", ignore_errors=True)
    shutil.copytree(ROOT / "minidem", tree / "minidem", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    settings.mkdir(exist_ok=True)
    shutil.copy(system / "usr/lib" / python / f"_sysconfigdata__{TRIPLET}.py", settings)
    environment = {"CC": f"{TRIPLET}-gcc --sysroot={system}", "CFLAGS": f"-I{system}/usr/include/{python}",
                   "_PYTHON_HOST_PLATFORM": "linux-aarch64", "_PYTHON_SYSCONFIGDATA_NAME": f"_sysconfigdata__{TRIPLET}",
                   "PYTHONPATH": str(settings), "MINIDEM_ARCH": march, "MINIDEM_OPENMP": "1"}
    run([sys.executable, "setup.py", "build_ext", "--inplace"], log, cwd=tree, env=os.environ | environment)
    return tree


def results(python, starts, tree, *packages):
    """[[name, hash], ...] by the worker in a process of this Python, with the minidem of a tree."""
    done = subprocess.run([*map(str, python), "-c", WORKER, json.dumps(starts)], stdout=subprocess.PIPE, text=True,
                          cwd=tree, env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (tree, *packages)))})
    if done.returncode:
        sys.exit(f"the run with {tree / 'minidem'} failed")
    build, *lines = done.stdout.splitlines()
    print(build, flush=True)
    return [line.split("\t") for line in lines]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=known_cases, default="A,B,C", metavar="NAMES",
                        help="separated by commas (default: %(default)s)")
    parser.add_argument("--march", default="armv8-a", help="-march of gcc (default: %(default)s)")
    parser.add_argument("--cpu", default="max", help="processor that qemu emulates (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "arm64", metavar="DIR",
                        help="for downloads and the build, kept for the next time (default: build/arm64)")
    parser.add_argument("--system", type=Path, metavar="DIR",
                        help="root folder of an arm64 system with Python and its headers (default: from apt-get)")
    options = parser.parse_args(argv)
    missing = [package for program, package in PROGRAMS.items() if not shutil.which(program)]
    if missing:
        print(f"emulate_arm64: something is missing. On Debian:  apt-get install {' '.join(missing)}", file=sys.stderr)
        return MISSING
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    log, system = folder / "log", (options.system or folder / "system").resolve()
    if not system.exists():
        make_system(folder, log)
    pythons = sorted((system / "usr/bin").glob("python3.*[0-9]"))
    if not pythons:
        sys.exit(f"--system {system} has no usr/bin/python3.*: give the root folder of an arm64 system with Python")
    packages = folder / f"packages-{pythons[-1].name}"
    if not packages.exists():
        run([sys.executable, "-m", "pip", "install", "--target", packages, "--only-binary=:all:", "--python-version",
             pythons[-1].name[len("python"):], "--platform", "manylinux_2_28_aarch64", "--platform",
             "manylinux2014_aarch64", "numpy", "scipy", "meshio"], log)
    tree = build(folder, system, pythons[-1].name, options.march, log)
    starts = []
    for name, case in options.cases:
        sim = case.simulation(1, None)
        for contact, properties in CONTACTS.items():
            path = folder / f"{name}-{len(starts)}.npz"
            with_contact(sim, contact, properties).save(path)
            starts.append((f"case {name}, {contact}", str(path), STEPS[name]))
    native = results([sys.executable], starts, ROOT)
    emulated = results(["qemu-aarch64", "-cpu", options.cpu, "-L", system, pythons[-1]], starts, tree, packages)
    print_table([("run", "x86-64", "arm64", "bits"),
                 *((name, here[:12], there[:12], "equal" if here == there else "different")
                   for (name, here), (_, there) in zip(native, emulated, strict=True))])
    return EQUAL if native == emulated else DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
