"""The screen: progress on standard error, text that a closed pipe cannot stop, and Ctrl-C between two steps."""
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

TERMINAL_SECONDS = 0.2
PLAIN_SECONDS, PLAIN_LONGEST = 10.0, 600.0     # the first interval, each twice the one before: 150 lines in a day
CLOCK = "%Y-%m-%d %H:%M:%S"


class Line:
    """Progress on standard error: on a terminal one line, overwritten; in a file dated lines at growing intervals."""

    def __init__(self, quiet=False, stream=None):
        self.quiet, self.stream = quiet, stream or sys.stderr
        self.terminal, self.shown = self.stream.isatty(), False
        self.interval = TERMINAL_SECONDS if self.terminal else PLAIN_SECONDS
        self.start = self.last = time.perf_counter()

    def update(self, text: str | Callable[[], str], done: float = 0.0) -> None:
        """Show a text, or what a function returns, if an update is due, and the time left for the part that is done."""
        now = time.perf_counter()
        if self.quiet or now - self.last < self.interval:
            return
        self.last = now
        if not self.terminal:
            self.interval = min(2.0 * self.interval, PLAIN_LONGEST)
        text = text if isinstance(text, str) else text()
        if done > 0.0:
            left = (now - self.start) * (1.0 / done - 1.0)
            end = "" if self.terminal else f", end about {time.strftime(CLOCK, time.localtime(time.time() + left))}"
            text += f", {duration(left)} left{end}"
        self.show(text)

    def show(self, text):
        self.stream.write(f"\r{text}\x1b[K" if self.terminal else f"{time.strftime(CLOCK)} {text}\n")
        self.stream.flush()
        self.shown = True

    def close(self):
        """Clear the line on a terminal."""
        if self.terminal and self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = False


def duration(seconds):
    """`seconds` as hours, minutes and seconds, the two largest."""
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


@contextmanager
def pipe_may_close():
    """Drop, without an error, what is printed here and later if its reader has ended, as in `| head`."""
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


class Signals:
    """A context in which Ctrl-C and SIGTERM raise KeyboardInterrupt, or are asked for between two steps.

    With `waits` the first one only makes a call of the object return True, so that no exception is raised within a step
    or while a file is written. Python allows handlers in the main thread only: elsewhere nothing changes.
    """

    def __init__(self, waits=False):
        self.waits, self._arrived, self._before = waits, False, {}

    def __call__(self):
        return self._arrived

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *failure):
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number, frame):
        if not self.waits or self._arrived:
            raise KeyboardInterrupt
        self._arrived = True
