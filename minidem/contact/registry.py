"""All contact laws by name; every module of laws/ that has LAWS is discovered."""
from collections.abc import Callable, Mapping
from typing import Any

from minidem.contact.law import MOST_RECORDS
from minidem.contact.record import ContactLaw
from minidem.core.checks import flag, whole
from minidem.core.registry import Registry, check_fields

Function = Callable | object            # a Python function, or a C function in one of the forms of `register`
_registry = Registry("contact", "minidem.contact.laws", "LAWS")


def available() -> list[str]:
    """Names of all contact laws.

    Returns
    -------
    list of str
        Sorted.
    """
    return _registry.available()


def info(name: str) -> ContactLaw:
    """The description of a contact law: texts, sources, parameters.

    Parameters
    ----------
    name : str
        "name" or "name:parameter=value"; the parameters are ignored.

    Returns
    -------
    ContactLaw

    Raises
    ------
    ValueError
        For an unknown name.
    """
    return _registry.info(name)


def select(specification, scheme=None):
    """(description, parameter values) of 'name' or 'name:parameter=value,...'.

    ValueError if there is none such, or if it cannot be combined with a rotation scheme.
    """
    law, values = _registry.select(specification)
    if scheme is not None and len(scheme.stages) > 1 and law.corrects_onsets(values):
        raise ValueError(f"contact = {specification!r}: the onset correction needs a rotation scheme with one force "
                         f"evaluation per step, and {scheme.name!r} has {len(scheme.stages)}; take another scheme, or "
                         f"onset=plain")
    if scheme is not None and len(scheme.stages) > 1 and law.needs_velocity:
        raise ValueError(f"contact = {specification!r}: a law with history needs a rotation scheme with one force "
                         f"evaluation per step, and {scheme.name!r} has {len(scheme.stages)}; take another scheme")
    return law, values


def readers(names, contact):
    """The law of `contact` with the options with which it reads these properties of pairs, else all laws that do."""
    def reader(law, spec):
        missing = set(names) - set(law.reads_of_pairs)
        options = [given for given, read in law.reads_with.items() if missing & set(read)]
        if missing - {name for given in options for name in law.reads_with[given]}:
            return []
        return [f"contact={(spec + (',' if ':' in spec else ':') + ','.join(options)) if options else spec!r}"]

    return reader(info(contact), contact) or [text for name in available() for text in reader(info(name), name)]


def register(name: str, force: Function, describe: Function | None = None, *, records: int = 1, couples: bool = False,
             coefficients: Callable | None = None, reads: tuple[str, ...] = (), reads_of_pairs: tuple[str, ...] = (),
             parameters: Mapping[str, float | tuple[str, ...] | None] | None = None, range: float | Callable = 0.0,
             begins: str = "touch", **further: object) -> ContactLaw:
    """Add a contact law with history; it then works wherever a name does.

    Parameters
    ----------
    name : str
    force : function
        Takes eight contacts and their history to forces, the history at the end of the step and dissipated energies.
    describe : function, optional
        Elastic energies of eight contacts at the pose, and which of them slide. Without it these are zero.
    records : int
        Of the history of a contact, 1 to 13 of four numbers each. They are zero in a new contact.
    couples : bool
        Whether the law exerts couples in addition to the moments of its forces.
    coefficients : function, optional
        coefficients(pair, values) -> numbers or arrays (m, n) for pairs of m with n materials, which `force` reads.
        `pair` has the properties of these pairs as arrays (m, n): modulus E*, shear_modulus G* [Pa], restitution,
        friction, rolling_friction, adhesion [J/m2]. `values` are the parameters by name. Numbers of a pair may depend
        on nothing but this pair: the function is called for all materials of a new simulation, and for those that
        clumps bring later with all others.
    reads : tuple of str
        Properties of materials that it reads: young, poisson.
    reads_of_pairs : tuple of str
        Properties of pairs of materials that it reads: restitution, friction, rolling_friction, adhesion. With any, two
        different materials that can meet need a `Pair`. Those that it does not read cause a warning where a material
        has them.
    parameters : dict, optional
        Name to default number, to a tuple of words, the first being the default, or to None: a number to be given. Any
        finite number is allowed, and for a whole default any whole number; of a type of
        `minidem.core.parameters.RANGES`, as in Positive(0.5), one of its range.
    range : float or function
        Largest gap at which two bodies interact [m]; or range(pair, values, radius) -> such gaps (m, n) at an effective
        radius [m], not smaller for a larger one.
    begins : str
        Whether a contact begins at "touch", or at a gap of its "range".
    **further : object
        Further fields of `minidem.contact.record.ContactLaw`: title, doi, doc, cites, power, reads_with (properties
        and parameters that it reads with a certain word of another parameter only) and others.

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
      index. An assigned array has the shape given there. If it raises, the step is undone and the error passed on.
    * a C function ``void f(const double *contact, double *history, double *result, const double *parameters)``,
      compiled anywhere: a numba cfunc, a ctypes function with restype and argtypes, a scipy.LowLevelCallable, or a
      capsule whose name is the signature. In C the pointers are those to the structs of contact/contact.h
      (`md.get_include`), ``contact->overlap[k]`` of contact k of eight. Elsewhere they are rows of eight doubles, one
      per contact, with the names of `md.contact.columns`, ``contact[columns.OVERLAP]``::

         contact  NORMAL, MIDDLE_NORMAL, VELOCITY, ANGULAR_VELOCITY: 3 each   SPIN   OVERLAP   RADIUS   MASS
                  ROLLING_INERTIA   STEP   COEFFICIENTS: as many as the law has   IDS: 2, of i and j, -1 - k of wall k
                  VALUES of fields (`Simulation.add_field`) with n components: n of i, n of j
         history  4 for each record
         result   FORCE: 3   COUPLE: 3 (with couples)   DISSIPATED: 4 energies   GOES_ON: 1 or 0; before the call 1 if
                  the overlap is positive   FRACTURE: energy of what breaks in this contact at this pose [J]
                  RATES times capacity: n of i, n of j, and amounts n of i, n of j; FRACTURE and RATES are 0 before
         result   NORMAL_ENERGY, TANGENTIAL_ENERGY, ROLLING_ENERGY of the springs, SLIDING: of `describe`

      The parameters are doubles. Deprecated: rows by number, valid in this version as in 0.12.

    Lanes without a contact hold two small spheres with a gap, at rest, and results for them are not used. Of two
    spheres, i is the one with the lower number, as long as the contact lasts. A contact that does not go on ends in
    this step: its force must be zero, or the run ends with a ValueError, and what its springs hold is dissipated.
    Without a range, contacts go on as long as the overlap is positive; a law with a range decides with
    `contacts.goes_on`, or GOES_ON of the result. Where forces are evaluated between two steps, the step is 0, and
    nothing is dissipated.

    Rates of fields and amounts count in the evaluation in which they are written, also in the last one of a contact.
    Amounts are added in this step, once and as they are. Between two steps nothing is transferred: a new contact for
    which the function writes an amount keeps a history of zeros, so that the next step finds it as it began. What the
    history of a contact says is lost with a clump that is removed.
    """
    from minidem.contact.external_law import make_kernels
    _registry.refuse_built_in(name)
    check_fields(ContactLaw, further, reserved=("name", "kernels", "needs_velocity", "has_history", "dashpots"))
    if force is None:
        raise ValueError("force = None: a law needs the function that computes forces")
    records, couples = whole("records", records, 1, MOST_RECORDS), flag("couples", couples)
    given: dict[str, Any] = {"title": name, "conservative": False} | further
    parameters = {} if parameters is None else parameters
    return _registry.add(ContactLaw(
        name=name, kernels=make_kernels({"force": force, "describe": describe}, records, couples, parameters),
        needs_velocity=True, has_history=True, coefficients=coefficients, reads=reads, reads_of_pairs=reads_of_pairs,
        parameters=parameters, range=range, begins=begins, **given))
