"""Quantities computed from a state: energies, momenta, contacts, warnings. Nothing here changes the state.

What is imported here is public: measures of packings and flows, loads of walls, strengths of grains, errors of means.
So are flow.py and coarse.py, fields on a grid.
"""
from minidem.analysis.averages import block_mean, mean_rate
from minidem.analysis.damping import stable_step
from minidem.analysis.flow import granular_temperature
from minidem.analysis.measures import (
    angle_of_repose,
    fabric_tensor,
    mean_square_displacement,
    radial_distribution,
    solid_fraction,
    unbalanced_force,
)
from minidem.analysis.strength import Strength, grain_stress
from minidem.analysis.wall_loads import WallLoads

__all__ = ["Strength", "WallLoads", "angle_of_repose", "block_mean", "fabric_tensor", "grain_stress",
           "granular_temperature", "mean_rate", "mean_square_displacement", "radial_distribution", "solid_fraction",
           "stable_step", "unbalanced_force"]
