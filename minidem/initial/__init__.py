"""Initial states: random placement of clumps without overlap, up to high solid fractions."""
from minidem.initial.dense_placement import place_densely
from minidem.initial.random_placement import place, random_directions, random_orientations

__all__ = ["place", "place_densely", "random_directions", "random_orientations"]
