"""Chess pieces that bounce in a box: the many-body benchmark of the SPIRAL paper.

Section 5 of C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024), doi:10.1016/j.cpc.2023.109077,
Figs 6 and 7: 32 pieces of the heights that FIDE recommends, a hundred spheres each, in a box of 0.5 m,
without gravity, friction or damping. Only the integration of the motion can change their energy.
"""

import warnings
from functools import lru_cache
from pathlib import Path
from time import process_time

import numpy as np

import minidem as md
from minidem.engine.chunked_run import steps_to_reach
from minidem.initial.random_placement import place, random_directions
from minidem.templates import chess
from minidem.templates.sphere_files import read_spheres

NUMBERS = {"king": 2, "queen": 2, "bishop": 4, "knight": 4, "rook": 4, "pawn": 16}
MATERIAL = md.Material(young=60e9, poisson=0.25)                    # of pieces and walls
EDGE = 0.5                                                          # of the box [m]
SPEED, ANGULAR_SPEED = 1.0, np.pi                                   # [m/s], [rad/s]
STEP, TIME = 4.85e-6, 1.5                                           # [s]
SAMPLES = 250                                                       # of the energy, in the authors' script


@lru_cache(maxsize=2)
def templates(clumps=None):
    """The pieces, name -> ClumpTemplate: the project's own, or those of the sphere files in a folder.

    A file of the folder belongs to a piece if its name contains the name of the piece, in capitals or not. It
    has a line `x, y, z, r` per sphere (minidem.templates.sphere_files), in any unit: the longest side of the box around
    the spheres becomes the height of the piece. ValueError for a file that is missing or not of this kind.
    """
    if clumps is None:
        return {name: chess.piece(name) for name in NUMBERS}
    return {name: _from_file(_file_of(name, Path(clumps)), chess.HEIGHTS[name]) for name in NUMBERS}


def _file_of(name, folder):
    files = [file for file in sorted(folder.glob("*")) if name in file.name.lower() and file.is_file()]
    if len(files) != 1:
        names = ", ".join(file.name for file in files) or "none"
        raise ValueError(f"--clumps: {folder} needs one file with {name!r} in its name and has {names}")
    return files[0]


def _from_file(path, height):
    centers, radii = read_spheres(path)
    reach = radii[:, None]
    scale = height / np.max(np.max(centers + reach, axis=0) - np.min(centers - reach, axis=0))
    return md.ClumpTemplate(scale * centers, scale * radii, density=chess.DENSITY)


def simulation(integrator="spiral", dt=STEP, seed=1, clumps=None, threads=None):
    """The box at time 0: every piece at a random place, touching nothing, with 1 m/s and pi rad/s along one
    random direction of its own. Arguments as for Simulation and `templates`.

    Does not warn of a step above the Rayleigh step, as each of the six pieces would: such steps are what the
    benchmark is about.
    """
    rng = np.random.default_rng(seed)
    pieces = templates(clumps)
    low, high = np.zeros(3), np.full(3, EDGE)
    sim = md.Simulation(MATERIAL, walls=md.box(low, high), rotation=integrator, dt=dt, threads=threads)
    poses = place([pieces[name] for name in NUMBERS], list(NUMBERS.values()), low, high, rng)
    for name, (position, orientation) in zip(NUMBERS, poses):
        direction = random_directions(len(position), rng)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "dt =", UserWarning)
            sim.add_clumps(pieces[name], position, orientation, SPEED * direction, ANGULAR_SPEED * direction)
    return sim


def rayleigh_step(clumps=None):
    """Of the smallest sphere of all pieces [s]."""
    smallest = min(np.min(piece.radii) for piece in templates(clumps).values())
    return MATERIAL.rayleigh_step(smallest, chess.DENSITY)


def energy_change(integrator, dt, seed, time=TIME, clumps=None):
    """One run of the energy study, on one thread: how far the energy E departs from its initial value E0.

    Returns a dictionary: mean_change, the mean of |E - E0| / E0 over 250 instants, evenly over the run, its
    end the last; last_change, that at the end; authors_change, the smaller of the two, which the authors'
    script takes; steps; loop_seconds, processor time of the time loop alone. A run whose state stops being
    finite raises FloatingPointError.
    """
    sim = simulation(integrator, dt, seed, clumps, threads=1)
    steps = steps_to_reach(time, dt)
    samples = min(SAMPLES, steps)
    first, changes, loop_seconds = sim.energy().total, [], 0.0
    for k in range(1, samples + 1):
        begun = process_time()
        sim.run(k * steps // samples - sim.step_count)
        loop_seconds += process_time() - begun
        changes.append(abs(sim.energy().total - first) / first)
    mean, last = float(np.mean(changes)), changes[-1]
    return {"mean_change": mean, "last_change": last, "authors_change": min(mean, last), "steps": steps,
            "loop_seconds": loop_seconds}
