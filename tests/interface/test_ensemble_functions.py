"""Functions of parameter studies: those that a worker can import by name; others are refused."""
import importlib
import json
import subprocess
import sys

import pytest

from minidem.ensemble import run_ensemble
from minidem.ensemble.worker import reference_to

SCRIPT = """
import functools, json, sys
from minidem.ensemble import run_ensemble

def doubled(function):
    @functools.wraps(function)
    def wrapper(**parameters):
        return {name: 2 * value for name, value in function(**parameters).items()}
    return wrapper

@functools.lru_cache
def cached(a):
    return {"x": a}

@doubled
def decorated(a):
    return {"x": a}

def plain(a):
    return {"x": a}

other_name = doubled(plain)                     # called "plain" by functools.wraps, and is not
nameless = lambda a: {"x": a}
partial = functools.partial(plain)

class Model:
    def __call__(self, a):
        return {"x": 3 * a}

    def method(self, a):
        return {"x": 4 * a}

model = Model()
bound = model.method

def outer():
    def inner(a):
        return {"x": a}
    return inner

def main():
    found = {}
    for name, function in {"cached": cached, "decorated": decorated, "other_name": other_name, "bound": bound,
                           "partial": partial, "unbound": Model.method, "inner": outer(), "object": model,
                           "lambda": lambda a: {"x": a}}.items():
        try:
            rows = run_ensemble(function, {"a": [1, 5]}, f"{sys.argv[1]}/{name}", workers=1, progress=False)
            found[name] = [row["error"] or row["x"] for row in rows]
        except ValueError as error:
            found[name] = str(error)
    print(json.dumps(found))

if __name__ == "__main__":
    main()
"""
FACTORS = {"cached": 1, "decorated": 2}
BY_NAME = {"other_name": 2, "nameless": 1, "model": 3, "bound": 4, "partial": 1}


def test_functions_of_a_script_that_is_run(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script), str(tmp_path / "studies")], text=True,
                          capture_output=True, check=True)
    found = json.loads(done.stdout)
    for name, factor in FACTORS.items():
        assert found.pop(name) == [factor, 5 * factor]
    assert len(found) == 7
    for name, error in found.items():
        assert "top level of a module or script" in error
        assert not (tmp_path / "studies" / name).exists()


def test_functions_of_a_module(tmp_path, monkeypatch):
    """By name, all that can be called at the top level there."""
    (tmp_path / "kinds_of_functions.py").write_text(SCRIPT)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("kinds_of_functions")
    for name in FACTORS:
        assert reference_to(getattr(module, name)) == f"kinds_of_functions:{name}"
    for name, factor in BY_NAME.items():
        with pytest.raises(ValueError, match="top level of a module or script"):
            reference_to(getattr(module, name))
        [row] = run_ensemble(f"kinds_of_functions:{name}", {"a": [7]}, tmp_path / name, workers=1, progress=False)
        assert row["x"] == 7 * factor


def test_a_module_of_a_package_that_is_run(tmp_path):
    """python -m: its import of a neighbour works in the runs."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "neighbour.py").write_text("FACTOR = 6\n")
    (package / "study.py").write_text("""
import sys
from minidem.ensemble import run_ensemble
from .neighbour import FACTOR

def function(a):
    return {"x": FACTOR * a}

if __name__ == "__main__":
    [row] = run_ensemble(function, {"a": [7]}, sys.argv[1], workers=1, progress=False)
    print(row["error"] or row["x"])
""")
    done = subprocess.run([sys.executable, "-m", "package.study", str(tmp_path / "study")], text=True,
                          capture_output=True, cwd=tmp_path)
    assert done.stdout == "42\n", done.stderr


UNGUARDED = """
from minidem.ensemble import run_ensemble

def function(a):
    return {"x": a}

print([row["error"] for row in run_ensemble(function, {"a": [1]}, "study", workers=1, progress=False)])
"""


def test_a_script_that_runs_its_study_when_it_is_imported(tmp_path):
    """No run starts a study of its own, which would start runs, and so on."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, str(script)], text=True, cwd=tmp_path,
                          capture_output=True, timeout=100)
    assert "__main__" in done.stdout and "run_ensemble is called while its function is imported" in done.stdout
    with pytest.raises(ValueError, match="cannot be imported .RuntimeError: run_ensemble is called while"):
        run_ensemble(f"{script}:function", {"a": [1]}, tmp_path / "other", workers=1, progress=False)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("text, match", [
    ("raise SystemExit(0)", "SystemExit: 0"), ("import sys\nsys.argv[999]", "IndexError"), ("def f(:", "SyntaxError"),
    ("f = 3", "is 3; name a function")])
def test_a_script_that_cannot_be_imported(text, match, tmp_path):
    (tmp_path / "script.py").write_text(text)
    with pytest.raises(ValueError, match=match):
        run_ensemble(f"{tmp_path}/script.py:f", {"a": [1]}, tmp_path / "study")
    assert not (tmp_path / "study").exists()
