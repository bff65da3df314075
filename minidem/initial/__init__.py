"""Random placement of clumps without overlap, up to high solid fractions; beds; regions in which clumps come and go."""
from minidem.initial.beds import Group, kept_bed, settle, settled_bed
from minidem.initial.dense_placement import place_densely
from minidem.initial.random_placement import place, random_directions, random_orientations
from minidem.initial.regions import Inlet, Outlet

__all__ = ["Group", "Inlet", "Outlet", "kept_bed", "place", "place_densely", "random_directions", "random_orientations",
           "settle", "settled_bed"]
