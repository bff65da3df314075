"""Commands, scripts and links of the README and the guide. .ci/run runs the test command itself in a clean clone."""
import json
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import examples
import pytest
from rods_in_box import SCENARIO as RODS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "tools" / "BENCHMARKS.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "minidem" / "guide").glob("*.md"))}
TUTORIAL = PAGES[ROOT / "minidem" / "guide" / "tutorial.md"]
BOTH = "\n".join([README, *PAGES.values()])
BLOCKS = examples.FENCE.findall(BOTH)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("script", [
    "scenarios/spiral/chess_in_box", "tools/compare_peers", *(pytest.param(name, marks=pytest.mark.slow) for name in (
        "scenarios/dense_rods", "scenarios/paper_report", "tools/docs"))])
def test_scripts_run_from_any_folder(script, tmp_path):
    """They import modules beside them and of scenarios/."""
    command = [sys.executable, ROOT / f"{script}.py", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0 and "usage: " in done.stdout, done.stderr


def set_up_commands(text):
    return [line for kind, block in examples.FENCE.findall(text) if kind == "bash"
            for line in block.splitlines() if "-m venv" in line]


def test_two_set_up_commands_of_one_line_each():
    commands = set_up_commands(README)
    assert len(commands) == 2 and set_up_commands(BOTH) == [*commands, commands[0]]
    assert set_up_commands(TUTORIAL) == commands[:1]
    assert all(line.startswith("python3 -m venv .venv && .venv/bin/pip install -e") for line in commands)
    assert commands[0].endswith("scenarios/rods_in_box.py") and commands[1].endswith("-m pytest")


def test_the_readme_is_short():
    assert len(README.split()) <= 900


def test_the_number_of_integrators():
    """Of the schemes that ORDERS.md measures; no more is claimed."""
    orders = (ROOT / "minidem" / "rotation" / "ORDERS.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| `[\w-]+` \|", orders, re.M)) == 21
    for name in ("README.md", "pyproject.toml", "minidem/guide/paper.md"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        assert re.search("twenty-one (rotation )?integrators", text) and "every published" not in text.lower()


@pytest.mark.parametrize("where, text", examples.documents(), ids=[where for where, _ in examples.documents()])
def test_names_in_documents_exist(where, text):
    """Dotted names of the package, but for files and those that a user's own command or script makes."""
    for name in set(re.findall(r"`((?:md|minidem)(?:\.\w+)+)(?:\([^`]*)?`", text)):
        if not where.endswith("CHANGELOG.md"):
            assert pydoc.locate(re.sub(r"^md\b", "minidem", name)) is not None, name


def test_files_named_exist():
    for name in set(re.findall(r"[\w/]+/[\w./]+\.(?:py|png)\b", LINK.sub("]", BOTH))):
        assert name.startswith("results/") or (ROOT / name).exists(), name


@pytest.mark.parametrize("where, text", examples.documents(), ids=[where for where, _ in examples.documents()])
def test_links_lead_to_files(where, text):
    for link in LINK.findall(examples.FENCE.sub("", text)):
        assert link.startswith("https://") or ((ROOT / where).parent / link.partition("#")[0]).exists(), link


def test_the_readme_links_to_every_page_of_the_guide():
    """The tutorial first, in the table too."""
    linked = {(ROOT / link).resolve() for link in LINK.findall(README)}
    assert len(PAGES) >= 9 and set(PAGES) <= linked
    assert re.search(r"^\| --- \|.*\n\| \[(\w+)\]", README, re.M).group(1) == "Tutorial"


def test_script(tmp_path):
    """Its last line prints the energy error, which is small: the rods meet several times in 3.8 s."""
    script = next(text for kind, text in BLOCKS if kind == "python")
    assert len([line for line in script.splitlines() if line.strip()]) <= 12
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    error = float(re.fullmatch(r"3\.8 s, relative energy error (\S+)\n", done.stdout).group(1))
    assert 0.0 < abs(error) < 1e-3


@pytest.mark.parametrize("name", ["mine", "my-leapfrog"])
def test_own_integrator(name):
    """The schemes that the guide writes down are built-in ones: it prints how far the two are apart, roundings."""
    script, = (text for kind, text in BLOCKS if kind == "python" and f'md.rotation.register("{name}"' in text)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 99 * 1e-15


def test_the_peers_times_have_a_unit():
    """Bare numbers beside a column of microseconds would be read as such."""
    rows = [line.strip("|").split("|")[1:] for line in re.findall(r"^\| [A-C]: .*$", BENCHMARKS, re.M)]
    assert len(rows) == 3
    for ours, *theirs in rows:
        assert re.search(r"\d [µm]s $", ours) and all(cell.strip() == "" or "times as long" in cell for cell in theirs)


def test_the_ratios_to_the_peers_are_those_of_the_tables():
    """With the version of each, and both kinds: without friction, and with it."""
    found = []
    for table in re.finditer(r"^\| case \| minidem (\S+) \|.*\n(?:\|.*\n)*", BENCHMARKS, re.M):
        ratios = [float(ratio) for ratio in re.findall(r"([\d.]+) times as long", table.group())]
        found.append(f"{min(ratios):g} to {max(ratios):g} times as long as one of minidem {table.group(1)}")
    assert len(found) == 2 and all(claim in " ".join(README.split()) for claim in found), found


def test_the_picture_of_the_comparison_is_what_its_command_makes(tmp_path):
    """The file holds the energies at the ends of its three runs, which have the same bits everywhere. One is made."""
    image = pytest.importorskip("PIL.Image")
    names, = re.findall(r"^\.venv/bin/python scenarios/rods_in_box\.py --compare (\S+) --out \S+$", README, re.M)
    shown = image.open(ROOT / "scenarios" / "pictures" / "rods_in_box_compare.png").text["Description"].split("; ")
    assert [line.partition(":")[0] for line in shown] == names.split(",")
    assert RODS.main(["--frames", "0", "--quiet", "--out", str(tmp_path)]) == 0
    made = json.loads((tmp_path / "summary.json").read_text())
    assert f"is {made['max_relative_energy_error']:.1e}; " in TUTORIAL
    assert shown[0] == "spiral: {energy_initial} J, after {time:.8g} s {energy_final} J".format(**made)


def test_what_differs_after_a_resume_is_said():
    """tests/interface/test_scenario_resume.py finds just this to differ."""
    claim, = re.findall(r"byte\s+for\s+byte, but for ([^;]*);", BOTH)
    assert all(word in claim for word in ("`wall_seconds`", "`us_per_step`", "`summary.json`", "checkpoint"))


def test_the_cluster_is_installed_without_replacing_the_build():
    """pip install '.[cluster]' would build anew, for any machine."""
    package = (path.read_text() for path in (ROOT / "minidem").rglob("*.py"))
    said = re.findall(r"pip install [^`\n]*\[cluster\]", "\n".join([BOTH, *package]))
    assert len(said) >= 2 and all("-e '.[cluster]" in one for one in said)
