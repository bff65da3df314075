"""Contact laws by name, and the narrow phase.

A module of the folder laws holds one law and is discovered without further edits::

    import minidem as md

    print(md.contact.available())                   # names
    print(md.contact.info("hertz").doc)             # the record: description, sources, parameters

`register(name, force)` adds a user's law.
"""
from minidem.contact.registry import available, info, register

__all__ = ["available", "info", "register"]
