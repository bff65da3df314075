"""Exhausted memory at any allocation: the simulation can be read, saved and run on with the same bits."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from minidem.core.threads import has_openmp

HERE = Path(__file__).parent
BETWEEN_STEPS = "bonds", "copy", "add many", "remove", "fluxes", "copy with onsets", "onsets"


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    library = tmp_path_factory.mktemp("memory") / "failing_memory.so"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", library, HERE / "failing_memory.c", "-ldl"], check=True)
    return library


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD and glibc's allocator")
@pytest.mark.parametrize("name, threads, every", [("friction", 0, 3), ("bonds", 2, 11), *(
    pytest.param(name, threads, 1, marks=pytest.mark.slow) for name, threads in (
        *((name, 0) for name in ("save and load", "run", "many runs", "force", "add clumps", "look")),
        *((name, threads) for name in ("friction", *BETWEEN_STEPS) for threads in (1, 2, 3))))])
def test_every_allocation_is_refused_in_turn(name, threads, every, preloaded, tmp_path):
    """threads : 0: of one thread, those of Python too; else of the package, in so many threads, every so many."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer replaces the allocator itself")
    if threads > 1 and not has_openmp():
        pytest.skip("compiled without OpenMP")
    paths = [str(HERE.parent), str(HERE.parents[1])]
    done = subprocess.run([sys.executable, HERE / "exhausted_memory.py", name, str(threads), tmp_path, str(every)],
                          capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(preloaded),
                                                               "PYTHONPATH": os.pathsep.join(paths)})
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout)
    assert results["tried"] > 10 and results["raised"] > 0, results
    fewest = {"run": 5, "friction": 1, "many runs": 1}      # contacts that stay in place rarely need memory
    assert results["went back"] >= fewest.get(name, 0), results
    assert results["raised"] + results["other"] > 0.5 * results["tried"], results
