"""Clumps that are held: fixed, moved, free along some axes, turning about an axis or a pin, carried by a wall."""
