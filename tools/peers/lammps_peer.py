"""LAMMPS as a peer: the files of `sim.io.write_lammps` with the script lammps.in, and the energy of its dumps."""

import re
from pathlib import Path

import numpy as np

from minidem.output.lammps.dump import read_dump, read_motion
from minidem.output.lammps.script import dump_commands, setup, write_data
from peers.peer import Measurement, Peer, run_script
from peers.state import total_energy

SKINS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)      # in radii, the median of the spheres


def run(program, sim, settings, warmup, steps, folder, commands=()):
    """Run `sim` in LAMMPS, with further commands; the dumps are in `folder`.

    Returns the output and the time per step [us].
    """
    (folder / "setup.in").write_text("\n".join([setup(sim), *commands, ""]))
    (folder / "dumps.in").write_text(dump_commands(sim) + "\n")
    write_data(sim, folder)
    skin = settings["skin"] * np.median(sim.sphere_radii)
    return run_script(program, "lammps.in", {"skin": skin, "warmup": warmup, "steps": steps}, folder)


def measure(program, sim, settings, warmup, steps, folder):
    folder = Path(folder)
    output, us_per_step = run(program, sim, settings, warmup, steps, folder)
    version = re.search(r"^LAMMPS \((.*?)\)", output, re.MULTILINE)[1].replace(" ", "")
    energies = [energy(sim, folder, moment) for moment in ("start", "end")]
    position = read_motion(sim, folder, "warm")[0]["position"]
    return Measurement(version, us_per_step, *energies, position.tolist())


def energy(sim, folder, moment):
    motion = read_motion(sim, folder, moment)[0]
    mass, position, *rates = (motion[name] for name in ("mass", "position", "velocity", "angular_velocity",
                                                        "angular_momentum"))
    potential = -float(mass @ position @ np.array(sim.gravity))
    return potential + total_energy(sim, mass, *rates, read_dump(folder / f"{moment}.spheres")[:, 1:4])


LAMMPS = Peer(name="lammps", program="lmp", package="lammps", measure=measure,
              settings=tuple({"skin": skin} for skin in SKINS), laws=("hertz", "hertz-mindlin"))
