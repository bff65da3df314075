"""Leaves: vector and quaternion arithmetic, OpenMP, checks of arguments. Nothing here imports another folder."""
