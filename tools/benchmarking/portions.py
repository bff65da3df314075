"""Time one run, in a process of its own, from a checkpoint, portion after portion until it is ended.

    portions.py CHECKPOINT THREADS WARMUP STEPS

Writes a line of JSON about itself after the warm-up, waits for a line, and then writes one for each portion
of so many steps: seconds per step, [elapsed, spent by the processor on all threads]. It has no end of its
own, so that a fast run does not leave the slower ones beside it alone on the machine; where nobody listens
any more, the next line that it writes ends it.
"""

import json
import sys

from child import seconds, warm_up

import minidem as md
from minidem.core.build_record import build_record


def say(what):
    print(json.dumps(what), flush=True)


def main():
    checkpoint, *numbers = sys.argv[1:]
    threads, warmup, steps = map(int, numbers)
    sim = md.Simulation.load(checkpoint, threads)
    first_step = sim.step_count
    warm_up(sim, warmup)
    say({"threads": sim.threads, "warmup": sim.step_count - first_step, "build": build_record()})
    sys.stdin.readline()
    while True:
        say([spent / steps for spent in seconds(sim.run, steps)])


if __name__ == "__main__":
    main()
