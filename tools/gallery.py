#!/usr/bin/env python3
"""What the pages of tools/docs.py show of scenarios and papers: times, results and pictures, from runs on this machine.

    python tools/gallery.py                                     # all scenarios in quick form: a quarter of an hour
    python tools/gallery.py --only drum,silo
    python tools/gallery.py --certify results/certificates      # and of each run that has one its certificate
    python scenarios/paper_report.py && python tools/gallery.py --published results/paper_report

Writes scenarios/pictures/scenarios.json: the command, its time, what it prints at the end, and the versions of minidem
that found both. A scenario without a
picture gets one, of the state at its end or the first of its diagrams. --published keeps the findings and the diagrams
of a report in scenarios/pictures/published; findings of experiments that are not in this report stay.
"""
import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

import minidem as md
from minidem.core.atomic import replace_text
from minidem.core.interpreter import scenario_scripts
from minidem.output.table import write_table

PICTURES = Path(__file__).resolve().parents[1] / "scenarios" / "pictures"
SCENARIOS, FINDINGS = PICTURES / "scenarios.json", PICTURES / "published" / "findings.csv"


def pictures_of(name):
    """Pictures of the project of a scenario: those whose names begin with its name, and with no longer one."""
    return [path for path in sorted(PICTURES.glob(f"{name}*.*")) if path.suffix in (".png", ".gif") and name == max(
        (other for other in scenario_scripts() if path.name.startswith(other)), key=len)]


def keep_picture(source, target, width=900):
    """A picture with 256 colours and at most `width` pixels."""
    image = Image.open(source).convert("RGB") if isinstance(source, Path) else source.convert("RGB")
    image.thumbnail((width, width))
    target.parent.mkdir(exist_ok=True)
    image.quantize(256).save(target, optimize=True)


def run(name, path, certificates=None):
    """Run a scenario, in quick form if it has one; its entry of scenarios.json. certificates : their folder"""
    script = [sys.executable, str(path)]
    known = subprocess.run([*script, "--help"], capture_output=True, text=True).stdout
    quick, certify = ["--quick"] * ("--quick" in known), ["--certify", "10"] * ("--certify" in known)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        begin = time.perf_counter()
        ended = subprocess.run([*script, *quick, *(certify if certificates else []), "--out", str(folder)],
                               capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        if ended.returncode:
            raise SystemExit(f"{name} ended with status {ended.returncode}:\n{ended.stderr}")
        if certificates and certify:
            shutil.copytree(folder, certificates / name, ignore=shutil.ignore_patterns("frames", "*.pvd", "*.vtu"),
                            dirs_exist_ok=True)
        if not pictures_of(name):
            states = sorted(folder.glob("*.npz"))
            diagrams = sorted(folder.glob("*.png"), key=lambda file: file.name in ("energy.png", "observables.png"))
            end = md.Simulation.load(states[-1], forces="drop") if states else None
            if end and end.n_clumps:
                keep_picture(md.show(end, color="clump"), PICTURES / f"{name}.png")
            elif diagrams:
                keep_picture(diagrams[0], PICTURES / f"{name}.png")
    printed = ended.stdout.partition("Files are in")[0].replace(str(folder), f"results/{name}")
    lines = [line for line in printed.splitlines() if line.strip()]
    return {"command": " ".join(["python -m minidem run", name, *quick]), "seconds": float(f"{seconds:.2g}"),
            "timed": md.__version__, "prints": lines, "version": md.__version__}


def keep_report(folder):
    """The findings of a report of paper_report.py, and the diagrams of its experiments."""
    with (folder / "findings.csv").open(encoding="utf-8") as file:
        new = [row | {"version": md.__version__} for row in csv.DictReader(file)]
    scripts = {row["script"] for row in new}
    if FINDINGS.exists():
        with FINDINGS.open(encoding="utf-8") as file:
            new += [{"error": ""} | row for row in csv.DictReader(file) if row["script"] not in scripts]
    new.sort(key=lambda row: (row["script"], row["paper"], row["item"]))
    for script in scripts:
        for old in FINDINGS.parent.glob(f"{script}-*.png"):
            old.unlink()
        for picture in (folder / script).glob("*.png"):
            keep_picture(picture, FINDINGS.parent / f"{script}-{picture.name}")
    write_table(FINDINGS, list(new[0]), [list(row.values()) for row in new])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="A,B,...", type=lambda text: text.split(","),
                        default=list(scenario_scripts()), help="run only these scenarios")
    parser.add_argument("--certify", type=Path, metavar="FOLDER", help="keep tables and certificates of runs there")
    parser.add_argument("--published", type=Path, metavar="FOLDER", help="run none, and keep this report")
    options = parser.parse_args(argv)
    if options.published:
        keep_report(options.published)
        return 0
    for name in options.only:
        if name not in scenario_scripts():
            parser.error(f"--only: {name!r} is no scenario; choose from {', '.join(scenario_scripts())}")
    for name in options.only:
        found = json.loads(SCENARIOS.read_text(encoding="utf-8")) if SCENARIOS.exists() else {}
        found[name] = run(name, scenario_scripts()[name], options.certify)
        replace_text(SCENARIOS, json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False) + "\n")
        print(f"{name}: {found[name]['seconds']:g} s", *found[name]["prints"], sep="\n    ", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
