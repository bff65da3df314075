"""help(minidem) begins with the public names; md.build_info and summary.json describe the build."""
import json
import pydoc
import re
from importlib import import_module
from pathlib import Path

import pytest

import minidem as md
from minidem import __main__ as command_line
from minidem.core.threads import has_openmp
from minidem.initial import Inlet, place

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


def test_signatures_are_readable():
    """ArrayLike has 1400 characters where its members are listed."""
    shown = [getattr(md, name) for name in md.__all__] + [md.rotation.integrate, place, Inlet]
    for thing in shown:
        text = pydoc.plain(pydoc.render_doc(thing))
        assert "_SupportsArray" not in text and max(map(len, text.splitlines())) < 600, thing
    assert re.search(r"gravity: '?ArrayLike'? = ", pydoc.plain(pydoc.render_doc(md.Simulation)))


def test_help_of_a_simulation_is_grouped_by_topics():
    """Its docstring has a line for each topic, with names that pydoc lists under this base class."""
    lines = dict(re.findall(r"^    ([A-Z]\w+) {2,}(\S.*)$", md.Simulation.__doc__.replace("\n    ", "\n"), re.M))
    topics = [md.Simulation, *md.Simulation.__bases__]
    assert list(lines) == [topic.__name__ for topic in topics]
    for topic in topics:
        named = re.findall(r"[a-z]+_\w+", lines[topic.__name__])
        assert named and all(name in vars(topic) for name in named), topic


@pytest.mark.parametrize("wrong, call", [
    ("hertz-mindlin", lambda: md.contact.info("hertz-mindlim")), ("omelyan", lambda: md.rotation.info("omelian:a=1")),
    ("stiffness", lambda: md.contact.info("hooke").values("stifness=1"))])
def test_near_names_are_suggested(wrong, call):
    with pytest.raises(ValueError, match=f", did you mean '{wrong}'"):
        call()


def test_near_scenarios_and_commands_are_suggested(capsys):
    for words, name in ((["run", "rods_in_bx"], "rods_in_box"), (["scenario"], "scenarios")):
        assert command_line.main(words) == 2
        assert f"did you mean '{name}'?" in capsys.readouterr().err


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


@pytest.mark.parametrize("script, attribute", [
    ("rods_in_box", "SCENARIO"), ("rotating_bodies.coupled_cylinders", "EXPERIMENT")])
def test_summaries_tell_the_build(script, attribute, tmp_path, without_pictures):
    program = getattr(import_module(f"minidem.scenarios.{script}"), attribute)
    short = ["--frames", "0", "--time", "0.001"] if attribute == "SCENARIO" else ["--quick"]
    assert program.main([*short, "--quiet", "--out", str(tmp_path)]) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["build"] == md.build_info()
