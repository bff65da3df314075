"""Ctrl-C and SIGTERM: a run ends at a whole step, and never in the middle of writing."""

import signal
import threading
from contextlib import contextmanager
from time import perf_counter

from minidem.engine.chunked_run import Pacer


@contextmanager
def terminable():
    """SIGTERM does what Ctrl-C does: KeyboardInterrupt. For work that leaves nothing half done."""
    def interrupt(number, frame):
        raise KeyboardInterrupt

    before = _catch({signal.SIGTERM: interrupt})
    try:
        yield
    finally:
        _catch(before)


def _catch(handlers):
    """Set signal handlers; returns those that were there."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python cannot catch signals
        return {}
    return {number: signal.signal(number, handler) for number, handler in handlers.items()}


class Interruptible:
    """Advance simulations until asked to stop. Use as a context; `asked` tells whether a signal has come.

    A signal only leaves a mark, which is seen between two pieces of the run: no exception is thrown
    into a step or into a file that is being written. A second signal is not waited for:
    KeyboardInterrupt.
    """

    def __init__(self):
        self.asked = False
        self._pacer = Pacer()
        self._before = {}

    def __enter__(self):
        self._before = _catch({signal.SIGINT: self._note, signal.SIGTERM: self._note})
        return self

    def __exit__(self, *failure):
        _catch(self._before)

    def _note(self, number, frame):
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def advance(self, sim, step):
        """Run `sim` up to step number `step`, or until asked to stop; returns the seconds that it took."""
        def run(steps):
            if self.asked:
                raise _Asked
            sim.run(steps)

        begun = perf_counter()
        try:
            self._pacer.run(run, step - sim.step_count)
        except _Asked:
            pass
        return perf_counter() - begun


class _Asked(Exception):
    """Leaves the pacer's loop."""
