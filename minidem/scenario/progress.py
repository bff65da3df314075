"""Progress on standard error: on a terminal one line, overwritten; otherwise dated lines at growing intervals."""

import sys
import time

from minidem.analysis.energy import energy_error

TERMINAL_SECONDS = 0.2
PLAIN_SECONDS, PLAIN_LONGEST = 10.0, 600.0     # the first interval, each twice the one before: 150 lines in a day
CLOCK = "%Y-%m-%d %H:%M:%S"


class Line:
    """A progress line on `stream`, by default standard error; `quiet` suppresses it."""

    def __init__(self, quiet=False, stream=None):
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.terminal = self.stream.isatty()
        self.interval = TERMINAL_SECONDS if self.terminal else PLAIN_SECONDS
        self.start = self.last = time.perf_counter()
        self.shown = False

    def is_due(self):
        """Whether the line should be updated now; True restarts the interval."""
        now = time.perf_counter()
        if self.quiet or now - self.last < self.interval:
            return False
        self.last = now
        if not self.terminal:
            self.interval = min(2.0 * self.interval, PLAIN_LONGEST)
        return True

    def left(self, seconds):
        """The time left in words; without a terminal also the date and time of the end."""
        end = "" if self.terminal else f", end about {time.strftime(CLOCK, time.localtime(time.time() + seconds))}"
        return f"{duration(seconds)} left{end}"

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


class Progress(Line):
    """Progress of a run with the name `label` up to the step `steps`."""

    def __init__(self, label, sim, steps, quiet=False, stream=None):
        super().__init__(quiet, stream)
        self.label, self.steps = label, steps
        self.first_time, self.first_step = sim.time, sim.step_count

    def update(self, sim, energies):
        """Update the line if due. energies: the table so far, for the energy error, or None to omit it."""
        if not self.is_due():
            return
        elapsed = self.last - self.start
        rate = (sim.step_count - self.first_step) / elapsed
        end = self.steps * sim.dt
        left = elapsed * (end - sim.time) / max(sim.time - self.first_time, sim.dt)
        error = None if energies is None else energy_error(energies)
        error = "" if error is None else f", energy error {error:.1e}"
        step = "" if self.terminal else f"step {sim.step_count} of {self.steps}, "
        self.show(f"{self.label}: {step}{sim.time:.4g} of {end:g} s, {rate:.3g} steps/s{error}, {self.left(left)}")


def duration(seconds):
    """`seconds` as hours, minutes and seconds, the two largest."""
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
