"""A build compiles what has changed, and nothing else: five modules in a copy, without optimisation."""
import importlib.util
import os
import platform
import re
import runpy
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from processes import python

pytestmark = pytest.mark.slow            # of setup.py alone
ROOT = Path(__file__).parents[2]
AT_LEVELS = {"core.build_record", "state.pose", "rotation.euler", "rotation.scheme"}
MODULES = AT_LEVELS | {"isa.processor"}
ALL = MODULES | {"_cyutility"}
WITH_LEVELS = ALL | {f"isa.{level}.{name}" for level in ("v3", "v4") for name in AT_LEVELS}
SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith("MINIDEM_")}
FLAGS = {"CFLAGS": "-DMINIDEM_OTHER_FLAGS", "MINIDEM_OPENMP": "0"}
IN_PLACE = "setup.py", "build_ext", "--inplace"


def hook(name):
    """The arguments of Python that build for a package index: pip's own way in."""
    return "-c", f"from setuptools import build_meta; build_meta.{name}('dist')"


class Tree:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return self.folder / "minidem" / name

    def append(self, name, text):
        self.path(name).write_text(self.path(name).read_text() + text)

    def build(self, *arguments, fails=False, **settings):
        """The modules that are translated and compiled."""
        (self.folder / "dist").mkdir(exist_ok=True)
        done = python(*(arguments or IN_PLACE), fails=fails, cwd=self.folder, env=SETTINGS | (settings or FLAGS))
        return {name.replace("/", ".") for name in re.findall(r" -c \S*/minidem/(\S+)\.c ", done.stdout)}

    def modules(self):
        """{name: file} of those beside their sources."""
        return {path.relative_to(self.folder / "minidem").as_posix().partition(".")[0].replace("/", "."): path
                for path in (self.folder / "minidem").rglob("*.so")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    for name in ("Cython", "setuptools"):
        assert importlib.util.find_spec(name), f"the extra `test` brings {name}"
    tree = Tree(tmp_path_factory.mktemp("built"))
    shutil.copytree(ROOT / "minidem", tree.folder / "minidem", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (tree.folder / "scenarios").mkdir()                 # a package of the wheel
    for path in (tree.folder / "minidem").rglob("*.pyx"):
        if ".".join(path.relative_to(tree.folder / "minidem").with_suffix("").parts) not in MODULES:
            path.unlink()
    for name in ("README.md", "LICENSE", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tree.folder)
    (tree.folder / "setup.py").write_text(re.sub('"-O[3g]"', '"-O0"', (ROOT / "setup.py").read_text()))
    assert tree.build(**FLAGS) == ALL == set(tree.modules())
    return tree


@pytest.fixture
def tree(built, tmp_path, monkeypatch):
    """A copy with what has been built, in which one stands; all dates are new."""
    monkeypatch.chdir(shutil.copytree(built.folder, tmp_path / "tree", copy_function=shutil.copyfile))
    for name in [name for name in os.environ if name.startswith("MINIDEM_")]:
        monkeypatch.delenv(name)
    for name, value in FLAGS.items():
        monkeypatch.setenv(name, value)
    return Tree(tmp_path / "tree")


def stale():
    """The modules that a build in place would make here: it is stopped before it makes them."""
    from setuptools import Distribution
    specification = importlib.util.spec_from_file_location("setup_of_tree", "setup.py")
    setup = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(setup)
    command = setup.BuildKernels(Distribution({"name": "minidem", "ext_modules": setup.extensions()}))
    command.inplace, names = True, []
    def translate(sources):
        names.extend(extension.name.removeprefix("minidem.") for extension in command.stale)
        raise InterruptedError
    command.translate = translate
    command.ensure_finalized()
    with pytest.raises(InterruptedError):
        command.run()
    return set(names)


def test_the_clone_hides_no_installation(tree, tmp_path):
    """To a script beside a clone named minidem, the clone is a package without code, and first on sys.path."""
    tree.build(*hook("build_editable"))
    wheel, = (tree.folder / "dist").glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    (tmp_path / "minidem").symlink_to(tree.folder)
    find = "import importlib.util as u, site, sys; site.addsitedir(sys.argv[1]); print(u.find_spec('minidem').origin)"
    found = python("-S", "-c", find, tmp_path / "site", cwd=tmp_path, env=SETTINGS | {"PYTHONPATH": ""}).stdout
    assert found.strip() == str(tree.path("__init__.py"))


def test_a_package_that_is_not_built_says_so(tmp_path):
    """Its folder, the command that builds it, and the other way out: it may hide one that is installed."""
    for name in ("minidem", "minidem/isa"):
        (tmp_path / name).mkdir()
        shutil.copy(ROOT / name / "__init__.py", tmp_path / name)
    done = python("-m", "minidem", cwd=tmp_path, fails=True)
    assert done.returncode == 1 and done.stderr.endswith(
        f"the compiled modules of minidem in {tmp_path / 'minidem'} are missing or stale; build them with\n"
        f"    {sys.executable} -m pip install -e '{tmp_path}'\n"
        "or start Python in another folder, if minidem is installed elsewhere\n")


def test_a_python_that_is_too_old_is_named(monkeypatch):
    """At once: pip would first try versions of other packages for many minutes."""
    import setuptools.command.editable_wheel  # noqa: F401
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    with pytest.raises(SystemExit, match=f"minidem needs Python 3.11 or newer, and {re.escape(sys.executable)} is "):
        runpy.run_path(str(ROOT / "setup.py"), run_name="__main__")


@pytest.mark.parametrize("arguments", [
    pytest.param(IN_PLACE, id="build_ext"), pytest.param(hook("build_editable"), id="pip install -e")])
def test_new_dates_and_a_lost_module_build_nothing(tree, arguments):
    before = {name: path.read_bytes() for name, path in tree.modules().items()}
    tree.modules()["rotation.euler"].unlink()
    tree.modules()["rotation.scheme"].write_text("of another build")
    assert tree.build(*arguments) == set()
    assert {name: path.read_bytes() for name, path in tree.modules().items()} == before


def test_a_scheme_is_built_alone(tree):
    """Also a new one. A build that failed spoils nothing, and a module without source cannot be imported."""
    euler, mine = tree.path("rotation/euler.pyx"), tree.path("rotation/mine.pyx")
    text = euler.read_text()
    euler.write_text(text + "\ncdef int wrong = 'not a number'\n")
    assert tree.build(fails=True) == set()
    euler.write_text(text)
    mine.write_text(text)
    assert tree.build() == {"rotation.mine"} and set(tree.modules()) == ALL | {"rotation.mine"}
    euler.unlink()
    mine.unlink()
    assert tree.build() == set() and set(tree.modules()) == ALL - {"rotation.euler"}


@pytest.mark.parametrize("name, users", [
    ("rotation/euler.pyx", {"rotation.euler"}),
    ("core/transpose.h", {"state.pose"}),
    ("rotation/scheme.pxd", {"rotation.scheme", "rotation.euler"}),
    ("state/pose.pxd", {"state.pose"})])      # others, of the time loop and the broad phase, are not here
def test_an_edited_file_builds_its_users(tree, name, users):
    date = tree.path(name).stat().st_mtime
    tree.append(name, "\n\n")
    os.utime(tree.path(name), (date - 1e6, date - 1e6))             # as an archive unpacks it
    assert stale() == users


@pytest.mark.parametrize("setting", ["MINIDEM_OPENMP=auto", "CFLAGS=-O1", "LDFLAGS=-O1"])
def test_other_flags_build_all(tree, monkeypatch, setting):
    monkeypatch.setenv(*setting.split("="))
    assert stale() == ALL


needs_levels = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="levels are of x86-64")


@needs_levels
def test_levels(tree):
    """An edited file builds its users at each level; a build for one instruction set removes the levels."""
    levels = FLAGS | {"MINIDEM_ARCH": "levels"}
    assert tree.build(**levels) == ALL
    before = {name: path.read_bytes() for name, path in tree.modules().items()}
    assert set(before) == WITH_LEVELS
    for place, level in (("", "v2"), ("isa.v3.", "v3"), ("isa.v4.", "v4")):
        assert f"-march=x86-64-{level}".encode() in before[f"{place}core.build_record"]
    assert b"v2 v3 v4" in before["isa.processor"]
    tree.append("rotation/euler.pyx", "\nadded = 1\n")
    assert tree.build(**levels) == {"rotation.euler"}
    after = {name: path.read_bytes() for name, path in tree.modules().items()}
    assert {name for name in before if before[name] != after[name]} == {name for name in before if "euler" in name}
    assert tree.build() == {"rotation.euler"} and set(tree.modules()) == ALL
    assert b"v2 v3 v4" not in tree.modules()["isa.processor"].read_bytes()


@pytest.mark.parametrize("arch, complaint", [
    ("x86-64-v2,native", "no -march=x86-64-v2,native"), ("x86-64-v9", "no -march=x86-64-v9")])
def test_a_wrong_instruction_set(tree, monkeypatch, arch, complaint):
    monkeypatch.setenv("MINIDEM_ARCH", arch)
    with pytest.raises(SystemExit, match=f"MINIDEM_ARCH={arch}: .*{complaint}"):
        stale()


def test_the_record_of_the_build_tells_its_flags(built):
    """build_record() gives this text; the module is of a package that is not whole."""
    record = built.modules()["core.build_record"].read_bytes()
    assert b"-DMINIDEM_OTHER_FLAGS" in record and b"-ffp-contract=off" in record and b"-fopenmp" not in record


@needs_levels
def test_a_wheel_has_no_module_made_for_this_machine(tree):
    """Neither one that a build in place made, nor one that an earlier version left; and it spoils no build in place."""
    before = {name: path.read_bytes() for name, path in tree.modules().items()}
    left = tree.folder / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    (left / "minidem").mkdir(parents=True)
    (left / "minidem" / tree.modules()["core.build_record"].name.replace("build_record", "gone")).write_text("old")
    assert tree.build(*hook("build_wheel")) == ALL
    wheel, = (tree.folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        packed = {name.removeprefix("minidem/").partition(".")[0].replace("/", "."): file.read(name)
                  for name in file.namelist() if name.endswith(".so")}
    assert set(packed) == WITH_LEVELS and b"-march=native" in before["core.build_record"]
    assert not any(b"-march=native" in content for content in packed.values())
    assert {name: path.read_bytes() for name, path in tree.modules().items()} == before and tree.build() == set()
    assert {name: path.read_bytes() for name, path in tree.modules().items()} == before
