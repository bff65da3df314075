"""minidem's contact laws as coefficients of LAMMPS' pair_style granular and fix wall/gran granular.

What LAMMPS (22Jul2025) computes for "hertz k e tangential mindlin_rescale/force kt x mu damping coeff_restitution".
Sources: https://docs.lammps.org/pair_granular.html; src/GRANULAR of https://github.com/lammps/lammps, files
granular_model.cpp (geometry), gran_sub_mod_tangential.cpp, gran_sub_mod_damping.cpp, gran_sub_mod.cpp (mixing),
fix_wall_gran.cpp, fix_wall_gran_region.cpp. "Same": as in minidem's hertz-mindlin.

normal force    k a d, a = sqrt(R* d). Same with k = 4/3 E*. The form "hertz/material E e nu" computes 4/3 E* between
                two particles of one type. Between types it stores E* as the Young's modulus, from which the tangential
                stiffness NULL is then derived. Up to 2021 its E* at walls was E / (2 (1 - nu)). Explicit k and kt avoid
                both.
cohesion        "jkr E eta nu gamma" has 1/E* = 2 (1 - nu^2) / E between particles of one type, and at walls, and
                w = 2 gamma. Same with E = 2 E*, nu = 0, gamma = w/2. Contacts begin at touch, but end at the gap of the
                largest attraction, 0.481 of that of tear-off: a collision loses 49 % of the energy that it does here.
                Friction is limited by mu |F_e + 2 F_c|, without the damping. Damping with "coeff_restitution" is that
                of Hertz: not used.
damping         c = sqrt(5) beta sqrt(m* k a), beta = -ln e / sqrt(pi^2 + ln^2 e); m* from the masses of rigid bodies.
                Attraction before lift-off stays unless "limit_damping" is given. Same.
tangential      When a shrinks, T *= a / a_before. T is projected onto the tangent plane of the present normal and
                restored to its length; a turn about the normal by the spin of the pair is not applied ("expected to be
                minor"). Then T -= kt a u dt. Same with kt = 8 G*, apart from the turn. Likewise "mindlin", which keeps
                the displacement, and "linear_history" with a constant kt.
slip            |T + T_d| <= mu |F_n|, T_d = -x c u; beyond it the force is scaled by s. Same with
                friction_limit=magnitude. LAMMPS keeps s (T + T_d) - T_d in the spring, minidem s T: equal for x = 0 or
                e = 1 (c = 0), else different wherever a contact slides.
velocity        v and omega of the half step before, at the positions and normal of the whole step: first order in dt.
                The keyword "synchronized_verlet" takes the normal of the half step (doi:10.1016/j.cpc.2025.109524).
arms            The torque has the arm R - d/2 of the contact point. The velocity u has the arm R: u differs by
                omega d/2 from that of the contact point, relative d / (2 R), and work is not conserved to this order.
walls           R* = R. Torque and velocity have the arm R, while the distance to the plane is R - d.
cylinders       1/R* = 1/R - 1/(2 R_c) inside a region cylinder of radius R_c. A region that rotates has the velocity
                omega x r at the contact point, on its ends too; omega is the change of the angle over the last step.
"""

import warnings
from math import sqrt

import numpy as np

from minidem.contact import registry
from minidem.contact.pair_table import PROPERTIES
from minidem.core.parameters import named_values

TANGENTIAL = {"rescale": "mindlin_rescale/force", "mindlin": "mindlin", "linear": "linear_history"}


def law(sim, first, second):
    """Coefficients for pair_coeff and fix wall/gran between the materials of these indices in `sim.materials`.

    ValueError if LAMMPS cannot run the law of `sim`.
    """
    record, values = registry.select(sim.contact)
    values = named_values(record.parameters, values)
    pair = {name: table[first, second] for name, table in sim.engine.loop.pair_table.properties(PROPERTIES).items()}
    modulus, shear = pair["modulus"], pair["shear_modulus"]
    stiffness = f"hertz {4.0 / 3.0 * modulus:.17g}"
    if sim.contact == "hertz":
        return f"{stiffness} 0.0 tangential linear_nohistory 0.0 0.0 damping velocity"
    if record.name != "hertz-mindlin" or values["rolling"] != "none" or values["tangential"] not in TANGENTIAL:
        raise ValueError(f"contact = {sim.contact!r}: pair_style granular of LAMMPS has no equal law; use 'hertz' or "
                         "'hertz-mindlin' without rolling friction")
    ratio, given = values["tangential_damping"], values["tangential_stiffness"]
    x = sqrt(4.0 * shear / modulus) if ratio == "stiffness-ratio" else ratio
    damping = "coeff_restitution limit_damping" if values["limit_damping"] == "yes" else "coeff_restitution"
    normal = f"{stiffness} {pair['restitution']:.17g}"
    if values["cohesion"] == "jkr":
        if pair["restitution"] < 1.0:
            raise ValueError(f"contact = {sim.contact!r} with a restitution of {pair['restitution']:g}: LAMMPS has no "
                             "equal damping of contacts with cohesion; give them a restitution of 1")
        normal, damping = f"jkr {2.0 * modulus:.17g} 0.0 0.0 {0.5 * pair['adhesion']:.17g}", "velocity"
    return (f"{normal} tangential {TANGENTIAL[values['tangential']]} "
            f"{8.0 * shear if given == 'none' else given:.17g} {x:.17g} {pair['friction']:.17g} damping {damping}")


def warn_of_differences(sim):
    """Warn if LAMMPS limits friction by another force, or has another effective mass, than the law of `sim`."""
    record, values = registry.select(sim.contact)
    named = named_values(record.parameters, values)
    pair = sim.engine.loop.pair_table.properties(("restitution", "friction"))
    damped = pair["restitution"] < 1.0
    if "mass" in named and not record.mass_of_clumps(values) and sim.n_spheres > sim.n_clumps and np.any(damped):
        warnings.warn(f"contact = {sim.contact!r}: LAMMPS has the masses of the clumps in the normal dashpot, minidem "
                      "the mass that a push at the contact point feels, so that clumps of several spheres rebound "
                      "higher; mass=clump has those of LAMMPS", UserWarning, stacklevel=3)
    if named.get("cohesion") == "jkr":
        warnings.warn(f"contact = {sim.contact!r}: LAMMPS ends a contact at the gap of the largest attraction, minidem "
                      "at tear-off, so that bodies that part lose half as much energy in LAMMPS", UserWarning,
                      stacklevel=3)
        return
    if named.get("friction_limit") == "magnitude" or named.get("limit_damping") != "no":
        return
    if np.any(damped & (pair["friction"] > 0.0)):
        warnings.warn(f"contact = {sim.contact!r}: LAMMPS limits friction by mu |F_n|, minidem by mu max(F_n, 0), "
                      "which differs while the damped force attracts, before lift-off; friction_limit=magnitude has "
                      "the limit of LAMMPS", UserWarning, stacklevel=3)
