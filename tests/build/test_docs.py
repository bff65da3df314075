"""HTML pages of tools/docs.py: notebooks that run, no broken link, formulas as MathML, nothing from a network."""
import csv
import html
import re
import sys
from html.parser import HTMLParser

import docs
import gallery
import pytest
from processes import python

import minidem as md
from minidem.core.interpreter import scenario_scripts

pytestmark = pytest.mark.slow           # under a minute; CI runs them beside other tests


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{name: text} of all pages, with a picture of a run in the gallery."""
    for name in ("sphinx", "furo", "myst_nb", "latex2mathml", "k3d", "pyvista", "numba", "matplotlib"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("docs")
    picture = folder / "results" / "settling" / "energy.png"
    picture.parent.mkdir(parents=True)
    gallery.keep_picture(gallery.PICTURES / "settling.png", picture)
    out = folder / "out"
    python(docs.__file__, "--out", out, "--results", folder / "results")        # a warning of Sphinx is an error here
    return {path.relative_to(out).as_posix(): path.read_text(encoding="utf-8") for path in out.rglob("*.html")}


class Sources(HTMLParser):
    """Files that a page loads: scripts, styles and pictures."""
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in ("script", "img", "iframe") or tag == "link" and given.get("rel") == "stylesheet":
            self.found.append(given.get("src") or given.get("href") or "")


def test_schemes_and_laws_have_a_page_of_their_record(pages):
    for kind, module in (("rotation", md.rotation), ("contact", md.contact)):
        for name in module.available():
            record, page = module.info(name), pages[f"{kind}/{name}.html"]
            assert not record.doi or f"https://doi.org/{record.doi}" in page
            assert record.title in page.replace("&amp;", "&")
            assert f'id="minidem.{kind}.{record.choice.__name__}"' in page
            assert all(f"<strong>{parameter}</strong>" in page for parameter in record.parameters)
            assert f'href="{name}.html"' in pages[f"{kind}/index.html"] and "<math " in page and "class '" not in page


def test_formulas_are_complete(pages):
    formulas = [formula for page in pages.values() for formula in re.findall(r"<math .*?</math>", page, re.DOTALL)]
    assert len(formulas) > 400
    assert not [formula for formula in formulas if set(html.unescape(re.sub("<.*?>", "", formula))) & set("\\&")]
    assert not [name for name, page in pages.items() if "$$" in re.sub(r"<pre>.*?</pre>|<code.*?</code>", "", page,
                                                                     flags=re.DOTALL)]


def test_guide_api_and_gallery_are_there(pages):
    guide = {path.stem for kind in ("*.md", "*.ipynb") for path in (docs.ROOT / "minidem" / "guide").glob(kind)}
    sidebar = pages["index.html"].partition('class="sidebar-tree"')[2]
    assert all(f'href="minidem/guide/{name}.html"' in sidebar for name in guide)
    for name, page in (("Simulation.add_clumps", "Simulation"), ("ClumpTemplate.from_mesh", "ClumpTemplate"),
                       ("rotation.integrate", "minidem.rotation"), ("view", "view")):
        assert f'id="minidem.{name}"' in pages[f"api/{page}.html"]
    for name in scenario_scripts():
        assert "takes" in pages[f"scenarios/{name}.html"] and f'href="{name}.html"' in pages["scenarios/index.html"]
    assert "energy" in " ".join(Sources(pages["scenarios/settling.html"]).found)
    with gallery.FINDINGS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert f"{row['paper']}, {row['item']}".replace("&", "&amp;") in pages["published/index.html"]


def test_no_block_of_a_docstring_runs_together(pages):
    """An indented block that is neither literal, behind ::, nor a table is a quotation: its lines are one paragraph."""
    assert not [name for name, page in pages.items() if "<blockquote" in page]
    assert re.search(r"<p>bonds</p></td>\s*<td><p>bonds\(\)", pages["api/Simulation.html"])
    assert 'id="minidem.simulation.bonds.Bonds.add"' in pages["api/Simulation.html"]


def test_pictures_link_to_their_files(pages):
    """At the width of a phone diagrams are too small to read."""
    for name in ("index", "scenarios/settling", "minidem/guide/papers", "published/spiral-2024-fig-a-8"):
        pictures = re.findall(r"(<a [^>]*>)?\s*<img [^>]*src=\"([^\"]*_images/[^\"]*)", pages[f"{name}.html"])
        assert pictures and all(f'href="{picture}"' in link for link, picture in pictures)


def test_pages_need_no_network(pages):
    loaded = {source for page in pages.values() for source in Sources(page).found}
    assert not [source for source in loaded if re.match(r"[a-z]+:|//", source) and not source.startswith("data:")]


@pytest.mark.parametrize("name", [path.stem for path in docs.NOTEBOOKS])
def test_notebooks_have_pictures(pages, name):
    page = pages[f"minidem/guide/{name}.html"]
    assert "Traceback" not in page and any("_images" in source for source in Sources(page).found)


@pytest.mark.parametrize("path", docs.NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_outputs_are_those_of_an_execution(path):
    """Texts are the same; pictures may differ by the fonts and the graphics of a machine. Else store them anew."""
    for name in ("nbclient", "pyvista", "k3d", "numba", "matplotlib"):
        pytest.importorskip(name)

    def texts(cells):
        return [[output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "picture")
                 for output in cell.get("outputs", ())] for cell in cells]

    import nbformat
    assert texts(docs.executed(path)["cells"]) == texts(nbformat.read(path, 4)["cells"])


def test_without_sphinx_the_remedy_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "furo", None)
    with pytest.raises(SystemExit) as ended:
        docs.main(["--out", str(tmp_path / "out")])
    assert ended.value.code == 2 and "pip install sphinx" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_citations_are_links_and_listed():
    text = docs.cited("As before [@zhao2013novel;\n@omelyan1998algorithm].\n\n## References\n")
    assert "([Zhao 2013](https://doi.org/10.1007/s00707-013-0914-2), [Omelyan 1998](https://doi.org/10.1103/" in text
    assert text.count("\n* ") == 2 and "[@" not in text
    assert docs.cited("[@rosin1933laws]").startswith("(Rosin 1933)\n* P. Rosin and E. Rammler")     # has no DOI
    with pytest.raises(KeyError):
        docs.cited("[@nobody2000nothing]")
