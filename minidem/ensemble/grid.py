"""The runs of a study: every combination of the values of its parameters."""

import hashlib
import itertools
import json
import math

import numpy as np


def plain(name, value):
    """A number, text, True, False or None as Python has it; ValueError for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str) and value != readable(value):
        raise ValueError(f"{name} = {value!r}: a text with a lone surrogate, which no file can hold; give Unicode")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"{name} = {value!r}: give a number, text, True, False or None, which a table can hold")


def readable(text):
    """The text with lone surrogates, which UTF-8 does not have, spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def combinations(grid):
    """The parameters of all runs, a dictionary each; the last parameter varies fastest.

    ValueError for an empty grid, a value that a table cannot hold, or one that comes twice.
    """
    if not grid:
        raise ValueError("grid = {}: give at least one parameter with its values")
    values = {}
    for name, given in grid.items():
        if not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"grid: {name!r} is no name of a parameter; give one that Python can call")
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise ValueError(f"grid[{name!r}] = {given!r}: give a list of values, [{given!r}]")
        values[name] = [plain(f"grid[{name!r}][{k}]", value) for k, value in enumerate(given)]
        if not values[name]:
            raise ValueError(f"grid[{name!r}] is empty: give at least one value")
        for k, value in enumerate(values[name]):
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"grid[{name!r}][{k}] = {value}: give finite numbers")
            if value in values[name][:k]:
                raise ValueError(f"grid[{name!r}][{k}] = {value!r} comes twice; give each value once")
    return [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]


def key(parameters):
    """A name for the run, the same on every machine and whatever else is in the grid."""
    text = json.dumps(parameters, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]
