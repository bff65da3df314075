"""Records by name: every module of a folder that has a tuple or list of records is discovered without further edits."""
import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

from minidem.core.checks import did_you_mean, flag
from minidem.core.literature import references
from minidem.core.parameters import RANGES

Record = TypeVar("Record")


class Registry(Generic[Record]):
    """Records of one kind, such as rotation schemes: those in the lists `attribute` of the modules of a package.

    `kind` is the argument that selects one. A record without a doc gets the docstring of its module.
    """

    def __init__(self, kind: str, package: str, attribute: str):
        self.kind, self.package, self.attribute = kind, package, attribute
        self.records: dict[str, Any] = {}
        self.own: set[str] = set()              # names added by users

    def available(self) -> list[str]:
        """Names of all rotation schemes or contact laws, sorted."""
        if not self.records:
            for module in pkgutil.iter_modules(importlib.import_module(self.package).__path__):
                found = importlib.import_module(f"{self.package}.{module.name}")
                for record in getattr(found, self.attribute, ()):
                    self.records[record.name] = record if record.doc else replace(record, doc=found.__doc__ or "")
        return sorted(self.records)

    def info(self, name: str) -> Record:
        """The record of a rotation scheme or contact law: description, sources, parameters.

        Parameters
        ----------
        name : str
            "name" or "name:parameter=value"; the parameters are ignored.

        Returns
        -------
        Scheme or ContactLaw

        Raises
        ------
        ValueError
            For an unknown name.
        """
        known = self.available()
        base = str(name).partition(":")[0]
        if base not in known:
            raise ValueError(f"{self.kind} is {name!r}, must be one of: {', '.join(known)}; one of your own must "
                             f"be added first, by md.{self.kind}.register{did_you_mean(base, known)}")
        return self.records[base]

    def refuse_built_in(self, name):
        """ValueError for the name of a built-in record."""
        if name in self.available() and name not in self.own:
            raise ValueError(f"name = {name!r}: this name is built-in; give yours another one")

    def add(self, record):
        """Add a user's record, or replace an earlier one of that name."""
        self.records[record.name] = record
        self.own.add(record.name)
        return record

    def remove_own(self):
        """Remove all records added by users."""
        for name in self.own:
            del self.records[name]
        self.own.clear()

    def select(self, specification):
        """(record, parameter values) of "name" or "name:parameter=value,..."; ValueError if there is none such."""
        record = self.info(specification)
        return record, record.values(str(specification).partition(":")[2])


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
    for field in fields(record):
        if isinstance(field.default, bool):
            flag(field.name, getattr(record, field.name))
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
