"""Instruction sets in one build: equal bits at every level of the processor, and refusals of MINIDEM_ISA."""
import json
import os
import platform
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import processes
import pytest
from benchmark_cases import CASES
from compare_trees import with_contact

import minidem as md
from minidem import isa

ROOT = Path(__file__).parents[2]
TESTED = Path(md.__file__).parents[1]
STEPS = {"A": 20_000, "B": 4000, "C": 200, "C_onset": 100, "C_friction": 200, "C_cohesion": 200}
LAWS = {"onset": "hertz:onset=corrected", "friction": "hertz-mindlin:rolling=epsd",
        "cohesion": "hertz-mindlin:rolling=epsd,cohesion=jkr"}
FRICTION = {"restitution": 0.6, "friction": 0.4, "rolling_friction": 0.1}
PROPERTIES = {"friction": FRICTION, "cohesion": {**FRICTION, "adhesion": 10.0}}
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("MINIDEM_")}
RUN = """
import hashlib, json, sys
import minidem as md
folder, steps, others = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
level, found = md.build_info()["isa"], {}

def digest(arrays):
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()

def end(name, start, n_steps, save=None):
    sim = md.Simulation.load(f"{folder}/{start}", threads=2)
    sim.run(n_steps)
    if save:
        sim.save(f"{folder}/{save}")
    return digest([sim.position, sim.orientation, sim.velocity, sim.angular_velocity, sim.force, sim.torque])

for name, n in steps.items():
    if others:
        found[name] = [end(name, f"{name}_{other}", n - n // 2) for other in others]
    else:
        found[name] = end(name, name, n)
        end(name, name, n // 2, save=f"{name}_{level}")
if not others:
    body = dict(inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(1, 2, 3), torque=(1, 0, 1))
    for name in md.rotation.available():
        free = md.rotation.integrate(name, **body, dt=1e-2, steps=100)
        found[name] = digest([free.orientation, free.angular_velocity])
files = [getattr(module, "__file__", None) or "" for name, module in sys.modules.items() if name.startswith("minidem.")]
print(json.dumps({"level": level, "digests": found, "of": sum(f"/isa/{level}/" in file for file in files)}))
"""


CERTIFY = """
import sys
import minidem as md
sim, certificate = md.Simulation.load(sys.argv[1] + "/C_friction"), md.Certificate(sys.argv[1] + "/run.json")
certificate(sim)
sim.run(90, every=30, callback=certificate)
"""


def python(tree, *arguments, level="", fails=False):
    """Standard output of a Python process that imports minidem from a folder; its errors if it fails."""
    done = processes.python(*arguments, fails=fails, cwd=tree,
                            env={**CLEAN, "PYTHONPATH": str(tree), "MINIDEM_ISA": level})
    return done.stderr if fails else done.stdout


def built(folder):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("levels are of x86-64")
    knows = subprocess.run([*os.environ.get("CC", "cc").split(), "-xc", "-c", "-o", os.devnull, "-"], text=True,
                           input='int level(void) { return __builtin_cpu_supports("x86-64-v4"); }', capture_output=True)
    if knows.returncode:
        pytest.skip("the levels need a newer compiler")
    shutil.copytree(ROOT / "minidem", folder / "minidem", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    done = processes.python("setup.py", "build_ext", "--inplace", cwd=folder, env={**CLEAN, "MINIDEM_ARCH": "levels"})
    assert "alone" not in done.stderr
    return folder


def start(runs):
    """Save the initial states of the benchmark cases in a new folder; the command that runs them."""
    runs.mkdir()
    for name in STEPS:
        law = LAWS.get(name[2:], "hertz")
        with_contact(CASES[name[0]].simulation(1, None), law, PROPERTIES.get(name[2:], {})).save(runs / name)
    return "-c", RUN, runs, json.dumps(STEPS)


@pytest.mark.slow                           # .ci/run has it all the same
def test_bits_are_equal_at_all_levels(tmp_path):
    """Final states of benchmark cases, of runs continued at another level, of free bodies with every scheme, and a
    certificate.

    They are also compared with those of the build under test, if it is a native one.
    """
    runs = tmp_path / "runs"
    tree, command = TESTED if isa.levels() else built(tmp_path), start(runs)
    levels = json.loads(python(tree, "-c", "import json; from minidem import isa; print(json.dumps(isa.levels()))"))
    assert levels[0] == "v2"
    found = [json.loads(python(tree, *command, level=level)) for level in levels]
    assert [one["level"] for one in found] == levels
    assert found[0]["of"] == 0 < min((one["of"] for one in found[1:]), default=1)
    expected = found[-1]["digests"] if tree == TESTED else json.loads(python(TESTED, *command))["digests"]
    assert len(set(expected.values())) == len(expected) and all(one["digests"] == expected for one in found)
    for level in levels:
        others = [other for other in levels if other != level]
        continued = json.loads(python(tree, *command, *others, level=level))["digests"]
        assert continued == {name: [expected[name]] * len(others) for name in STEPS}
    python(TESTED, "-c", CERTIFY, runs)
    for level in levels:
        assert "holds: 3 of 3 links" in python(tree, "-m", "minidem", "verify", runs / "run.json", level=level)
    file = runs / "rows.jsonl"
    table = python(tree, ROOT / "tools" / "benchmark.py", "--cases", "A", "--steps", 500, "--warmup", 500, "--isa",
                   ",".join(levels), "--json", file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["isa"] for row in rows] == levels and min(row["isa_ratio"] for row in rows) == 1.0
    assert len({row["energy_drift"] for row in rows}) == 1
    assert all(f"A     1        {row['isa']:3}  {row['isa_ratio']:.3f}" in table for row in rows), table
    assert "MINIDEM_ISA=v9: the levels are v2, v3, v4" in python(tree, "-c", "import minidem", level="v9", fails=True)


ALL = ["v2", "v3", "v4"]


@pytest.mark.parametrize("wanted, built, supported, level", [
    ("", ALL, ALL, "v4"), ("", ALL, ALL[:2], "v3"), ("", ALL[:2], ALL, "v3"), ("", [], ALL, None),
    ("v2", ALL, ALL, "v2"), ("v3", ALL, ALL[:2], "v3")])
def test_choice(wanted, built, supported, level):
    assert isa.choose(wanted, built, supported) == level


@pytest.mark.parametrize("wanted, built, supported, complaint", [
    ("avx2", ALL, ALL, "MINIDEM_ISA=avx2: the levels are v2, v3, v4; choose one"),
    ("v4", ALL[:2], ALL, "MINIDEM_ISA=v4: this build has v2, v3 only; choose one"),
    ("v4", ALL, ALL[:2], "MINIDEM_ISA=v4: this processor has v2, v3 only; choose one"),
    ("v3", [], [], "MINIDEM_ISA=v3: this build is for one instruction set; unset .* MINIDEM_ARCH=levels"),
    ("", ALL, [], "needs a processor of x86-64-v2 or newer; build from the source")])
def test_a_level_that_does_not_exist_is_refused(wanted, built, supported, complaint):
    with pytest.raises(ImportError, match=complaint):
        isa.choose(wanted, built, supported)


def test_the_finder_is_installed_once():
    before = list(sys.meta_path)
    try:
        isa.install()
        isa.install()
        assert Counter(map(type, sys.meta_path)) == Counter(map(type, before))      # vtk, imported later, is before it
    finally:
        sys.meta_path[:] = before
