"""Ctrl-C and SIGTERM end a run between two steps, never while a file is written. A closed pipe ends none."""

import os
import signal
import sys
import threading
from contextlib import contextmanager
from time import perf_counter

from minidem.engine.driver import Pacer


@contextmanager
def pipe_may_close():
    """What is printed in the block, and later, is dropped without an error if its reader has ended, as in `| head`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())      # Python flushes the rest when it exits


def say(text, quiet=False):
    """Print `text` unless quiet."""
    if not quiet:
        with pipe_may_close():
            print(text)


@contextmanager
def terminable():
    """SIGTERM raises KeyboardInterrupt, as Ctrl-C does, in a block that can be left at any point."""
    previous = _set_handlers({signal.SIGTERM: signal.default_int_handler})
    try:
        yield
    finally:
        _set_handlers(previous)


def _set_handlers(handlers):
    """Set signal handlers; returns the previous ones."""
    if threading.current_thread() is not threading.main_thread():       # Python allows it in the main thread only
        return {}
    return {number: signal.signal(number, handler) for number, handler in handlers.items()}


class Interruptible:
    """A context that advances simulations until a signal arrives.

    The first signal sets `stop_requested`, which is checked between two chunks of the run: no exception is raised
    within a step or while a file is written. The second signal raises KeyboardInterrupt at once.
    """

    def __init__(self):
        self.stop_requested = False
        self._pacer = Pacer()
        self._previous = {}

    def __enter__(self):
        self._previous = _set_handlers({signal.SIGINT: self._request, signal.SIGTERM: self._request})
        return self

    def __exit__(self, *failure):
        _set_handlers(self._previous)

    def _request(self, number, frame):
        if self.stop_requested:
            raise KeyboardInterrupt
        self.stop_requested = True

    def advance(self, sim, step, exchange=()):
        """Run `sim` up to step number `step`, or until a signal; returns the wall time [s].

        exchange : nothing, or the arguments `every` and `callback` of `Simulation.run`.
        """
        start = perf_counter()
        self._pacer.run(lambda steps: None if self.stop_requested else sim.run(steps, *exchange), step - sim.step_count)
        return perf_counter() - start
