#!/usr/bin/env python3
"""Plant known faults in a copy of the sources, one at a time, and check that tests see each of them.

    python tools/plant_faults.py                                    # all faults of tools/faults.toml
    python tools/plant_faults.py 1-10 cross-product                 # some, by number or id
    python tools/plant_faults.py cross-product --tests tests/oracle # which tests fail with a fault

Run it after tests were removed or merged. Where a test has a new name, change `seen_by`; where no test sees a fault any
more, one of the removed tests is missing. First all tests that are named must pass without a fault. A fault is
seen if a test of `seen_by` fails, not if tests cannot be collected. Compiled modules that contain the fault are built
in the copy: seconds for a .pyx file, minutes for headers that many modules read. The sources here never change.

Exit status: 0 all faults were seen; 1 one was not, or could not be planted; 130 Ctrl-C.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).with_name("faults.toml")
LEFT_OUT = ".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "results"
COMPILED = ".pyx", ".pxd", ".h"
FAILED = 1                      # exit status of pytest; others but 0: no such test, an error in collecting, a crash


class Unplantable(Exception):
    """A text is not in the sources exactly once, or cannot be built with the fault."""


def chosen(faults, words):
    """The faults of these numbers, ranges of numbers, or ids; all without words."""
    names = {fault["id"]: number for number, fault in faults.items()}
    numbers = []
    for word in words:
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        found = range(int(span[1]), int(span[2] or span[1]) + 1) if span else [names.get(word, 0)]
        if not set(found) <= set(faults):
            raise SystemExit(f"{word}: there is no such fault; give ids of {FAULTS.name}, or numbers up to "
                             f"{len(faults)}")
        numbers += found
    return {number: faults[number] for number in numbers or faults}


def copy_with(fault, folder):
    """Copy the project with a fault, or with None, and build what that needs. The text may be in any file."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    if fault is not None:
        sources = {path: path.read_text() for path in Path(folder, "minidem").rglob("*.*")
                   if path.suffix in (".py", *COMPILED)}
        found = [path for path, text in sources.items() for _ in range(text.count(fault["text"]))]
        if len(found) != 1:
            raise Unplantable(f"its text is {len(found)} times in the sources, and must be once: {fault['text']!r}")
        path, = found
        path.write_text(sources[path].replace(fault["text"], fault["replacement"]))
        if path.suffix in COMPILED:
            build = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if build.returncode:
                raise Unplantable(f"it cannot be built:\n{build.stdout[-2000:]}")


def run_tests(folder, tests, *options):
    """Exit status and output of pytest in a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", *options, *tests]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def try_fault(fault, tests):
    """(whether it was seen, what to say). tests : given ones, which are all run; None: those that the fault names."""
    with tempfile.TemporaryDirectory(prefix="minidem-fault-") as temporary:
        folder = Path(temporary, "minidem")
        try:
            copy_with(fault, folder)
        except Unplantable as error:
            return False, f"NOT PLANTED: {error}"
        status, output = run_tests(folder, tests or fault["seen_by"], *([] if tests else ["-x"]))
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        if status == FAILED:
            return True, "\n    ".join([f"seen by {len(failed)} of these tests:", *failed] if tests else
                                       [f"seen by {failed[0] if failed else '?'}"])
        return False, "NOT SEEN" if status == 0 else f"NOT TESTED: pytest ended with {status}\n{output[-2000:]}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", help="ids, numbers, or ranges as 3-8 (default: all)")
    parser.add_argument("--tests", nargs="+", metavar="TEST", help="list which of these tests fail with each fault")
    options = parser.parse_args(arguments)
    faults = chosen(dict(enumerate(tomllib.loads(FAULTS.read_text())["fault"], 1)), options.faults)
    with tempfile.TemporaryDirectory(prefix="minidem-fault-") as temporary:
        named = options.tests or sorted({test for fault in faults.values() for test in fault["seen_by"]})
        print(f"without a fault: {len(named)} files or tests", flush=True)
        copy_with(None, Path(temporary, "minidem"))
        status, output = run_tests(Path(temporary, "minidem"), named)
        if status:
            print(f"they do not pass:\n{output[-3000:]}")
            return 1
    missed = []
    for done, (number, fault) in enumerate(faults.items(), 1):
        begin = time.monotonic()
        print(f"[{done}/{len(faults)}] {number} {fault['id']}: ", end="", flush=True)
        seen, text = try_fault(fault, options.tests)
        print(f"{text} ({time.monotonic() - begin:.0f} s)", flush=True)
        missed += [] if seen else [fault["id"]]
    print("\n  not: ".join([f"{len(faults) - len(missed)} of {len(faults)} faults were seen", *missed]))
    return int(bool(missed))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
