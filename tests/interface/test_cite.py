"""minidem.cite: what a run used, no more, as text and as valid BibTeX."""
import re
from pathlib import Path

import pytest

import minidem as md
from minidem.core.literature import article

TOUCHING = [(k * 0.02, 0.0, 0.0) for k in range(3)]
OVERLAPPING = [(0.0, 0.0, 0.0), (0.015, 0.0, 0.0)]


def simulation(rotation="spiral", centers=TOUCHING, n=1, walls=True):
    walls = md.box_walls((0, 0, 0), (1, 1, 1)) if walls else []
    sim = md.Simulation(md.Material(young=1e7, poisson=0.3), walls, rotation=rotation, dt=1e-6)
    sim.add_clumps(md.ClumpTemplate(centers, [0.01] * len(centers)), [(0.3 + 0.2 * k, 0.5, 0.5) for k in range(n)])
    return sim


def entries(bibtex):
    """Key -> fields. Fails for anything that is not a list of entries with balanced braces."""
    found, field = {}, r"  (\w+) = \{(.*)\},\n"
    listed = re.findall(r"\s*@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},\n)+)\}\n", bibtex)
    assert len(listed) == bibtex.count("@") and bibtex.count("\n}\n") == len(listed)
    for kind, key, text in listed:
        fields = re.findall(field, text)
        assert key not in found and len(dict(fields)) == len(fields) == text.count("\n")
        assert all(value.count("{") == value.count("}") for _, value in fields)
        found[key] = {"kind": kind, **dict(fields)}
    return found


NEEDED = {"article": {"author", "title", "journal", "volume", "pages", "year"},
          "book": {"author", "title", "publisher", "year"},
          "techreport": {"author", "title", "institution", "year"},
          "software": {"author", "title", "version", "year"}, "misc": {"title", "doi", "url"}}


@pytest.mark.parametrize("scheme", [*md.rotation.available(), "spiral:inner=rk4", "omelyan:iterations=20"])
def test_every_scheme_is_cited_as_its_record_says(scheme):
    record, citation = md.rotation.info(scheme), md.cite(simulation(scheme))
    found = entries(citation.bibtex)
    for entry in found.values():
        assert NEEDED[entry["kind"]] <= entry.keys(), entry
    assert (record.doi or None) in [entry.get("doi") for entry in found.values()]
    assert {work.key for work in record.cites_with.get(scheme.partition(":")[2], record.cites)} <= found.keys()
    assert scheme.partition(":")[0] in citation.text and record.title in citation.text
    assert all(part in citation.text for part in scheme.partition(":")[2:])


def test_text_numbers_its_references():
    """Every number in the text is in the list below it, every reference is used, DOIs agree with BibTeX."""
    citation = md.cite(simulation("scalar-factor", OVERLAPPING))
    uses, listed = citation.text.split("\n\n")
    numbers = {int(k) for group in re.findall(r"\[([\d, ]+)\]", uses) for k in group.split(",")}
    assert numbers == {int(k) for k in re.findall(r"^\[(\d+)\] ", listed, re.M)} == set(
        range(1, len(citation.references) + 1))
    found = entries(citation.bibtex)
    assert re.findall(r"doi:(\S+)", listed) == [entry["doi"] for entry in found.values() if "doi" in entry]
    assert str(citation) == f"{citation.text}\n{citation.bibtex}"
    entry = found["minidem"]
    owner = re.search(r"Copyright \(c\) (\d+) (.*)", (Path(__file__).parents[2] / "LICENSE").read_text())
    assert (entry["version"], entry["year"], entry["author"].strip("{}")) == (md.__version__, *owner.groups())


@pytest.mark.parametrize("how, hertz, union", [
    ({"walls": False}, False, False), ({"walls": False, "n": 2}, True, False), ({}, True, False),
    ({"centers": [(0.0, 0.0, 0.0), (0.03, 0.0, 0.0)]}, True, False), ({"centers": OVERLAPPING}, True, True)])
def test_only_what_is_used(how, hertz, union, tmp_path):
    """Hertz only where anything could touch, the union of spheres where a template overlaps; also after a restart."""
    sim = simulation("omelyan:iterations=20", **how)
    citation = md.cite(sim)
    assert ("hertz1882beruehrung" in entries(citation.bibtex)) == hertz == ("Hertz" in citation.text)
    assert ("union" in citation.text) == union
    sim.run(3)
    sim.save(tmp_path / "state.npz")
    assert md.cite(md.Simulation.load(tmp_path / "state.npz")) == citation
    sim.add_clumps(md.ClumpTemplate(OVERLAPPING, [0.01, 0.01]), [(0.2, 0.2, 0.2)])
    assert "union" in md.cite(sim).text


@pytest.mark.parametrize("record, key, told", [
    ({"cites": (article("doe2030turns", ("Doe, Jane",), "Turns", "Journal of Turns", "1", "1--9", "2030",
                        "10.1234/own.5"),)}, "doe2030turns",
     "Jane Doe, Turns, Journal of Turns, 1, 1-9, 2030, doi:10.1234/own.5"),
    ({"doi": "10.1234/own.5", "equations": "7 of 10.1016/j.cpc.2023.109077"}, "10_1234_own_5",
     "My own scheme, doi:10.1234/own.5"), ({}, None, "My own scheme")])
def test_user_defined_schemes(own, record, key, told):
    """With a reference, a DOI alone, which leads to the paper, or no source; one of another scheme has its entry."""
    own("mine", lambda bodies, dt, stage: None, title="My own scheme", **record)
    citation = md.cite(simulation("mine"))
    found = entries(citation.bibtex)
    assert "My own scheme" in citation.text and told in citation.text
    assert key is None or found[key]["doi"] == "10.1234/own.5" and NEEDED[found[key]["kind"]] <= found[key].keys()
    assert ("delvalle2024spiral" in found) == ("equations" in record)
