"""Walls and a periodic box that move, or that forces move: poses, loads, pressure, work."""
