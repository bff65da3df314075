"""HTML pages of tools/docs.py: one per scheme, law and module, with no broken link. The API needs the extra docs."""
import re
import subprocess
import sys

import docs
import pytest

import minidem as md


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{name: text} of all pages, with a picture of a run in the gallery."""
    pytest.importorskip("pdoc")
    folder = tmp_path_factory.mktemp("docs")
    picture = folder / "results" / "settling" / "energy.png"
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"a picture")
    out = folder / "out"
    command = [sys.executable, docs.__file__, "--out", out, "--results", folder / "results"]
    subprocess.run(command, check=True, timeout=100)
    assert (out / "scenarios" / "settling" / "energy.png").read_bytes() == b"a picture"
    return {path.relative_to(out).as_posix(): path.read_text(encoding="utf-8") for path in out.rglob("*.html")}


@pytest.mark.parametrize("kind", ["rotation", "contact"])
def test_schemes_and_laws_have_a_page_of_their_record(pages, kind):
    module = getattr(md, kind)
    for name in module.available():
        record, page = module.info(name), pages[f"{kind}/{name}.html"]
        assert f"https://doi.org/{record.doi}" in page and record.title in page.replace("&amp;", "&")
        assert all(f"<code>{parameter}=" in page for parameter in record.parameters)
        assert f'href="{name}.html"' in pages[f"{kind}/index.html"]
        assert "class '" not in page


def test_guide_api_and_gallery_are_there(pages):
    assert all(f"minidem/guide/{name}.html" in pages for name in ("clumps", "extensions", "friction", "studies"))
    site = pages["index.html"].partition('<div class="site">')[2].partition("</div></div>")[0]
    links = re.findall(r"<a href=\"(.*?)\"", site)
    guide = {f"minidem/guide/{page.stem}.html" for page in (docs.ROOT / "minidem" / "guide").glob("*.md")}
    assert links[0] == "index.html" and guide < set(links)
    for name, page in (("Simulation.add_clumps", "minidem"), ("ClumpTemplate.from_mesh", "minidem"),
                       ("integrate", "minidem/rotation")):
        assert f'id="{name}"' in pages[f"api/{page}.html"]
    assert all(f'<h2 id="{name}">' in pages["scenarios/index.html"] for name in docs.scenario_scripts())
    assert 'src="settling/energy.png"' in pages["scenarios/index.html"]
    assert "add_clumps</span>" in pages["api/minidem.html"] and "_ArrayLike" not in pages["api/minidem.html"]
    assert 'href="../../index.html"' in pages["minidem/guide/tutorial.html"]
    assert not [name for name, page in pages.items() if "](" in page and not name.startswith("api/minidem")]


def test_without_pdoc_the_remedy_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "pdoc", None)
    with pytest.raises(SystemExit) as ended:
        docs.main(["--out", str(tmp_path / "out")])
    assert ended.value.code == 2 and "pip install pdoc" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.html").write_text('<p id="here"><a href="#here"><a href="../two.html#there"><a href="#no">')
    (tmp_path / "two.html").write_text('<p id="there"><img src="no.png"><a href="a"><a href="https://doi.org/x">')
    assert docs.broken_links(tmp_path) == ["a/one.html: #no", "two.html: no.png", "two.html: a"]
