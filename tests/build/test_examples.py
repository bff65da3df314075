"""Every example of README, guide, docstrings and other documents runs as printed, and every command has valid options.
What an example is: tests/examples.py. Readers have stone.stl, and stone.txt made of it as in the guide."""
import argparse
import base64
import importlib.util
import json
import os
import re
import runpy
import shlex
import sys
import tomllib

import examples
import meshio
import pytest
from processes import python

import minidem as md
from minidem import __main__ as command_line, shapes
from minidem.core.interpreter import scenario_scripts
from minidem.render import movie
from minidem.scenario import plot
from minidem.templates import fit_mesh

ROOT = examples.ROOT
PYTHON, COMMANDS = examples.python_blocks(), examples.commands()
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


class Parsed(BaseException):
    """The options were read, and work would begin."""


def script(path):
    sys.path.insert(0, str(path.parent))        # as Python does for a script
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


@pytest.fixture
def reading_only(monkeypatch):
    """Programs end once they have read their options."""
    known = argparse.ArgumentParser.parse_known_args
    def read(self, *arguments, strict=True):
        options, others = known(self, *arguments)
        if strict and others:
            self.error(f"unrecognized arguments: {others}")
        raise Parsed(options)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", read)
    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", lambda *what: read(*what, strict=False))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with what the examples take as given: stone.stl in mm, and stone.txt by the command that makes it.

    It also has the clone, as minidem: to Python a package without code, which must not hide the one that is installed.
    """
    folder = tmp_path_factory.mktemp("desk")
    (folder / "minidem").symlink_to(ROOT)
    body = shapes.platonic_mesh("icosahedron", 10.0)
    meshio.write_points_cells(folder / "stone.stl", body.vertices * (2.0, 1.5, 1.0), [("triangle", body.triangles)],
                              binary=True)
    command, = {text for where, text in COMMANDS if "make_clump.py stone.stl" in text and where.endswith("clumps.md")}
    _, tool, *words = shlex.split(command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot, "save", lambda *_: False)
        patch.setattr(fit_mesh, "CELLS", 10_000)
        patch.chdir(folder)
        assert script(ROOT / tool).main(words) == 0
    return folder


def printed(code, folder, another_python, capsys):
    (folder / "example.py").write_text(code)
    if not another_python:
        runpy.run_path("example.py", run_name="__main__")
        return capsys.readouterr().out
    return python("example.py", cwd=folder, env=INSTALLED).stdout


@pytest.mark.parametrize("where, code", [
    pytest.param(where, code, id=where, marks=[pytest.mark.slow] * (".md " not in where)) for where, code in PYTHON])
@pytest.mark.usefixtures("own", "own_law", "coarse_fits")
def test_python_runs_as_printed(where, code, desk, monkeypatch, capsys):
    if "import freud" in code:                          # has wheels for few platforms
        pytest.importorskip("freud")
    monkeypatch.chdir(desk)
    monkeypatch.syspath_prepend(str(desk))
    text = printed(code, desk, "__main__" in code or where.startswith("README"), capsys)
    if where.startswith("README"):                      # the rods meet several times
        assert 0.0 < abs(float(re.fullmatch(r"3\.8 s, relative energy error (\S+)\n", text)[1])) < 1e-3
    if re.search(r'md\.rotation\.register\("(mine|my-leapfrog)"', code):       # how far built-in schemes are apart
        assert float(text) < 99 * 1e-15
    if "run_ensemble" in code:
        table = (desk / "results" / "study" / "table.csv").read_text().splitlines()
        assert len(table) > 1 and all(line.endswith(",") for line in table[1:])         # no error in any run
        (desk / "results").rename(desk / f"results of {where.replace('/', ' ')}")


def test_the_scenario_of_the_tutorial_has_nothing_to_warn_of(tmp_path, monkeypatch):
    """With the options beside it, one of its steps resolves all contacts."""
    code, = {text for where, text in PYTHON if where.startswith("minidem/guide/tutorial.md") and "Scenario(" in text}
    options = re.search(r"`heap.py`. With the options `([^`]+)`", examples.page("guide/tutorial.md"))[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heap.py").write_text(code)
    assert "warning" not in python("heap.py", *options.split(), env=INSTALLED).stderr


def test_no_python_in_a_docstring_is_unmarked():
    unmarked = [f"{where}:\n{block}" for where, text in examples.docstrings()
                for marked, block in examples.blocks(text) if not marked and examples.looks_like_python(block)]
    assert not unmarked, "end the line before with ::\n\n" + "\n\n".join(unmarked)


def test_fences_name_their_language():
    for where, text in examples.documents():
        fences = examples.FENCE.findall(text)
        assert text.count("```") == 2 * len(fences), where
        for kind, block in fences:
            assert kind in ("python", "bash", "text", "toml"), f"{where}: {block}"
            assert kind != "text" or not examples.looks_like_python(block), f"{where}: {block}"


@pytest.mark.parametrize("where, command", COMMANDS, ids=[command for _, command in COMMANDS])
def test_options_of_commands_exist(where, command, reading_only, desk, monkeypatch):
    monkeypatch.chdir(desk)
    words = [word for word in shlex.split(command) if word not in ("xvfb-run", "-a")]
    program = words[0].removeprefix(".venv/bin/")
    if program == "pip":
        words = ["python", "-m", *words]
    elif program.endswith(".py"):
        words = ["python", *words]
    if words[1] == "-m":
        monkeypatch.undo()
        return check_module(words[2].removeprefix(".venv/bin/"), words[3:])
    path = ROOT / words[1]
    assert path.is_file(), f"{where}: {command}"
    module = script(path)
    kind = getattr(module, "EXPERIMENT", None) if path.stem != "falling_fibres" else None
    kind = kind or getattr(module, "SCENARIO", None)
    if kind is None:
        with pytest.raises(Parsed):
            module.main(words[2:])
        return
    monkeypatch.undo()
    monkeypatch.chdir(desk)
    for name in getattr(kind.parse(words[2:]), "compare", None) or []:
        md.rotation.info(name)


def check_module(name, words):
    if name == "pip":
        assert words[0] in ("install", "wheel") and words[-1].startswith((".", "'.")) and set(words[1:-1]) <= {"-e"}
        extras = words[-1].strip("'").removeprefix(".").strip("[]")
        assert extras == "" or set(extras.split(",")) <= set(EXTRAS)
        assert "-e" in words or not extras          # without -e pip replaces the build for this machine
    elif name == "minidem":
        command, *rest = words or ["scenarios"]
        assert command in command_line.COMMANDS
        if command == "run":
            script(scenario_scripts()[rest[0]]).SCENARIO.parse(rest[1:])
        elif command == "movie":
            movie.parse(rest)
    elif name == "pytest":
        assert words in ([], ["-m", "slow"])
    else:
        assert (name, words) in (("venv", [".venv"]), ("build", []))


@pytest.mark.parametrize("path", sorted((ROOT / "minidem" / "guide").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_lessons_with_small_outputs(path):
    """`python tools/docs.py --notebooks` stores outputs, without what changes from run to run."""
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    cells, words = notebook["cells"], "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert len(text) < 300_000 and set(notebook["metadata"]) == {"kernelspec"}
    assert "**Time:**" in "".join(cells[0]["source"]) and words.count("<details><summary>Answer</summary>") == 3
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not [cell for cell in code if cell["execution_count"] or cell["outputs"] and cell["metadata"].get("tags")]
    outputs = [output for cell in code for output in cell["outputs"]]
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", ())]
    assert pictures and all(base64.b64decode("".join(picture))[25] == 3 for picture in pictures)      # with a palette
    assert all(len(output.get("data", [0])) == 1 and not output.get("execution_count") for output in outputs)


def test_there_are_examples_of_all_kinds():
    assert len([where for where, _ in PYTHON if where.startswith("minidem/guide/")]) >= 8
    assert any(where.endswith(".pyx") for where, _ in examples.docstrings()) and len(COMMANDS) > 30
