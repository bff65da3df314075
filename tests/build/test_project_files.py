"""Files that GitHub, Read the Docs, pre-commit and Zenodo read: they follow their schemas, which need no network."""
import json
import re
import tomllib

import pytest
from examples import ROOT
from processes import python

SCHEMAS = {"github-workflows": ".github/workflows/*.yml", "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
           "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml", "readthedocs": ".readthedocs.yaml"}
pytestmark = pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source distribution has no dotfiles")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_schemas(schema):
    pytest.importorskip("check_jsonschema")
    files = sorted(ROOT.glob(SCHEMAS[schema]))
    assert files
    python("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


def test_zenodo_and_hooks():
    record = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert {"title", "description", "upload_type", "license", "creators"} <= set(record)
    assert record["upload_type"] == "software" and all(creator["name"] for creator in record["creators"])
    yaml = pytest.importorskip("yaml")
    repository, = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert {hook["entry"].split()[0] for hook in repository["hooks"]} == {"ruff", "cython-lint", "mypy"}


def test_commands_name_what_exists():
    """Scripts, and extras of the package, in workflows and configuration."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    text = "\n".join(path.read_text() for path in [*ROOT.glob(".github/**/*.*"), *ROOT.glob(".*.yaml")])
    used = re.findall(r"-e '\.\[([\w,]+)\]'", text)
    assert used and set(",".join(used).split(",")) <= set(extras)
    assert all((ROOT / path).is_file() for path in re.findall(r"(?:tools|minidem)/[\w/]+\.(?:py|md)|\.ci/run", text))
