"""The output of a study, a scenario of many runs: tables, figures, findings, and lines on the screen."""
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from pathlib import Path

from minidem.core.atomic import remove_leftovers
from minidem.core.progress import Line, say
from minidem.ensemble import run_ensemble
from minidem.output.table import write_table
from minidem.scenario import plot
from minidem.scenario.record import write_summary


class Report(AbstractContextManager):
    """Files of one study in the folder `out`, which are written atomically as soon as their content is known.

    Attributes
    ----------
    findings : list of `minidem.scenarios.papers.Finding`
        Added by `find`; with any, they are printed, and written to findings.csv and summary.json.
    files : list of str
        Names of the tables and figures.
    path : Path
    failed_runs : int
        Number of runs made by `runs` that failed.
    """

    def __init__(self, name: str, options) -> None:
        self.name, self.path, self.quiet = name, Path(options.out), options.quiet
        self.findings: list = []
        self.files: list[str] = []
        self.failed_runs = 0
        self._options = {name: value for name, value in vars(options).items()
                         if name not in ("out", "quiet", "imports")}
        self._imports = getattr(options, "imports", ())
        self._begun = time.perf_counter()
        self._line = Line(self.quiet)
        self.path.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.path)
        with suppress(FileNotFoundError, ValueError):   # no summary, or not one of minidem
            before = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
            if before.get("scenario") == self.name:     # an earlier run
                for file in ("summary.json", *before.get("files", ())):
                    (self.path / Path(file).name).unlink(missing_ok=True)

    def find(self, finding) -> None:
        """Add a finding."""
        self.findings.append(finding)

    def table(self, name: str, header: Sequence[str], rows: Iterable[Sequence]) -> None:
        """Write NAME.csv; header: column names; numbers are written with all digits."""
        self._add(f"{name}.csv", lambda path: write_table(path, header, rows))

    def figure(self, name: str, draw: Callable, size: tuple[float, float] = (6.4, 4.2)) -> bool:
        """Write NAME.png, a figure that draw(figure) fills; size : in inches. False without matplotlib."""
        return self._add(f"{name}.png", lambda path: plot.save(path, size, draw))

    def _add(self, name, write):
        if name in self.files:
            raise ValueError(f"name = {name!r}: the report has a file of this name; give another")
        written = write(self.path / name)
        if written:
            self.files.append(name)
        return written

    def say(self, text: str) -> None:
        """Print a line unless quiet."""
        self._line.close()
        say(text, self.quiet)

    def runs(self, function: Callable | str, grid: dict[str, Iterable], folder: str = "", **others) -> list[dict]:
        """The rows of `run_ensemble` in a folder of the report, with --workers and its further arguments `others`."""
        rows = run_ensemble(function, grid, self.path / folder, self._options["workers"], progress=not self.quiet,
                            imports=self._imports, **others)
        self.failed_runs += sum(row["error"] is not None for row in rows)
        return rows

    def progress(self, label: str, items: Iterable) -> Iterator:
        """Yield the items, and show on standard error how many are done."""
        items, self._line.start = list(items), time.perf_counter()
        for done, item in enumerate(items):
            self._line.update(f"{self.name}: {label}, {done} of {len(items)}", done / len(items))
            yield item
        self._line.close()

    def part(self, label: str, done: float) -> None:
        """Show on standard error which part of a long piece of work is done, 0 to 1."""
        self._line.update(f"{self.name}: {label}, {done:.0%}")

    def __exit__(self, failure, *_):
        """Write findings.csv and summary.json, however the study has ended."""
        self._line.close()
        rows = [asdict(found) | {"deviation": found.deviation, "verdict": found.verdict} for found in self.findings]
        if rows:
            self.table("findings", list(rows[0]), [list(row.values()) for row in rows])
        write_summary(self.path / "summary.json", {
            "scenario": self.name,
            "ended": "done" if failure is None else "interrupted" if failure is KeyboardInterrupt else "failed",
            "wall_seconds": time.perf_counter() - self._begun,
            "options": self._options, **({"findings": rows} if rows else {}), "files": self.files})
