"""Rotation integrators: one file each, found by name.

    minidem.rotation.available()            names
    minidem.rotation.info(name)             the record: title, DOI, orders, where q and w live
    minidem.rotation.register(name, move)   your own
    minidem.rotation.integrate(name, ...)   free bodies by the same time loop as many-body runs
"""
from minidem.rotation.registry import available, info, register

__all__ = ["available", "info", "integrate", "register"]


def __getattr__(name):
    if name == "integrate":             # late: the time loop that it runs needs this package first
        from minidem.free_bodies import integrate
        return integrate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
