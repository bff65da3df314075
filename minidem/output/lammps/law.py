"""minidem's contact laws as coefficients of LAMMPS; LAMMPS.md says what it computes, and where it differs."""
import warnings
from math import sqrt

import numpy as np

from minidem.contact.pair_table import PROPERTIES

TANGENTIAL = {"rescale": "mindlin_rescale/force", "mindlin": "mindlin", "linear": "linear_history"}


def law(sim, first, second):
    """Coefficients of the law between materials of these indices in `sim.materials`; ValueError if LAMMPS has none."""
    value = sim.settings.law_value
    if sim.loop.pair_table.apart is not None:
        raise ValueError("pairs: pair_style granular of LAMMPS has no pair without contact; leave contact=False out")
    pair = {name: table[first, second] for name, table in sim.loop.pair_table.properties(PROPERTIES).items()}
    modulus, shear = pair["modulus"], pair["shear_modulus"]
    stiffness = f"hertz {4.0 / 3.0 * modulus:.17g}"
    if sim.contact == "hertz":
        return f"{stiffness} 0.0 tangential linear_nohistory 0.0 0.0 damping velocity"
    if sim.settings.law.name != "hertz-mindlin" or (value("rolling"), value("bonds")) != ("none", "none") \
            or value("tangential") not in TANGENTIAL:
        raise ValueError(f"contact = {sim.contact!r}: pair_style granular of LAMMPS has no equal law; use 'hertz' or "
                         "'hertz-mindlin' with one of its own tangential models, without rolling friction and bonds")
    ratio, given = value("tangential_damping"), value("tangential_stiffness")
    x = sqrt(4.0 * shear / modulus) if ratio == "stiffness-ratio" else ratio
    damping = "coeff_restitution limit_damping" if value("limit_damping") == "yes" else "coeff_restitution"
    normal = f"{stiffness} {pair['restitution']:.17g}"
    if value("cohesion") == "jkr":
        if pair["restitution"] < 1.0:
            raise ValueError(f"contact = {sim.contact!r} with a restitution of {pair['restitution']:g}: LAMMPS has no "
                             "equal damping of contacts with cohesion; give them a restitution of 1")
        normal, damping = f"jkr {2.0 * modulus:.17g} 0.0 0.0 {0.5 * pair['adhesion']:.17g}", "velocity"
    return (f"{normal} tangential {TANGENTIAL[value('tangential')]} "
            f"{8.0 * shear if given == 'none' else given:.17g} {x:.17g} {pair['friction']:.17g} damping {damping}")


def warn_of_differences(sim):
    """Warn if LAMMPS limits friction by another force, or has another effective mass, than the law of `sim`."""
    def warn(text):
        warnings.warn(f"contact = {sim.contact!r}: {text}", UserWarning, stacklevel=5)

    settings, value = sim.settings, sim.settings.law_value
    pair = sim.loop.pair_table.properties(("restitution", "friction"))
    damped = pair["restitution"] < 1.0
    if value("mass") is not None and not settings.law.mass_of_clumps(settings.law_values) \
            and sim.n_spheres > sim.n_clumps and np.any(damped):
        warn("LAMMPS has the masses of the clumps in the normal dashpot, minidem the mass that a push at the contact "
             "point feels, so that clumps of several spheres rebound higher; mass=clump has those of LAMMPS")
    if value("cohesion") == "jkr":
        warn("LAMMPS ends a contact at the gap of the largest attraction, minidem at tear-off, so that bodies that "
             "part lose half as much energy in LAMMPS")
    elif value("friction_limit") != "magnitude" and value("limit_damping") == "no" \
            and np.any(damped & (pair["friction"] > 0.0)):
        warn("LAMMPS limits friction by mu |F_n|, minidem by mu max(F_n, 0), which differs while the damped force "
             "attracts, before lift-off; friction_limit=magnitude has the limit of LAMMPS")
