"""All contact laws by name; every module of laws/ that has LAWS is discovered."""
from minidem.contact.record import ContactLaw
from minidem.core.registry import Registry

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
    """The record of a contact law: description, sources, parameters.

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
    """(record, parameter values) of 'name' or 'name:parameter=value,...'.

    ValueError if there is none such, or if it cannot be combined with the record of a rotation scheme.
    """
    law, values = _registry.select(specification)
    if scheme is not None and len(scheme.stages) > 1 and law.corrects_onsets(values):
        raise ValueError(f"contact = {specification!r}: the onset correction needs a rotation scheme with one force "
                         f"evaluation per step, and {scheme.name!r} has {len(scheme.stages)}; take another scheme, or "
                         f"onset=plain")
    if scheme is not None and len(scheme.stages) > 1 and law.needs_velocity:
        raise ValueError(f"contact = {specification!r}: friction needs a rotation scheme with one force evaluation per "
                         f"step, and {scheme.name!r} has {len(scheme.stages)}; take another scheme")
    return law, values
