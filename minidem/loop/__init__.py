"""The time loop: the phases that every simulation has."""
