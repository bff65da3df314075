#!/usr/bin/env python3
"""HTML pages about minidem: guide, notebooks, API, schemes and contact laws, scenarios, published results.

    python tools/docs.py                    # writes results/docs/index.html and what it links to: about a minute
    python tools/docs.py --notebooks        # executes the notebooks of the guide anew, and stores what they print

The guide is README.md, the other Markdown files and the notebooks of minidem/guide, which are run anew. The API is made
from docstrings, pages of schemes and laws from their records, the gallery from the docstrings of scenarios/ and the
tables and pictures of scenarios/pictures. Sphinx, of the extra `docs`, makes the pages. They need no network: formulas
are MathML, and the search works on files. Exit status: 0, 1 if Sphinx warns, as of a broken link, 2 without Sphinx.
"""
import argparse
import ast
import base64
import csv
import inspect
import io
import json
import re
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from gallery import FINDINGS, PICTURES, SCENARIOS, pictures_of
from order_table import instant

import minidem as md
from minidem.core.atomic import replace_text
from minidem.core.interpreter import scenario_scripts
from minidem.core.literature import references
from minidem.simulation.topic import Named

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "minidem" / "guide").glob("*.ipynb"))
NOT_STORED = "not-stored"       # tag of cells whose outputs are times, or too large
MODULES = tuple(f"minidem.{name}" for name in (
    "rotation", "contact", "rotation.registry", "contact.registry", "initial", "analysis", "analysis.coarse",
    "scenario", "ensemble", "shapes"))
SETTINGS = {
    "project": "minidem", "release": md.__version__, "html_title": f"minidem {md.__version__}",
    "extensions": ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb", "docs"],
    "html_theme": "furo", "html_show_sourcelink": False, "html_copy_source": False, "html_math_renderer": "mathml",
    "html_show_search_summary": False,          # which are fetched, and files cannot be
    "html_theme_options": {"navigation_with_keys": True},
    "pygments_style": "sphinx", "smartquotes": False, "default_role": "py:obj",
    "add_module_names": False, "toc_object_entries": False,
    "autodoc_typehints": "none", "maximum_signature_line_length": 80, "autodoc_member_order": "bysource",
    "napoleon_google_docstring": False, "napoleon_use_rtype": False,
    "myst_enable_extensions": ["dollarmath", "amsmath"], "myst_heading_anchors": 4,
    "suppress_warnings": ["myst.header"],
    "nb_execution_mode": "force", "nb_execution_timeout": 120, "nb_execution_raise_on_error": True,
    "nb_ipywidgets_js": {},                     # of a network, for widgets that no notebook has
}
STYLE = """
body {--code-font-size: 75%}
@media (min-width: 97em) {.content {width: 58em}}
@media (min-width: 67em) and (max-width: 82em) {.content {width: calc(100vw - 22em)}}
@media (max-width: 46em) {td code {overflow-wrap: anywhere}}
td img {min-width: 6em}
img[style="width: 100%;"] {width: auto !important}
table:has(th:nth-child(8)) {font-size: 70%}
table:has(th:nth-child(8)) :is(td, th) {padding: 0.2rem}
table:has(th:nth-child(8)) td:has(a) {min-width: 6.5em; overflow-wrap: anywhere}
menclose {background: var(--color-background-secondary); padding: 0.5em}
.math {overflow-x: auto; margin: 1em 0}
.highlight-text pre {white-space: pre-wrap}
mtd[columnalign=left] {text-align: left}
mtd[columnalign=right] {text-align: right}
mi[mathvariant=bold-italic] {font-weight: bold; font-style: italic}
"""
SYMBOLS = r"""In the formulas :math:`q` is the orientation, a unit quaternion that takes the principal frame to the
lab; :math:`\boldsymbol\omega`, :math:`\boldsymbol\tau` and :math:`I` are angular velocity, torque and moments of
inertia in the principal frame; :math:`\dot{\boldsymbol\omega}(\boldsymbol\omega, \boldsymbol\tau) =
I^{-1} (\boldsymbol\tau - \boldsymbol\omega \times I \boldsymbol\omega)`; :math:`\mathrm N(q)` is :math:`q` divided by
its norm, and :math:`q^*` its conjugate; :math:`\exp(\boldsymbol v)` is the rotation by :math:`2 |\boldsymbol v|` about
:math:`\boldsymbol v`. A value without an argument is that at :math:`t`.
"""


def sphinx_class():
    """Sphinx's class; ModuleNotFoundError with the command that installs it."""
    try:
        for name in ("furo", "latex2mathml", "myst_nb"):
            import_module(name)
        from sphinx.application import Sphinx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"the pages need the package {error.name}; install it with\n"
                                  f"    {sys.executable} -m pip install sphinx furo myst-nb latex2mathml") from None
    return Sphinx


def setup(app):
    """An extension of Sphinx: formulas as MathML, which browsers draw without scripts or fonts from the network, and
    pictures that link to their files, since diagrams cannot be read at the width of a phone."""
    from docutils.nodes import SkipNode, image
    from latex2mathml.converter import convert

    def inline(writer, node):
        writer.body.append(convert(node.astext()))
        raise SkipNode

    def display(writer, node):
        writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
        raise SkipNode

    def link_pictures(app, page):
        for node in page.findall(image):        # Sphinx links those with a size
            node.attributes.setdefault("width", "100%")

    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("doctree-read", link_pictures)
    app.add_css_file("minidem.css")
    return {"parallel_read_safe": True}


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def page_list(caption, *pages):
    """Lines of a table of contents in Markdown."""
    return ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]


def cited(text):
    """Markdown in which [@key; @key] of references.bib are links to the DOI, and a list of these works at the end."""
    found = {}

    def linked(group):
        works = references(re.findall(r"\w+", group[1]))
        found.update((work.key, work) for work in works)
        names = [f"{work.authors[0].partition(',')[0]}{' et al.' * (len(work.authors) > 2)} {work.year}"
                 for work in works]
        return "(" + ", ".join(f"[{name}](https://doi.org/{work.doi})" if work.doi else name
                               for name, work in zip(names, works)) + ")"

    text = re.sub(r"\[(@\w+(?:;\s@\w+)*)\]", linked, text)
    return "\n".join([text, *(f"* {work.text}" for work in found.values())])


def write_guide(source):
    """README.md as index.md, and the other Markdown files and notebooks at the places that they have in the project."""
    for path in [*(ROOT / "minidem").rglob("*.md"), *NOTEBOOKS,
                 *(ROOT / "tools").glob("*.md")]:
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(cited(re.sub(r"(?<=[/(])README\.md(?=[)#])", "index.md", path.read_text(encoding="utf-8"))),
                        encoding="utf-8")
    shutil.copytree(PICTURES, source / "scenarios" / "pictures")
    for path in scenario_scripts().values():
        copy = source / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    guide = re.findall(r"\[[^\]]+\]\(((?:minidem|tools)/\S+)\.(?:md|ipynb)\)", readme.partition("\n## Guide\n")[2])
    others = sorted(path.relative_to(source).with_suffix("").as_posix() for path in source.rglob("*.md"))
    write(source / "index.md", readme, *page_list("Guide", *dict.fromkeys([*guide, *others])),
          *page_list("Reference", "rotation/index", "contact/index", "api/index"),
          *page_list("Results", "scenarios/index", "published/index"))


def executed(path):
    """The notebook of a file, executed anew in an empty folder, with the outputs that are stored.

    Outputs have no counts, times or addresses, and pictures 256 colours, so that files change with their content alone.
    """
    import nbformat
    from nbclient import NotebookClient
    notebook = nbformat.read(path, 4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, record_timing=False, store_widget_state=False,
                       coalesce_streams=True, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [] if NOT_STORED in cell.metadata.get("tags", ()) else [*map(stored, cell.outputs)]
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec}
    return notebook


def stored(output):
    """An output of a cell as it is stored; ValueError for a warning."""
    from PIL import Image
    if output.output_type == "stream":
        if output.name != "stdout":
            raise ValueError(f"a notebook warns: {output.text}")
        return output
    best = next(kind for kind in ("image/png", "text/html", "text/plain") if kind in output.data)
    output.data, output.metadata = {best: output.data[best]}, {}
    if "execution_count" in output:
        output.execution_count = None
    if best == "image/png":
        picture, packed = Image.open(io.BytesIO(base64.b64decode(output.data[best]))), io.BytesIO()
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(packed, "png", optimize=True)
        output.data[best] = base64.b64encode(packed.getvalue()).decode()
    return output


def store_notebooks():
    """Execute all notebooks, and store their outputs; files whose outputs are the same keep all bytes."""
    import nbformat
    for path in NOTEBOOKS:
        replace_text(path, nbformat.writes(executed(path)) + "\n")
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
    return 0


def scheme_rows(scheme):
    """What only the record of a rotation scheme has."""
    at = " / ".join(instant(offset) for offset in (scheme.orientation_offset, scheme.angular_velocity_offset))
    yes = [word for word, has in (("symplectic and symmetric in time", scheme.symplectic),
                                  ("keeps the norm of the orientation", scheme.keeps_norm),
                                  ("normalises the orientation in every step", scheme.normalises)) if has]
    return {"orders, orientation / angular velocity, constant body torque": f"{scheme.order_q} / {scheme.order_w}",
            "orders, varying torque": f"{scheme.order_q_varying} / {scheme.order_w_varying}",
            "orientation / angular velocity stored at": at, "force evaluations per step": len(scheme.stages),
            "properties": ", ".join(yes), "notes": scheme.notes}


def law_rows(law):
    """What only the record of a contact law has."""
    yes = [word for word, has in (("conservative", law.conservative), ("depends on velocities", law.needs_velocity),
                                  ("has a history", law.has_history)) if has]
    return {"normal force": f"proportional to overlap^{law.power:g}", "properties": ", ".join(yes),
            "properties of materials": ", ".join(law.reads),
            "properties of pairs": ", ".join([*law.reads_of_pairs, *(
                f"{name} ({given})" for given, read in law.reads_with.items() for name in read
                if name not in law.parameters)])}


def heading(text, line="="):
    return [text, line * len(text), ""]


def fields(table):
    """Lines of a table of two columns, in reStructuredText; names without a value are left out."""
    return [".. list-table::", "   :widths: 30 70", "", *(
        f"   * - {name}\n     - {value}" for name, value in table.items() if value not in ("", None)), ""]


def record_page(kind, record, rows):
    """Lines of a rotation scheme or contact law: title, class, further rows, formulas, references."""
    table = {"DOI": f"`{record.doi} <https://doi.org/{record.doi}>`__" if record.doi else "", **rows,
             "used in": record.used_in}
    works = {work.key: work for group in (record.cites, *getattr(record, "cites_with", {}).values()) for work in group}
    linked = re.sub(r"\b(FRICTION|ONSET|COHESION)\.md", r":doc:`\g<0> </minidem/contact/\1>`", record.doc)
    return [*heading(f"{record.name}: {record.title}"), f".. autoclass:: minidem.{kind}.{record.choice.__name__}", "",
            *fields(table), *heading("Formula", "-"),
            inspect.cleandoc(linked), "", *heading("References", "-"), *(
        "* " + work.text.replace("``", "“").replace("''", "”").replace(f"doi:{work.doi}", f"`doi:{work.doi} <https://doi.org/{work.doi}>`__")
        for work in works.values())]


def write_records(source):
    """A page per rotation scheme and contact law, and a list of each."""
    for kind, title, module, rows, more in (
            ("rotation", "Rotation schemes", md.rotation, scheme_rows,
             ":doc:`Measured orders and cost </minidem/rotation/ORDERS>`. " + SYMBOLS),
            ("contact", "Contact laws", md.contact, law_rows,
             ":doc:`Time levels of friction and damping </minidem/contact/FRICTION>`, "
             ":doc:`onset correction </minidem/onset/ONSET>`, :doc:`cohesion </minidem/contact/COHESION>`.")):
        records = [module.info(name) for name in module.available()]
        for record in records:
            write(source / kind / f"{record.name}.rst", *record_page(kind, record, rows(record)))
        write(source / kind / "index.rst", *heading(title), more, "", ".. toctree::", "   :hidden:", "",
              *(f"   {record.name}" for record in records), "",
              *(f"* :doc:`{record.name}`, ``md.{kind}.{record.choice.__name__}``" for record in records))


def table(columns, rows):
    """Lines of a table in reStructuredText; a cell may have several lines."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (columns, *rows):
        for place, cell in enumerate(row):
            text = str(cell).replace("\n", "\n       ")
            lines.append(f"   {' ' if place else '*'} - {text}")
    return [*lines, ""]


def described(text):
    """Paragraphs of the docstring of a scenario, in reStructuredText: indented ones are literal."""
    before = ""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith(" ") and not before.startswith(" ") and not before.endswith("::"):
            yield ".. code-block:: text\n"
        yield re.sub(r"^(?=[A-Z]\. )", r"\\", paragraph, flags=re.MULTILINE) + "\n"   # a name, not the number of a list
        before = paragraph


def write_gallery(source, results):
    """A page per scenario: pictures, command, run time, the numbers that it checks, docstring; and a list of them."""
    measured = json.loads(SCENARIOS.read_text(encoding="utf-8"))
    rows = []
    for name, path in scenario_scripts().items():
        title, _, rest = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")
        pictures, run = [f"/scenarios/pictures/{picture.name}" for picture in pictures_of(name)], measured[name]
        for picture in sorted((results / name).glob("*.png")):
            (source / "scenarios" / name).mkdir(exist_ok=True)
            shutil.copy(picture, source / "scenarios" / name)
            pictures.append(f"/scenarios/{name}/{picture.name}")
        write(source / "scenarios" / f"{name}.rst", *heading(name), f"**{title}**", "",
              *(f".. image:: {picture}\n   :alt: {Path(picture).stem}\n" for picture in pictures),
              f"``{run['command']}`` takes {run['seconds']:g} s (version {run['timed']}) and prints at the end "
              f"(version {run['version']}):", "", ".. code-block:: text", "",
              *(f"    {line}" for line in run["prints"]), "", *described(rest))
        image = f".. image:: {pictures[0]}\n   :width: 10em\n   :alt: {name}" if pictures else ""
        rows.append((image, f":doc:`{name}`\n\n{title}", f"{run['seconds']:g} s"))
    write(source / "scenarios" / "index.rst", *heading("Scenarios"),
          "``python -m minidem run NAME`` runs a scenario; ``--help`` after it lists the options. The page of each has "
          "the command of which the time is given, and the numbers that it checks, on an AMD EPYC (Zen 4).", "",
          *table(("", "scenario", "run time"), rows),
          ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in scenario_scripts()))


def write_published(source):
    """Write a page per published table or figure, with what the scripts found."""
    with FINDINGS.open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    pages = {}
    for row in found:
        pages.setdefault((row["paper"], row["item"]), []).append(row)
    listed = []
    for (paper, item), rows in pages.items():
        name = re.sub(r"\W+", "-", f"{paper} {item}".lower()).strip("-")
        scripts = {row["script"]: (row["command"], row["version"]) for row in rows}
        verdicts = ", ".join(dict.fromkeys(row["verdict"] for row in rows))
        listed.append((f":doc:`{paper}, {item} <{name}>`", verdicts))
        write(source / "published" / f"{name}.rst", *heading(f"{paper}, {item}"), *table(
            ("quantity", "published", "here", "±", "exact", "verdict", "how it was compared"),
            [[row[key] for key in ("quantity", "published", "here", "error", "exact", "verdict", "note")]
             for row in rows]),
            *(f"* :doc:`/scenarios/{script}`: ``{command}``, version {version}"
              for script, (command, version) in scripts.items()), "",
            *(f".. image:: /scenarios/pictures/published/{path.name}\n   :alt: {path.stem}\n"
              for script in scripts for path in sorted((PICTURES / "published").glob(f"{script}-*.png"))))
    write(source / "published" / "index.rst", *heading("Published tables and figures"),
          "Every table and figure of the papers behind these schemes, and further numbers that scenarios compare with "
          "experiments and theory, by :doc:`/scenarios/paper_report`; what the verdicts mean is in "
          ":doc:`/minidem/guide/papers`.", "", *table(("page", "verdicts"), listed),
          ".. toctree::", "   :hidden:", "", *(f"   {one[0].split('<')[1].strip('>`')}" for one in listed))


TOPICS = [(name, one.kind) for name, one in vars(md.Simulation).items() if isinstance(one, Named)]


def write_api(source):
    """A page per public class and function of minidem, and per module."""
    vars(md.rotation)["integrate"] = md.rotation.integrate      # imported late; autodoc looks for names in the module
    names = [name for name in md.__all__ if not inspect.ismodule(getattr(md, name))]
    for name in names:
        kind = "class" if inspect.isclass(getattr(md, name)) else "function"
        write(source / "api" / f"{name}.rst", *heading(f"md.{name}"), f".. auto{kind}:: minidem.{name}",
              *["   :members:", "   :inherited-members: object, Exception, tuple"] * (kind == "class"), "",
              *(line for topic, kind in (TOPICS if name == "Simulation" else ())
                for line in (*heading(f"sim.{topic}", "-"), f".. autoclass:: {kind.__module__}.{kind.__name__}",
                             "   :members:", "   :special-members: __call__", "")))
    for name in MODULES:
        module = import_module(name)
        of = {member: str(getattr(thing, "__module__", "")) for member, thing in inspect.getmembers(module)}
        listed = getattr(module, "__all__", [member for member in of if of[member] == module.__name__])
        elsewhere = tuple(other for other in MODULES if not name.startswith(other))
        own = [member for member in listed if not of.get(member, "").startswith(elsewhere) and member[0] != "_"]
        write(source / "api" / f"{name}.rst", *heading(name), f".. automodule:: {name}",
              f"   :members: {', '.join(own)}")
    write(source / "api" / "index.rst", *heading("API"), "``import minidem as md``", "", ".. toctree::",
          "   :maxdepth: 1", "", *(f"   {name}" for name in (*names, *MODULES)))


def build(sphinx, source, out):
    """Make the pages; the number of warnings, which Sphinx has printed."""
    static = source / "static"
    write(static / "minidem.css", STYLE)
    app = sphinx(source, None, out, source / ".doctrees", "html", status=None, freshenv=True,
                 confoverrides=SETTINGS | {"html_static_path": [str(static)]})
    app.build()
    return app._warncount


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/docs"), metavar="FOLDER",
                        help="folder of the pages (default: %(default)s); it is replaced")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER",
                        help="folder with pictures of runs in FOLDER/NAME, for the gallery (default: %(default)s)")
    parser.add_argument("--notebooks", action="store_true", help="execute the notebooks, and store their outputs alone")
    options = parser.parse_args(argv)
    try:
        sphinx = sphinx_class()                      # an error before any work
    except ModuleNotFoundError as error:
        parser.error(str(error))
    if options.notebooks:
        return store_notebooks()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        write_guide(source)
        write_records(source)
        write_gallery(source, options.results)
        write_published(source)
        write_api(source)
        warnings = build(sphinx, source, options.out)
    print(f"{options.out / 'index.html'}: {len(list(options.out.rglob('*.html')))} pages, {warnings} warnings")
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main())
