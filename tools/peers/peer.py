"""What a peer is: another DEM code that can run the same clumps from the same state under the same law."""

import math
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """One run of one code.

    `us_per_step` is the stepping alone, after the warm-up.  The energies [J] are totals (kinetic,
    rotational and elastic, at one instant), at the start and after the last step.  `position` (n, 3) [m]
    are the clumps' centres after the warm-up.
    """
    version: str
    us_per_step: float
    energy_initial: float
    energy_final: float
    position: list

    @property
    def drift(self):
        """Relative change of the total energy over the run."""
        return self.energy_final / self.energy_initial - 1


@dataclass(frozen=True)
class Peer:
    """How to find, install and run a code.

    `program` is looked for on PATH; `package` is the Debian package that brings it.  `settings` are the
    choices that its users tune for speed, at least one: all are tried in short runs, the fastest is kept.
    `measure(program, sim, settings, warmup, steps, folder)` writes the state of the simulation into
    `folder`, runs the program there and returns a Measurement.  `most_clumps`: that it can be given in a
    sensible time.
    """
    name: str
    program: str
    package: str
    settings: tuple
    measure: Callable
    most_clumps: float = math.inf

    def find(self):
        """Path of the program, or None."""
        return shutil.which(self.program)

    def how_to_install(self):
        return (f"{self.name}: skipped, there is no program '{self.program}' on PATH; "
                f"on Debian or Ubuntu: apt-get install {self.package}")


def run_on_one_thread(command, folder):
    """Run a peer's command in `folder`; returns what it wrote, or RuntimeError with the end of that."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        last_lines = "\n".join(done.stdout.splitlines()[-20:])
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{last_lines}")
    return done.stdout
