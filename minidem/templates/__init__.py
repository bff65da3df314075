"""Clump templates: from spheres, files, meshes and shapes, with the mass and inertia of the union of their spheres."""
