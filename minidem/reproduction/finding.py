"""One number of a paper beside the same number computed here."""

import math
from dataclasses import dataclass
from decimal import Decimal

REPRODUCED, NOT_REPRODUCED, WRONG = "reproduced", "not reproduced", "published value wrong"
TOO_SHORT = "too short to tell"


@dataclass(frozen=True)
class Finding:
    """A number of a paper, or what one of its figures shows, and what came of it here.

    paper, item, quantity : where it is printed, such as "SPIRAL 2024", "Table 2", "Euler, target 1e-5".
    published : the number, best as the text that is printed, "9.400e-03": its digits tell how exact it is. A
        float counts as having the digits that Python prints. None for a figure from which no number is read.
    reproduced : the number found here; None if there is none.
    exact : the number that the published one ought to be, where that is known independently of both.
    tolerance : deviation from the published number, relative to it, that counts as reproduced; without it
        the two must agree to the printed digits (half a unit of the last).
    holds : whether the criterion that `note` describes is met; this then decides, not the numbers.
    too_short : whether chance alone could turn the verdict, for want of simulated time or of samples; there is
        then none. The note says what it would take.
    note : how it was compared; with `exact` the evidence for that number, with `holds` the criterion.

    ValueError for a finding that cannot be judged.
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

    def __post_init__(self):
        name = f"finding {self.paper}, {self.item}, {self.quantity}"
        if self.published is None and self.holds is None:
            raise ValueError(f"{name}: published is None; give a number, or a criterion in note and holds")
        if self.published is not None and not (self._is_number(self.published)):
            raise ValueError(f"{name}: published is {self.published!r}; give a finite number or None")
        if self.tolerance is not None and not (self.tolerance > 0.0 and self.published_value != 0.0):
            raise ValueError(f"{name}: tolerance is {self.tolerance} of {self.published}; give one above 0, "
                             "or none to compare the printed digits")
        if not self.note and (self.holds is not None or self.exact is not None or self.too_short):
            raise ValueError(f"{name}: note is empty; describe the criterion, the evidence for exact, or what a run "
                             "long enough to tell would take")

    @staticmethod
    def _is_number(published):
        try:
            return math.isfinite(float(published))
        except ValueError:
            return False

    @property
    def published_value(self):
        """The published number as a float, or None."""
        return None if self.published is None else float(self.published)

    @property
    def half_digit(self):
        """Half a unit in the last digit of the published number."""
        return 0.5 * 10.0 ** Decimal(str(self.published)).as_tuple().exponent

    @property
    def deviation(self):
        """(reproduced - published) / |published|, or None without both or for a published zero."""
        if not self.published_value or self.reproduced is None:
            return None
        return (self.reproduced - self.published_value) / abs(self.published_value)

    @property
    def verdict(self):
        """"reproduced", "not reproduced", "published value wrong", or "too short to tell".

        Published wrong: the published number misses the exact one by more than half a unit of its last digit, and
        the one found here is nearer to the exact one than to the published, and does not miss it by more.
        """
        if self.too_short:
            return TOO_SHORT
        if self.holds is not None:
            return REPRODUCED if self.holds else NOT_REPRODUCED
        if self.reproduced is None:
            return NOT_REPRODUCED
        missed = abs(self.reproduced - self.published_value)
        if self.exact is not None and abs(self.published_value - self.exact) > self.half_digit:
            error = abs(self.reproduced - self.exact)
            if error < missed and error <= max(self.half_digit, (self.tolerance or 0.0) * abs(self.exact)):
                return WRONG
        # The number found may be a decimal fraction that falls on the limit but for its last bit.
        allowed = self.half_digit * (1 + 1e-9) if self.tolerance is None else self.tolerance * abs(
            self.published_value)
        return REPRODUCED if missed <= allowed else NOT_REPRODUCED

    def in_words(self):
        """The finding in a line, without paper and item."""
        if self.published is None:
            return f"{self.quantity}. {self.note}"
        found = "no number" if self.reproduced is None else f"{self.reproduced:.6g}"
        words = f"{self.quantity}: published {self.published}, here {found}"
        if self.deviation is not None:
            words += f" ({self.deviation:+.1e} of it)"
        if self.exact is not None:
            words += f", exact {self.exact:.6g}"
        return words + (f". {self.note}" if self.note else "")
