"""Commands, scripts and links of the README and the guide. .ci/run runs the test command itself in a clean clone."""
import os
import pydoc
import re

import examples
import pytest
from processes import python

ROOT = examples.ROOT
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "tools" / "BENCHMARKS.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "minidem" / "guide").glob("*.md"))}
BOTH = "\n".join([README, *PAGES.values()])
BLOCKS = examples.FENCE.findall(BOTH)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("script", [
    "scenarios/spiral/chess_in_box", "tools/compare_peers", *(pytest.param(name, marks=pytest.mark.slow) for name in (
        "scenarios/dense_rods", "scenarios/paper_report", "tools/docs"))])
def test_scripts_run_from_any_folder(script, tmp_path):
    done = python(ROOT / f"{script}.py", "--help", cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert "usage: " in done.stdout


def test_the_readme_is_short():
    script = next(text for kind, text in BLOCKS if kind == "python")
    assert len(README.split()) <= 900 and len([line for line in script.splitlines() if line.strip()]) <= 12


def test_the_number_of_integrators():
    """Of the schemes that ORDERS.md measures; no more is claimed."""
    orders = (ROOT / "minidem" / "rotation" / "ORDERS.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| `[\w-]+` \|", orders, re.M)) == 33
    for name in ("README.md", "pyproject.toml", "minidem/guide/paper.md"):
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        assert re.search("thirty-three (rotation )?integrators", text) and "every published" not in text.lower()


@pytest.mark.parametrize("where, text", examples.documents(), ids=[where for where, _ in examples.documents()])
def test_names_and_links_in_documents(where, text):
    """Dotted names of the package, except files and what a user's own command or script makes, and links."""
    for name in set(re.findall(r"`((?:md|minidem)(?:\.\w+)+)(?:\([^`]*)?`", text)):
        if not where.endswith("CHANGELOG.md"):
            assert pydoc.locate(re.sub(r"^md\b", "minidem", name)) is not None, name
    for link in LINK.findall(examples.FENCE.sub("", text)):
        assert link.startswith("https://") or ((ROOT / where).parent / link.partition("#")[0]).exists(), link


def test_files_named_exist():
    for name in set(re.findall(r"[\w/]+/[\w./]+\.(?:py|png)\b", LINK.sub("]", BOTH))):
        assert name.startswith("results/") or (ROOT / name).exists(), name


def test_the_readme_links_to_every_page_of_the_guide():
    assert len(PAGES) >= 9 and set(PAGES) <= {(ROOT / link).resolve() for link in LINK.findall(README)}
    assert re.search(r"^\| --- \|.*\n\| \[(\w+)\]", README, re.M).group(1) == "Tutorial"


def test_the_ratios_to_the_peers_are_those_of_the_tables():
    """With the version of each, and both kinds: without friction, and with it."""
    found = []
    for table in re.finditer(r"^\| case \| minidem (\S+) \|.*\n(?:\|.*\n)*", BENCHMARKS, re.M):
        ratios = [float(ratio) for ratio in re.findall(r"([\d.]+) times as long", table.group())]
        found.append(f"{min(ratios):g} to {max(ratios):g} times as long as one of minidem {table.group(1)}")
    assert len(found) == 2 and all(claim in " ".join(README.split()) for claim in found), found
