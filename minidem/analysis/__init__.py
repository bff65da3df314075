"""Quantities computed from a state: energies, momenta, contacts, warnings. Nothing here changes the state."""
