"""Moved to folders of `minidem.scenarios`; these names go in the next version."""
from minidem.scenarios import moved

chess_box = moved("validation.chess_box", "spiral.chess_box")
driven_cylinder = moved("validation.driven_cylinder", "spiral.cylinder")
driven_bodies = moved("validation.driven_bodies", "rotating_bodies.driven_bodies")
energy_run = moved("validation.energy_run", "energy.energy_run")
chung_ooi = moved("validation.chung_ooi", "collisions.chung_ooi")
dosta = moved("validation.dosta", "dosta")
