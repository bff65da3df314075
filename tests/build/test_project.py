"""What stands around the code: links of the description on PyPI, citation, release, workflows, the short paper."""
import os
import re
import shutil
import subprocess
import tomllib

import pytest
import release
from examples import ROOT
from processes import python, run

ADDRESS = "https://example.org/somebody/minidem"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
needs_dotfiles = pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source distribution has no dotfiles")
JOSS = ("Summary", "Statement of need", "State of the field", "Software design", "Research impact statement",
        "AI usage disclosure", "References")


def metadata(folder, repository):
    """What PyPI would show of the package at this address."""
    folder.mkdir()
    for name in "README.md", "LICENSE", "setup.py":
        shutil.copy(ROOT / name, folder)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(re.sub(r'^repository = ".*?"', f'repository = "{repository}"', text,
                                                  flags=re.M), encoding="utf-8")
    shutil.copytree(ROOT / "scenarios", folder / "scenarios", ignore=shutil.ignore_patterns("*.png", "*.gif"))
    (folder / "minidem").mkdir()
    shutil.copy(ROOT / "minidem" / "__init__.py", folder / "minidem")
    python("setup.py", "-q", "dist_info", cwd=folder)
    return next(folder.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")


def test_links_on_pypi_are_absolute(tmp_path):
    """With an address, which pyproject.toml has in one place; each leads to a file. Without, nothing is invented."""
    pytest.importorskip("Cython"), pytest.importorskip("setuptools")
    text = metadata(tmp_path / "public", ADDRESS)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 20 and all(link.startswith("https://") for link in links), links
    ours = {link.removeprefix(f"{ADDRESS}/").partition("#")[0] for link in links if link.startswith(ADDRESS)}
    for kind, pictures in (("raw", True), ("blob", False)):
        found = [link.removeprefix(f"{kind}/main/") for link in ours if link.startswith(f"{kind}/main/")]
        assert found and all((ROOT / link).exists() and (link.endswith(".png") == pictures) for link in found), found
    assert f"Project-URL: Repository, {ADDRESS}\n" in text
    assert "Project-URL" not in metadata(tmp_path / "private", "")


@needs_dotfiles
def test_the_citation_file_is_that_of_its_source():
    text = (ROOT / release.CITATION).read_text(encoding="utf-8")
    version, date = (next(iter(re.findall(rf'^{name}: "(.*)"$', text, re.M)), "")
                     for name in ("version", "date-released"))
    remedy = f"python -c 'import release as r; open(r.CITATION, \"w\").write(r.citation({version!r}, {date!r}))'"
    assert text == release.citation(version, date), f"run in the root, with PYTHONPATH=tools: {remedy}"
    yaml = pytest.importorskip("yaml")
    fields = yaml.safe_load(text)
    assert {"cff-version", "message", "title", "authors"} <= set(fields) and fields["cff-version"] == "1.2.0"


@needs_dotfiles
def test_a_release_of_a_clone(tmp_path):
    """It refuses while anything is missing, and then dates the changelog, cites this version and makes the tag."""
    def git(*words):
        return run("git", "-c", "user.name=a", "-c", "user.email=a@b", *words, cwd=clone).stdout
    def script(*words, fails):
        return python(clone / "tools" / "release.py", *words, fails=fails, cwd=tmp_path, env=NAMED).stdout
    if not shutil.which("git") or subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip("needs a clone")
    clone, version = tmp_path / "clone", "99.1.0"
    clone.mkdir()
    for name in ("minidem/__init__.py", release.CHANGELOG, "pyproject.toml", ".zenodo.json", release.CITATION,
                 "tools/release.py", "tools/measured.toml", "scenarios/pictures/scenarios.json"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    git("init", "-q"), git("add", "."), git("commit", "-qm", "all")
    head = git("rev-parse", "HEAD")
    assert "missing: " in script("--check", fails=True) and "missing: " in script(fails=True)
    assert git("rev-parse", "HEAD") == head and not git("status", "--porcelain")
    for name, pattern, new in (
            ("minidem/__init__.py", r'(__version__ = )".*"', rf'\1"{version}"'),
            (release.CHANGELOG, r"\A# Changelog\n", f"# Changelog\n\n## {version}\n\n* It **has** a # release.\n"),
            ("pyproject.toml", r'^repository = ".*?"', f'repository = "{ADDRESS}"'),
            ("tools/measured.toml", r'^version = ".*"', f'version = "{version}"'),
            ("scenarios/pictures/scenarios.json", r'("version": )".*"', rf'\1"{version}"')):
        path = clone / name
        path.write_text(re.sub(pattern, new, path.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
    assert "not committed" in script(fails=True)
    git("commit", "-qam", "ready")
    assert "nothing missing" in script("--check", fails=False) and not git("tag")
    assert f"git push origin HEAD v{version}" in script(fails=False)
    assert git("tag").split() == [f"v{version}"] and "# release." in git("tag", "-n9") and not git("status", "-s")
    assert f"\n## {version} (20" in (clone / release.CHANGELOG).read_text(encoding="utf-8")
    assert f'version: "{version}"' in (clone / release.CITATION).read_text(encoding="utf-8")
    assert "the tag v99.1.0 exists" in script(fails=True)


NAMED = os.environ | {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@needs_dotfiles
def test_actions_are_pinned():
    """By the hash of a commit, with its version as a comment, except where no hash has been verified."""
    used = {line.strip() for path in ROOT.glob(".github/workflows/*.yml")
            for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))}
    loose = {line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line)}
    assert len(used) > 5 and loose == {"pypa/gh-action-pypi-publish@release/v1"}


@needs_dotfiles
def test_binder_builds_for_any_machine():
    """Its script is valid and can be executed, and names extras that there are."""
    script, runtime = ROOT / ".binder" / "postBuild", ROOT / ".binder" / "runtime.txt"
    run("bash", "-n", script)
    assert os.access(script, os.X_OK) and "MINIDEM_ARCH=levels" in script.read_text(encoding="utf-8")
    extras = re.search(r"'\.\[([\w,]+)\]'", script.read_text(encoding="utf-8"))[1].split(",")
    assert set(extras) <= set(SETTINGS["project"]["optional-dependencies"])
    assert re.fullmatch(r"python-3\.1[1-5]\n", runtime.read_text(encoding="utf-8"))


def test_wheels_are_for_the_pythons_that_are_named():
    """In the classifiers and in the builds, the lowest being the one that is required."""
    builds = {f"{name[2]}.{name[3:5]}" for name in SETTINGS["tool"]["cibuildwheel"]["build"]}
    named = {line.rpartition(" ")[2] for line in SETTINGS["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert builds == named and SETTINGS["project"]["requires-python"] == f">={min(builds)}"


def test_the_paper_has_the_sections_and_the_length_that_joss_asks_for():
    """The length is that of its text, without metadata, code, tables and formulas."""
    text = (ROOT / "minidem" / "guide" / "paper.md").read_text(encoding="utf-8").split("\n---\n", 1)[1]
    assert [title for title in re.findall(r"^## (.+)", text, re.M) if title in JOSS] == list(JOSS)
    prose = re.sub(r"^```.*?^```|\$\$.*?\$\$|^\|.*?$", "", text, flags=re.M | re.S)
    assert 750 <= len(prose.split()) <= 1750
