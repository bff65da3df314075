"""Random placement of clumps without overlap, up to high solid fractions; sizes and mixtures; beds; inlets, outlets."""
from minidem.core.keywords import suggest_keywords as _suggest_keywords
from minidem.initial.beds import Group, kept_bed, settle, settled_bed
from minidem.initial.dense_placement import place_densely
from minidem.initial.particles import Particles
from minidem.initial.random_placement import place, random_directions, random_orientations
from minidem.initial.regions import Inlet, Outlet
from minidem.initial.sizes import Lognormal, Mixture, RosinRammler, SieveCurve, Sizes, equal_volume_diameter, passing

__all__ = ["Group", "Inlet", "Lognormal", "Mixture", "Outlet", "Particles", "RosinRammler", "SieveCurve",
           "Sizes", "equal_volume_diameter", "kept_bed", "passing", "place", "place_densely", "random_directions",
           "random_orientations", "settle", "settled_bed"]

for _kind in Group, Inlet, Lognormal, Mixture, Outlet, RosinRammler, SieveCurve:
    _suggest_keywords(_kind)
