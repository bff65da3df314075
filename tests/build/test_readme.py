"""Commands, scripts and links of the README and the guide, whose test command .ci/run runs in a clean clone. Files that
GitHub, Read the Docs, pre-commit and Zenodo read: they follow their schemas, which need no network."""
import csv
import json
import os
import pydoc
import re
import tomllib

import examples
import gallery
import order_table
import pytest
from processes import python

import minidem as md

ROOT = examples.ROOT
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "tools" / "BENCHMARKS.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "minidem" / "guide").glob("*.md"))}
BOTH = "\n".join([README, *PAGES.values()])
BLOCKS = examples.FENCE.findall(BOTH)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SCHEMAS = {"github-workflows": ".github/workflows/*.yml", "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
           "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml", "readthedocs": ".readthedocs.yaml"}
needs_dotfiles = pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source distribution has no dotfiles")


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
    """Of the schemes that ORDERS.md measures; no more is claimed. Whoever adds a scheme runs one command."""
    remedy = "run: python tools/order_table.py --no-cost"
    orders = (ROOT / "minidem" / "rotation" / "ORDERS.md").read_text(encoding="utf-8")
    listed = {name.partition(":")[0] for name in re.findall(r"^\| `([\w:=-]+)` \|", orders, re.M)}
    assert set(md.rotation.available()) == listed, remedy
    for path in order_table.NUMBERED:
        text = path.read_text(encoding="utf-8")
        assert order_table.NUMBER.search(text) and order_table.counted(text) == text, remedy
        assert "every published" not in text.lower()


def test_the_number_of_integrators_is_written_for_a_new_one(own):
    own("of-mine", lambda bodies, dt, stage: None)
    assert order_table.counted("Thirty-three schemes of rotation, thirty-three rotation integrators\n") == \
        "Thirty-four schemes of rotation, thirty-four rotation integrators\n"


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


def test_measured_numbers_stand_beside_the_version_that_measured_them():
    """Those of tools/measured.toml; no page names a version elsewhere, except that of the oldest checkpoint."""
    pages = {where: " ".join(text.split()) for where, text in examples.documents()}
    pages |= {f"tools/{path.name}": " ".join(path.read_text("utf-8").split()) for path in (ROOT / "tools").glob("*.md")}
    known = {("minidem/guide/output.md", "reads checkpoints of version 0.10.0 and later")}
    for entry in tomllib.loads((ROOT / "tools" / "measured.toml").read_text("utf-8"))["measured"]:
        assert entry["command"].startswith("python ") and entry["what"]
        for where, text in entry["texts"]:
            text = text.replace("{value}", entry["value"]).replace("{version}", entry["version"])
            assert text in pages[where], f"{where}: {text}"
            known.add((where, text))
    for where, page in pages.items():
        if not where.endswith("CHANGELOG.md"):
            for place, text in known:
                page = page.replace(text, "") if place == where else page
            assert not re.findall(r"\b0\.\d+\.\d+\b", page), f"{where}: add this number to tools/measured.toml"


def test_the_gallery_says_which_version_measured():
    for name, entry in json.loads(gallery.SCENARIOS.read_text("utf-8")).items():
        assert all(re.fullmatch(r"0\.\d+\.\d+", entry[key]) for key in ("version", "timed")), name
    with gallery.FINDINGS.open(encoding="utf-8") as file:
        assert all(re.fullmatch(r"0\.\d+\.\d+", row["version"]) for row in csv.DictReader(file))


@needs_dotfiles
@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(schema):
    pytest.importorskip("check_jsonschema")
    files = sorted(ROOT.glob(SCHEMAS[schema]))
    assert files
    python("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


@needs_dotfiles
def test_zenodo_and_hooks():
    record = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert {"title", "description", "upload_type", "license", "creators"} <= set(record)
    assert record["upload_type"] == "software" and all(creator["name"] for creator in record["creators"])
    yaml = pytest.importorskip("yaml")
    repository, = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert {hook["entry"].split()[0] for hook in repository["hooks"]} == {"ruff", "cython-lint", "mypy"}


@needs_dotfiles
def test_commands_name_what_exists():
    """Scripts, and extras of the package, in workflows and configuration."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    text = "\n".join(path.read_text() for path in [*ROOT.glob(".github/**/*.*"), *ROOT.glob(".*.yaml")])
    used = re.findall(r"-e '\.\[([\w,]+)\]'", text)
    assert used and set(",".join(used).split(",")) <= set(extras)
    assert all((ROOT / path).is_file() for path in re.findall(r"(?:tools|minidem)/[\w/]+\.(?:py|md)|\.ci/run", text))
