'''Findings: published numbers beside those computed here, for studies that repeat papers.

A complete one::

    """A torque-free top: energy after one second."""
    import sys
    import minidem as md
    from minidem.scenario import Scenario
    from minidem.scenarios.papers import Finding

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
import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from scipy.stats import t as student

from minidem.accuracy.error_bars import CONFIDENCE

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
    error : float, optional
        Half-width of the interval of `reproduced`, by `of_samples` (95 %) or `of_step`. None for a number that belongs
        to one step and one initial state, such as the error of an integrator, and is exact but for rounding.

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
    error: float | None = None

    def __post_init__(self):
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
            words += f": published {self.published}, here {self.number}"
        if self.published is not None and self.deviation is not None:
            words += f" ({self.deviation:+.1e} of it)"
        if self.published is not None and self.exact is not None:
            words += f", exact {self.exact:.6g}"
        return ". ".join(filter(None, [words, self.remarks]))

    @property
    def number(self) -> str:
        """The number computed here, with its error."""
        if self.reproduced is None:
            return "no number"
        return f"{self.reproduced:.6g}" + ("" if self.error is None else f" ± {self.error:.1g}")

    @property
    def remarks(self) -> str:
        """The note, and the known limit if that is the verdict."""
        return ". ".join(filter(None, [self.note, f"Expected: {self.limit}" if self.verdict == LIMIT else ""]))

    @staticmethod
    def lines(findings: list["Finding"]) -> list[str]:
        """One line per table or figure of a paper, followed by its findings that are not as published."""
        told: list[str] = []
        items: dict = {}
        for finding in findings:
            items.setdefault((finding.paper, finding.item), []).append(finding)
        for (paper, item), found in items.items():
            number = Counter(f.verdict for f in found)
            word = ("NOT reproduced" if number[NOT_REPRODUCED] else "reproduced" if number[REPRODUCED] + number[WRONG]
                    else LIMIT if number[LIMIT] else TOO_SHORT)
            line = f"{paper}, {item}: {word}, {number[REPRODUCED]} of {len(found)}"
            for verdict, words in ((WRONG, "published wrong"), (LIMIT, f"at a {LIMIT}"), (TOO_SHORT, TOO_SHORT)):
                line += f", {number[verdict]} {words}" * (number[verdict] > 0)
            deviations = [abs(f.deviation) for f in found if f.deviation is not None and f.verdict != WRONG]
            if deviations:
                line += f", largest deviation {max(deviations):.1e}"
            told += [line, *(f"    {f.verdict}: {f.in_words()}" for f in found if f.verdict != REPRODUCED)]
        return told


def of_samples(standard_error: float, samples: int) -> float:
    """Half-width of the 95 % interval of a mean of independent samples."""
    return float(student.ppf(0.5 + 0.5 * CONFIDENCE, samples - 1)) * standard_error


def of_step(values) -> float:
    """Bound of the error of the last of three numbers, found with steps 4 dt, 2 dt and dt, of first or higher order.

    Both changes count: where contacts begin within a step, one of them may vanish by chance.
    """
    coarse, middle, fine = values
    return float(max(abs(middle - fine), 0.25 * abs(coarse - fine)))
