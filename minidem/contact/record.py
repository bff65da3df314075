"""The description of a contact law; registry, help, checkpoints and citation follow from it."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from minidem.contact.law import MOST_COEFFICIENTS, MOST_PARAMETERS, LawKernels
from minidem.core.checks import check_call, non_negative, positive
from minidem.core.literature import Reference
from minidem.core.parameters import named_values, parameter_values
from minidem.core.registry import check_record, refuse_field
from minidem.material import PAIR_PROPERTIES


@dataclass(frozen=True)
class ContactLaw:
    """One contact law.

    Attributes
    ----------
    name, title : str
        As in `contact="name"`, and as in texts.
    kernels : LawKernels or callable
        Its compiled functions (contact/law.pxd); of a law that is composed of parts kernels(values), `values` being the
        parameters by name.
    coefficients : callable or None
        coefficients(pair, values) -> numbers or arrays (m, n) for pairs of m with n materials, which the law reads
        (contact/contact.h); four at most without history. `pair` has the properties of these pairs as arrays
        (m, n): modulus E*, shear_modulus G* [Pa], restitution, friction, rolling_friction, adhesion [J/m2]; `values`
        the parameters by name. Those of a pair may depend on nothing but this pair.
    cites : tuple of Reference
        Sources of the formula, the first one printing it: keys of minidem/references.bib, or
        `minidem.core.literature.article`.
    doi : str
        Of the work that prints the formula; default: that of the first reference.
    equations : str
        Numbers of the equations.
    doc : str
        Description; default: the docstring of the law's file.
    used_in : str
        Codes that use the law.
    power : float
        p of the normal force k d^p of an overlap d. Its elastic energy is F d / (p + 1), its stiffness p F / d.
    needs_velocity : bool
        Whether the force depends on velocities. The onset correction reads them, of contacts about to begin or end.
    has_history : bool
        Whether the force depends on the past of the contact.
    dashpots : bool
        Whether the first coefficients are those of contact/part.pxd, so that runs can check the damping.
    conservative : bool
        Whether the force has a potential.
    reads : tuple of str
        Properties of materials that the law reads (`minidem.Material`).
    reads_of_pairs : tuple of str
        Properties of pairs of materials that it reads, with any values of its parameters.
    reads_with : dict
        Parameters, such as "rolling=epsd", to the properties of pairs, and other parameters, that it reads with them
        only.
    range : float or callable
        Largest gap of a contact [m]: 0 for forces between bodies that overlap. Or range(pair, values, radius) -> such
        gaps of pairs of materials, as for `coefficients`, at an effective radius [m]; those of a larger radius are not
        smaller.
    begins : str
        Where a contact begins: at "touch", or at its "range".
    parameters : dict
        Name to default number, to a tuple of words, the first being the default, or to None: a number to be given.
        With a range: of a type of `minidem.core.parameters.RANGES`, or that type.
    """

    name: str
    title: str
    kernels: LawKernels | Callable = field(repr=False)
    coefficients: Callable | None = field(default=None, repr=False)
    cites: tuple[Reference, ...] = field(default=(), repr=False)
    doi: str = ""
    equations: str = ""
    doc: str = field(default="", repr=False)
    used_in: str = ""
    power: float = 1.5
    needs_velocity: bool = False
    has_history: bool = False
    dashpots: bool = False
    conservative: bool = True
    reads: tuple[str, ...] = ()
    reads_of_pairs: tuple[str, ...] = ()
    reads_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    range: float | Callable = 0.0
    begins: str = "touch"
    parameters: Mapping[str, float | tuple[str, ...] | None] = field(default_factory=dict)

    def __post_init__(self):
        """ValueError for a description that the loop could not use."""
        check_record(self, MOST_PARAMETERS)
        positive("power", self.power)
        for name, known in (("reads", ("young", "poisson")), ("reads_of_pairs", PAIR_PROPERTIES)):
            if not _is_tuple_of(known, getattr(self, name)):
                refuse_field(self, name, f"give a tuple of {', '.join(known)}, or ()")
        if not isinstance(self.reads_with, Mapping) or not all(
                str(given).partition("=")[0] in self.parameters
                and _is_tuple_of((*PAIR_PROPERTIES, *self.parameters), read)
                for given, read in self.reads_with.items()):
            refuse_field(self, "reads_with", "give a dict of 'parameter=word', of the parameters of the law, to a "
                                             f"tuple of {', '.join(PAIR_PROPERTIES)} and of its other parameters")
        if self.coefficients is not None:
            if not callable(self.coefficients):
                refuse_field(self, "coefficients", "give a function of (pair, values)")
            check_call("coefficients", self.coefficients, "pair", "values")
        if callable(self.range):
            check_call("range", self.range, "pair", "values", "radius")
        else:
            non_negative("range", self.range)
        if self.begins not in ("touch", "range"):
            refuse_field(self, "begins", "give 'touch' or 'range'")

    def values(self, given: str = "") -> list[float | int]:
        """Parameter values, in their order, from text such as 'stiffness=1e6'; see `parameter_values`."""
        return parameter_values(f"contact {self.name!r}", self.parameters, given)

    def kernels_for(self, values: list[float | int]) -> LawKernels:
        """The compiled functions for these parameter values."""
        if callable(self.kernels):
            return self.kernels(named_values(self.parameters, values))
        return self.kernels

    def pair_properties(self, values: list[float | int]) -> tuple[str, ...]:
        """The properties of pairs of materials that the law reads with these parameter values."""
        chosen = sum((read for given, read in self.reads_with.items() if self._has(given, values)), ())
        return (*self.reads_of_pairs, *(name for name in chosen if name in PAIR_PROPERTIES))

    def unread_parameters(self, values: list[float | int]) -> dict[str, str]:
        """Parameters that differ from their default and are not read with these values, to what would read them."""
        named, unread = named_values(self.parameters, values), {}
        for given, read in self.reads_with.items():
            for name in set(read) & set(named) if not self._has(given, values) else ():
                default = self.parameters[name]
                if named[name] != (default[0] if isinstance(default, tuple) else default):
                    unread[name] = given
        return unread

    def _has(self, given, values):
        """Whether these values have the 'parameter=word'."""
        name, _, word = given.partition("=")
        return str(named_values(self.parameters, values)[name]) == word

    def coefficient_rows(self, pair: Mapping, values: list[float | int]) -> list[np.ndarray]:
        """`coefficients` of these parameter values, (m, n) arrays, and zeros up to a multiple of four."""
        named = named_values(self.parameters, values)
        given = [] if self.coefficients is None else list(self.coefficients(pair, named))
        shape, missing = pair["modulus"].shape, max(8, -(-len(given) // 4) * 4) - len(given)
        if len(given) > MOST_COEFFICIENTS or any(np.shape(row) not in ((), shape) for row in given):
            raise ValueError(f"contact {self.name!r}: coefficients returned {len(given)} values of shapes "
                             f"{[np.shape(row) for row in given]}; return at most {MOST_COEFFICIENTS} numbers or "
                             f"arrays of the shape of pair['friction'], here {shape}")
        return [np.broadcast_to(np.asarray(row, dtype=float), shape) for row in [*given, *missing * [0.0]]]

    def normal_force(self, overlap: float, radius: float, pair: Mapping, values: list[float | int]) -> np.ndarray:
        """(n, n) elastic normal forces [N] of n materials at an overlap and an effective radius [m].

        pair, values : as for `coefficients`.
        """
        kernels = self.kernels_for(values)
        rows = np.stack(self.coefficient_rows(pair, values), axis=-1).reshape(pair["modulus"].size, -1)
        forces = [(self.power + 1.0) / overlap * kernels.energy_at(overlap, radius, row, values) if self.has_history
                  else kernels.force_at(overlap, radius, row) for row in rows]
        return np.reshape(forces, pair["modulus"].shape)

    def largest_gap(self, pair: Mapping, values: list[float | int], radius: float) -> float:
        """Largest gap of contacts up to an effective radius [m]; pair, values : as for `coefficients`."""
        gaps = self.range(pair, named_values(self.parameters, values), radius) if callable(self.range) else self.range
        largest = float(np.nanmax(gaps, initial=0.0))       # nan: of pairs that are not given
        if not (np.min(gaps) >= 0.0 or np.isnan(gaps).any()) or not np.isfinite(largest):
            raise ValueError(f"contact {self.name!r}: range returned {gaps!r}; return gaps [m], 0 or greater")
        return largest

    def mass_of_clumps(self, values: list[float | int]) -> bool:
        """Whether the effective mass of a contact leaves out the rotation of the clumps (contact/contacts.pyx)."""
        return named_values(self.parameters, values).get("mass") == "clump"

    def corrects_onsets(self, values: list[float | int]) -> bool:
        """Whether these parameter values select the onset correction."""
        return dict(zip(self.parameters, values)).get("onset") == 1


def _is_tuple_of(known, given):
    return isinstance(given, tuple) and set(given) <= set(known)
