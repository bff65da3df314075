"""Moved to `minidem.scenarios.spiral.chess`; this name goes in the next version."""
from minidem.scenarios import moved

moved("chess", "spiral.chess")
