"""Long runs in pieces of a twentieth of a second, so that Python can react to Ctrl-C in between."""
from time import perf_counter

PIECE = 0.05        # [s]


class Pacer:
    """Calls `advance(steps)` in pieces. How a run is cut does not change its result."""

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
