"""sdist and wheel, built from it: complete, portable, usable without a compiler, and from Cython. Needs an index."""
import os
import platform
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import processes
import pytest

from minidem.core.interpreter import scenario_scripts

ROOT = Path(__file__).parents[2]
FOLDERS = "minidem", "scenarios", "tests", "tools"
FILES = "LICENSE", "README.md", "pyproject.toml", "setup.py"
MADE = shutil.ignore_patterns("__pycache__", "*.so", ".*")      # by builds and tests, in the folders of sources

SCHEME = """
from cpython.pycapsule cimport PyCapsule_New
from minidem.core.quaternion cimport add_scaled_quat, multiply_vector, normalise
from minidem.core.vec3 cimport add_scaled
from minidem.rotation.scheme cimport MOVE, Body, BodyBlock, Step, angular_acceleration, over_bodies
from minidem.state.rows cimport ClumpBlock, ConstantBlock, WrenchBlock

cdef void formula(Body *body, const Step *step) noexcept nogil:
    body.w = add_scaled(body.w, step.dt, angular_acceleration(body, body.w, body.torque))
    body.q = normalise(add_scaled_quat(body.q, 0.5 * step.dt, multiply_vector(body.q, body.w)))

cdef void move(double *block, const double *torque, const double *fixed, const Step *step) noexcept nogil:
    cdef BodyBlock bodies = BodyBlock(MOVE, step, <ClumpBlock *> block, <const WrenchBlock *> torque,
                                      <const ConstantBlock *> fixed)
    over_bodies(formula, &bodies, 0)

capsule = PyCapsule_New(<void *> move, "void (double *, const double *, const double *, const double *)", NULL)
"""
USE = """
import minidem as md, numpy as np, own_scheme
md.rotation.register("own", own_scheme.capsule)
how = dict(inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(1, 2, 3), torque=(1, 0, 1), dt=1e-3,
           steps=99)
own, euler = (md.rotation.integrate(name, **how) for name in ("own", "euler"))
assert np.allclose(own.orientation, euler.orientation, rtol=0, atol=99 * 1e-15), (own, euler)    # a rounding a step
assert md.__file__.startswith(__import__("sys").prefix), md.__file__
for scheme in md.rotation.compile("mine.pyx"):
    md.rotation.register(scheme)
mine, built = (md.rotation.integrate(name, **how) for name in ("mine", "no-squish"))
assert np.array_equal(mine.orientation, built.orientation)
"""
pytestmark = pytest.mark.slow

# A checkout on the path, or settings of this build, must not reach the one under test.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "MINIDEM_"))}


def run(*words, env=CLEAN, **how):
    return processes.run(*words, env=env, **how).stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    pytest.importorskip("build.util")      # the folder build/ of a checkout would pass for a package "build"
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=MADE)
    for name in FILES:
        shutil.copy(ROOT / name, source)
    run(sys.executable, "-m", "build", "--outdir", dist, source, cwd=source)
    return dist


@pytest.fixture(scope="module")
def environment(dist, tmp_path_factory):
    """Python of a new environment with the wheel and its dependencies, all from wheels."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--only-binary", ":all:", *dist.glob("*.whl"))
    return python


def test_the_sdist_is_complete(dist, tmp_path):
    archive, = dist.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    unpacked, = tmp_path.iterdir()
    clean = tmp_path / "clean"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, clean / name, ignore=MADE)
    found, made = ({path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
                   for folder in (unpacked, clean))
    wanted = made | set(FILES)
    assert len(wanted) > 150 and "scenarios/pictures/rods_in_box.png" in wanted
    assert {name for name in found if "egg-info" not in name} == wanted | {"PKG-INFO", "setup.cfg"}


def test_the_wheel_is_portable(dist, tmp_path):
    """No module has instructions above its level: AVX and what follows name ymm and zmm registers, AVX-512 zmm."""
    if platform.machine() != "x86_64" or not shutil.which("objdump"):
        pytest.skip("needs x86-64 and objdump")
    wheel, = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    sources = {path.relative_to(ROOT / "minidem").with_suffix("").as_posix(): path.read_text()
               for path in (ROOT / "minidem").rglob("*.pyx")}
    in_time_loop = {name for name, text in sources.items() if not text.startswith("# distutils: extra_compile_args")}
    wanted = {*sources, "_cyutility"}           # the code that they share
    wanted |= {f"isa/{level}/{name}" for level in ("v3", "v4") for name in in_time_loop}
    found = {path.relative_to(tmp_path / "minidem").as_posix().partition(".")[0]: path
             for path in tmp_path.rglob("*.so")}
    assert set(found) == wanted
    used = {}
    for name, library in found.items():
        code = run("objdump", "--disassemble", "--no-show-raw-insn", library)
        used[name] = {register for register in ("xmm", "ymm", "zmm") if f"%{register}" in code}
        level = name.split("/")[1] if name.startswith("isa/v") else "v2"
        assert used[name] <= {"v2": {"xmm"}, "v3": {"xmm", "ymm"}, "v4": {"xmm", "ymm", "zmm"}}[level], name
    kernels = [f"{folder}loop/loop" for folder in ("", "isa/v3/", "isa/v4/")]
    assert ["ymm" in used[name] for name in kernels] == [False, True, True]
    assert ["zmm" in used[name] for name in kernels] == [False, False, True]


def test_it_runs_without_a_compiler_and_gives_the_same_bits(environment, tmp_path):
    """The same bits as the build under test, which may be for another instruction set."""
    script = tmp_path / "rods_in_box.py"
    shutil.copy(ROOT / "scenarios" / "rods_in_box.py", script)
    empty = tmp_path / "bin"
    empty.mkdir()
    options = "--time", "0.5", "--frames", "0", "--quiet", "--out"
    run(environment, script, *options, tmp_path / "wheel", env={"PATH": str(empty)}, cwd=tmp_path)
    run(sys.executable, script, *options, tmp_path / "here", cwd=tmp_path, env=CLEAN | {"PYTHONPATH": str(ROOT)})
    wheel, here = ((tmp_path / place / "energy.csv").read_text() for place in ("wheel", "here"))
    assert wheel.count("\n") > 900 and wheel == here


def test_the_command_line_has_the_scenarios(environment, tmp_path):
    """All are in the wheel with the C files that two of them compile; some import others."""
    minidem = environment.parent / "minidem"
    listed = run(minidem, "scenarios", cwd=tmp_path).splitlines()
    assert [line.split()[0] for line in listed] == list(scenario_scripts())
    run(minidem, "run", "rods_in_box", "--time", "0.1", cwd=tmp_path)
    assert (tmp_path / "results" / "rods_in_box" / "rods_in_box.pvd").is_file()
    for name in "impact", "dense_rods", "custom_integrator", "chess_in_box", "oblique_impact", "paper_report":
        text = run(minidem, "run", name, "--help", cwd=tmp_path)
        assert text.startswith(f"usage: minidem run {name} ") and "python scenarios/" not in text
    package = Path(run(environment, "-c", "import minidem; print(minidem.__path__[0])", cwd=tmp_path).strip())
    assert sorted(path.name for path in (package / "scenarios").glob("*.c")) == [
        "capillary_bridge.c", "custom_integrator.c", "custom_law.c"]
    assert "8 of 8 checks passed" in run(minidem, "selftest", cwd=tmp_path)
    assert "> exact" in run(minidem, "bench", "exact", "--quick", cwd=tmp_path)
    run(environment, "-c", "from minidem.scenarios.spiral import chess; list(map(chess.piece, chess.HEIGHTS))",
        cwd=tmp_path)


def test_others_can_cimport(environment, tmp_path):
    """Rotation schemes in Cython modules of their own, from the .pxd files and headers that the wheel installs."""
    run(environment, "-m", "pip", "install", "Cython", "setuptools")
    (tmp_path / "own_scheme.pyx").write_text(SCHEME)
    text = (ROOT / "minidem" / "rotation" / "no_squish.pyx").read_text(encoding="utf-8")
    (tmp_path / "mine.pyx").write_text(text.replace('name="no-squish"', 'name="mine"'))
    run(environment, "-m", "Cython.Build.Cythonize", "-3", "-i", "own_scheme.pyx", cwd=tmp_path)
    run(environment, "-c", USE, cwd=tmp_path)


def test_all_examples_run_with_the_wheel(dist, environment, tmp_path):
    """Those in Python of README, guide and docstrings, as tests/build/test_examples.py runs them."""
    wheel, = dist.glob("*.whl")
    run(environment, "-m", "pip", "install", "--only-binary", ":all:", f"{wheel}[viz,render,trajectories]", "numba",
        "pytest", "pytest-xdist")
    done = run(environment.parent / "pytest", ROOT / "tests" / "build" / "test_examples.py", "-n", "0", "-k",
               "runs_as_printed", "-p", "no:cacheprovider", cwd=tmp_path)
    assert " passed" in done
