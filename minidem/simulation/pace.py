"""Steps of a run: how many there are, and in which pieces they are done."""
import math
from time import perf_counter

PIECE = 0.05            # [s]


class Pacer:
    """Calls `advance(steps)` in short pieces, which change no result, so that Python reacts to Ctrl-C in between."""

    def __init__(self):
        self.steps = 1

    def run(self, advance, steps):
        while steps > 0:
            piece = min(self.steps, steps)
            began = perf_counter()
            advance(piece)
            spent = perf_counter() - began
            if piece == self.steps or spent > PIECE:
                self.steps = max(1, int(piece * min(4.0, PIECE / max(spent, 1e-9))))
            steps -= piece


def steps_to_reach(time, dt):
    """The fewest steps dt that reach `time`; a quotient that is whole except for rounding counts as whole."""
    quotient = time / dt
    nearest = round(quotient)
    # 0.7 s / 0.1 s is 6.999999999999999: numerator, denominator and quotient each carry half a unit.
    return nearest if abs(quotient - nearest) <= 2 * math.ulp(quotient) else math.ceil(quotient)
