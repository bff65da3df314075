"""python -m minidem bench: orders, errors, costs and ranks of schemes, also of one in a file."""
import csv
import re
from pathlib import Path

import pytest

from minidem import __main__ as command_line
from minidem.scenarios.rotating_bodies import scheme_bench

IDLE = """
import minidem as md
md.rotation.register("mine", lambda bodies, dt, stage: None)
"""


@pytest.fixture
def short(monkeypatch):
    """Short runs, without the other schemes, which are measured in other processes."""
    for name, value in {"FREE_STEPS": 1000, "PART": 0.001, "REPEATS": 2, "QUICK": ()}.items():
        monkeypatch.setattr(scheme_bench, name, value)


def test_a_file_beside_built_in_schemes(own, here, short, capsys):
    Path("mine.py").write_text(IDLE)
    assert command_line.main(["bench", "mine.py", "exact", "cf4", "--quick"]) == 0
    text = capsys.readouterr().out
    with open("results/bench/bench.csv", newline="", encoding="utf-8") as file:
        rows = {row["scheme"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"mine", "exact", "cf4"} and Path("results/bench/bench.png").exists()
    orders = {name: round(float(row["order_spin_w"])) for name, row in rows.items()}
    assert orders == {"mine": 0, "exact": 2, "cf4": 4}
    assert rows["exact"]["contacts_rank"] == "1 of 2" and rows["cf4"]["contacts"] == ""
    assert max(float(rows[name]["momentum"]) for name in ("mine", "exact")) < 1e-13       # both to rounding
    assert rows["mine"]["cost_rank"] == "3 of 3" and float(rows["mine"]["cost"]) > 2.0
    assert re.search(r"^> cf4 +(3\.9|4\.0)\d+ ± \S+ +-  ", text, re.M)
    assert text.count("cheaper with smaller errors in contacts: exact\n") == 1 and "none, so it is on the front" in text


@pytest.mark.parametrize("words, told", [
    ([], "SCHEME"), (["exakt"], "did you mean 'exact'"), (["none.py"], "none.py: cannot be imported"),
    (["empty.py"], "empty.py registers no rotation scheme; call md.rotation.register"),
    (["none.pyx"], "none.pyx: cannot be imported .*there is no such file")])
def test_what_cannot_be_measured_is_named(own, here, words, told, capsys):
    Path("empty.py").write_text("")
    assert command_line.main(["bench", *words]) == 2
    said = capsys.readouterr().err
    assert "bench: error: " in said and not Path("results").exists()
    assert re.search(told, said)
