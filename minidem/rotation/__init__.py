"""Rotation integrators: one file each, found by name::

    import minidem as md

    print(md.rotation.available())                  # names
    print(md.rotation.info("spiral").doi)           # of the record: title, DOI, orders, where q and w live
    end = md.rotation.integrate("spiral", inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(1, 2, 3),
                                torque=(0, 0, 0), dt=1e-3, steps=1000)      # free bodies, by the many-body loop
    print(end.orientation, end.angular_velocity)

`register(name, move)` adds one of your own.
"""
from minidem.rotation.registry import available, info, register

__all__ = ["available", "info", "integrate", "register"]


def __getattr__(name):
    if name == "integrate":             # late: the time loop that it runs needs this package first
        from minidem.engine.free_rotation import integrate
        return integrate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
