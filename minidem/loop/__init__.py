"""The time loop that every simulation has: its memory and its phases."""
