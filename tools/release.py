#!/usr/bin/env python3
"""Release the version of minidem/__init__.py: what is missing for it, and a commit and a tag once nothing is.

    python tools/release.py --check     # what is missing; changes nothing
    python tools/release.py             # dates the changelog, writes .github/CITATION.cff, commits, and makes the tag

Nothing is pushed: the script prints the command that does, which starts the workflow that builds, tests and publishes.
The tag has the entries of the changelog as its text. Exit status: 0; 1 if something is missing.
"""
import argparse
import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from minidem.core.atomic import replace_text

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG, CITATION = "minidem/CHANGELOG.md", ".github/CITATION.cff"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def section(version):
    """(heading, entries) of a version in the changelog, or None."""
    found = re.search(rf"^(## {re.escape(version)}\b[^\n]*)\n(.*?)(?=^## |\Z)", read(CHANGELOG), re.M | re.S)
    return found and found.groups()


def citation(version, date):
    """CITATION.cff, of what Zenodo reads; version and date are empty until a first release."""
    record = json.loads(read(".zenodo.json"))
    fields = {"cff-version": "1.2.0", "message": "If you use minidem, cite it, and what md.cite(simulation) lists.",
              "type": "software", "title": record["title"], "abstract": record["description"],
              "authors": [{"name": creator["name"]} for creator in record["creators"]],
              "keywords": record["keywords"], "license": record["license"],
              "repository-code": tomllib.loads(read("pyproject.toml"))["tool"]["minidem"]["repository"],
              "version": version, "date-released": date}
    return "# Written by tools/release.py from .zenodo.json.\n" + "".join(
        f"{name}: {json.dumps(value)}\n" for name, value in fields.items() if value)


def missing(version):
    """What is not ready for a release of this version."""
    lacks = []
    if git("status", "--porcelain"):
        lacks.append("changes that are not committed")
    if f"v{version}" in git("tag").split():
        lacks.append(f"a new version: the tag v{version} exists; change __version__ in minidem/__init__.py")
    newest = re.search(r"^## (\S+)", read(CHANGELOG), re.M)[1]
    if newest != version or not section(version)[1].strip():
        lacks.append(f"entries of {version} at the top of {CHANGELOG}, where {newest} is")
    if not tomllib.loads(read("pyproject.toml"))["tool"]["minidem"]["repository"]:
        lacks.append("the address of the repository in [tool.minidem] of pyproject.toml")
    series = version.rpartition(".")[0]
    old = sorted({f"{entry['version']}: {entry['command']}"
                  for entry in tomllib.loads(read("tools/measured.toml"))["measured"]
                  if entry["version"].rpartition(".")[0] != series})
    lacks += [f"numbers of tools/measured.toml of this version, not {one}" for one in old]
    gallery = json.loads(read("scenarios/pictures/scenarios.json"))
    old = [name for name, entry in gallery.items() if entry["version"].rpartition(".")[0] != series]
    if old:
        lacks.append(f"results of {len(old)} scenarios: python tools/gallery.py --only {','.join(old)}")
    return lacks


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="say what is missing, and change nothing")
    check = parser.parse_args(arguments).check
    version = re.search(r'^__version__ = "(.*)"', read("minidem/__init__.py"), re.M)[1]
    lacks = missing(version)
    for one in lacks:
        print(f"missing: {one}")
    if check or lacks:
        print(f"minidem {version}: {len(lacks) or 'nothing'} missing")
        return 1 if lacks else 0
    (heading, entries), date = section(version), time.strftime("%Y-%m-%d")
    replace_text(ROOT / CHANGELOG, read(CHANGELOG).replace(heading, f"## {version} ({date})", 1))
    replace_text(ROOT / CITATION, citation(version, date))
    git("add", CHANGELOG, CITATION)
    git("commit", "-m", f"Release {version}")
    git("tag", "--annotate", f"v{version}", "--cleanup", "verbatim", "--message", f"minidem {version}\n\n{entries}")
    print(f"committed and tagged. To publish:  git push origin HEAD v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
