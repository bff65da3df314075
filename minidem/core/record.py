"""Checks that the records of rotation schemes and of contact laws share."""
import re
from collections.abc import Mapping
from dataclasses import fields

from minidem.core.literature import references
from minidem.core.parameters import RANGES


def refuse_field(record, name, remedy):
    """ValueError for a field of a record."""
    raise ValueError(f"{name} = {getattr(record, name)!r}: {remedy}")


def check_record(record, most_parameters):
    """Check name, parameters and cites, and set the default of doi; ValueError for a record that cannot be used."""
    if not isinstance(record.name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", record.name):
        refuse_field(record, "name", "give a name of letters, digits, hyphens and dots")
    if not isinstance(record.parameters, Mapping) or len(record.parameters) > most_parameters or not all(
            default is None or default in RANGES or isinstance(default, (int, float, tuple)) and default != ()
            for default in record.parameters.values()):
        refuse_field(record, "parameters", f"give at most {most_parameters} names with a number, a tuple of words, or "
                                           "None for a number to be given")
    try:
        object.__setattr__(record, "cites", references(record.cites))
        if hasattr(record, "cites_with"):
            object.__setattr__(record, "cites_with", {
                given: references(works) for given, works in record.cites_with.items()})
    except (AttributeError, KeyError, TypeError):
        refuse_field(record, "cites", "give a tuple of references, each a key of minidem/references.bib or made by "
                                      "minidem.core.literature.article")
    if record.cites and not record.doi:
        object.__setattr__(record, "doi", record.cites[0].doi)


def check_fields(kind, given, reserved=()):
    """ValueError for a name that is no field of the record class, or that is reserved."""
    unknown = set(given) - {field.name for field in fields(kind)} | set(given) & set(reserved)
    if unknown:
        raise ValueError(f"{sorted(unknown)[0]} is no field of the record that can be given; see "
                         f"{kind.__module__}.{kind.__name__}")
