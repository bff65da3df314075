"""Parameters of rotation schemes and contact laws: text such as 'iterations=20,predictor=reused' to values."""
import math
from collections.abc import Mapping

LARGEST_INTEGER = 2**31 - 1


def parameter_values(owner: str, parameters: Mapping[str, float | tuple[str, ...] | None],
                     given: str = "") -> list[float | int]:
    """Values in the order of `parameters`.

    Parameters
    ----------
    owner : str
        For messages, such as "rotation 'omelyan'".
    parameters : dict
        Name to default number; to a tuple of words, the first being the default; or to None: a number that must be
        given.
    given : str
        "name=value,...".

    Returns
    -------
    list
        A word becomes its index, an integer if the default is one; other values are floats.

    Raises
    ------
    ValueError
        For an unknown or missing parameter, or a value that is not a positive number or one of the words.
    """
    chosen = {name: default[0] if isinstance(default, tuple) else default for name, default in parameters.items()}
    for item in filter(None, given.split(",")):
        name, _, text = item.partition("=")
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise ValueError(f"{owner} has no parameter {name!r} (parameters: {known})")
        chosen[name] = _read(f"{owner}: {name}", parameters[name], text)
    for name, value in chosen.items():
        if value is None:
            raise ValueError(f"{owner}: {name} is missing; give it after a colon, as in NAME:{name}=NUMBER")
    return [default.index(chosen[name]) if isinstance(default, tuple) else chosen[name]
            for name, default in parameters.items()]


def _read(what, default, text):
    if isinstance(default, tuple):
        if text not in default:
            raise ValueError(f"{what} is {text!r}, must be one of {', '.join(default)}")
        return text
    kind = int if isinstance(default, int) else float
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{what} is {text!r}, must be a positive {'whole number' if kind is int else 'number'}")
    if kind is int and value > LARGEST_INTEGER:
        raise ValueError(f"{what} is {text!r}, must be at most {LARGEST_INTEGER}")
    return value
