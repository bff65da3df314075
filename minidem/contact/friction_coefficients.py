"""Coefficients of pairs of materials for laws with friction (friction_records.pxd), and their common parameters."""
import numpy as np

from minidem.contact.parts.words import ROLLING, TANGENTIAL
from minidem.core.parameters import NonNegative

READS_OF_PAIRS, READS_WITH = ("restitution", "friction"), {"rolling=epsd": ("rolling_friction",)}
FRICTION_PARAMETERS = {        # the first two: Parameter in friction_records.pxd
    "limit_damping": ("no", "yes"), "friction_limit": ("repulsion", "magnitude"),
    "tangential": tuple(TANGENTIAL), "tangential_damping": ("stiffness-ratio", NonNegative),
    "rolling": tuple(ROLLING), "rolling_damping": NonNegative(0.3), "mass": ("contact", "clump"),
}
REFERENCES = ("thornton2013investigation", "ai2011assessment")


def damping_ratio(restitution):
    """Fraction of critical damping at which a linear or Hertz contact has this coefficient of restitution."""
    logarithm = -np.log(restitution)
    return logarithm / np.sqrt(np.pi ** 2 + logarithm ** 2)


def coefficient_rows(pair, values, stiffness, damping, tangential, ratio, rolling):
    """The eight coefficients in the order of friction_records.pxd, each (m, n).

    pair : properties of the pairs of materials;  values : parameters of the law by name.
    damping : at critical damping;  ratio : of the dashpots for stiffness-ratio;  rolling : stiffness without factor.
    """
    given = values["tangential_damping"]
    like = np.zeros_like(pair["friction"])
    return (stiffness + like, damping * damping_ratio(pair["restitution"]), tangential + like,
            ratio + like if given == "stiffness-ratio" else given + like, pair["friction"],
            2.25 * pair["rolling_friction"] ** 2 * rolling, pair["rolling_friction"],
            values["rolling_damping"] + like)
