#!/usr/bin/env python3
"""One HTML page that compares every published table and figure with the results of minidem.

    python scenarios/paper_report.py --quick

Runs all paper experiments of scenarios/, each into its own folder, and writes report.html with tables and figures and
findings.csv.
Prints one line per published table or figure: reproduced, not reproduced, known limit (a difference that is expected
of the law or method), or too short to tell (a run without --quick then decides). If an experiment fails, the report
contains its error and the other experiments continue.

    python scenarios/paper_report.py --quick --against results/paper_report/findings.csv --out again

repeats what an earlier report of any machine has found, with the same options, and names each number that is not the
same. Runs of minidem have equal bits everywhere; what scripts make of them with NumPy may differ by rounding, so that
1e-9 of a number, or 1e-12, is no difference. A chaotic scene ends with other numbers where NumPy, on another processor,
rounds its initial state otherwise. Processor times are not compared.
"""
import base64
import csv
import html
import math
import sys
import traceback
from pathlib import Path

import minidem
from minidem.core.atomic import replace_text
from minidem.core.interpreter import scenario_command, scenario_scripts
from minidem.output.table import write_table
from minidem.scenario import Scenario
from minidem.scenario.options import told
from minidem.scenarios import module_of
from minidem.scenarios.papers import LIMIT, NOT_REPRODUCED, REPRODUCED, TOO_SHORT, WRONG, Finding

COLUMNS = ("paper", "item", "quantity", "published", "here", "error", "exact", "deviation", "verdict", "note")
KEY = ("script", "paper", "item", "quantity")
SAME, SMALL = 1e-9, 1e-12                   # relative and absolute difference of numbers that --against compares
TIMED = "driven_cylinder_cost"              # an experiment of processor times
COLOURS = {REPRODUCED: "#e5f4ea", WRONG: "#fff3cd", NOT_REPRODUCED: "#f9dfdc", TOO_SHORT: "#e8e8e8", LIMIT: "#dfeaf7"}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100%; font-size: 13px }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #ddd }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
img { max-width: 100%; margin: .8rem 0 } pre { white-space: pre-wrap; font-size: 13px } .failed { color: #a00 }
"""


def experiments():
    """{name: Scenario} of all scripts that have an EXPERIMENT, sorted by name."""
    found = {}
    for name, path in scenario_scripts().items():
        if "\nEXPERIMENT = " in path.read_text(encoding="utf-8"):
            found[name] = module_of(name).EXPERIMENT
    return found


def number(value, digits=7):
    return "" if value is None else value if isinstance(value, str) else f"{value:.{digits}g}"


def findings_table(findings):
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = []
    for f in findings:
        deviation = "" if f.deviation is None else f"{f.deviation:+.1e}"
        words = [f.paper, f.item, f.quantity]
        error = "" if f.error is None else f"± {f.error:.1g}"
        numbers = [number(f.published), number(f.reproduced), error, number(f.exact), deviation]
        cells = [f"<td>{html.escape(word)}</td>" for word in words]
        cells += [f'<td class="number">{html.escape(word)}</td>' for word in numbers]
        cells += [f"<td>{html.escape(word)}</td>" for word in (f.verdict, f.remarks)]
        rows.append(f'<tr style="background: {COLOURS[f.verdict]}">{"".join(cells)}</tr>')
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def section(name, experiment, report):
    """Description, findings, figures and links to the tables of one experiment."""
    title, _, text = experiment.description.strip().partition("\n")
    parts = [f'<h2 id="{name}">{html.escape(title)}</h2><p>{html.escape(text.strip())}</p>',
             f"<p><code>{scenario_command(name)}</code></p>", findings_table(report.findings)]
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


def add_options(group):
    def chosen(options):
        """Default of --only: the experiments of --against, or all."""
        return list(dict.fromkeys(row["script"] for row in earlier(options.against)) or experiments())

    group.add_argument("--only", metavar="A,B,...", type=lambda text: text.split(","), default=chosen,
                       help=f"run only these of {', '.join(experiments())}")
    group.add_argument("--against", metavar="FILE", type=told(lambda path: earlier(path) and path),
                       help="compare with this findings.csv")


def earlier(path):
    """Rows of the findings.csv of an earlier report, none without a path; ValueError if it has none."""
    if path is None:
        return []
    try:
        rows = list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None
    if not rows or not {"script", "here", *KEY} <= rows[0].keys():
        raise ValueError(f"{path} is no findings.csv of paper_report.py")
    return rows


def changed(rows, before):
    """Lines on findings, as dictionaries, that are not as they were in the same scripts."""
    scripts = {row["script"] for row in rows} - {TIMED}
    now, then = ({tuple(row[name] for name in KEY): row["here"] for row in some if row["script"] in scripts}
                 for some in (rows, before))
    for key in {**then, **now}:
        old, new = then.get(key, "missing"), now.get(key, "missing")
        try:
            same = math.isclose(float(old), float(new), rel_tol=SAME, abs_tol=SMALL)
        except ValueError:                  # "missing", or a finding without a number
            same = old == new
        if not same:
            yield f"{', '.join(key)}: {new}, and {old} before"


def check(options):
    for name in options.only:
        if name not in experiments():
            raise ValueError(f"--only: unknown experiment {name!r}; choose from {', '.join(experiments())}")


def run(options, report):
    sections, rows, lines = [], [], []
    columns = [*(column for column in COLUMNS if column != "deviation"), "script", "command"]
    for name in options.only:
        try:
            one = experiments()[name].run_into(report.path / name, quick=options.quick, quiet=options.quiet)
        except Exception as error:
            report.failed_runs += 1
            traceback.print_exc()
            new = [f"{name}: FAILED, {type(error).__name__}: {error}"]
            sections.append(f'<h2>{name}</h2><p class="failed">{html.escape(new[0])}</p>')
        else:
            sections.append(section(name, experiments()[name], one))
            command = scenario_command(name) + " --quick" * options.quick
            rows += [(f.paper, f.item, f.quantity, number(f.published), number(f.reproduced, 10), number(f.error, 2),
                      number(f.exact), f.verdict, f.remarks, name, command) for f in one.findings]
            new = Finding.lines(one.findings)
        report.say("\n".join(new))
        lines += new
        # Page and table are valid after every experiment.
        write_table(report.path / "findings.csv", columns, rows)
        replace_text(report.path / "report.html", page(sections, lines, options.quick))
    report.say(f"The report is {report.path / 'report.html'}.")
    if options.against:
        different = list(changed([dict(zip(columns, row)) for row in rows], earlier(options.against)))
        report.failed_runs += len(different)
        report.say("\n".join(["Not as before:", *different] if different else ["All numbers are as before."]))


STUDY = Scenario("paper_report", __doc__, study=run, add_options=add_options, check=check)
main = STUDY.main

if __name__ == "__main__":
    sys.exit(main())
