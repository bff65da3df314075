"""Benchmark problems with known or published solutions."""
