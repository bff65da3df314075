"""Ctrl-C and SIGTERM: a run ends at the next whole step, and never in the middle of writing."""

import signal
import threading
import time

# A run is advanced in pieces of about this long [s], after which it sees whether it was asked to stop.
SHORTEST, LONGEST = 0.05, 0.15


class Interruptible:
    """Advance simulations until asked to stop. Use as a context; `asked` tells whether a signal has come.

    Signals only leave a mark: no exception is thrown into a step or a file. A second one is not waited for.
    """

    def __init__(self):
        self.asked = False
        self._piece = 1
        self._before = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():  # elsewhere Python cannot catch signals
            self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *failure):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def advance(self, sim, step):
        """Run `sim` up to the step number `step`, or until asked to stop; returns the seconds spent in its loop.

        The pieces do not change a bit of the result: run(a) and run(b) is run(a + b).
        """
        spent = 0.0
        while sim.step_count < step and not self.asked:
            piece = min(self._piece, step - sim.step_count)
            begun = time.perf_counter()
            sim.run(piece)
            took = time.perf_counter() - begun
            spent += took
            if piece == self._piece and took < SHORTEST:
                self._piece *= 2
            elif took > LONGEST:
                self._piece = max(1, piece // 2)
        return spent
