"""Contact laws by name, and the narrow phase.

A module of the folder laws holds one law and is discovered without further edits::

    import minidem as md

    print(md.contact.available())                   # names
    print(md.contact.info("hertz").doc)             # the record: description, sources, parameters
"""
from minidem.contact.registry import available, info

__all__ = ["available", "info"]
