#!/usr/bin/env python3
"""HTML pages about minidem: the guide, the API, a page per rotation scheme and contact law, a gallery of scenarios.

    python tools/docs.py                    # writes results/docs/index.html and what it links to: some seconds

The guide is README.md and the other Markdown files. The API is made from docstrings by pdoc, of the extra `docs`. Pages
of schemes and laws are made from their records, the gallery from the docstrings of scenarios/, the pictures of
scenarios/pictures and those of runs in results/NAME. All links between the pages are checked. Exit status: 0, 1 if a
link is broken, which is then named, 2 without pdoc.
"""
import argparse
import ast
import html
import importlib
import inspect
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from numpy.typing import ArrayLike
from order_table import instant

import minidem as md
from minidem.core.interpreter import scenario_scripts

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("minidem", *(f"minidem.{name}" for name in (
    "rotation.record", "contact.record", "initial", "scenario", "ensemble", "templates.shapes",
    "templates.fit_report")))
SECTIONS = {"minidem": "index.html", "Rotation schemes": "rotation/index.html", "Contact laws": "contact/index.html",
            "Scenarios": "scenarios/index.html", "API": "api/index.html"}
GUIDE = {name: f"{page}.html" for name, page in re.findall(
    r"^\| \[([^\]]+)\]\((minidem/guide/\w+)\.md\)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)}
STYLE = """
body {font: 16px/1.5 sans-serif; max-width: 62em; margin: auto; padding: 0 1em 3em; color: #222}
div.site a {margin-right: 1.5em} div.site {padding: 1em 0; border-bottom: 1px solid #ccc}
div.guide {font-size: .85em; padding-top: .4em} div.guide a {margin-right: 1.2em; white-space: nowrap}
a {color: #06c; text-decoration: none} img {max-width: 100%}
code {font-size: .88em} pre code {font-size: 13px}
pre {background: #f5f5f5; padding: .7em; overflow-x: auto; line-height: 1.35}
table {border-collapse: collapse; display: block; overflow-x: auto; font-size: .9em}
th, td {border: 1px solid #ccc; padding: .2em .6em}
th {text-align: left; background: #f5f5f5}
"""


def renderer():
    """The module of pdoc that makes HTML from Markdown; ModuleNotFoundError with the command that installs it."""
    try:
        from pdoc import render_helpers
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"the pages need the package {error.name}; install it with\n"
                                  f"    {sys.executable} -m pip install pdoc") from None
    return render_helpers


def examples_marked(text):
    """Text of a docstring whose examples behind `::` are code in Markdown too."""
    return re.sub(r"::\n\n?(?= {4})", ":\n\n", text)


def navigation(depth):
    """Links to the sections and the pages of the guide, from a page `depth` folders below the first."""
    links, pages = ("".join(f'<a href="{"../" * depth}{page}">{name}</a> ' for name, page in found.items())
                    for found in (SECTIONS, GUIDE))
    return f'<div class="site">{links}<div class="guide">{pages}</div></div>'


def write_page(out, name, markdown):
    """The page `name`, such as "rotation/spiral.html", from Markdown."""
    helpers = renderer()
    markdown = re.sub(r"(?<=[/(])README\.md(?=[)#])", "index.md", markdown)
    body = helpers.to_html(re.sub(r"(\]\((?!https?:)[^)\s]*)\.md(?=[)#])", r"\1.html", markdown))
    colours = helpers.formatter.get_style_defs(".codehilite")
    title = html.escape(markdown.partition("\n")[0].strip("# ").replace("`", ""))
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
                    f"<style>{STYLE}{colours}</style></head>\n"
                    f"<body>{navigation(name.count('/'))}\n<main>{body}</main></body></html>\n", encoding="utf-8")


def write_guide(out):
    """README.md as index.html, and the other Markdown files at the places that they have in the project."""
    write_page(out, "index.html", (ROOT / "README.md").read_text(encoding="utf-8"))
    for path in [*(ROOT / "minidem").rglob("*.md"), *(ROOT / "tools").glob("*.md")]:
        write_page(out, path.relative_to(ROOT).with_suffix(".html").as_posix(), path.read_text(encoding="utf-8"))


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
                f"{name} ({given})" for given, read in law.reads_with.items() for name in read)])}


def parameter_text(name, default):
    """`name=default`, with the other choices."""
    if isinstance(default, tuple):
        return f"`{name}={default[0]}`" + "".join(
            f" or `{choice}`" if isinstance(choice, str) else " or a number" for choice in default[1:])
    return f"`{name}=...`, must be given" if default is None or isinstance(default, type) else f"`{name}={default:g}`"


def record_page(kind, record, rows):
    """Markdown of a rotation scheme or contact law: title, equations, sources, parameters and further rows."""
    parameters = "; ".join(parameter_text(*item) for item in record.parameters.items())
    table = {"argument": f'`{kind}="{record.name}"`', "parameters and defaults": parameters,
             "DOI": f"[{record.doi}](https://doi.org/{record.doi})" if record.doi else "",
             "equations": record.equations, **rows, "used in": record.used_in}
    lines = [f"| {name} | {value} |" for name, value in table.items() if value not in ("", None)]
    works = {work.key: work for group in (record.cites, *getattr(record, "cites_with", {}).values()) for work in group}
    linked = re.sub(r"\b(FRICTION|ONSET)\.md", r"[\g<0>](../minidem/contact/\g<0>)", examples_marked(record.doc))
    return "\n".join([f"# `{record.name}`: {record.title}", "", "| property | value |", "| --- | --- |", *lines, "",
                      "## Formula", "", linked, "", "## References", "",
                      *("* " + work.text.replace(f"doi:{work.doi}", f"[doi:{work.doi}](https://doi.org/{work.doi})")
                        for work in works.values())])


def write_records(out):
    """A page per rotation scheme and contact law, and a list of each."""
    for kind, title, module, rows, more in (
            ("rotation", "Rotation schemes", md.rotation, scheme_rows,
             "[Measured orders and cost](../minidem/rotation/ORDERS.md)."),
            ("contact", "Contact laws", md.contact, law_rows,
             "[Time levels of friction and damping](../minidem/contact/FRICTION.md), "
             "[onset correction](../minidem/contact/ONSET.md).")):
        records = [module.info(name) for name in module.available()]
        for record in records:
            write_page(out, f"{kind}/{record.name}.html", record_page(kind, record, rows(record)))
        write_page(out, f"{kind}/index.html", "\n".join([f"# {title}", "", more, "", *(
            f"* [`{record.name}`]({record.name}.html): {record.title}" for record in records)]))


def write_gallery(out, results):
    """A list of the scenarios with their docstrings and pictures."""
    text = ["# Scenarios", "", "`python -m minidem run NAME` runs a scenario; `--help` after it lists the options. "
            "Pictures are those of the project, and of the runs in results/NAME when these pages were made.", "",
            ", ".join(f"[{name}](#{name})" for name in scenario_scripts())]
    own = ROOT / "scenarios" / "pictures"
    shutil.copytree(own, out / "scenarios" / "pictures", dirs_exist_ok=True)
    for name, path in scenario_scripts().items():
        title, _, rest = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).partition("\n")
        text += ["", f"## {name}", "", f"**{title}**", "", examples_marked(rest.strip())]
        pictures = [f"pictures/{picture.name}" for picture in sorted(own.glob(f"{name}*.png"))]
        for picture in sorted((results / name).glob("*.png")):
            (out / "scenarios" / name).mkdir(exist_ok=True)
            shutil.copy(picture, out / "scenarios" / name)
            pictures.append(f"{name}/{picture.name}")
        text += ["", *(f"![{Path(picture).stem}]({picture})" for picture in pictures)]
    write_page(out, "scenarios/index.html", "\n".join(text))


def write_api(out):
    """The docstrings of the public modules, by pdoc, with links to the other pages."""
    helpers = renderer()
    import pdoc
    pdoc.render.configure(docformat="numpy", show_source=False)
    pdoc.render.env.filters["to_html"] = lambda text: helpers.to_html(examples_marked(text))
    annotation = inspect.formatannotation
    members = annotation(ArrayLike).removeprefix("Union[").removesuffix("]")     # too long to be read
    inspect.formatannotation = pdoc.doc.formatannotation = lambda kind, *others: re.sub(
        r"Union\[ArrayLike(, NoneType)?\]", lambda found: "ArrayLike | None" if found[1] else "ArrayLike",
        annotation(kind, *others).replace(members, "ArrayLike"))
    # Members of base classes in modules without a page are shown with the class.
    pdoc.doc.Class.own_members = property(lambda self: [member for member in self.members.values()
                                                        if member.taken_from[0].startswith("minidem")])
    vars(md.rotation)["integrate"] = md.rotation.integrate      # imported late; pdoc looks for names in the module
    pdoc.pdoc(*MODULES, output_directory=out / "api")
    for path in (out / "api").rglob("*.html"):
        sections = navigation(len(path.relative_to(out).parents) - 1)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('<input type="search"', f'{sections}<input type="search"', 1), encoding="utf-8")
    modules = {name: importlib.import_module(name)
               for name in sorted([*MODULES, "minidem.rotation", "minidem.contact"])}
    names = {f"md.{name}": getattr(md, name) for name in md.__all__ if not inspect.ismodule(getattr(md, name))}
    write_page(out, "api/index.html", "\n".join([
        "# API", "", "`import minidem as md`:", "",
        *(f"* [`{name}`](minidem.html#{name[3:]}): {title(thing)}" for name, thing in names.items()),
        "", "## Modules", "",
        *(f"* [`{name}`]({name.replace('.', '/')}.html): {title(thing)}" for name, thing in modules.items())]))


def title(thing):
    """First line of the docstring, behind the signature that Cython puts there."""
    lines = inspect.getdoc(thing).splitlines()
    return next(line for line in lines if line and not re.fullmatch(r"\w+\(.*\).*", line)).rstrip(":")


class Links(HTMLParser):
    """Targets of links and pictures, and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.targets.append(value)


def broken_links(out):
    """["page: target"] of links in a folder that lead to no file or no anchor; links to the web are not tried."""
    pages = {path.resolve(): Links(path.read_text(encoding="utf-8")) for path in sorted(Path(out).rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for target in page.targets:
            if re.match(r"[a-z]+:|//", target):
                continue
            file, _, anchor = unquote(target).partition("#")
            place = (path.parent / file).resolve() if file else path
            if not place.is_file() or anchor and place in pages and anchor not in pages[place].anchors:
                found.append(f"{path.relative_to(Path(out).resolve())}: {target}")
    return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/docs"), metavar="FOLDER",
                        help="folder of the pages (default: %(default)s); files of an earlier call are overwritten")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER",
                        help="folder with pictures of runs in FOLDER/NAME, for the gallery (default: %(default)s)")
    options = parser.parse_args(argv)
    try:
        renderer()                              # an error before any work
    except ModuleNotFoundError as error:
        parser.error(str(error))
    write_guide(options.out)
    write_records(options.out)
    write_gallery(options.out, options.results)
    write_api(options.out)
    broken = broken_links(options.out)
    print(*(f"broken link: {one}" for one in broken), f"{options.out / 'index.html'}: "
          f"{len(list(options.out.rglob('*.html')))} pages", sep="\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
