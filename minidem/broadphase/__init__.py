"""Broad phase: which pairs of spheres, and of spheres and walls, may be in contact until the next rebuild."""
