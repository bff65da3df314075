"""Contact laws: what describes one, and all of them by name; every module of laws/ that has LAWS is discovered."""
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from minidem.contact.law import MOST_COEFFICIENTS, MOST_PARAMETERS, MOST_RECORDS, LawKernels
from minidem.contact.restitution import damping_ratio
from minidem.core.checks import check_call, flag, non_negative, positive, short_repr, whole
from minidem.core.parameters import default_of, named_values
from minidem.core.registry import Description, Registry
from minidem.material import PAIR_PROPERTIES, Material

__all__ = ["ContactLaw", "available", "info", "register"]

MASSES = "shared", "single", "clump"    # words of the option of laws with dashpots
ONSET = "With corrected, a small force where a contact begins or ends removes the energy error of these steps."

Function = Callable | object            # a Python function, or a C function in one of the forms of `register`


@dataclass(frozen=True)
class ContactLaw(Description):
    """The description of a contact law.

    Attributes
    ----------
    name, title, cites, cites_with, doi, equations, doc, used_in
        As for `minidem.core.registry.Description`.
    kernels : LawKernels or callable
        Its compiled functions (contact/law.pxd); of a law that is composed of parts kernels(values), `values` being the
        parameters by name.
    coefficients, reads, reads_of_pairs, range, begins, scale, parameters, meanings
        As for `register`. A law without history has at most four coefficients.
    power : float
        p of the normal force k d^p of an overlap d. Its elastic energy is F d / (p + 1), its stiffness p F / d.
    needs_velocity : bool
        Whether the force depends on velocities. The onset correction reads them, of contacts about to begin or end.
    has_history : bool
        Whether the force depends on the past of the contact.
    dashpots : bool
        Whether the first coefficients are as in contact/part.pxd, so that runs can check the damping.
    damped : bool
        Whether the dashpot of `restitution.damping` is added to a user's law; its last parameter then is `mass`.
    conservative : bool
        Whether the force has a potential.
    reads_with : dict
        Parameters, such as "rolling=epsd", to the properties of pairs, and other parameters, that it reads with them
        only.
    needs : dict
        Parameters, such as "rolling=epsd", to properties of pairs, and other parameters, without each of which they are
        of no use: runs warn where `coefficients` returns in all pairs what it returns with the default.
    """

    kind: ClassVar[str] = "contact"
    most_parameters: ClassVar[int] = MOST_PARAMETERS

    coefficients: Callable | None = field(default=None, repr=False)
    power: float = 1.5
    needs_velocity: bool = False
    has_history: bool = False
    dashpots: bool = False
    damped: bool = False
    conservative: bool = True
    reads: tuple[str, ...] = ()
    reads_of_pairs: tuple[str, ...] = ()
    reads_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    range: float | Callable = 0.0
    begins: str = "touch"
    scale: Callable | None = None

    def __post_init__(self):
        """ValueError for a description that the loop could not use."""
        super().__post_init__()
        positive("power", self.power)
        for name, known in (("reads", ("young", "poisson")), ("reads_of_pairs", PAIR_PROPERTIES)):
            if not _is_tuple_of(known, getattr(self, name)):
                self.refuse(name, f"give a tuple of {', '.join(known)}, or ()")
        for name in "reads_with", "needs":
            given = getattr(self, name)
            if not isinstance(given, Mapping) or not all(
                    str(option).partition("=")[0] in self.parameters
                    and _is_tuple_of((*PAIR_PROPERTIES, *self.parameters), read) for option, read in given.items()):
                self.refuse(name, "give a dict of 'parameter=word', of the parameters of the law, to a tuple of "
                                  f"{', '.join(PAIR_PROPERTIES)} and of its other parameters")
        if self.needs and self.coefficients is None:
            self.refuse("needs", "it is what coefficients reads; give them as well")
        if self.coefficients is not None:
            if not callable(self.coefficients):
                self.refuse("coefficients", "give a function of (pair, values)")
            check_call("coefficients", self.coefficients, "pair", "values")
        if self.scale is not None:
            if not callable(self.scale):
                self.refuse("scale", "give a function of (pair, values, radius)")
            check_call("scale", self.scale, "pair", "values", "radius")
        if callable(self.range):
            check_call("range", self.range, "pair", "values", "radius")
        else:
            non_negative("range", self.range)
        if self.begins not in ("touch", "range"):
            self.refuse("begins", "give 'touch' or 'range'")

    def kernels_for(self, values: list[float | int]) -> LawKernels:
        """The compiled functions for these parameter values."""
        if callable(self.kernels):
            return self.kernels(named_values(self.parameters, values))
        return self.kernels

    def pair_properties(self, values: list[float | int]) -> tuple[str, ...]:
        """The properties of pairs of materials that the law reads with these parameter values."""
        chosen = sum((read for given, read in self.reads_with.items() if self.has(given, values)), ())
        return (*self.reads_of_pairs, *(name for name in chosen if name in PAIR_PROPERTIES))

    def unread_parameters(self, values: list[float | int]) -> dict[str, str]:
        """Parameters that differ from their default and are not read with these values, to what would read them."""
        named, unread = named_values(self.parameters, values), {}
        for given, read in self.reads_with.items():
            for name in set(read) & set(named) if not self.has(given, values) else ():
                if named[name] != default_of(self.parameters[name]):
                    unread[name] = given
        return unread

    def unmet_needs(self, pair: Mapping, values: list[float | int]) -> list[tuple[str, str]]:
        """Options, and what they need and do not find in any of these pairs; pair, values : as for `coefficients`."""
        def rows(**instead):
            given = self.coefficients(pair | instead, named_values(self.parameters, values) | instead)
            return [np.broadcast_to(row, pair["modulus"].shape) for row in given]

        needs = [(given, name) for given, names in self.needs.items() if self.has(given, values) for name in names]
        neutral = {name: np.full_like(pair["modulus"], getattr(Material, name)) if name in PAIR_PROPERTIES
                   else default_of(self.parameters[name]) for _, name in needs}
        return [(given, name) for given, name in needs
                if np.array_equal(rows(), rows(**{name: neutral[name]}), equal_nan=True)]

    def has(self, given: str, values: list[float | int]) -> bool:
        """Whether these values have the 'parameter=word'."""
        name, _, word = given.partition("=")
        return str(named_values(self.parameters, values).get(name)) == word

    def coefficient_rows(self, pair: Mapping, values: list[float | int]) -> list[np.ndarray]:
        """`coefficients` of these parameter values, (m, n) arrays, and zeros up to a multiple of four.

        Of a damped law the last one is the factor of the dashpot.
        """
        named = named_values(self.parameters, values)
        given = [] if self.coefficients is None else list(self.coefficients(pair, named))
        factor = [math.sqrt(2.0 * (self.power + 1.0)) * damping_ratio(pair["restitution"])] if self.damped else []
        shape, n = pair["modulus"].shape, len(given) + len(factor)
        if n > MOST_COEFFICIENTS or any(np.shape(row) not in ((), shape) for row in given):
            raise ValueError(f"contact {self.name!r}: coefficients returned {len(given)} values of shapes "
                             f"{[np.shape(row) for row in given]}; return at most {MOST_COEFFICIENTS - len(factor)} "
                             f"numbers or arrays of the shape of pair['friction'], here {shape}")
        return [np.broadcast_to(np.asarray(row, dtype=float), shape)
                for row in [*given, *(max(8, -(-n // 4) * 4) - n) * [0.0], *factor]]

    def normal_force(self, overlap: float, radius: float, pair: Mapping, values: list[float | int]) -> np.ndarray:
        """(n, n) elastic normal forces [N] of n materials at an overlap and an effective radius [m].

        pair, values : as for `coefficients`.
        """
        force_at = self.kernels_for(values).force_at
        rows = np.stack(self.coefficient_rows(pair, values), axis=-1).reshape(pair["modulus"].size, -1)
        return np.reshape([force_at(overlap, radius, row, values, self.power) for row in rows], pair["modulus"].shape)

    def force_scale(self, pair: Mapping, values: list[float | int], radius: float) -> float:
        """Elastic force of two equal spheres at an overlap of one radius [m], the unit of the sums of forces [N].

        pair : of one material, arrays (1, 1);  values : as for `coefficients`.
        Of a law of a user's it is what `scale` says, or the force with Young's modulus.
        """
        if self.scale is not None:
            force = np.asarray(self.scale(pair, named_values(self.parameters, values), radius), dtype=float)
            if force.size != 1 or not 0.0 < force.item() < np.inf:
                raise ValueError(f"contact {self.name!r}: scale returned {short_repr(force.tolist())}; return a force "
                                 "[N] greater than 0")
            return force.item()
        if "young" not in self.reads and self.kernels_for(values).keep is None:     # a user's own may raise
            force = float(self.normal_force(radius, 0.5 * radius, pair, values)[0, 0])
            if 0.0 < force < np.inf:
                return force
        return 2.0 * float(pair["modulus"][0, 0]) * radius ** 2

    def largest_gap(self, pair: Mapping, values: list[float | int], radius: float) -> float:
        """Largest gap of contacts up to an effective radius [m]; pair, values : as for `coefficients`."""
        gaps = self.range(pair, named_values(self.parameters, values), radius) if callable(self.range) else self.range
        largest = float(np.nanmax(gaps, initial=0.0))       # nan: of pairs that are not given
        if not (np.min(gaps) >= 0.0 or np.isnan(gaps).any()) or not np.isfinite(largest):
            raise ValueError(f"contact {self.name!r}: range returned {gaps!r}; return gaps [m], 0 or greater")
        return largest

    def mass_of_clumps(self, values: list[float | int]) -> bool:
        """Whether the effective mass of a contact leaves out how clumps rotate (contact/effective_mass.pyx)."""
        return self.has("mass=clump", values)

    def corrects_onsets(self, values: list[float | int]) -> bool:
        """Whether these parameter values select the onset correction."""
        return self.has("onset=corrected", values)


def _is_tuple_of(known, given):
    return isinstance(given, tuple) and set(given) <= set(known)


_registry: Registry[ContactLaw] = Registry(ContactLaw, "minidem.contact.laws", "LAWS")
available, info, own_names = _registry.available, _registry.info, _registry.own_names


def select(specification, scheme=None):
    """(description, parameter values) of 'name' or 'name:parameter=value,...'.

    ValueError if there is none such, or if it cannot be combined with a rotation scheme.
    """
    if "mass=contact" in str(specification) and info(specification).parameters.get("mass") == MASSES:
        warnings.warn(f"contact = {specification!r}: mass=contact is now mass=single", DeprecationWarning, stacklevel=4)
        specification = specification.replace("mass=contact", "mass=single")
    law, values = _registry.select(specification)
    corrects = law.corrects_onsets(values)
    if scheme is not None and len(scheme.stages) > 1 and (corrects or law.needs_velocity):
        raise ValueError(f"contact = {specification!r}: {'the onset correction' if corrects else 'a law with history'} "
                         f"needs a rotation scheme with one force evaluation per step, and {scheme.name!r} has "
                         f"{len(scheme.stages)}; take another scheme{', or onset=plain' if corrects else ''}")
    return law, values


def with_mass(specification, word="shared"):
    """The specification with mass=`word`, if its law has this option and it is not given."""
    if info(specification).parameters.get("mass") != MASSES or "mass=" in specification:
        return specification
    return f"{specification}{',' if ':' in specification else ':'}mass={word}"


def readers(names, contact):
    """The law of `contact` with the options with which it reads these properties of pairs, else all laws that do."""
    def reader(law, spec):
        missing = set(names) - set(law.reads_of_pairs)
        given_by = {given.partition("=")[0]: given for given, read in reversed(law.reads_with.items())
                    if missing & set(read)}            # the first word of each parameter
        options = list(given_by.values())[::-1]
        if missing - {name for given in options for name in law.reads_with[given]}:
            return []
        return [f"contact={(spec + (',' if ':' in spec else ':') + ','.join(options)) if options else spec!r}"]

    return reader(info(contact), contact) or [text for name in available() for text in reader(info(name), name)]


def register(name: str, force: Function, describe: Function | None = None, *, records: int = 1, couples: bool = False,
             coefficients: Callable | None = None, reads: tuple[str, ...] = (), reads_of_pairs: tuple[str, ...] = (),
             parameters: Mapping[str, float | tuple[str, ...] | None] | None = None, range: float | Callable = 0.0,
             begins: str = "touch", scale: Callable | None = None, damped: bool = False,
             **further: object) -> ContactLaw:
    """Add a contact law with history; it then works wherever a name does.

    Parameters
    ----------
    name : str
    force : function
        Takes eight contacts and their history to forces, the history at the end of the step and dissipated energies.
    describe : function, optional
        Elastic energies of eight contacts at the pose, and which of them slide. Without it these are zero.
    records : int
        Of the history of a contact, 1 to 16 of four numbers each. They are zero in a new contact.
    couples : bool
        Whether the law exerts couples in addition to the moments of its forces.
    coefficients : function, optional
        coefficients(pair, values) -> numbers or arrays (m, n) for pairs of m with n materials, which `force` reads.
        `pair` has the properties of these pairs as arrays (m, n): modulus E*, shear_modulus G* [Pa], restitution,
        friction, rolling_friction, adhesion [J/m2], bridge_volume [m3], static_friction. `values` are the parameters
        by name. Numbers of a pair may depend on nothing but this pair, because clumps may bring materials later.
    reads : tuple of str
        Properties of materials that it reads: young, poisson.
    reads_of_pairs : tuple of str
        Properties of pairs of materials that it reads: restitution, friction, rolling_friction, adhesion,
        bridge_volume, static_friction. With any, two different materials that can meet need a `Pair`.
    parameters : dict, optional
        Name to default number, to a tuple of words, the first being the default, or to None: a number to be given. Any
        finite number is allowed, and for a whole default any whole number; of a type of
        `minidem.core.parameters.RANGES`, as in Positive(0.5), one of its range.
    range : float or function
        Largest gap at which two bodies interact [m]; or range(pair, values, radius) -> such gaps (m, n) at an effective
        radius [m], not smaller for a larger one.
    begins : str
        Whether a contact begins at "touch", or at a gap of its "range".
    scale : function, optional
        scale(pair, values, radius) -> typical largest force of spheres of a radius [m] and of one material [N],
        proportional to the radius or to its square; as for `coefficients`, `pair` has arrays (1, 1). The forces on a
        sphere are added as multiples of 2^-54 of it, and their magnitudes may sum up to 256 times it; else the run ends
        with an error. Default: 2 E* R^2, of Young's modulus. Energies have a unit that follows from it.
    damped : bool
        Whether to add the dashpot of `md.contact.damping` beside the normal force, which is k d^p of the overlap d with
        p = `power`, 1.5 if not given. A contact then has the `restitution` of its materials at any speed. The law gets
        the parameter `mass`, as the built-in ones have it, which `force` and `describe` do not see. It has at most 15
        records and 63 coefficients.
    **further : object
        Further fields of `ContactLaw`: title, doi, doc, cites, meanings, power, reads_with and others.

    Returns
    -------
    ContactLaw
        Its description.

    Raises
    ------
    ValueError
        For the name of a built-in law, a wrong signature, or a wrong field.

    Notes
    -----
    Each function is one of

    * a Python function ``f(contacts, *parameters)``, called for eight contacts at a time, which has the arrays of
      `minidem.contact.external_law.EightContacts`. `force` assigns contacts.force, contacts.dissipated and
      contacts.couple, and changes contacts.history in place; `describe` assigns contacts.normal_energy,
      tangential_energy, rolling_energy and sliding. A parameter whose default is an integer is one, and a word is its
      index. An assigned array has the shape given there. Nothing is returned. If it raises, the step is undone and
      the error passed on.
    * a C function ``void f(const double *contact, double *history, double *result, const double *parameters)``,
      compiled anywhere: a numba cfunc, a ctypes function with restype and argtypes, a scipy.LowLevelCallable, or a
      capsule whose name is the signature. In C the pointers are to the structs of contact/contact.h
      (`md.get_include`), which says what they hold: ``contact->overlap[k]`` of contact k of eight. Elsewhere they are
      rows of eight doubles, one per contact, with the names of `md.contact.columns`: ``contact[columns.OVERLAP]``, of
      a vector the first of its three rows. The parameters are doubles. Deprecated: rows by number, valid in this
      version as in 0.12.

    Lanes without a contact hold two small spheres with a gap, at rest, and results for them are not used. Of two
    spheres, i is the one with the lower number, as long as the contact lasts. A contact that does not continue ends in
    this step: its force must be zero, or the run ends with a ValueError, and what its springs hold is dissipated:
    the energies that `describe` returns for its new history and an overlap of zero or, of a law with a range, the gap.
    What is not finite counts as zero, and nothing is added if the law has dissipated as much in this step itself.
    Without a range, contacts continue as long as the overlap is positive; a law with a range decides with
    `contacts.goes_on`, or GOES_ON of the result. Where forces are evaluated between two steps, the step is 0, and
    nothing is dissipated.

    What the history of a contact says is lost with a clump that is removed.
    """
    from minidem.contact.external_law import make_kernels
    _registry.check_new(name, further, reserved=("name", "kernels", "needs_velocity", "has_history", "dashpots"))
    if force is None:
        raise ValueError("force = None: a law needs the function that computes forces")
    damped, couples = flag("damped", damped), flag("couples", couples)
    records = whole("records", records, 1, MOST_RECORDS - damped)
    given: dict[str, Any] = {"title": name, "conservative": False} | further
    parameters = {} if parameters is None else parameters
    kernels = make_kernels({"force": force, "describe": describe}, records, couples, parameters, damped)
    law = ContactLaw(
        name=name, kernels=kernels, needs_velocity=True, has_history=True, coefficients=coefficients, reads=reads,
        reads_of_pairs=reads_of_pairs, parameters=parameters, range=range, begins=begins, scale=scale, **given)
    if damped:
        if "mass" in parameters:
            law.refuse("parameters", "a damped law gets the parameter mass; give yours another name")
        law = replace(law, damped=True, parameters={**parameters, "mass": MASSES},
                      reads_of_pairs=(*reads_of_pairs, "restitution"))
    return _registry.add(law)
