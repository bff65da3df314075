"""Contact laws by name, and the evaluation of contacts.

A module of the folder laws holds one law and is discovered without further edits::

    import minidem as md

    print(md.contact.available())                   # names
    print(md.contact.table())                       # with what they have
    print(md.contact.info("hertz").doc)             # description, sources, parameters

Each law is a class as well, `md.contact.Hooke(stiffness=1e6)`, which makes the text "hooke:stiffness=1000000.0".
`register(name, force)` adds a user's law; `columns` names the rows that a compiled one reads and writes.
"""
from typing import TYPE_CHECKING

import minidem.contact.columns as columns
from minidem.contact.registry import _registry, available, info, register
from minidem.contact.restitution import critical_step, damping, largest_overlap
from minidem.core.listing import Listing

__all__ = ["available", "columns", "critical_step", "damping", "info", "largest_overlap", "register", "table"]

if TYPE_CHECKING:
    from minidem.contact import choices
    from minidem.contact.choices import *  # noqa: F403
    __all__ += choices.__all__
else:
    __getattr__ = _registry.class_named


def __dir__():
    return [*__all__, *_registry.classes()]


def table() -> Listing:
    """All contact laws beside each other; printed as text, and in a notebook as a table.

    Returns
    -------
    list of dict
        A row for each: name; power, of the overlap in the normal force; history, whether the force depends on the past
        of a contact; conservative, whether it has a potential; parameters, their names.
    """
    return Listing({"name": one.name, "power": one.power, "history": one.has_history, "conservative": one.conservative,
                    "parameters": ", ".join(one.parameters)} for one in map(info, available()))
