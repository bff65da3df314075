"""All rotation schemes by name. A module of this folder that has SCHEMES is found by itself."""
import importlib
import pkgutil
from pathlib import Path

_schemes = {}


def _discover():
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        found = importlib.import_module(f"minidem.rotation.{module.name}")
        for scheme in getattr(found, "SCHEMES", ()):
            _schemes[scheme.name] = scheme


def available():
    """Names of all rotation schemes, sorted."""
    if not _schemes:
        _discover()
    return sorted(_schemes)


def info(name):
    """The record of a scheme; parameters after a colon are allowed and ignored.

    Raises ValueError for an unknown name, with the names that exist.
    """
    known = available()
    base = str(name).partition(":")[0]
    if base not in known:
        raise ValueError(f"rotation is {name!r}, must be one of: {', '.join(known)}")
    return _schemes[base]


def select(specification):
    """(scheme, parameter values) of 'name' or 'name:parameter=value,...'; ValueError if there is none such."""
    scheme = info(specification)
    return scheme, scheme.values(str(specification).partition(":")[2])
