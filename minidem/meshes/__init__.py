"""Triangle meshes: files, and repair."""
