"""Which steps are recorded, in exact integers: a continued run falls on the same ones as an unbroken run."""

import math


class Schedule:
    """The steps that cut `steps` time steps into `parts` equal parts, to the whole step, and on at that pace.

    Steps 0 and `steps` belong to it. More parts than steps: every step. No parts: no step at all.
    """

    def __init__(self, steps, parts):
        self.steps, self.parts = steps, min(parts, steps)

    def after(self, step):
        """The first scheduled step later than `step`, or infinity."""
        if self.parts == 0:
            return math.inf
        number = -(-(step + 1) * self.parts // self.steps)  # the smallest whose step exceeds `step`
        return number * self.steps // self.parts

    def __contains__(self, step):
        return self.after(step - 1) == step
