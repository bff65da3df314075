"""The standard cases of tools/benchmark.py and tools/compare_peers.py: initial states of minidem's scenarios."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from benchmark_beds import CONTACT, SCHEME, bed, drums

from minidem.scenario import at_least
from minidem.scenarios import dense_rods, rods_in_box
from minidem.scenarios.spiral import chess_box


@dataclass(frozen=True)
class Case:
    """A benchmark case.

    Attributes
    ----------
    description : str
    clumps : int
    simulation : callable
        simulation(seed, clumps) returns the initial state as a Simulation on one thread. clumps: folder of sphere
        files for the chess pieces, or None.
    steps, warmup : int
        Default numbers of timed steps and of steps before them.
    contact : str
        Contact law.
    """
    description: str
    clumps: int
    simulation: Callable
    steps: int
    warmup: int
    contact: str = "hertz"


def rods(script, number):
    """The initial state of a scenario with this number of rods."""
    def simulation(seed, clumps):
        scenario = script.SCENARIO
        return scenario.build(scenario.parse(["--integrator", SCHEME, "--rods", str(number), "--seed", str(seed),
                                              "--threads", "1"]))
    return simulation


def chess(seed, clumps):
    return chess_box.simulation(seed=seed, clumps=clumps, threads=1)


def dense(number):
    """Dense rods. A run of `steps` takes tenths of a second, and has at least 100 steps."""
    steps = max(100, 5_000_000 // number)
    return Case(f"{number:_} rods of 3 spheres, solid fraction 0.3".replace("_", " "), number,
                rods(dense_rods, number), steps, steps // 5)


CASES = {
    "A": Case("30 rods of 3 spheres in a box of 1 m", 30, rods(rods_in_box, 30), 400_000, 1000),
    "B": Case("32 chess pieces of 100 spheres in a box of 0.5 m", 32, chess, 50_000, 5000),
    "C": dense(10_000),
    "D": dense(100_000),
    "E": Case("10 000 rods of 3 spheres, as dilute as in A", 10_000, rods(rods_in_box, 10_000), 2000, 500),
    "F": dense(333_000),
    "G": Case("25 000 spheres with friction, a settled bed", 25_000, bed(1, 25_000, 0.45), 500, 500, CONTACT),
    "H": Case("10 000 rods of 3 spheres with friction, a settled bed", 10_000, bed(3, 10_000, 0.35), 500, 500, CONTACT),
    "I": Case("500 dumbbells with friction, a settled bed", 500, bed(2, 500, 0.14), 10_000, 1000, CONTACT),
    "J": Case("38 000 spheres in a turning drum, drum.py --soft", 38_000, drums(1), 500, 1500, CONTACT),
    "K": Case("988 000 spheres, 26 of these drums in a row", 988_000, drums(26), 20, 40, CONTACT),
}
EPILOG = "\n".join(f"case {name}: {case.description}" for name, case in CASES.items())


def known_cases(text):
    for name in text.split(","):
        if name not in CASES:
            raise argparse.ArgumentTypeError(f"case is '{name}', must be one of: {', '.join(CASES)}")
    return [(name, CASES[name]) for name in text.split(",")]


def numbers(text):
    return [at_least(1)(number) for number in text.split(",")]


numbers.__name__ = "list of whole numbers"              # for the error message of argparse


def print_table(rows):
    """Print rows of strings in aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
