#!/usr/bin/env python3
"""Write one HTML page that compares every published table and figure with the results of minidem.

    python tools/paper_report.py --quick

Runs all paper experiments of scenarios/, each into its own folder, and writes report.html with tables and figures.
Prints one line per published table or figure: reproduced, not reproduced, known limit (a difference that is expected
of the law or method), or too short to tell (a run without --quick then decides). If an experiment fails, the report
contains its error and the other experiments continue.
"""
import argparse
import base64
import html
import sys
import traceback
from pathlib import Path

from scenario_modules import SCENARIOS, scenario_module

import minidem
from minidem.output import replace_text
from minidem.reproduction.finding import LIMIT, NOT_REPRODUCED, REPRODUCED, TOO_SHORT, WRONG
from minidem.scenario.options import folder

COLUMNS = ("paper", "item", "quantity", "published", "here", "exact", "deviation", "verdict", "note")
COLOURS = {REPRODUCED: "#e5f4ea", WRONG: "#fff3cd", NOT_REPRODUCED: "#f9dfdc", TOO_SHORT: "#e8e8e8", LIMIT: "#dfeaf7"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100%; font-size: 13px }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #ddd }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
img { max-width: 100%; margin: .8rem 0 } pre { white-space: pre-wrap; font-size: 13px } .failed { color: #a00 }
"""


def experiments():
    """{name: PaperExperiment} of all scripts that have one, sorted by name."""
    found = {}
    for path in sorted(SCENARIOS.glob("*.py")):
        if "EXPERIMENT" in path.read_text(encoding="utf-8"):
            found[path.stem] = scenario_module(path.stem).EXPERIMENT
    return found


def number(value):
    return "" if value is None else value if isinstance(value, str) else f"{value:.7g}"


def findings_table(findings):
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = []
    for f in findings:
        deviation = "" if f.deviation is None else f"{f.deviation:+.1e}"
        words = [f.paper, f.item, f.quantity]
        numbers = [number(f.published), number(f.reproduced), number(f.exact), deviation]
        cells = [f"<td>{html.escape(word)}</td>" for word in words]
        cells += [f'<td class="number">{html.escape(word)}</td>' for word in numbers]
        cells += [f"<td>{html.escape(word)}</td>" for word in (f.verdict, f.remarks)]
        rows.append(f'<tr style="background: {COLOURS[f.verdict]}">{"".join(cells)}</tr>')
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def section(name, experiment, report):
    """Description, findings, figures and links to the tables of one experiment."""
    title, _, text = experiment.description.strip().partition("\n")
    parts = [f'<h2 id="{name}">{html.escape(title)}</h2><p>{html.escape(text.strip())}</p>',
             f"<p><code>python scenarios/{name}.py</code></p>", findings_table(report.findings)]
    for file in report.files:
        if file.endswith(".png"):
            data = base64.b64encode((report.path / file).read_bytes()).decode()
            parts.append(f'<figure><img alt="{file}" src="data:image/png;base64,{data}"></figure>')
    tables = [file for file in report.files if file.endswith(".csv")]
    if tables:
        parts.append("<p>Tables: " + ", ".join(f'<a href="{name}/{t}">{t}</a>' for t in tables) + "</p>")
    return "".join(parts)


def page(sections, lines, quick):
    note = " Quick mode: fewer points and shorter runs than in the papers." if quick else ""
    closing = html.escape("\n".join(lines))
    return (f'<!doctype html><meta charset="utf-8"><title>minidem: published and reproduced results</title>'
            f"<style>{STYLE}</style><h1>Rotation integrators: published and reproduced results</h1>"
            f"<p>minidem {minidem.__version__}.{note} Green: reproduced. Yellow: the published value is wrong; "
            f"the note gives the evidence. Blue: known limit of the law or method, expected. Red: not reproduced. "
            f"Grey: too short to tell.</p>"
            f"{''.join(sections)}"
            f"<h2>Summary</h2><pre>{closing}</pre>\n")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = experiments()
    parser.add_argument("--out", type=folder, default="results/paper_report", metavar="DIR",
                        help="folder for the report and the files of the experiments (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="fewer points and shorter runs: minutes instead of hours")
    parser.add_argument("--only", metavar="A,B,...", help=f"run only these of {', '.join(known)}")
    parser.add_argument("--quiet", action="store_true", help="print only the summary")
    options = parser.parse_args(argv)
    chosen = options.only.split(",") if options.only else list(known)
    for name in chosen:
        if name not in known:
            parser.error(f"--only: unknown experiment {name!r}; choose from {', '.join(known)}")
    out = Path(options.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out: cannot write in {out} ({error.strerror}); give another folder")
    sections, lines, failed = [], [], False
    for name in chosen:
        try:
            report = known[name].run_into(out / name, quick=options.quick, quiet=options.quiet)
        except Exception as error:
            failed = True
            traceback.print_exc()
            lines.append(f"{name}: FAILED, {type(error).__name__}: {error}")
            sections.append(f'<h2>{name}</h2><p class="failed">{html.escape(lines[-1])}</p>')
        else:
            sections.append(section(name, known[name], report))
            lines += report.lines()
        replace_text(out / "report.html", page(sections, lines, options.quick))    # valid after every experiment
    print("\n".join([*lines, f"The report is {out / 'report.html'}."]))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
