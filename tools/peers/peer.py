"""A peer: another DEM code that runs the same clumps from the same state under the same contact law."""

import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measurement:
    """One run of one code.

    Attributes
    ----------
    version : str
    us_per_step : float
        Time of the steps alone, after the warm-up, without output [us].
    energy_initial, energy_final : float
        Kinetic, rotational and elastic energy at the start and after the last step [J].
    position : array, shape (n, 3)
        Centres of mass of the clumps after the warm-up [m].
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

    Attributes
    ----------
    name : str
    program, package : str
        Name of the program on PATH, and of the Debian package that contains it.
    settings : tuple of dict
        Values of the settings that users of the code tune for speed. All are tried in short runs; the fastest
        is used.
    measure : callable
        measure(program, sim, settings, warmup, steps, folder) writes the state of the simulation into `folder`,
        runs the program there and returns a Measurement.
    max_clumps : float
        Larger systems take too long to set up.
    laws : tuple of str
        minidem's contact laws that the code is run with.
    """
    name: str
    program: str
    package: str
    settings: tuple
    measure: Callable
    max_clumps: float = math.inf
    laws: tuple = ("hertz",)

    def find(self):
        """Path of the program, or None."""
        return shutil.which(self.program)

    def how_to_install(self):
        return (f"{self.name}: skipped, there is no program '{self.program}' on PATH; "
                f"on Debian or Ubuntu: apt-get install {self.package}")


def run_on_one_thread(command, folder):
    """Run a command in `folder` and return its output; RuntimeError with the last lines if it fails."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        last_lines = "\n".join(done.stdout.splitlines()[-20:])
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{last_lines}")
    return done.stdout


def run_script(program, script, variables, folder):
    """Run a script of this folder by LAMMPS or LIGGGHTS, with variables including `steps`.

    Returns the output and the time per step of the last loop over `steps` steps [us].
    """
    command = [program, "-nocite", "-log", "none", "-in", str(Path(__file__).with_name(script))]
    for name, value in variables.items():
        command += ["-var", name, value if isinstance(value, str) else f"{value:.17g}"]
    output, steps = run_on_one_thread(command, folder), variables["steps"]
    times = re.findall(rf"^Loop time of (\S+) on 1 procs for {steps} steps", output, re.MULTILINE)
    return output, 1e6 * float(times[-1]) / steps
