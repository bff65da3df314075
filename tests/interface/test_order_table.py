"""The README's table of integrators is what tools/order_table.py measures, and the tool sees where it
is not."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("order_table", ROOT / "tools" / "order_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_readme_has_the_measured_orders():
    """In a process of its own, where no other test has registered a scheme."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "order_table.py", "--check"], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_orders_that_differ_are_told(tool, readme):
    """By more than a tenth: another order. By less: what another processor may give."""
    written = tool.read_table(readme)
    rows = [{heading: text for heading, text in row.items() if heading != "ns"} for row in written.values()]
    assert tool.differences(rows, written) == []
    q, w = map(float, rows[0]["of velocity"].split("/"))
    rows[0]["of velocity"] = f"{q + 0.09:.2f} / {w - 0.09:.2f}"
    assert tool.differences(rows, written) == []
    rows[0]["of velocity"] = f"{q:.2f} / {w + 0.11:.2f}"
    told, = tool.differences(rows, written)
    assert told.startswith(f"{rows[0]['scheme']}, of velocity: {q:.2f} / {w + 0.11:.2f} here, ")


def test_schemes_that_come_go_or_change_are_told(tool, readme):
    written = tool.read_table(readme)
    rows = [{heading: text for heading, text in row.items() if heading != "ns"} for row in written.values()]
    gone, changed = rows.pop(), rows[0]
    changed["forces"] = "2"
    rows.append({**changed, "scheme": "`mine`"})
    told = tool.differences(rows, written)
    assert sorted(told) == sorted([
        f"{changed['scheme']}, forces: 2 here, {written[changed['scheme']]['forces']} in the table",
        f"{gone['scheme']} is in the table and no scheme", "`mine` is not in the table"])


def test_writing_replaces_the_table_and_nothing_else(tool, readme):
    rows = list(tool.read_table(readme).values())
    assert tool.with_table(readme, rows) == readme
    shorter = tool.with_table(readme, rows[:2])
    assert list(tool.read_table(shorter).values()) == rows[:2]
    assert tool.with_table(shorter, rows) == readme
    assert tool.with_table(tool.with_table(readme, []), rows) == readme


def test_written_twice_nothing_but_timings_differs(tool, readme, tmp_path, monkeypatch):
    copy, rows = tmp_path / "README.md", []
    copy.write_text(readme, encoding="utf-8")
    for name, value in {"README": copy, "names": lambda: ["euler", "spiral"], "BODIES": 8, "STEPS": 10}.items():
        monkeypatch.setattr(tool, name, value)
    for _ in range(2):
        assert tool.main([]) == 0
        text = copy.read_text(encoding="utf-8")
        rows.append(tool.read_table(text))
        assert tool.with_table(text, tool.read_table(readme).values()) == readme
    for row in (*rows[0].values(), *rows[1].values()):
        row.pop("ns")
    assert rows[0] == rows[1] and list(rows[0]) == ["`euler`", "`spiral`"]


def test_a_readme_without_its_table_is_refused(tool, readme):
    with pytest.raises(ValueError, match="put them where the table shall stand"):
        tool.split(readme.replace(tool.BEGIN, ""))
    with pytest.raises(ValueError, match="other columns"):
        tool.read_table(readme.replace("| scheme |", "| method |"))


def test_where_a_scheme_keeps_its_state(tool):
    for offset, text in ((0.0, "t"), (-0.5, "t - dt/2"), (0.5, "t + dt/2"), (-1.0, "t - 1 dt")):
        assert tool.instant(offset) == text
    assert tool.facts("spiral")["q, w kept at"] == "t, t - dt/2"
    assert tool.facts("improved-pcdm")["q, w kept at"] == "t + dt/2, t + dt/2"
    assert tool.facts("rk4")["forces"] == "4"
