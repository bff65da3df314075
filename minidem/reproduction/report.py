"""Output of a paper experiment: findings, tables, figures, and a few lines at the end."""

import csv
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

import minidem
from minidem.output import remove_leftovers, replace_text
from minidem.reproduction.finding import LIMIT, NOT_REPRODUCED, REPRODUCED, TOO_SHORT, WRONG, Finding
from minidem.scenario import plot
from minidem.scenario.progress import Line
from minidem.scenario.record import write_summary
from minidem.scenario.signals import pipe_may_close


class Report:
    """Findings and files of one paper experiment in the folder `out`; created by `PaperExperiment`.

    Each file is written atomically as soon as its content is known.

    Attributes
    ----------
    findings : list of Finding
    files : list of str
        Names of the tables and figures.
    path : Path
    failed_runs : int
        Counted by `count_failures`.
    """

    def __init__(self, name: str, out: Path | str, options: dict, quiet: bool) -> None:
        self.name, self.path, self.quiet = name, Path(out), quiet
        self.findings, self.files, self.failed_runs = [], [], 0
        self._options = options
        self._begun = time.perf_counter()
        self._line = Line(quiet)
        self._clear()

    def find(self, finding: Finding) -> None:
        """Add a Finding."""
        self.findings.append(finding)

    def table(self, name: str, header: Sequence[str], rows: Iterable[Sequence]) -> None:
        """Write NAME.csv; header: column names; numbers are written with all digits."""
        replace_text(self._file(f"{name}.csv"), _csv(header, rows))

    def figure(self, name: str, draw: Callable, size: tuple[float, float] = (6.4, 4.2)) -> bool:
        """Write NAME.png in the style of minidem.scenario.plot.

        Parameters
        ----------
        name : str
        draw : callable
            draw(figure) fills a matplotlib Figure without axes.
        size : (float, float)
            Width and height in inches.

        Returns
        -------
        bool
            False without matplotlib; there is then no file.
        """
        made = plot.save(self.path / f"{name}.png", size, draw)
        if made:
            self._file(f"{name}.png")
        return made

    def say(self, text: str) -> None:
        """Print a line unless quiet."""
        if not self.quiet:
            self._line.close()
            with pipe_may_close():
                print(text)

    def count_failures(self, rows: Iterable[dict]) -> None:
        """Count the rows of `run_ensemble` with an error. With any, the exit status of the command is 1."""
        self.failed_runs += sum(row["error"] is not None for row in rows)

    def progress(self, label: str, items: Iterable) -> Iterator:
        """Yield the items, and show on standard error how many are done."""
        items = list(items)
        begun = time.perf_counter()
        for done, item in enumerate(items):
            if self._line.is_due():
                left = (time.perf_counter() - begun) * (len(items) / done - 1) if done else None
                ahead = "" if left is None else f", {self._line.left(left)}"
                self._line.show(f"{self.name}: {label}, {done} of {len(items)}{ahead}")
            yield item
        self._line.close()

    def part(self, label: str, done: float) -> None:
        """Show on standard error which part of a long piece of work is done, 0 to 1."""
        if self._line.is_due():
            self._line.show(f"{self.name}: {label}, {done:.0%}")

    def finish(self, ended: str) -> None:
        """Write findings.csv and summary.json; ended: "done", "failed" or "interrupted"."""
        self._line.close()
        names = [field.name for field in fields(Finding)]
        replace_text(self.path / "findings.csv", _csv(
            [*names, "deviation", "verdict"],
            [[*(getattr(f, name) for name in names), f.deviation, f.verdict] for f in self.findings]))
        result = {
            "scenario": self.name,
            "version": minidem.__version__,
            "build": minidem.build_info(),
            "ended": ended,
            "wall_seconds": time.perf_counter() - self._begun,
            "options": self._options,
            "findings": [{**asdict(found), "deviation": found.deviation, "verdict": found.verdict}
                         for found in self.findings],
            "files": self.files,
        }
        write_summary(self.path / "summary.json", result)

    def lines(self) -> list[str]:
        """One line per table or figure of a paper, followed by its findings that are not as published."""
        lines, items = [], {}
        for finding in self.findings:
            items.setdefault((finding.paper, finding.item), []).append(finding)
        for (paper, item), found in items.items():
            good, wrong, short, limits, missed = (
                sum(f.verdict == verdict for f in found)
                for verdict in (REPRODUCED, WRONG, TOO_SHORT, LIMIT, NOT_REPRODUCED))
            word = "NOT reproduced" if missed else "reproduced" if good + wrong else LIMIT if limits else TOO_SHORT
            line = f"{paper}, {item}: {word}, {good} of {len(found)}"
            if wrong:
                line += f", {wrong} published wrong"
            if limits:
                line += f", {limits} at a {LIMIT}"
            if short:
                line += f", {short} {TOO_SHORT}"
            deviations = [abs(f.deviation) for f in found if f.deviation is not None and f.verdict != WRONG]
            if deviations:
                line += f", largest deviation {max(deviations):.1e}"
            lines += [line, *(f"    {f.verdict}: {f.in_words()}" for f in found if f.verdict != REPRODUCED)]
        return lines

    def _file(self, name):
        if name in self.files or name == "findings.csv":
            raise ValueError(f"name = {name!r}: the report has a file of this name; give another")
        self.files.append(name)
        return self.path / name

    def _clear(self):
        """Create the folder, or remove the files of an earlier run of this experiment."""
        self.path.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.path)
        try:
            before = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):     # no summary, or not one of minidem
            return
        if before.get("scenario") == self.name:
            for name in ("summary.json", "findings.csv", *before.get("files", ())):
                (self.path / Path(name).name).unlink(missing_ok=True)


def _csv(header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} numbers for {len(header)} columns: {row}")
        writer.writerow([value.item() if isinstance(value, np.generic) else value for value in row])
    return text.getvalue()
