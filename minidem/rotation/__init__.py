"""Rotation integrators by name.

A module of this folder holds one scheme or a family of them and is discovered without further edits::

    import minidem as md

    print(md.rotation.available())                  # names
    print(md.rotation.table())                      # with orders, costs and codes that use them
    print(md.rotation.info("spiral").doc)           # description, title, DOI, orders, parameters
    end = md.rotation.integrate("spiral", inertia=(1, 2, 3), orientation=(1, 0, 0, 0), angular_velocity=(1, 2, 3),
                                torque=(0, 0, 0), dt=1e-3, steps=1000)      # free bodies, by the many-body loop
    print(end.orientation, end.angular_velocity)

Each scheme is a class as well, `md.rotation.Spiral(inner="rk4")`, which makes the text "spiral:inner=rk4".
`register(name, move)` adds a user's scheme; what a compiled one reads and writes is in scheme.h, and by names in
`md.rotation.columns`. `compile("mine.pyx")` compiles one that is written like the modules of this folder. ORDERS.md
lists the measured order and cost of every scheme.
"""
from typing import TYPE_CHECKING

import minidem.rotation.columns as columns
from minidem.rotation.registry import _registry, available, compile, info, register, table

__all__ = ["available", "columns", "compile", "info", "integrate", "register", "table"]

if TYPE_CHECKING:
    from minidem.rotation import choices
    from minidem.rotation.choices import *  # noqa: F403
    __all__ += choices.__all__
    from minidem.simulation.free_rotation import integrate
else:
    def __getattr__(name):
        if name == "integrate":         # late, because the time loop imports this package
            from minidem.simulation.free_rotation import integrate
            return integrate
        return _registry.class_named(name)


def __dir__():
    return [*__all__, *_registry.classes()]
