"""Records by name: every module of a folder that has a tuple or list of records is discovered without further edits."""
import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path

from minidem.core.checks import did_you_mean


class Registry:
    """Records of one kind, such as rotation schemes.

    Parameters
    ----------
    kind : str
        What users call the argument that selects one, for messages.
    package : str
        Whose modules are searched, at the first use.
    attribute : str
        Name of the list of records in such a module. A record has `name`, `doc` and `values(text)`; without a doc of
        its own it gets the docstring of its module.
    """

    def __init__(self, kind, package, attribute):
        self.kind, self.package, self.attribute = kind, package, attribute
        self.records = {}
        self.own = set()        # names added by users

    def available(self) -> list[str]:
        """Names of all records, sorted."""
        if not self.records:
            folder = Path(importlib.import_module(self.package).__file__).parent
            for module in pkgutil.iter_modules([str(folder)]):
                found = importlib.import_module(f"{self.package}.{module.name}")
                for record in getattr(found, self.attribute, ()):
                    self.records[record.name] = record if record.doc else replace(record, doc=found.__doc__ or "")
        return sorted(self.records)

    def info(self, name):
        """The record of "name" or "name:parameter=value"; the parameters are ignored. ValueError if unknown."""
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
