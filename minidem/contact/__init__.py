"""Contact laws by name, and the evaluation of contacts.

A module of the folder laws holds one law and is discovered without further edits::

    import minidem as md

    print(md.contact.available())                   # names
    print(md.contact.info("hertz").doc)             # description, sources, parameters

`register(name, force)` adds a user's law; `columns` names the rows that a compiled one reads and writes.
"""
import minidem.contact.columns as columns
from minidem.contact.registry import available, info, register

__all__ = ["available", "columns", "info", "register"]
