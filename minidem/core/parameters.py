"""Parameters of rotation schemes and contact laws: text such as 'iterations=20,predictor=reused' to values."""
import math
from collections.abc import Mapping

LARGEST_INTEGER = 2**31 - 1


class NonNegative(float):
    """Default of a parameter that may be zero; the class itself, last in a tuple of words: such a number is allowed."""


def parameter_values(owner: str, parameters: Mapping[str, float | tuple[str, ...] | None],
                     given: str = "") -> list[float | int]:
    """Values in the order of `parameters`.

    Parameters
    ----------
    owner : str
        For messages, such as "rotation 'omelyan'".
    parameters : dict
        Name to default number; to a tuple of words, the first being the default; or to None: a number that must be
        given. Numbers are positive; see `NonNegative` for others.
    given : str
        "name=value,...".

    Returns
    -------
    list
        A word becomes its index, or -1 - index where numbers are allowed as well; an integer if the default is one;
        other values are floats.

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
    return [_code(default, chosen[name]) for name, default in parameters.items()]


def _code(default, value):
    if not isinstance(default, tuple) or not isinstance(value, str):
        return value
    return -1.0 - default.index(value) if default[-1] is NonNegative else default.index(value)


def named_values(parameters: Mapping, values: list[float | int]) -> dict[str, float | int | str]:
    """Parameters by name, as given: the inverse of `parameter_values`, with words as words."""
    named = dict(zip(parameters, values))
    for name, default in parameters.items():
        if isinstance(default, tuple) and default[-1] is not NonNegative:
            named[name] = default[named[name]]
        elif isinstance(default, tuple) and named[name] < 0.0:
            named[name] = default[int(-1.0 - named[name])]
    return named


def _read(what, default, text):
    if isinstance(default, tuple) and text in default:
        return text
    words = ", ".join(word for word in default if isinstance(word, str)) if isinstance(default, tuple) else ""
    may_be_zero = isinstance(default, NonNegative) or words and default[-1] is NonNegative
    if words and not may_be_zero:
        raise ValueError(f"{what} is {text!r}, must be one of {words}")
    kind = int if isinstance(default, int) else float
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if may_be_zero and not (math.isfinite(value) and value >= 0.0):
        raise ValueError(f"{what} is {text!r}, must be {words + ' or ' if words else ''}a number from 0 on")
    if not may_be_zero and not (math.isfinite(value) and value > 0):
        raise ValueError(f"{what} is {text!r}, must be a positive {'whole number' if kind is int else 'number'}")
    if kind is int and value > LARGEST_INTEGER:
        raise ValueError(f"{what} is {text!r}, must be at most {LARGEST_INTEGER}")
    return value
