"""Descriptions of rotation schemes and contact laws, and all of them by name.

Every module of a folder that has a list of descriptions is discovered without further edits.
"""
import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from minidem.core.checks import did_you_mean, flag
from minidem.core.choices import Choice, choice_class
from minidem.core.literature import Reference, references
from minidem.core.parameters import RANGES, parameter_values


@dataclass(frozen=True)
class Description:
    """What a rotation scheme or a contact law is; help, tests, checkpoints, citation and tables follow from it.

    Attributes
    ----------
    name, title : str
        As in `rotation="name"` or `contact="name"`, and as in texts.
    kernels
        Its compiled functions.
    cites : tuple of Reference
        Sources of the formula, the first one printing it: keys of minidem/references.bib, or
        `minidem.core.literature.article`.
    cites_with : dict
        Parameters, such as "inner=rk4", to the references that then replace `cites`.
    doi : str
        Of the work that prints the formula; default: the DOI of the first reference.
    equations : str
        Numbers of the equations there.
    doc : str
        Description; default: the docstring of its file.
    used_in : str
        Codes that use it.
    parameters : dict
        Name to default number, to a tuple of words, the first being the default, or to None: a number to be given.
    meanings : dict
        Parameters to a sentence, with unit, of what they mean.
    """

    kind: ClassVar[str]                         # the argument that selects one
    most_parameters: ClassVar[int]

    name: str
    title: str
    kernels: Any = field(default=None, repr=False)
    cites: tuple[Reference, ...] = field(default=(), repr=False)
    cites_with: Mapping[str, tuple[Reference, ...]] = field(default_factory=dict, repr=False)
    doi: str = ""
    equations: str = ""
    doc: str = field(default="", repr=False)
    used_in: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        """Check what all have, and set the default of doi; ValueError for a description that cannot be used."""
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", self.name):
            self.refuse("name", "give a name of letters, digits, hyphens and dots")
        if not isinstance(self.parameters, Mapping) or len(self.parameters) > self.most_parameters or not all(
                default is None or default in RANGES or isinstance(default, (int, float, tuple)) and default != ()
                for default in self.parameters.values()):
            self.refuse("parameters", f"give at most {self.most_parameters} names with a number, a tuple of words, or "
                                      "None for a number to be given")
        if not isinstance(self.meanings, Mapping) or not set(self.meanings) <= set(self.parameters):
            self.refuse("meanings", "give a dict of parameters to text")
        for one in fields(self):
            if isinstance(one.default, bool):
                flag(one.name, getattr(self, one.name))
        try:
            vars(self)["cites"] = references(self.cites)
            vars(self)["cites_with"] = {given: references(works) for given, works in self.cites_with.items()}
        except (AttributeError, KeyError, TypeError):
            self.refuse("cites", "give a tuple of references, each a key of minidem/references.bib or made by "
                                 "minidem.core.literature.article")
        if self.cites and not self.doi:
            vars(self)["doi"] = self.cites[0].doi

    def refuse(self, name, remedy):
        """ValueError for a field."""
        raise ValueError(f"{name} = {getattr(self, name)!r}: {remedy}")

    @cached_property
    def choice(self) -> type[Choice]:
        """The class that makes text of its name and parameters."""
        return choice_class(self)

    def values(self, given: str | Mapping[str, str] = "") -> list[float | int]:
        """Parameter values, in their order, from text such as 'iterations=20'; see `parameter_values`."""
        return parameter_values(f"{self.kind} {self.name!r}", self.parameters, given)


OneDescription = TypeVar("OneDescription", bound=Description)


class Registry(Generic[OneDescription]):
    """Descriptions of one class: those in the lists `attribute` of the modules of a package.

    One without a doc gets the docstring of its module.
    """

    def __init__(self, description: type[OneDescription], package: str, attribute: str):
        self.description, self.kind, self.package, self.attribute = description, description.kind, package, attribute
        self.known: dict[str, OneDescription] = {}
        self.own: set[str] = set()              # names added by users

    def available(self) -> list[str]:
        """Names of all rotation schemes or contact laws, sorted."""
        if not self.known:
            modules = [importlib.import_module(f"{self.package}.{module.name}")
                       for module in pkgutil.iter_modules(importlib.import_module(self.package).__path__)]
            self.known.update({one.name: one if one.doc else replace(one, doc=found.__doc__ or "")      # all at once,
                               for found in modules for one in getattr(found, self.attribute, ())})     # for threads
        return sorted(self.known)

    def classes(self) -> dict[str, type[Choice]]:
        """The classes of all by name, such as NoSquish; if two have one name, the built-in one."""
        ordered = sorted(self.available(), key=lambda name: name not in self.own)
        return {one.__name__: one for one in (self.known[name].choice for name in ordered)}

    def class_named(self, name: str) -> type[Choice]:
        """The class of this name, for `__getattr__` of a module; AttributeError if there is none."""
        known = self.classes() if name[:1].isupper() else {}        # others are looked up before all are known
        if name not in known:
            raise AttributeError(f"module 'minidem.{self.kind}' has no attribute {name!r}{did_you_mean(name, known)}")
        return known[name]

    def info(self, name: str) -> OneDescription:
        """What describes a rotation scheme or contact law: text, sources, parameters.

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
            near = f", a class; call it: {name.__name__}()." if isinstance(name, type) else did_you_mean(base, known)
            raise ValueError(f"{self.kind} is {name!r}{f'{near} It' if near else ','} must be one of: "
                             f"{', '.join(known)}; one of your own must be added first, by md.{self.kind}.register")
        return self.known[base]

    def check_new(self, name, further, reserved):
        """ValueError for the name of a built-in one, or for further fields that there are not, or that are reserved."""
        if name in self.available() and name not in self.own:
            raise ValueError(f"name = {name!r}: this name is built-in; give yours another one")
        unknown = set(further) - {one.name for one in fields(self.description)} | set(further) & set(reserved)
        if unknown:
            raise ValueError(f"{sorted(unknown)[0]} is no field that can be given; see "
                             f"{self.description.__module__}.{self.description.__name__}")

    def add(self, description):
        """Add one of a user, or replace an earlier one of that name."""
        self.known[description.name] = description
        self.own.add(description.name)
        return description

    def own_names(self) -> set[str]:
        """Names of those that users have added."""
        return set(self.own)

    def remove_own(self):
        """Remove all that users have added."""
        for name in self.own:
            del self.known[name]
        self.own.clear()

    def select(self, specification):
        """(description, parameter values) of "name" or "name:parameter=value,..."; ValueError if there is none such."""
        description = self.info(specification)
        return description, description.values(str(specification).partition(":")[2])
