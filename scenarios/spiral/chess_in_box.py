#!/usr/bin/env python3
"""Chess pieces of a hundred spheres each in a box, without gravity, friction or damping.

The contacts are conservative, so every change of the total energy is an integration error. Two kings, two queens,
four bishops, four knights, four rooks and sixteen pawns, with the heights that FIDE recommends, start at random
places of a box of 0.5 m, each with 1 m/s and pi rad/s along one random direction. This is the system of Fig. 6 of
del Valle et al., SPIRAL (Comput. Phys. Commun. 297, 109077, 2024), with their time step.

    python scenarios/spiral/chess_in_box.py --compare spiral,omelyan,fincham-published

chess_energy_study.py computes their Fig. 7, the energy error as a function of the time step.
"""

import sys
import warnings

from minidem.scenario import Scenario
from minidem.scenarios.spiral import chess_box


def add_options(group):
    group.add_argument("--clumps", metavar="DIR",
                       help="folder with six sphere files, with king, queen, bishop, knight, rook and pawn in their "
                            "names, to use instead of the built-in pieces; one line x, y, z, r per sphere, in any "
                            "unit (scaled to the height of the piece)")


def build(options):
    """Initial state."""
    sim = chess_box.simulation(options.integrator, options.dt, options.seed, options.clumps, options.threads,
                               options.contact)
    limit = chess_box.rayleigh_step(options.clumps)
    if options.dt > limit:
        warnings.warn(f"dt = {options.dt:g} s is above the Rayleigh step {limit:.3g} s of the smallest "
                      "sphere, as in the paper; check the energy", stacklevel=2)
    return sim


SCENARIO = Scenario("chess_in_box", __doc__, build, add_options=add_options,
                    defaults={"integrator": "spiral", "contact": "hertz", "dt": chess_box.STEP, "time": chess_box.TIME,
                              "seed": 1, "frames": 200})
main = SCENARIO.main

if __name__ == "__main__":
    sys.exit(main())
