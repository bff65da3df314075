"""Chess pieces in a box: the many-body benchmark of the SPIRAL paper.

Section 5 of C. A. del Valle et al., Comput. Phys. Commun. 297, 109077 (2024), doi:10.1016/j.cpc.2023.109077,
Figs 6 and 7: 32 pieces with the heights that FIDE recommends, a hundred spheres each, in a box of 0.5 m, without
gravity, friction or damping. Every change of the energy is an integration error.
"""

import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np

import minidem as md
from minidem.initial.random_placement import place, random_directions
from minidem.scenarios.energy.energy_run import energy_run
from minidem.scenarios.spiral import chess
from minidem.templates.sphere_files import read_spheres

NUMBERS = {"king": 2, "queen": 2, "bishop": 4, "knight": 4, "rook": 4, "pawn": 16}
MATERIAL = md.Material(young=60e9, poisson=0.25)                    # pieces and walls
EDGE = 0.5                                                          # edge length of the box [m]
SPEED, ANGULAR_SPEED = 1.0, np.pi                                   # [m/s], [rad/s]
STEP, TIME = 4.85e-6, 1.5                                           # [s]
SAMPLES = 250                                                       # number of energy samples in the authors' script


@lru_cache(maxsize=2)
def templates(clumps: str | Path | None = None) -> dict[str, md.ClumpTemplate]:
    """The pieces, name -> ClumpTemplate: the built-in ones, or read from the sphere files in a folder.

    Parameters
    ----------
    clumps : path, optional
        Folder with one file per piece, whose name contains the name of the piece, in upper or lower case. Files
        have one line ``x, y, z, r`` per sphere (minidem.templates.sphere_files), in any unit: the longest side of
        the bounding box becomes the height of the piece.

    Raises
    ------
    ValueError
        For a missing or invalid file.
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
    r = radii[:, None]
    scale = height / np.max(np.max(centers + r, axis=0) - np.min(centers - r, axis=0))
    return md.ClumpTemplate(scale * centers, scale * radii, density=chess.DENSITY)


def simulation(integrator: str = "spiral", dt: float = STEP, seed: int = 1, clumps: str | Path | None = None,
               threads: int | None = None, contact: str = "hertz") -> md.Simulation:
    """Initial state: pieces at random places without contacts, each with 1 m/s and pi rad/s along a random direction.

    Arguments as for Simulation and `templates`. The warning of add_clumps for time steps above the Rayleigh step is
    suppressed, because the benchmark includes such steps.
    """
    rng = np.random.default_rng(seed)
    pieces = templates(clumps)
    low, high = np.zeros(3), np.full(3, EDGE)
    sim = md.Simulation(MATERIAL, walls=md.box_walls(low, high), rotation=integrator, contact=contact, dt=dt,
                        threads=threads)
    poses = place([pieces[name] for name in NUMBERS], list(NUMBERS.values()), low, high, rng)
    for name, (position, orientation) in zip(NUMBERS, poses):
        direction = random_directions(len(position), rng)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "dt =", UserWarning)
            sim.add_clumps(pieces[name], position, orientation, velocity=SPEED * direction,
                           angular_velocity=ANGULAR_SPEED * direction)
    return sim


def rayleigh_step(clumps: str | Path | None = None) -> float:
    """Rayleigh time step of the smallest sphere of all pieces [s]."""
    smallest = min(np.min(piece.radii) for piece in templates(clumps).values())
    return MATERIAL.rayleigh_step(smallest, chess.DENSITY)


def energy_change(integrator: str, dt: float, seed: int, time: float = TIME,
                  clumps: str | Path | None = None, contact: str = "hertz") -> dict:
    """Energy error of one run on one thread.

    Returns
    -------
    dict
        ``mean_change``, mean of abs(E - E0) / E0 over 250 equidistant samples; ``last_change``, its value at the end;
        ``authors_change``, the smaller of the two, as in the authors' script; ``steps``; ``loop_seconds``, processor
        time of the time loop alone [s].

    Raises
    ------
    FloatingPointError
        For a non-finite state.
    """
    run = energy_run(simulation(integrator, dt, seed, clumps, threads=1, contact=contact), time, SAMPLES)
    mean, last = float(np.mean(run.change[1:])), float(run.change[-1])
    return {"mean_change": mean, "last_change": last, "authors_change": min(mean, last), "steps": run.steps,
            "loop_seconds": run.loop_seconds}
