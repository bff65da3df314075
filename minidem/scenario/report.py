'''Studies: the report with tables, figures and lines on the screen, and findings on what was published.

A complete one::

    """A torque-free top: energy after one second."""
    import sys
    import minidem as md
    from minidem.scenario import Finding, Scenario

    def run(options, report):
        rows = []
        for scheme in report.progress("schemes", ["euler", "rk4"]):         # shows progress
            end = md.rotation.integrate(scheme, (1, 2, 3), (1, 0, 0, 0), (0.1, 1, 0.1), (0, 0, 0),
                                        options.dt, round(1 / options.dt))
            rows.append((scheme, 0.5 * (end.angular_velocity**2 @ (1, 2, 3))))
        report.table("energies", ("scheme", "energy"), rows)                # energies.csv
        report.find(Finding("Somebody 1999", "Table 1", "energy with rk4", published="1.02",
                            reproduced=rows[1][1]))                         # compared to the printed digits
        report.find(Finding("Somebody 1999", "Fig. 2", "euler gains energy", None, rows[0][1],
                            holds=rows[0][1] > 1.02, note="energy after 1 s above that of the start"))
        report.figure("energies", lambda figure: figure.subplots().bar(*zip(*rows)))    # energies.png
        report.say("Two schemes compared.")

    EXPERIMENT = Scenario("free_top", __doc__, study=run, defaults={"dt": 1e-2})
    main = EXPERIMENT.main

    if __name__ == "__main__":
        sys.exit(main())

From Python: ``report = EXPERIMENT.run_into("folder", quick=True)``, then ``report.findings``, each with a ``.verdict``.
scenarios/paper_report.py runs all scripts that have an EXPERIMENT.
'''
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from pathlib import Path

from minidem.core.atomic import remove_leftovers
from minidem.core.checks import flag
from minidem.output.table import write_table
from minidem.scenario import plot
from minidem.scenario.progress import Line, say
from minidem.scenario.record import write_summary

REPRODUCED, NOT_REPRODUCED, WRONG = "reproduced", "not reproduced", "published value wrong"
TOO_SHORT, LIMIT = "too short to tell", "known limit"


@dataclass(frozen=True)
class Finding:
    """A number of a paper, or what one of its figures shows, compared with the result here.

    Parameters
    ----------
    paper, item, quantity : str
        Where the number is printed: "SPIRAL 2024", "Table 2", "Euler, target 1e-5".
    published : str, float or None
        The published number, preferably as the printed text, "9.400e-03": its digits give its precision. A float
        has the digits that Python prints. None for a figure from which no number is read.
    reproduced : float or None
        The number computed here.
    exact : float, optional
        Exact value of the published number, if known independently of both.
    tolerance : float, optional
        Relative deviation from the published number that counts as reproduced. Default: agreement to the printed
        digits (half a unit of the last).
    note : str
        How the numbers were compared; with `exact` the evidence for it, with `holds` the criterion.
    holds : bool, optional
        Whether the criterion described in `note` is met. It then decides instead of the numbers.
    too_short : bool
        The verdict could be due to chance, because of too little simulated time or too few samples. There is then
        no verdict; the note says what would be needed.
    limit : str
        Which known limit of a law or method explains a finding that is not reproduced, as documented: the difference is
        expected, and the verdict "known limit". Give it only up to the known size of the difference.

    Raises
    ------
    ValueError
        If the finding cannot be judged.
    """

    paper: str
    item: str
    quantity: str
    published: str | float | None
    reproduced: float | None
    exact: float | None = None
    tolerance: float | None = None
    note: str = ""
    holds: bool | None = None
    too_short: bool = False
    limit: str = ""

    def __post_init__(self):
        flag("too_short", self.too_short)
        name = f"finding {self.paper}, {self.item}, {self.quantity}"
        if self.published is None and self.holds is None:
            raise ValueError(f"{name}: published is None; give a number, or a criterion in note and holds")
        try:
            finite = self.published is None or math.isfinite(float(self.published))
        except ValueError:
            finite = False
        if not finite:
            raise ValueError(f"{name}: published is {self.published!r}; give a finite number or None")
        if self.tolerance is not None and not (self.tolerance > 0.0 and self.published_value != 0.0):
            raise ValueError(f"{name}: tolerance is {self.tolerance} of {self.published}; give one above 0, "
                             "or none to compare the printed digits")
        if not self.note and (self.holds is not None or self.exact is not None or self.too_short):
            raise ValueError(f"{name}: note is empty; describe the criterion, the evidence for exact, or what a run "
                             "long enough to tell would take")

    @property
    def published_value(self) -> float | None:
        """Published number."""
        return None if self.published is None else float(self.published)

    @property
    def half_digit(self) -> float:
        """Half a unit in the last digit of the published number."""
        return 0.5 * 10.0 ** int(Decimal(str(self.published)).as_tuple().exponent)

    @property
    def deviation(self) -> float | None:
        """(reproduced - published) / abs(published); None without both numbers or for a published zero."""
        if not self.published_value or self.reproduced is None:
            return None
        return (self.reproduced - self.published_value) / abs(self.published_value)

    @property
    def verdict(self) -> str:
        """"reproduced", "not reproduced", "known limit", "published value wrong" or "too short to tell".

        Not reproduced with a `limit` is a known limit. The published value is wrong if it differs from the exact one by
        more than half a unit of its last digit, while the number computed here is closer to the exact one than to the
        published one and agrees with it to half a unit, or to the tolerance.
        """
        if self.too_short:
            return TOO_SHORT
        verdict = self._compared()
        return LIMIT if self.limit and verdict == NOT_REPRODUCED else verdict

    def _compared(self):
        if self.holds is not None:
            return REPRODUCED if self.holds else NOT_REPRODUCED
        if self.reproduced is None:
            return NOT_REPRODUCED
        missed = abs(self.reproduced - self.published_value)
        if self.exact is not None and abs(self.published_value - self.exact) > self.half_digit:
            error = abs(self.reproduced - self.exact)
            if error < missed and error <= max(self.half_digit, (self.tolerance or 0.0) * abs(self.exact)):
                return WRONG
        # The computed number may be a decimal fraction on the limit, up to its last bit.
        allowed = self.half_digit * (1 + 1e-9) if self.tolerance is None else self.tolerance * abs(
            self.published_value)
        return REPRODUCED if missed <= allowed else NOT_REPRODUCED

    def in_words(self) -> str:
        """One line, without paper and item."""
        words = self.quantity
        if self.published is not None:
            found = "no number" if self.reproduced is None else f"{self.reproduced:.6g}"
            words += f": published {self.published}, here {found}"
        if self.published is not None and self.deviation is not None:
            words += f" ({self.deviation:+.1e} of it)"
        if self.published is not None and self.exact is not None:
            words += f", exact {self.exact:.6g}"
        return ". ".join(filter(None, [words, self.remarks]))

    @property
    def remarks(self) -> str:
        """The note, and the known limit if that is the verdict."""
        return ". ".join(filter(None, [self.note, f"Expected: {self.limit}" if self.verdict == LIMIT else ""]))


def lines(findings: list[Finding]) -> list[str]:
    """One line per table or figure of a paper, followed by its findings that are not as published."""
    told: list[str] = []
    items: dict = {}
    for finding in findings:
        items.setdefault((finding.paper, finding.item), []).append(finding)
    for (paper, item), found in items.items():
        good, wrong, short, limits, missed = (
            sum(f.verdict == verdict for f in found)
            for verdict in (REPRODUCED, WRONG, TOO_SHORT, LIMIT, NOT_REPRODUCED))
        word = "NOT reproduced" if missed else "reproduced" if good + wrong else LIMIT if limits else TOO_SHORT
        line = f"{paper}, {item}: {word}, {good} of {len(found)}"
        for number, words in ((wrong, "published wrong"), (limits, f"at a {LIMIT}"), (short, TOO_SHORT)):
            if number:
                line += f", {number} {words}"
        deviations = [abs(f.deviation) for f in found if f.deviation is not None and f.verdict != WRONG]
        if deviations:
            line += f", largest deviation {max(deviations):.1e}"
        told += [line, *(f"    {f.verdict}: {f.in_words()}" for f in found if f.verdict != REPRODUCED)]
    return told


class Report:
    """Files of one study in the folder `out`, which are written atomically as soon as their content is known.

    Attributes
    ----------
    findings : list of Finding
        Added by `find`; with any, they are printed, and written to findings.csv and summary.json.
    files : list of str
        Names of the tables and figures.
    path : Path
    failed_runs : int
        Counted by `count_failures`.
    """

    def __init__(self, name: str, options) -> None:
        self.name, self.path, self.quiet = name, Path(options.out), options.quiet
        self.findings: list = []
        self.files: list[str] = []
        self.failed_runs = 0
        self._options = {name: value for name, value in vars(options).items() if name not in ("out", "quiet")}
        self._begun = time.perf_counter()
        self._line = Line(self.quiet)
        self.path.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.path)
        try:
            before = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):     # no summary, or not one of minidem
            return
        if before.get("scenario") == self.name:     # an earlier run
            for file in ("summary.json", *before.get("files", ())):
                (self.path / Path(file).name).unlink(missing_ok=True)

    def find(self, finding: Finding) -> None:
        """Add a finding."""
        self.findings.append(finding)

    def table(self, name: str, header: Sequence[str], rows: Iterable[Sequence]) -> None:
        """Write NAME.csv; header: column names; numbers are written with all digits."""
        self._add(f"{name}.csv", lambda path: write_table(path, header, rows))

    def figure(self, name: str, draw: Callable, size: tuple[float, float] = (6.4, 4.2)) -> bool:
        """Write NAME.png in the style of minidem.scenario.plot; False without matplotlib.

        draw(figure) fills a matplotlib Figure without axes; size: width and height in inches.
        """
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

    def count_failures(self, rows: Iterable[dict]) -> None:
        """Count the rows of `run_ensemble` with an error. With any, the exit status of the command is 1."""
        self.failed_runs += sum(row["error"] is not None for row in rows)

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

    def conclusion(self) -> list[str]:
        """Lines about the findings."""
        return lines(self.findings)

    def finish(self, ended: str) -> None:
        """Write findings.csv and summary.json; ended: "done", "failed" or "interrupted"."""
        self._line.close()
        rows = [asdict(found) | {"deviation": found.deviation, "verdict": found.verdict} for found in self.findings]
        if rows:
            header = [*(field.name for field in fields(Finding)), "deviation", "verdict"]
            self.table("findings", header, [list(row.values()) for row in rows])
        write_summary(self.path / "summary.json", {
            "scenario": self.name, "ended": ended, "wall_seconds": time.perf_counter() - self._begun,
            "options": self._options, **({"findings": rows} if rows else {}), "files": self.files})
