"""Progress lines: dated and ever rarer in a file, unchanged on a terminal."""
import io
import re
import time
from types import SimpleNamespace

import pytest

from minidem.core import progress

NOON = 1_700_049_600.0          # 2023-11-15 12:00:00 UTC
STEPS, PER_SECOND = 86_400_000, 1000.0


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """The seconds since noon, which a test sets; the zone is UTC."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(
        perf_counter=lambda: now.seconds, time=lambda: NOON + now.seconds, localtime=time.gmtime,
        strftime=lambda form, moment=None: time.strftime(form, moment or time.gmtime(NOON + now.seconds))))
    return now


def shown(clock, stream, hours, quiet=False):
    """What a run of a thousand steps a second shows, with an update every ten seconds."""
    line = progress.Line(quiet, stream)
    for clock.seconds in range(10, round(3600 * hours) + 1, 10):
        step = round(PER_SECOND * clock.seconds)
        line.update(lambda step=step: f"step {step} of {STEPS}", step / STEPS)
    return stream.getvalue()


def test_a_line_in_a_file(clock):
    lines = shown(clock, io.StringIO(), 0.1).splitlines()
    assert lines[0] == ("2023-11-15 12:00:10 step 10000 of 86400000, 23 h 59 min left, end about 2023-11-16 12:00:00")


def test_lines_in_a_file_become_rare(clock):
    lines = shown(clock, io.StringIO(), 24).splitlines()
    steps = [0, *(int(re.search(r"step (\d+) of", line)[1]) for line in lines)]
    intervals = [(later - earlier) / PER_SECOND for earlier, later in zip(steps, steps[1:])]
    assert intervals[:7] == [10, 20, 40, 80, 160, 320, 600] and set(intervals[7:]) == {600} and len(lines) < 150


def test_a_terminal_shows_what_it_did(clock):
    text = shown(clock, Terminal(), 0.01)
    assert text.count("\r") == 3 and text.startswith(
        "\rstep 10000 of 86400000, 23 h 59 min left\x1b[K\rstep 20000 of 86400000")


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_quiet(clock, stream):
    assert shown(clock, stream(), 0.1, quiet=True) == ""
