"""Damaged and foreign records in the folder of a study never become a row of its table."""
import csv
import json
import shutil
import subprocess
import sys

import pytest

from minidem.ensemble import run_ensemble

SCRIPT = """
from pathlib import Path

def study(a):
    with open(Path(__file__).parent / f"calls_{a}", "a") as file:
        file.write("x")
    return {"double": 2 * a}

def other(a):
    return {"double": -1}
"""


class Study:
    """Calling it gives rows of the function for the values of `a`, which are all that there are."""

    def __init__(self, folder, values):
        self.script, self.folder, self.values = folder / "script.py", folder / "study", list(values)
        self.script.write_text(SCRIPT)

    def __call__(self, name="study", folder=None):
        rows = run_ensemble(f"{self.script}:{name}", {"a": self.values}, self.folder if folder is None else folder,
                            workers=1, progress=False)
        assert [(row["a"], row["error"]) for row in rows] == [(a, None) for a in self.values]
        return [row["double"] for row in rows]

    def records(self):
        """a -> its file"""
        return {json.loads(file.read_text())["parameters"]["a"]: file for file in (self.folder / "runs").iterdir()}

    def calls(self):
        """How often the function was called for each value."""
        return [len((self.script.parent / f"calls_{a}").read_text()) for a in self.values]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("made"), [1, 2])
    assert study() == [2, 4]
    return study


@pytest.fixture
def study(made, tmp_path):
    """A study of 1 and 2 that is done, each time another folder."""
    shutil.copytree(made.script.parent, tmp_path, dirs_exist_ok=True)
    return Study(tmp_path, [1, 2])


def changed(file, **new):
    content = json.loads(file.read_text()) | new
    file.write_text(json.dumps({name: value for name, value in content.items() if value != "gone"}))


DAMAGE = {
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "empty": lambda file: file.write_bytes(b""),
    "bytes": lambda file: file.write_bytes(b"\xff\xfe\x00"),
    "another kind": lambda file: file.write_text("[1, 2]"),
    "deep": lambda file: file.write_text(100_000 * "["),
    "no result": lambda file: changed(file, result="gone"),
    "another result": lambda file: changed(file, result={"double": 7}),
    "a result that is no number": lambda file: changed(file, result={"double": [1]}),
    "other parameters": lambda file: changed(file, parameters={"a": -1}),
}


def test_invalid_records_are_replaced(tmp_path):
    """One of each kind, behind a good one."""
    study = Study(tmp_path, range(len(DAMAGE) + 1))
    right = [2 * a for a in study.values]
    assert study() == right
    for damage, file in zip(DAMAGE.values(), list(study.records().values())[1:], strict=True):
        damage(file)
    for _ in range(2):
        assert study() == right
    assert sorted(study.calls()) == [1, *(2 for _ in DAMAGE)]
    with open(study.folder / "table.csv", newline="", encoding="utf-8") as file:
        assert [row["double"] for row in csv.DictReader(file)] == list(map(str, right))


def test_a_record_under_the_name_of_another_run(study):
    files = study.records()
    files[2].write_bytes(files[1].read_bytes())
    assert study() == [2, 4] and study.calls() == [1, 2]


def test_no_folder(study, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ValueError, match="folder = '': give a folder"):
        study(folder="")
    assert not list((tmp_path / "here").iterdir())


def test_what_a_killed_study_left_is_removed(study):
    program = ("import os, signal, sys\nfrom minidem.core.atomic import replacing\n"
               "with replacing(sys.argv[1]):\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    for file in (study.records()[1], study.folder / "table.csv"):
        subprocess.run([sys.executable, "-c", program, file])
    assert len(list(study.folder.rglob(".minidem-*"))) == 2
    study()
    assert not list(study.folder.rglob(".*"))
