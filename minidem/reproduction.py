"""Moved to `minidem.scenarios.papers`; this name goes in the next version."""
from minidem.scenarios import moved

moved("reproduction", "papers")
