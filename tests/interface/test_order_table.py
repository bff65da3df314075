"""minidem/rotation/ORDERS.md holds what tools/order_table.py measures, for every scheme; --check finds differences."""
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import minidem as md

ROOT = Path(__file__).parents[2]
ORDERS = (ROOT / "minidem" / "rotation" / "ORDERS.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("order_table", ROOT / "tools" / "order_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tool):
    """Rows of the file by scheme, and the same without the timings, as --check measures them."""
    rows = tool.read_page(ORDERS)
    return rows, [{heading: text for heading, text in row.items() if heading != "ns"} for row in rows.values()]


def test_every_scheme_is_listed():
    listed = {name.partition(":")[0] for name in re.findall(r"^\| `([\w:=-]+)` \|", ORDERS, re.M)}
    assert set(md.rotation.available()) == listed, "run: python tools/order_table.py"


@pytest.mark.slow
def test_orders_are_those_measured():
    """In a separate process, where no other test has registered a scheme."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "order_table.py", "--check"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_orders_that_differ_are_reported(tool, written):
    """A difference above a tenth is another order; a smaller one may come from another processor."""
    written, rows = written
    assert tool.differences(rows, written) == []
    q, w = map(float, rows[0]["of velocity"].split("/"))
    rows[0]["of velocity"] = f"{q + 0.09:.2f} / {w - 0.09:.2f}"
    assert tool.differences(rows, written) == []
    rows[0]["of velocity"] = f"{q:.2f} / {w + 0.11:.2f}"
    said, = tool.differences(rows, written)
    assert said.startswith(f"{rows[0]['scheme']}, of velocity: {q:.2f} / {w + 0.11:.2f} here, ")


def test_schemes_and_columns_that_differ_are_reported(tool, written):
    written, rows = written
    gone, changed = rows.pop(), rows[0]
    changed["forces"] = "2"
    rows.append({**changed, "scheme": "`mine`"})
    del written[rows[1]["scheme"]]["of time"]
    assert tool.differences(rows, written) == sorted([
        f"{changed['scheme']}, forces: 2 here, 1 in the table",
        f"{rows[1]['scheme']}, of time: {rows[1]['of time']} here, nothing in the table",
        f"{gone['scheme']} is in the table and no scheme", "`mine` is not in the table"])


def test_written_twice_only_the_timings_differ(tool, tmp_path, monkeypatch):
    copy, rows = tmp_path / "ORDERS.md", []
    for name, value in {"TABLE": copy, "names": lambda: ["euler", "spiral"], "BODIES": 8, "STEPS": 10}.items():
        monkeypatch.setattr(tool, name, value)
    for _ in range(2):
        assert tool.main([]) == 0
        rows.append(tool.read_page(copy.read_text(encoding="utf-8")))
        for row in rows[-1].values():
            float(row.pop("ns"))
    assert rows[0] == rows[1] and list(rows[0]) == ["`euler`", "`spiral`"]


def test_the_file_is_written_as_it_is_read(tool):
    assert tool.page(tool.read_page(ORDERS).values()) == ORDERS


def test_instants_of_the_stored_state(tool):
    for offset, text in ((0.0, "t"), (-0.5, "t - dt/2"), (0.5, "t + dt/2"), (-1.0, "t - 1 dt")):
        assert tool.instant(offset) == text
    assert tool.facts("spiral")["q, w stored at"] == "t, t - dt/2"
    assert tool.facts("improved-pcdm")["q, w stored at"] == "t + dt/2, t + dt/2"
    assert tool.facts("rk4")["forces"] == "4"
