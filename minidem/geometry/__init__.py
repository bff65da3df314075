"""Inline vector and quaternion arithmetic for the kernels (header-only: vec3.pxd, quaternion.pxd)."""
