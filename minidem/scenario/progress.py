"""Progress on standard error: one line that renews itself on a terminal, otherwise a line now and then."""

import sys
import time

from minidem.analysis.energy import energy_error

TERMINAL_SECONDS, PLAIN_SECONDS = 0.2, 5.0


class Line:
    """The line. quiet: say nothing."""

    def __init__(self, quiet=False, stream=None):
        self.stream = stream or sys.stderr
        self.quiet = quiet
        self.terminal = self.stream.isatty()
        self.begun = self.said = time.perf_counter()
        self.shown = False

    def is_due(self):
        """Is it time to say something? Asking counts as saying it."""
        now = time.perf_counter()
        if self.quiet or now - self.said < (TERMINAL_SECONDS if self.terminal else PLAIN_SECONDS):
            return False
        self.said = now
        return True

    def say(self, text):
        self.stream.write(f"\r{text}\x1b[K" if self.terminal else text + "\n")
        self.stream.flush()
        self.shown = True

    def close(self):
        """Clear the line on a terminal."""
        if self.terminal and self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = False


class Progress(Line):
    """Say how far a run is. label: what is run; end: the simulated time it goes to [s]."""

    def __init__(self, label, sim, end, quiet=False, stream=None):
        super().__init__(quiet, stream)
        self.label, self.end = label, end
        self.begin_time, self.begin_step = sim.time, sim.step_count

    def update(self, sim, energies):
        """Say it if it is time to. energies: the table so far, for the energy error; None: there is none."""
        if not self.is_due():
            return
        elapsed = self.said - self.begun
        rate = (sim.step_count - self.begin_step) / elapsed
        left = elapsed * (self.end - sim.time) / max(sim.time - self.begin_time, sim.dt)
        error = None if energies is None else energy_error(energies)
        error = "" if error is None else f", energy error {error:.1e}"
        self.say(f"{self.label}: {sim.time:.4g} of {self.end:g} s, {rate:.3g} steps/s{error}, "
                 f"{duration(left)} left")


def duration(seconds):
    """Seconds as people say them."""
    minutes, seconds = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
