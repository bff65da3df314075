"""Parameters of rotation schemes and contact laws: text such as 'iterations=20,predictor=reused' to values."""
import math
from collections.abc import Mapping
from typing import Any

from minidem.core.checks import LARGEST, did_you_mean

LARGEST_INTEGER = 2**31 - 1


class Positive(float):
    """Default of a parameter above zero. The class itself: without a default, or last in a tuple of words."""

    wanted = f"a positive number, from {1.0 / LARGEST:g} to {LARGEST:g}"
    allows = staticmethod(lambda value: 1.0 / LARGEST <= value <= LARGEST)


class NonNegative(float):
    """Default of a parameter from zero on. The class itself has the meaning that `Positive` has."""

    wanted, allows = f"a number from 0 on, up to {LARGEST:g}", staticmethod(lambda value: 0.0 <= value <= LARGEST)


class Count(int):
    """Default of a parameter that is a positive whole number. The class itself has the meaning that `Positive` has."""

    wanted, allows = f"a positive whole number up to {LARGEST_INTEGER}", staticmethod(lambda value: value > 0)


RANGES = (Positive, NonNegative, Count)


def parameter_values(owner: str, parameters: Mapping[str, Any],
                     given: str = "") -> list[float | int]:
    """Values in the order of `parameters`; ValueError for one that is unknown, missing, or out of range.

    A word becomes its index, or -1 - index where numbers are allowed as well; an integer if the default is one; other
    values are floats.

    owner : for messages, such as "rotation 'omelyan'";  given : "name=value,..."
    parameters : name to default number; to a tuple of words, the first being the default; or to None: a number that
        must be given. Of a type of `RANGES`, or such a type in place of None: with its range.
    """
    chosen: dict[str, Any] = {name: default[0] if isinstance(default, tuple) else default
                              for name, default in parameters.items()}
    for item in filter(None, given.split(",")):
        name, _, text = item.partition("=")
        if name not in parameters:
            known = ", ".join(parameters) or "none"
            raise ValueError(f"{owner} has no parameter {name!r} (parameters: {known}){did_you_mean(name, parameters)}")
        chosen[name] = _read(f"{owner}: {name}", parameters[name], text)
    for name, value in chosen.items():
        if value is None or value in RANGES:
            raise ValueError(f"{owner}: {name} is missing; give it after a colon, as in NAME:{name}=NUMBER")
        if isinstance(value, str):
            index = parameters[name].index(value)
            chosen[name] = -1.0 - index if parameters[name][-1] in RANGES else index
    return list(chosen.values())


def named_values(parameters: Mapping, values: list[float | int]) -> dict[str, float | int | str]:
    """Parameters by name, as given: the inverse of `parameter_values`, with words as words."""
    named = dict(zip(parameters, values))
    for name, default in parameters.items():
        if isinstance(default, tuple) and default[-1] not in RANGES:
            named[name] = default[named[name]]
        elif isinstance(default, tuple) and named[name] < 0.0:
            named[name] = default[int(-1.0 - named[name])]
    return named


def _read(what, default, text):
    words = [word for word in default if isinstance(word, str)] if isinstance(default, tuple) else []
    limit = default[-1] if words else default
    if text in words:
        return text
    if isinstance(limit, str):
        raise ValueError(f"{what} is {text!r}, must be one of {', '.join(words)}{did_you_mean(text, words)}")
    kind = limit if isinstance(limit, type) else type(limit)        # NoneType allows any finite number
    number = int if issubclass(kind, int) else float
    wanted = "a finite number" if number is float else f"a whole number up to {LARGEST_INTEGER}"
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    allows = getattr(kind, "allows", math.isfinite)
    if not (math.isfinite(value) and allows(value)) or number is int and abs(value) > LARGEST_INTEGER:
        raise ValueError(f"{what} is {text!r}, must be {''.join(word + ', ' for word in words)}{'or ' if words else ''}"
                         f"{getattr(kind, 'wanted', wanted)}")
    return value
