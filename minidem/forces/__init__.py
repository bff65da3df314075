"""Forces of the user on clumps, in Python and compiled."""
