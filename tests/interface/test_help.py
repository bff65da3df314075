"""help(minidem) begins with the public names; md.build_info and summary.json describe the build."""
import json
import pydoc
import re
from importlib import import_module
from pathlib import Path

import pytest

import minidem as md
from minidem.core.threads import has_openmp

ROOT = Path(__file__).parents[2]


def test_help_begins_with_the_public_names():
    """Before pydoc's list of all modules, each with a line of its own."""
    text = pydoc.plain(pydoc.render_doc(md))
    first, _, rest = text.partition("PACKAGE CONTENTS")
    assert rest and first.count("\n") < 50
    table = re.findall(r"^ {8}((?:md|minidem)\.\w+(?:, md\.\w+)*) {2,}(\S.*)$", first, re.M)
    listed = [name for names, _ in table for name in names.split(", ")]
    assert sorted(f"md.{name}" for name in md.__all__) == sorted(name for name in listed if name.startswith("md."))
    for name in listed:
        assert pydoc.locate(name.replace("md.", "minidem.", 1) if name.startswith("md.") else name) is not None, name


def test_build_info():
    build = md.build_info()
    assert list(build) == ["version", "isa", "isa_levels", "openmp", "compiler"]
    assert build["version"] == md.__version__ and build["openmp"] is has_openmp()
    assert build["isa"] in ("native", "v2", "v3", "v4", "generic")
    assert not build["isa_levels"] or build["isa"] in build["isa_levels"]
    assert re.match(r"(gcc|.*[Cc]lang) \d+\.\d+.* -O\d ", build["compiler"])
    assert ("-march=native" in build["compiler"]) == (build["isa"] == "native")
    build["version"] = "another"                # the caller's own
    assert md.build_info()["version"] == md.__version__


@pytest.mark.parametrize("script, attribute", [("rods_in_box", "SCENARIO"), ("coupled_cylinders", "EXPERIMENT")])
def test_summaries_tell_the_build(script, attribute, tmp_path, without_pictures):
    program = getattr(import_module(script), attribute)
    short = ["--frames", "0", "--time", "0.001"] if attribute == "SCENARIO" else ["--quick"]
    assert program.main([*short, "--quiet", "--out", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["build"] == md.build_info()
